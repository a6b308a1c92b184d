"""A result by itself: what print shows of it, and how it goes into a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

import isonomia as iso
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.evidence import Column, Result, Table
from isonomia.languages import msg
from isonomia.report.plain_text import ROWS, WIDTH


@pytest.fixture(scope="module")
def data() -> iso.Dataset:
    """Of 200 women 40 are granted a loan, of 200 men 120: 20% and 60%, a gap of 40 points."""
    sex = ["F"] * 200 + ["M"] * 200
    granted = [1] * 40 + [0] * 160 + [1] * 120 + [0] * 80
    income = np.linspace(0, 1, 400).round(3).tolist()
    return iso.Dataset(
        {"sex": sex, "income": income, "loan": granted, "decided": granted},
        target="loan",
        prediction="decided",
        protected=["sex"],
    )


@pytest.fixture(scope="module")
def suite(data: iso.Dataset) -> Any:
    return iso.fairness.suite(data)


@pytest.fixture(scope="module")
def report(data: iso.Dataset) -> iso.Report:
    return iso.audit(data, checks=["group_fairness", "performance"], policy="eeoc")


def test_a_criterion_prints_its_rates_its_gap_and_its_outcome(data: iso.Dataset) -> None:
    text = str(iso.fairness.demographic_parity(data))
    assert {"20%", "60%"} <= set(text.replace("\n", " ").split()), "the rates of both groups"
    assert "The gap is 40 points" in text
    assert "above the 10 points allowed" in text
    assert "difference: 40.0 points [" in text, "the gap with its interval"
    assert any(line.startswith("F ") and "200" in line for line in text.splitlines()), "a row of the first table"


def test_a_result_prints_in_portuguese(data: iso.Dataset) -> None:
    text = iso.fairness.demographic_parity(data).to_text("pt-BR")
    assert text.startswith("Paridade demográfica\n20%")
    assert "Outras tabelas: " in text
    assert "Other tables" not in text


def test_many_kinds_of_results_print_a_figure_within_the_width(data: iso.Dataset, suite: Any) -> None:
    model = iso.Model.of(lambda frame: (np.asarray(frame["income"]) > 0.5).astype(int), classes=(0, 1))
    asked = iso.Dataset(data.frame, target="loan", protected=["sex"], features=["sex", "income"])
    results = [
        suite,
        iso.fairness.group_metrics(data),
        iso.fairness.equivalence(data),
        iso.fairness.guide("credit"),
        iso.fairness.proxies(data),
        iso.robustness.weak_spots(asked, model),
        iso.robustness.drift({"x": [1.0, 2.0, 3.0] * 30}, {"x": [4.0, 5.0, 6.0] * 30}),
        iso.discovery.find_subgroups(data, max_seconds=5),
        iso.discovery.find_pairs(asked, model, max_tests=50),
        iso.explain.gap(asked, model, attribute="sex", output="decision"),
        iso.compare(*[iso.audit(data, checks=["group_fairness"])] * 2),
    ]
    for result in results:
        for language in ("en", "pt-BR"):
            lines = result.to_text(language).splitlines()
            assert lines[0] == result.title.text(language)
            assert max(map(cell_len, lines)) <= WIDTH, (result.code, max(lines, key=cell_len))
            assert any(char.isdigit() for char in "".join(lines[1:])), f"{result.code} prints no figure"


def test_a_long_table_is_cut_and_says_so() -> None:
    table = Table(
        (Column("group", [f"g{n}" for n in range(40)]), *(Column(f"column number {n}", [0.5] * 40) for n in range(20)))
    )
    text = Result("c", msg("yes"), {"t": table}).to_text()
    assert len(text.splitlines()) < ROWS + 6
    assert f"... {40 - ROWS} more rows; " in text


def test_names_from_data_do_not_command_a_terminal() -> None:
    table = Table((Column("name\x1b[2J", ["a\x1b]0;evil\x07\nb", "\u202edrah"]), Column("n", [1, 2])))
    text = Result("c", msg("yes"), {"t": table}).to_text()
    assert not set(text) & set("\x1b\x07\u202e")
    assert len(text.splitlines()) == 5


def test_the_suffix_says_how_a_result_is_written(suite: Any, tmp_path: Path) -> None:
    page = suite.save(tmp_path / "new" / "suite.html")
    assert page == tmp_path / "new" / "suite.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    text = suite.save(str(tmp_path / "suite.md"), language="pt-BR").read_text(encoding="utf-8")
    assert text == suite.to_markdown("pt-BR")
    with suite.save(tmp_path / "suite.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    parity = next(row for row in rows if row["measure"] == "Demographic parity")
    assert float(parity["value"]) == pytest.approx(0.4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "suite.csv", "suite.md"]


def test_a_path_without_a_suffix_is_a_folder(suite: Any, tmp_path: Path) -> None:
    assert suite.save(tmp_path / "out") == tmp_path / "out"
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["result.html", "result.json", "result.md"]
    assert set(iso.report.save(suite, tmp_path / "again")) == {"html", "json", "md"}


def test_a_result_comes_back_from_json(suite: Any, tmp_path: Path) -> None:
    path = suite.save(tmp_path / "suite.json")
    again = Result.from_json(path.read_bytes())
    assert again.tables["measures"].to_dict() == suite.tables["measures"].to_dict()
    assert again.findings == suite.findings
    assert again.title.text("pt-BR") == suite.title.text("pt-BR")
    assert json.loads(suite.to_json())["overall_fairness_score"]["value"] == suite.overall_fairness_score
    for damaged in ("{", "[]", '{"code": 1}', '{"tables": {"a": {"$": "nothing"}}}', "[" * 100_000):
        with pytest.raises(DataError):
            Result.from_json(damaged)


def test_an_unknown_suffix_is_refused(suite: Any, report: iso.Report, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"ends in '\.docx'.*\.html, \.json, \.md, \.pdf, \.csv"):
        suite.save(tmp_path / "suite.docx")
    with pytest.raises(SpecError, match=r"ends in '\.csv'.*\.html, \.json, \.md, \.pdf;"):
        report.save(tmp_path / "report.csv")
    with pytest.raises(SpecError, match=r"One file holds one form.*leave `formats` out"):
        report.save(tmp_path / "report.html", formats=["json"])
    with pytest.raises(SpecError, match="Only a report or a result"):
        iso.report.save(3, tmp_path / "x.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_a_file_where_the_path_has_a_suffix(report: iso.Report, tmp_path: Path) -> None:
    assert report.save(tmp_path / "x.html") == {"html": tmp_path / "x.html"}
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == report.to_html()
    report.save(tmp_path / "x.json")
    assert iso.Report.load(tmp_path / "x.json").verdict == report.verdict
    assert report.to_json() == (tmp_path / "x.json").read_text(encoding="utf-8")
    assert set(report.save(tmp_path / "2026.11")) == {"html", "json", "md"}, "a number is no suffix"
    (tmp_path / "old.html").mkdir()
    assert set(report.save(tmp_path / "old.html")) == {"html", "json", "md"}, "a folder that is there stays one"


@pytest.mark.browser
def test_a_pdf_is_a_pdf(report: iso.Report, suite: Any, tmp_path: Path) -> None:
    report.save(tmp_path / "o.pdf")
    suite.save(tmp_path / "s.pdf")
    assert all((tmp_path / name).read_bytes().startswith(b"%PDF-") for name in ("o.pdf", "s.pdf"))


def test_a_report_draws_its_checks(report: iso.Report, data: iso.Dataset) -> None:
    figures = report.plot()
    assert "group_fairness" in figures
    assert set(report.plot("group_fairness")) == set(report["group_fairness"].drawings)
    with pytest.raises(NotApplicable, match="no check of the report has pictures"):
        iso.audit(data, checks=["missingness"]).plot()
