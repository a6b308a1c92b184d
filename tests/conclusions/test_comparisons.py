"""Two audits of one biased model: what a reader may conclude where something was not examined again.

The people are 1,200 applicants; 80% of A and 40% of B are granted, whoever asks. Nothing about the model changes, so
no page may say that it got better, that a finding is gone, or that nothing got worse where nobody looked.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import comparison_markdown
from isonomia.cli.app import app

STANDARD = ["performance", "group_fairness", "fairness_suite", "representation"]
FEWER = ["performance", "representation"]


def people(n: int = 1200, seed: int = 0, missing: int = 0) -> dict[str, Any]:
    """Applicants with a race and a sex; B is granted half as often as A."""
    rng = np.random.default_rng(seed)
    race: Any = np.where(np.arange(n) % 2, "A", "B").astype(object)
    sex = rng.choice(["F", "M"], n)
    granted = (rng.random(n) < np.where(race == "A", 0.8, 0.4)).astype(int)
    race[:missing] = None
    return {"race": race, "sex": sex, "granted": granted}


@cache
def audited(
    checks: tuple[str, ...] = tuple(STANDARD),
    policy: str | None = "eeoc",
    protected: tuple[str, ...] = ("race", "sex"),
    n: int = 1200,
    seed: int = 0,
    missing: int = 0,
    missing_rule: str = "group",
) -> iso.Report:
    data = iso.Dataset(people(n, missing=missing), prediction="granted", protected=list(protected), name="applicants")
    return iso.audit(data, checks=list(checks), policy=policy, seed=seed, missing=missing_rule)


def shown(found: iso.audit.Comparison, language: str = "en") -> str:
    return comparison_markdown(found, language)


def test_a_report_and_itself_differ_in_nothing() -> None:
    found = iso.compare(audited(), audited())
    assert found.exit_code == 0
    assert {str(state) for state in found.tables["findings"]["state"].values} == {"unchanged"}
    assert not found.differences
    assert "Nothing got worse" in shown(found)


def test_another_seed_is_the_same_audit() -> None:
    found = iso.compare(audited(), audited(seed=7))
    assert found.exit_code == 0
    assert {str(state) for state in found.tables["findings"]["state"].values} == {"unchanged"}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_check_that_did_not_run_again(language: str) -> None:
    """The gap by race was critical and nobody looked again: not gone, not better, and the exit code is 3."""
    found = iso.compare(audited(policy=None), audited(tuple(FEWER), policy=None))
    states = [str(state) for state in found.tables["findings"]["state"].values]
    assert "gone" not in states
    assert "not examined again" in states
    assert found.exit_code == 3
    text = shown(found, language)
    said = {
        "en": ("Not examined again", "Nothing got worse", "gone"),
        "pt-BR": ("Não examinado de novo", "Nada piorou", "sumiu"),
    }[language]
    assert said[0] in text
    assert said[1] not in text
    assert said[2] not in text.replace("Findings", "")
    assert "group_fairness" not in text  # checks are called by their titles


def test_a_check_that_did_not_run_before_finds_nothing_new() -> None:
    found = iso.compare(audited(tuple(FEWER), policy=None), audited(policy=None))
    states = [str(state) for state in found.tables["findings"]["state"].values]
    assert "new" not in states
    assert "not examined before" in states
    assert found.exit_code == 0


def test_an_attribute_that_is_not_protected_any_more() -> None:
    found = iso.compare(audited(policy=None), audited(policy=None, protected=("sex",)))
    about = [
        str(row["state"])
        for row in found.tables["findings"].rows()
        if "race" in str(row["message"]) or "B" in str(row["message"])
    ]
    assert about
    assert "gone" not in about
    assert found.exit_code == 3


def test_a_correction_for_more_tests_is_no_news() -> None:
    """The same figures, fewer tests to correct for: nothing became more or less severe."""
    found = iso.compare(audited(policy=None), audited(("group_fairness",), policy=None))
    states = {str(state) for state in found.tables["findings"]["state"].values}
    assert not states & {"more severe", "less severe", "new"}


def test_another_policy_stands_above_everything() -> None:
    found = iso.compare(audited(), audited(policy="us-lending"))
    text = shown(found)
    assert text.index("used different policies") < text.index("not asked again")
    assert found.exit_code == 3
    assert "gone" not in {str(state) for state in found.tables["findings"]["state"].values}


def test_a_model_audited_without_its_policy_is_not_cleared() -> None:
    found = iso.compare(audited(), audited(policy=None))
    assert found.exit_code == 3
    assert "Nothing got worse" not in shown(found)


def test_other_rows_are_said() -> None:
    found = iso.compare(audited(), audited(n=800))
    assert any("1,200" in str(one) and "800" in str(one) for one in found.differences)


def test_another_rule_for_missing_values_is_said() -> None:
    found = iso.compare(audited(missing=60), audited(missing=60, missing_rule="exclude"))
    assert any("without a protected value" in str(one) for one in found.differences)
    assert "gone" not in {str(state) for state in found.tables["findings"]["state"].values}


def test_the_page_names_both_audits_and_draws_the_criteria(tmp_path: Path) -> None:
    found = iso.compare(audited(), audited(seed=3))
    page = found.to_html()
    assert page.count("applicants") >= 2
    assert page.index("exceeds") < page.index("Criteria before and after")
    assert "<svg" in page
    again = found.to_html("pt-BR")
    assert "ultrapassa" in again
    assert "Verdict now" not in again


def test_the_command_ends_as_the_function(tmp_path: Path) -> None:
    audited(policy=None).save(tmp_path / "before", formats=["json"])
    audited(tuple(FEWER), policy=None).save(tmp_path / "after", formats=["json"])
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "before"), str(tmp_path / "after")])
    assert done.exit_code == 3
    assert "Not examined again" in done.output
    assert "Nothing got worse" not in done.output


@cache
def granted(rate: float, n: int = 4000) -> iso.Report:
    """80% of A and so many of B are granted; the rule is about the ratio."""
    rows = people(n)
    rng = np.random.default_rng(1)
    rows["granted"] = (rng.random(n) < np.where(rows["race"] == "A", 0.8, rate)).astype(int)
    data = iso.Dataset(rows, prediction="granted", protected=["race"], name=f"release {rate}")
    return iso.audit(data, checks=STANDARD, policy="eeoc")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_model_that_was_fixed(language: str) -> None:
    found = iso.compare(granted(0.4), granted(0.78))
    assert found.exit_code == 0
    text = shown(found, language)
    assert {"en": "Verdict now: meets", "pt-BR": "Veredito atual: atende"}[language] in text
    assert {"en": "Nothing got worse", "pt-BR": "Nada piorou"}[language] in text


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_model_that_got_worse(language: str) -> None:
    found = iso.compare(granted(0.78), granted(0.4))
    assert found.exit_code == 1
    text = shown(found, language)
    assert {"en": "Nothing got worse", "pt-BR": "Nada piorou"}[language] not in text
    worse = str(found.sentences[0])
    assert "meets before, exceeds now" in worse
    assert worse.index("race B") < worse.index("race A")
