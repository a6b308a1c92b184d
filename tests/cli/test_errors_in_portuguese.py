"""Common mistakes at the command line, in the language of the person who made them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import CHECKS
from isonomia.cli.app import app
from isonomia.errors import ModelError

runner = CliRunner()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = random.Random(0)
    rows = [f"{rng.choice('FM')},{rng.randint(18, 70)},{rng.choice('sn')},{rng.choice('sn')}" for _ in range(60)]
    (tmp_path / "d.csv").write_text("\n".join(["sexo,idade,aprovado,previsto", *rows]), encoding="utf-8")
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04K\x01.")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(line: str) -> str:
    """What a command says on standard error."""
    ended = runner.invoke(app, line.split())
    assert ended.exit_code == 2, ended.output
    return ended.stderr.strip()


AUDIT = "audit d.csv --lang pt-BR --target aprovado --positive s"


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("audit x.csv --lang pt-BR", "Arquivo não encontrado: 'x.csv': não existe na pasta '.'."),
        (
            f"{AUDIT} --protected sexi --prediction previsto",
            "`--protected` deve nomear uma coluna dos dados; informado: 'sexi'. Você quis dizer 'sexo'?",
        ),
        (
            f"{AUDIT} --protected sexo --model m.pkl",
            "'m.pkl' é um pickle: carregá-lo executa qualquer código que o autor tenha colocado. Salve o modelo "
            "como skops (isonomia.models.save_model), informe as previsões dele ou, se foi você quem fez o arquivo, "
            "use --trust.",
        ),
        (
            f"{AUDIT} --protected sexo --prediction previsto --privileged sexo=X",
            "`--privileged` deve nomear valores de 'sexo'; informado: 'X'. Disponíveis: 'F', 'M'.",
        ),
        (
            f"{AUDIT} --protected sexo --prediction previsto --encoding foo",
            "`--encoding`: a codificação 'foo' não é conhecida. As mais comuns: 'utf-8', 'latin-1', 'cp1252'.",
        ),
        ("metrics acuracy --lang=pt", "Métrica desconhecida: 'acuracy'. Você quis dizer 'accuracy'"),
        ("compare a b --lang pt-BR", "Não há relatório em 'a'; informe um report.json ou a pasta em que ele está."),
    ],
)
def test_mistakes(line: str, text: str) -> None:
    assert said(line).startswith(text)


def test_every_problem_of_a_spec(file: Path) -> None:
    spec = "dataset: {path: d.csv, target: aprovado, positve: s}\nchecks: [group_fairnes]\nseed: abc\n"
    (file / "spec.yaml").write_text(spec, encoding="utf-8")
    assert said("run spec.yaml --lang pt-BR").split("\n")[1:4] == [
        "  - Chave desconhecida na especificação: `dataset.positve`. Você quis dizer 'positive'?",
        "  - `seed` deve ser um número inteiro; informado: 'abc'.",
        "  - `checks`: Verificação, conjunto ou área desconhecida: 'group_fairnes'. "
        "Você quis dizer 'group_fairness' ou 'group_calibration' ou 'fairness'?",
    ]


def test_the_language_of_a_spec_counts_once_it_is_read(file: Path) -> None:
    spec = "dataset: {path: x.csv, target: aprovado}\nlanguage: pt-BR\n"
    (file / "spec.yaml").write_text(spec, encoding="utf-8")
    assert "Arquivo não encontrado" in said("run spec.yaml")
    assert "File not found" in said("audit x.csv")


def test_wrong_usage() -> None:
    assert said("audit --bogus --lang pt-BR").endswith("Erro: Opção desconhecida: --bogus (opções parecidas: --out)")
    assert said("audit --lang pt-BR").endswith("Erro: Falta o argumento 'DATA'.")
    assert said("audit x.csv --seed abc --lang pt-BR").endswith(
        "Erro: Valor inválido para '--seed': deve ser um número inteiro"
    )
    assert said("audit --lang xx").endswith("Error: Missing argument 'DATA'.")


def test_a_failed_check_says_why_in_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ModelError("The model got 1,000 rows and returned 3 predictions.")

    monkeypatch.setattr(type(CHECKS["representation"]), "examine", fails)
    data = {"sex": ["F", "M"] * 30, "hired": [0, 1, 1] * 20, "said": [1, 0] * 30}
    subject = iso.Dataset(data, target="hired", protected=["sex"], prediction="said")
    report = iso.audit(subject, checks=["representation"], seed=0)
    section = report.document.sections[0]
    assert section.outcome == "failed"
    assert str(section.reason) == "The model got 1,000 rows and returned 3 predictions."
    assert "O modelo recebeu 1.000 registros e retornou 3 previsões." in report.to_markdown("pt-BR")
