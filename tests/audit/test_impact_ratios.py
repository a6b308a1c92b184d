"""Impact ratios and scoring rates as New York City's rule asks, and the summary that is published."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import bias_audit_summary
from isonomia.cli.app import app

runner = CliRunner()


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = 1500
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["women", "men", None], n, p=[0.45, 0.5, 0.05]),
            "race": rng.choice(["Black", "White", "Native"], n, p=[0.3, 0.69, 0.01]),
        }
    )
    frame["score"] = rng.normal(0, 1, n) + 0.5 * (frame["sex"] == "men")
    frame["p"] = (frame["score"] > 0.4).astype(int)
    return frame


def audited(frame: pd.DataFrame, **roles: Any) -> iso.Report:
    data = iso.Dataset(frame, protected=["sex", "race"], **roles)
    return iso.audit(data, policy="nyc-ll144", checks="representation")


def by_hand(
    frame: pd.DataFrame, selected: pd.Series
) -> dict[tuple[tuple[str, str], ...], tuple[int, int, float | None]]:
    """People, selected and ratio of each category by plain pandas."""
    found = {}
    for way in (["sex"], ["race"], ["sex", "race"]):
        groups = selected.groupby([frame[name] for name in way]).agg(["size", "sum"])
        rate = groups["sum"] / groups["size"]
        best = rate[groups["size"] >= 0.02 * len(frame)].max()
        for key, row in groups.iterrows():
            values = key if isinstance(key, tuple) else (key,)
            ratio = rate[key] / best if row["size"] >= 0.02 * len(frame) else None
            found[tuple(zip(way, values, strict=True))] = (int(row["size"]), int(row["sum"]), ratio)
    return found


@pytest.mark.parametrize("scoring", [False, True])
def test_rates_and_ratios_are_those_of_pandas(candidates: pd.DataFrame, scoring: bool) -> None:
    if scoring:
        frame = candidates[["sex", "race", "score"]]
        report = audited(frame, prediction="score", task="regression")
        selected = candidates["score"] > candidates["score"].median()
    else:
        frame = candidates[["sex", "race", "p"]]
        report = audited(frame, prediction="p")
        selected = candidates["p"] == 1
    table = report["impact_ratios"].tables["impact_ratios"]
    expected = by_hand(candidates, selected)
    assert set(table["group"].keys or ()) == set(expected)
    for row, key in enumerate(table["group"].keys or ()):
        n, hits, ratio = expected[key]
        assert (table["n"].values[row], table["selected"].values[row]) == (n, hits)
        figure = table["ratio"].estimate(row)
        if ratio is None:
            assert figure.value is None
            assert "less than 2.0% of the people" in str(figure.note)
            assert table["rate"].estimate(row).value is not None, "count and rate stay shown"
        else:
            assert figure.value == pytest.approx(ratio)
            assert figure.low is not None
            assert figure.high is not None
            assert figure.low <= figure.value <= figure.high
    unknown = report["impact_ratios"].tables["unknown"]
    assert unknown["n"].values.tolist() == [candidates["sex"].isna().sum(), 0, candidates["sex"].isna().sum()]  # type: ignore[union-attr]
    assert report.verdict is not None
    assert report.verdict.outcome == "documents"
    assert report.exit_code == 0


def test_the_rate_is_chosen() -> None:
    frame = pd.DataFrame({"sex": ["a", "b"] * 100, "score": np.linspace(0, 1, 200)})
    data = iso.Dataset(frame, score="score", positive=1, target=None, protected=["sex"])
    scores = iso.audit(data, checks="impact_ratios", options={"impact_ratios": {"rate": "scoring"}})
    assert "scoring rate" in str(scores["impact_ratios"].tables["impact_ratios"]["rate"].title)
    assert "sample's median, 0.50." in str(scores["impact_ratios"].notes[-1])


def test_nobody_selected_has_no_ratio() -> None:
    frame = pd.DataFrame({"sex": ["a", "b"] * 100, "p": ["yes"] + ["no"] * 199})
    table = audited_one(frame.assign(p="no"))
    assert {str(table["ratio"].estimate(row).note) for row in range(len(table))} == {
        "nobody was selected in any category"
    }


def audited_one(frame: pd.DataFrame) -> Any:
    known = pd.concat([frame, pd.DataFrame({"sex": [None], "p": ["yes"]})])
    data = iso.Dataset(known, prediction="p", positive="yes", protected=["sex"])
    return iso.audit(data, checks="impact_ratios")["impact_ratios"].tables["impact_ratios"]


@pytest.fixture(scope="module")
def saved(candidates: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ll144")
    audited(candidates[["sex", "race", "p"]], prediction="p", name="applications 2026").save(folder, formats=["json"])
    return folder


def test_the_summary_holds_what_the_rule_asks_for(saved: Path) -> None:
    shown = runner.invoke(app, ["card", str(saved), "--distributed", "2026-02-01", "--explanation", "all applicants"])
    assert shown.exit_code == 0, shown.output
    for text in (
        "Date of the bias audit",
        "February 1, 2026",
        "applications 2026",
        "all applicants",
        "Number of people | 1,500",
        "People of unknown category",
        ", Black |",
        "less than 2.0% of the people: left out of the ratio",
    ):
        assert text in shown.stdout, text
    portuguese = runner.invoke(app, ["card", str(saved), "--lang", "pt-BR"]).stdout
    assert "Resumo de auditoria de viés" in portuguese
    assert "Impact ratios" not in portuguese
    assert "race=" not in portuguese


@pytest.mark.parametrize("suffix", ["md", "html", "csv"])
def test_the_summary_is_written(saved: Path, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"summary.{suffix}"
    assert runner.invoke(app, ["card", str(saved), "--out", str(file)]).exit_code == 0
    assert "0.0% of the people" in file.read_text(encoding="utf-8") or "2.0% of the people" in file.read_text()


def test_an_old_audit_is_flagged_and_another_report_is_refused(saved: Path) -> None:
    report = iso.Report.load(saved)
    made = date.fromisoformat(report.document.created[:10])
    fresh = bias_audit_summary(report, on=made.replace(year=made.year + 1) if made.day != 29 else made)
    assert not any("more than one year" in str(note) for note in fresh.notes)
    old = bias_audit_summary(report, on=date(made.year + 2, 1, 1))
    assert "more than one year old" in str(old.notes[0])
    frame = pd.DataFrame({"sex": ["a", "b"] * 50, "p": [0, 1] * 50})
    other = iso.audit(iso.Dataset(frame, prediction="p", protected=["sex"]), checks="representation")
    with pytest.raises(iso.SpecError, match="nyc-ll144"):
        bias_audit_summary(other)
    assert runner.invoke(app, ["card", str(saved), "--out", "x.pdf"]).exit_code == 2


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_page_is_a_notice(saved: Path, tmp_path: Path, language: str) -> None:
    file = tmp_path / "notice.html"
    words = ["card", str(saved), "--out", str(file), "--lang", language, "--distributed", "2026-02-01"]
    assert runner.invoke(app, words).exit_code == 0
    html = file.read_text(encoding="utf-8")
    body = html.split("<main")[1].split("</main>")[0]
    assert "no findings" not in body
    assert "achados" not in body
    assert "<button" not in body
    assert "<details" not in body
    assert body.count("<table") == 3  # by sex, by race, by both


def test_the_fields_stand_in_the_order_of_the_rule(saved: Path) -> None:
    """6 RCNY 5-303(a): date; source and explanation; unknown; applicants, rates, ratios; the day of distribution."""
    shown = runner.invoke(app, ["card", str(saved), "--distributed", "2026-02-01"]).stdout
    fields = ("Date of the bias audit", "Source of the data", "Explanation of the data", "People of unknown category")
    fields += ("Number of people", "selection rate", "impact ratio", "Distribution date of the tool")
    places = [shown.index(field) for field in fields]
    assert places == sorted(places)


def test_one_number_of_decimals_and_no_interval_where_nothing_is_estimated(saved: Path) -> None:
    shown = runner.invoke(app, ["card", str(saved)]).stdout
    assert re.search(r"1\.000? \\?\[1\.0", shown) is None
    ratios = [line.split("|")[5].strip() for line in shown.splitlines() if line.startswith("|") and "%" in line]
    known = [one for one in ratios if one and one[0].isdigit()]
    assert len(known) > 5
    assert all(re.fullmatch(r"\d\.\d{3}", one) for one in known)
    assert "1.000" in known
    unknown = next(line for line in shown.splitlines() if "People of unknown category" in line)
    assert "[" not in unknown
    assert re.search(r"\| \d+", unknown)
