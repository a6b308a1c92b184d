"""Whom the first page names first: what breaks the policy, then how severe it is, then how many people it concerns.

3,000 applicants: half of B and 80% of A are granted, whatever they are like. The scores are 25 points too low for
everybody, which changes nobody's decision. Readers must meet B first, and the scores as one statement about the model.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.conclusions.reading import LANGUAGES, first_page

import isonomia as iso
from isonomia.evidence import SEVERITIES, TIERS

RACES = {"A": 0.8, "B": 0.5, "C": 0.55}


def applicants(n: int = 3000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], n, p=[0.7, 0.2, 0.1])
    sex = rng.choice(["F", "M"], n)
    granted = (rng.random(n) < np.array([RACES[one] for one in race])).astype(int)
    chance = rng.uniform(0.3, 0.95, n)
    return {
        "race": race,
        "sex": sex,
        "granted": granted,
        "score": chance - 0.25,
        "repaid": (rng.random(n) < chance).astype(int),
    }


@cache
def audited(policy: str | None = None, checks: str = "standard") -> iso.Report:
    data = iso.Dataset(
        applicants(), target="repaid", prediction="granted", score="score", protected=["race", "sex"], name="loans"
    )
    return iso.audit(data, checks=checks, policy=policy, n_boot=50)


@pytest.mark.parametrize("policy", [None, "eeoc"])
def test_the_group_that_is_refused_leads_and_not_the_scores(policy: str | None) -> None:
    report = audited(policy)
    first = report.folds[0]
    assert dict(first.who) == {"race": "B"}
    assert first.severity == first.first.severity == "critical"
    assert first.first.metric == ("tpr" if policy is None else "selection_rate"), "the policy is about decisions"


@pytest.mark.parametrize("policy", [None, "eeoc"])
def test_no_finding_stands_before_a_more_severe_one(policy: str | None) -> None:
    order = [(one.tier != "policy", SEVERITIES.index(one.severity)) for one in audited(policy).findings]
    assert order == sorted(order)
    for entry in audited(policy).folds:
        assert entry.first.severity == min((one.severity for one in entry.findings), key=SEVERITIES.index)
    assert TIERS[0] == "policy"


def test_two_groups_are_two_entries() -> None:
    critical = [dict(entry.who) for entry in audited().folds if entry.severity == "critical"]
    assert {"race": "B"} in critical
    assert {"race": "C"} in critical


def test_a_bias_that_all_share_is_one_statement_about_the_model() -> None:
    scores = [one for one in audited().findings if one.check == "calibration"]
    assert [dict(one.who) for one in scores] == [{}]
    (one,) = scores
    assert one.people is not None
    assert one.people.value is None
    assert one.people.note


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_it_in_this_order(language: str) -> None:
    """B, then C, then the scores; and nobody is affected by a score that is too low."""
    lines = first_page(audited(), language)
    scores = {"en": "Predicted probabilities are", "pt-BR": "As probabilidades previstas ficam"}[language]
    at = [next(index for index, line in enumerate(lines) if said in line) for said in ("race B", "race C", scores)]
    assert at == sorted(at)
    assert not [word for word in ("people are affected", "pessoas são afetadas") if word in lines[at[2]]]
