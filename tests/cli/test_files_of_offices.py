"""A Brazilian export at the command line, from the file to the report; options, errors and help in its own words."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from typer.testing import CliRunner

from isonomia import Report
from isonomia.cli.app import app

runner = CliRunner()
HEADER = ["nº proposta", "região", "raça", "idade", "renda mensal", "decisão do analista", "decisão do modelo"]
ROLES = [
    *("--target", "decisão do analista", "--positive", "aprovada", "--prediction", "decisão do modelo"),
    *("--protected", "raça,idade", "--privileged", "raça=branca"),
]


def rows(n: int = 1200) -> list[list[str]]:
    rng = np.random.default_rng(0)
    race = rng.choice(["branca", "negra", "indígena"], n, p=[0.6, 0.35, 0.05])
    income = rng.lognormal(8, 0.5, n)
    good = rng.random(n) < np.where(race == "branca", 0.8, 0.45)
    truth = np.where(rng.random(n) < 0.15, ~good, good)
    return [
        [
            f"2024{i:06d}",
            str(rng.choice(["São Paulo", "Ceará", "Maranhão"])),
            str(race[i]),
            str(rng.integers(18, 80)),
            f"{income[i]:,.2f}".translate(str.maketrans(",.", ".,")),
            "aprovada" if truth[i] else "negada",
            "aprovada" if good[i] else "negada",
        ]
        for i in range(n)
    ]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("banco") / "exportação.csv"
    lines = [";".join(row) for row in (HEADER, *rows())]
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path


def test_a_brazilian_export_becomes_a_portuguese_report(export: Path, tmp_path: Path) -> None:
    folder = tmp_path / "relatório"
    given = ["audit", str(export), *ROLES, "--policy", "eeoc", "--lang", "pt-BR", "--out", str(folder)]
    given += ["--checks", "group_fairness,weak_spots"]
    ended = runner.invoke(app, given)
    assert ended.exit_code == 1, ended.output
    assert "foi lido como Windows-1252" in ended.stderr
    assert "vírgula decimal (e ponto de milhar)" in ended.stderr
    assert "idade tem muitos valores diferentes e nenhuma faixa foi informada" in ended.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in ("raça", "região", "Windows-1252", "vírgula decimal", "parece ser um identificador"):
        assert words in page
    report = Report.load(folder)
    assert report.document.subject["rows"] == 1200
    features = set(report["weak_spots"].tables["slices"]["feature"].values)
    assert "renda mensal" in features
    assert "nº proposta" not in features, "an identifier has no slices"


def test_the_same_rows_in_excel_give_the_same_figures(export: Path, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(HEADER)
    for row in rows():
        income = float(row[4].replace(".", "").replace(",", "."))
        book.active.append([int(row[0]), row[1], row[2], int(row[3]), income, *row[5:]])
    book.save(tmp_path / "exportação.xlsx")
    shown = [
        runner.invoke(app, ["fairness", str(path), *ROLES, "--config", "quick", "--n-boot", "0", "--json", "--quiet"])
        for path in (export, tmp_path / "exportação.xlsx")
    ]
    assert [one.exit_code for one in shown] == [0, 0], shown[1].output
    assert json.loads(shown[0].stdout) == json.loads(shown[1].stdout)


@pytest.mark.parametrize(
    "command", [["audit"], ["fairness"], ["explain"], ["mitigate"], ["discover", "subgroups"], ["discover", "pairs"]]
)
def test_every_command_that_reads_a_table_has_the_same_options(command: list[str]) -> None:
    for flag in ("-h", "--help"):
        told = runner.invoke(app, [*command, flag]).output
        for option in ("encoding", "decimal", "delimiter", "sheet", "features", "ignore", "na", "max-bytes", "weight"):
            assert f"--{option} " in told
    odd = runner.invoke(app, [*command, "nothing.csv", "--decimal", ";"])
    assert odd.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--protected", "raca"], "`--protected` must name a column of the data; got 'raca'. Did you mean 'raça'?"),
        (["--encoding", "utf-8"], "for example --encoding latin-1"),
        (["--ignore", "regiao"], "`--ignore` must name a column"),
        (["--features", "idade,"], "`--features` takes names with commas between them"),
        (["--delimiter", ","], "pass --delimiter ';'"),
        (["--max-bytes", "10"], "raise `--max-bytes`"),
    ],
)
def test_errors_name_options(export: Path, arguments: list[str], words: str) -> None:
    ended = runner.invoke(app, ["audit", str(export), "--target", "decisão do analista", *arguments])
    assert ended.exit_code == 2
    assert words in ended.stderr


def test_options_reach_the_reader(export: Path) -> None:
    chosen = ["--encoding", "cp1252", "--decimal", ",", "--delimiter", ";", "--ignore", "nº proposta,região"]
    ended = runner.invoke(app, ["audit", str(export), *ROLES, *chosen, "--checks", "group_fairness", "--json"])
    assert ended.exit_code == 0, ended.output
    assert "Windows-1252" not in ended.stderr
    assert "parece" not in ended.stdout


def test_without_protected_attributes_it_says_what_to_pass(export: Path) -> None:
    given = ["audit", str(export), *ROLES[:6], "--checks", "group_fairness"]
    ended = runner.invoke(app, given)
    assert ended.exit_code == 4
    assert "No protected attribute is named, so groups are not compared: --protected sex,age:25,60" in ended.stderr
    pairs = runner.invoke(app, ["discover", "pairs", str(export), "--model", "math:sqrt"])
    assert pairs.exit_code == 2
    assert "--protected sex,race" in pairs.stderr


def test_completion_is_offered() -> None:
    told = runner.invoke(app, ["--help"]).output
    assert "--install-completion" in told
    script = subprocess.run(
        [sys.executable, "-m", "isonomia.cli", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},  # whatever shell runs the tests
    )
    assert "complete -o default" in script.stdout


def test_a_full_disk_leaves_nothing_behind(export: Path, tmp_path: Path) -> None:
    """The largest file that the process may write stands in for a disk without space."""
    folder = tmp_path / "out"
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "isonomia.cli",
            "audit",
            str(export),
            *ROLES,
            "--checks",
            "group_fairness",
            "--out",
            str(folder),
        ],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert ended.returncode == 5, ended.stderr
    assert "Traceback" not in ended.stderr
    assert re.fullmatch(r"File too large: '/.*'\.\n", ended.stderr)
    assert [path.name for path in folder.glob("*") if path.suffix == ".part" or path.stat().st_size > 20_000] == []
    for path in folder.glob("*.json"):
        json.loads(path.read_text())


def test_columns_of_the_same_name_are_refused_or_renamed(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    people = ["1,2,F,0,1", "1,3,M,1,0", "2,3,M,1,1"] * 60
    path.write_text("\n".join(["a,a,sex,y,p", *people]), encoding="utf-8")
    given = ["fairness", str(path), "--target", "y", "--positive", "1", "--protected", "sex", "--prediction", "p"]
    refused = runner.invoke(app, given)
    assert refused.exit_code == 2
    assert "repeats 'a'. Rename the columns, or pass --repeated rename" in refused.output
    assert runner.invoke(app, [*given, "--repeated", "rename"]).exit_code == 0


def test_what_makes_an_audit_say_little_is_said_at_once(tmp_path: Path) -> None:
    """One class, one group, or a favourable value that nobody named."""
    table = tmp_path / "decided.csv"
    table.write_text("y,p,g\n" + "1,1,a\n1,0,a\n" * 20, encoding="utf-8")
    words = ["audit", str(table), "--target", "y", "--prediction", "p", "--protected", "g", "--checks", "quick"]
    said = runner.invoke(app, words).stderr
    assert "The target y has only one value: there is nothing to predict." in said
    assert "The protected attribute g has only one value: there are no groups to compare." in said
    assert "1 of y is taken as favourable; --positive names another." in " ".join(said.split())
    named = runner.invoke(app, [*words, "--positive", "0", "--lang", "pt-BR"]).stderr
    assert "favorável" not in named
    assert "não há grupos a comparar" in named
