"""A benchmark or a study answers a question: with a page of its own kind, and with no answer before it has one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.benchmark.test_reading import GRID, LEVEL, record
from tests.study.test_study import small
from typer.testing import CliRunner

import isonomia as iso
from isonomia.benchmark import CENTRE, Benchmark, Grid
from isonomia.benchmark.summary import Cells, row_of
from isonomia.cli.app import app
from isonomia.report import to_html, to_markdown

#: What belongs to an audit, and to nothing else.
OF_AUDITS = {
    "en": (
        "Verdict",
        "Who is affected",
        "Signature",
        "approve",
        "issue found",
        "Repeat the audit",
        "No policy",
        "None",
    ),
    "pt-BR": (
        "Veredito",
        "Quem é afetado",
        "Assinatura",
        "aprovar",
        "problema encontrado",
        "Repita a auditoria",
        "None",
    ),
}


def benchmark(grid: Grid = GRID, share: float = 1.0) -> Benchmark:
    rng = np.random.default_rng(0)
    specs = list(grid.cells({name: {} for name in LEVEL}))
    done = specs[: int(share * len(specs))]
    return Benchmark(Cells("fake", [row_of(one, record(one, rng)) for one in done], waiting=len(specs) - len(done)))


def shown(part: Any, language: str) -> str:
    """What a reader sees of a page but for tables and figures."""
    html = to_html(part, language)
    body = re.sub(r"<(style|script|table|svg)\b.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


@pytest.mark.parametrize(
    ("language", "no_conclusion", "use"),
    [("en", "no conclusion yet", "use sliceline"), ("pt-BR", "ainda sem conclusão", "use sliceline")],
)
def test_a_grid_that_is_partly_done_draws_no_conclusion(language: str, no_conclusion: str, use: str) -> None:
    whole, part = benchmark(), benchmark(share=0.1)
    n, left = len(part.cells.rows), part.cells.waiting
    said = shown(part.document, language)
    assert f"{n} de {n + left}" in said or f"{n} of {n + left}" in said
    assert no_conclusion in said
    assert use not in said
    assert [result.code for result in part.results if result.code in ("advice", "tests")] == []
    assert use in shown(whole.document, language)
    assert no_conclusion not in shown(whole.document, language)
    markdown = to_markdown(part.document, language)
    assert no_conclusion in markdown
    assert use not in markdown


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_its_page_is_no_audit(language: str, share: float) -> None:
    said = shown(benchmark(share=share).document, language)
    assert [word for word in OF_AUDITS[language] if word in said] == []
    assert "not available" not in said


def test_question_answer_figure_table_and_how_sure_in_this_order() -> None:
    html = to_html(benchmark().document)
    places = [html.index(part) for part in ("Which method finds what is there?</h1>", "use sliceline_holdout")]
    places += [html.index("<svg", places[-1]), html.index("<table", places[-1]), html.index(">How sure<")]
    assert places == sorted(places)


def test_no_advice_below_the_stated_number_of_settings() -> None:
    few = benchmark(replace(GRID, settings=(CENTRE, replace(CENTRE, bias=-2.0))))
    said = shown(few.document, "en")
    assert "use sliceline" not in said
    assert "2 settings" in said
    assert "at least 5" in said
    enough = benchmark()
    for table in next(one for one in enough.results if one.code == "advice").tables.values():
        assert min(table["settings"].values) >= 5


def test_one_data_seed_has_no_interval_and_no_hole_in_the_sentence() -> None:
    said = shown(benchmark(replace(GRID, seeds=1)).document, "en")
    assert "use sliceline_holdout: F1 " in said
    assert "[" not in said.split("use sliceline_holdout")[1].split(".")[0]
    assert "not available" not in said


def test_the_command_says_so_too(tmp_path: Path) -> None:
    store, out = str(tmp_path / "cells.db"), tmp_path / "out"
    runner = CliRunner()
    words = ["benchmark", "run", "quick", "--store", store, "--max-seconds", "0.000001", "--methods", "random"]
    runner.invoke(app, words)
    with iso.store.open(store) as opened:
        for _ in range(26):
            lease = opened.cells.claim("quick")
            assert lease is not None
            made = record({**lease.spec, "method": "random"}, np.random.default_rng(0))
            opened.cells.finish(lease, figures={"f1": 0.1}, record=made)
    words = ["benchmark", "report", "quick", "--store", store, "--out", str(out), "--no-figures"]
    ended = runner.invoke(app, words)
    assert ended.exit_code == 0, ended.output
    assert "26 of 60 cells: no conclusion yet" in ended.output
    assert "To find subgroups use" not in ended.output
    asked = json.loads(runner.invoke(app, [*words, "--json"]).stdout)
    assert "no conclusion yet" in asked["answer"][0]["text"]
    assert "verdict" not in asked
    for name in ("report.html", "report.md", "report.json"):
        assert "no conclusion yet" in (out / "en" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    small(folder, fixes=["reweighing"], models=["logistic"])
    return folder


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_study_is_no_audit_and_concludes_nothing_from_two_models(study: Path, language: str) -> None:
    found = iso.study.read_study(study, n_boot=50)
    said = shown(found.document, language)
    assert [word for word in OF_AUDITS[language] if word in said] == []
    assert "agrees best" not in said
    assert "concorda melhor" not in said
    assert ("2 models: no conclusion" in said) or ("2 modelos: sem conclusão" in said)


def test_a_study_that_is_partly_done_says_how_much_is_left(study: Path) -> None:
    removed = sorted((study / "cells").glob("*.json"))[0]
    content = removed.read_text()
    removed.unlink()
    try:
        said = shown(iso.study.read_study(study, n_boot=50).document, "en")
        assert "3 of 4 cells: no conclusion yet" in said
    finally:
        removed.write_text(content)
