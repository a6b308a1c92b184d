"""Two releases compared: criteria, gaps and ratios, with what counts and what is tolerated chosen by the user."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import comparison_markdown
from isonomia.cli.app import app
from isonomia.cli.output.junit import comparison_junit
from isonomia.evidence.simultaneous import simultaneous_level

runner = CliRunner()


def decided(**groups: tuple[int, int]) -> iso.Dataset:
    """People of groups, each with (selected, all)."""
    rows = [(name, int(row < selected)) for name, (selected, n) in groups.items() for row in range(n)]
    return iso.Dataset(pd.DataFrame(rows, columns=["race", "p"]), prediction="p", protected=["race"])


def audited(policy: Any = "eeoc", **groups: tuple[int, int]) -> iso.Report:
    return iso.audit(decided(**groups), policy=policy, checks="group_fairness")


@pytest.fixture(scope="module")
def releases() -> tuple[iso.Report, iso.Report]:
    """Two models of the same people: the second was trained on decisions that favour men."""
    rng = np.random.default_rng(5)
    n = 3000
    sex, skill = rng.choice(["women", "men"], n), rng.normal(0, 1, n)
    fair = (skill + rng.normal(0, 0.5, n) > 0).astype(int)
    biased = (skill + 0.9 * (sex == "men") + rng.normal(0, 0.5, n) > 0.45).astype(int)
    features = np.column_stack([skill, sex == "men"]).astype(float)
    data = iso.Dataset({"sex": sex, "skill": skill, "hired": fair}, target="hired", protected=["sex"])

    def report(labels: Any) -> iso.Report:
        model = LogisticRegression().fit(features, labels)

        def predict(rows: Any) -> Any:
            return model.predict(
                np.column_stack([np.asarray(rows["skill"]), np.asarray(rows["sex"]) == "men"]).astype(float)
            )

        return iso.audit(data, predict, policy="eeoc", checks="quick")

    return report(fair), report(biased)


def test_a_worse_release_is_named_with_its_criteria_and_gaps(releases: tuple[iso.Report, iso.Report]) -> None:
    found = iso.compare(*releases)
    assert found.worse
    assert found.exit_code == 1
    assert found.worse_in[:2] == ("criteria", "gaps")
    (row,) = found.tables["criteria"].rows()
    assert (row["criterion"], row["outcome_before"], row["outcome_after"]) == (
        "selection-rate-ratio[sex]",
        "meets",
        "exceeds",
    )
    assert "Of women, 35% are hired; of men, 68%: a ratio of 0.52." in str(found.sentences[0])
    assert "meets before, exceeds now" in str(found.sentences[0])
    assert not [text for text in map(str, found.sentences[1:]) if "sex=" in text]
    assert "sex=" not in comparison_markdown(found)
    better = iso.compare(*releases[::-1])
    assert "criteria" not in better.worse_in
    assert "gaps" not in better.worse_in


def test_the_growth_of_a_gap_is_that_of_two_samples() -> None:
    """|d2| - |d1| with the standard errors of both, by hand, at the level that all gaps share."""
    before, after = audited(a=(500, 1000), b=(480, 1000)), audited(a=(500, 1000), b=(380, 1000))
    rows = list(iso.compare(before, after).tables["gaps"].rows())
    row = next(row for row in rows if str(row["kind"]) == "difference")
    assert row["growth"] == pytest.approx(0.10)
    variance = sum(p * (1 - p) / 1000 for p in (0.5, 0.48, 0.5, 0.38))
    z = stats.norm.ppf(0.5 + simultaneous_level(0.95, len(rows)) / 2)
    assert row["growth_high"] - row["growth"] == pytest.approx(z * np.sqrt(variance), rel=0.02)
    assert row["trend"] == "worse"


def test_a_gap_that_changes_sides_grows_by_its_distance_from_equality() -> None:
    row = next(
        iso.compare(audited(a=(500, 1000), b=(400, 1000)), audited(a=(400, 1000), b=(500, 1000))).tables["gaps"].rows()
    )
    assert row["growth"] == pytest.approx(0, abs=1e-12)
    assert row["trend"] == "unclear"


def test_false_alarms_are_rare() -> None:
    """Two samples of one model: that any gap seems to grow has at most the promised chance, up to the simulation."""
    rng = np.random.default_rng(0)
    alarms = []
    for _ in range(60):
        groups = [{name: (int(rng.binomial(400, 0.4)), 400) for name in "abc"} for _ in "ab"]
        first, second = (audited(None, **one) for one in groups)
        alarms.append("gaps" in iso.compare(first, second).worse_in)
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_a_tolerance_allows_what_is_within_it() -> None:
    before, after = audited(a=(5000, 10_000), b=(4900, 10_000)), audited(a=(5000, 10_000), b=(4500, 10_000))
    assert "gaps" in iso.compare(before, after).worse_in
    assert "gaps" not in iso.compare(before, after, tolerance=0.08).worse_in
    with pytest.raises(iso.SpecError, match="tolerance"):
        iso.compare(before, after, tolerance=1.5)


def test_what_counts_is_chosen() -> None:
    before, after = audited(a=(5000, 10_000), b=(4900, 10_000)), audited(a=(5000, 10_000), b=(4500, 10_000))
    assert [iso.compare(before, after, fail_on=on).exit_code for on in ("criteria", "gaps", "any")] == [0, 1, 1]
    with pytest.raises(iso.SpecError, match="no verdict of the same policy"):
        iso.compare(before, audited(None, a=(5, 10), b=(5, 10)), fail_on="criteria")


def test_evidence_that_is_no_longer_enough_is_worse_only_where_the_policy_says_so() -> None:
    rule = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.8}
    for when, expected in (("unsure", ()), ("exceeds", ("criteria",))):
        policy = {"id": "own", "title": "own", "when_unsure": when, "rules": [rule]}
        before, after = audited(policy, a=(500, 1000), b=(500, 1000)), audited(policy, a=(25, 50), b=(25, 50))
        assert iso.compare(before, after).worse_in == expected


def test_markdown_page_junit_and_json_say_the_same(releases: tuple[iso.Report, iso.Report], tmp_path: Path) -> None:
    for name, report in zip(("before", "after"), releases, strict=True):
        report.save(tmp_path / name, formats=["json"])
    files = [tmp_path / "pr" / f"comparison.{form}" for form in ("md", "html", "json")]
    options = [word for file in files for word in ("--out", str(file))]
    junit = tmp_path / "pr" / "junit.xml"
    words = ["compare", str(tmp_path / "before"), str(tmp_path / "after"), *options, "--junit", str(junit)]
    done = runner.invoke(app, words)
    assert done.exit_code == 1, done.output
    assert done.stdout.startswith("Verdict now: exceeds. Before: meets.\n")
    assert "\n1 of 1 criterion and " in done.stdout
    assert "**1 of 1 criterion and " in files[0].read_text(encoding="utf-8")
    assert "Criteria before and after" in files[1].read_text(encoding="utf-8")
    assert json.loads(files[2].read_text(encoding="utf-8"))["worse_in"][0] == "criteria"
    failed = [case.get("name") for case in ET.parse(junit).iter("testcase") if case.find("failure") is not None]
    assert "selection-rate-ratio[sex]" in failed
    assert "selection_rate.difference[sex=women / sex=men]" in failed
    again = comparison_junit(iso.compare(*releases, fail_on="criteria"))
    assert [
        case.get("name") for case in ET.fromstring(again.encode()).iter("testcase") if case.find("failure") is not None
    ] == ["selection-rate-ratio[sex]"]
    assert runner.invoke(app, [*words[:3], "--out", "x.pdf"]).exit_code == 2


def test_it_is_written_in_portuguese(releases: tuple[iso.Report, iso.Report]) -> None:
    text = comparison_markdown(iso.compare(*releases), "pt-BR")
    assert "Pioraram 1 de 1 critério e 6 de 7 diferenças." in text
    assert "got worse" not in text
    assert "difference" not in text


def test_a_finding_about_the_worst_group_is_the_same_whichever_group_is_worst() -> None:
    """The ratio by race is broken before and after; who is worst off changes."""
    before = audited(a=(500, 1000), b=(200, 1000), c=(300, 1000))
    after = audited(a=(500, 1000), b=(300, 1000), c=(200, 1000))
    states = {str(row["state"]) for row in iso.compare(before, after).tables["findings"].rows()}
    assert states == {"unchanged"}


def test_new_findings_come_before_those_that_are_gone_and_severity_is_compared() -> None:
    rows = list(
        iso.compare(
            audited(None, a=(500, 1000), b=(385, 1000), c=(250, 1000), d=(500, 1000)),
            audited(None, a=(500, 1000), b=(250, 1000), c=(500, 1000), d=(250, 1000)),
        )
        .tables["findings"]
        .rows()
    )
    assert [str(row["state"]) for row in rows] == ["new", "more severe", "gone"]


def test_the_headline_counts_also_what_does_not_count() -> None:

    before, after = audited(a=(5000, 10_000), b=(4900, 10_000)), audited(a=(5000, 10_000), b=(4500, 10_000))
    assert str(iso.compare(before, after, fail_on="criteria").headline) == "0 of 1 criterion and 2 of 2 gaps got worse."
    assert "e 2 de 2 diferenças" in iso.compare(before, after).headline.text("pt-BR")
    assert str(iso.compare(before, after, fail_on="any").headline).endswith("figures got worse.")
    assert str(iso.compare(before, before).headline).startswith("Nothing got worse")


def test_no_english_is_left_in_portuguese(releases: tuple[iso.Report, iso.Report]) -> None:
    page = iso.compare(*releases).to_html("pt-BR")
    words = set(re.findall(r"[\w_]+", html.unescape(re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", page, flags=re.S))))
    assert {"anterior", "atual"} <= words
    assert not words & {
        "critical",
        "warning",
        "notice",
        "same",
        "changed",
        "worse",
        "better",
        "exceeds",
        "meets",
        "overall",
    }
    assert not {word for word in words if "_" in word}, "codes"


def test_audits_of_different_outcomes_share_nothing_to_compare(releases: tuple[iso.Report, iso.Report]) -> None:
    other = iso.audit(
        {"team": ["a", "b"] * 40, "y": [0, 1] * 40, "p": [0, 1] * 40}, target="y", prediction="p", protected=["team"]
    )
    compared = iso.compare(releases[0], other)
    assert "different outcomes: hired and y" in "".join(map(str, compared.differences))
    assert "**Nothing could be compared" in comparison_markdown(compared)
    assert not compared.worse
