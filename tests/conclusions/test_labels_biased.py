"""The model is fair and the recorded outcomes are not: 35% of the favourable outcomes of one group were flipped.

6,000 applicants. Who is good depends on income and savings alone, and so do the decisions; of the good Black people 35%
are on record as bad. Every error rate differs by race then, and each of them accuses the model of what the labels are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.conclusions.reading import LANGUAGES, first_page, matters

import isonomia as iso


def applicants(flipped: float, n: int = 6000, seed: int = 0, gap: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    race = np.where(rng.random(n) < 0.35, "Black", "White")
    income, savings = rng.normal(size=n), rng.normal(size=n)
    merit = income + savings
    good = merit + rng.normal(scale=0.6, size=n) > 0
    recorded = good & ~((race == "Black") & (rng.random(n) < flipped))
    return {
        "race": race,
        "income": income.round(3),
        "savings": savings.round(3),
        "decision": np.where(merit > gap * (race == "Black"), "good", "bad"),
        "outcome": np.where(recorded, "good", "bad"),
    }


@cache
def audited(flipped: float, policy: str | None = None, gap: float = 0.0) -> iso.Report:
    roles: dict[str, Any] = {"target": "outcome", "prediction": "decision", "positive": "good", "protected": ["race"]}
    return iso.audit(iso.Dataset(applicants(flipped, gap=gap), name="loans", **roles), policy=policy, n_boot=50)


@pytest.mark.parametrize("policy", [None, "engineering"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_entry_is_about_the_labels(policy: str | None, language: str) -> None:
    report = audited(0.35, policy)
    assert report.folds[0].first.check == "label_bias"
    assert {"race"} == set(report.folds[0].who)
    first = matters(report, language)[0]
    assert {"en": "most similar people", "pt-BR": "pessoas mais semelhantes"}[language] in first


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_error_rate_says_that_it_takes_the_outcomes_as_true(language: str) -> None:
    report = audited(0.35)
    errors = [one for one in report.findings if one.metric in ("tpr", "fpr", "ppv", "accuracy")]
    assert errors
    said = {
        "en": "This takes the recorded outcomes as true",
        "pt-BR": "Isso supõe que os resultados registrados são verdadeiros",
    }[language]
    for one in errors:
        assert said in one.message.text(language)


def test_the_selection_rates_stand_beside() -> None:
    report = audited(0.35)
    table = report["group_fairness"].tables["by_group"]
    rates = dict(zip(table["group"].values, table["selection_rate"].values, strict=True))
    one = next(one for one in report.findings if one.metric == "ppv")
    (who,), (other,) = one.who.values(), one.reference.values()
    own, base = (f"{100 * rates[f'race={name}']:.0f}%" for name in (who, other))
    assert f"of all, {own} and {base} are selected" in one.message.text() or f"{own} and {base}" in one.message.text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_verdict_on_error_rates_says_so_too(language: str) -> None:
    report = audited(0.35, "engineering")
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"
    said = {"en": "recorded outcomes as true", "pt-BR": "resultados registrados são verdadeiros"}[language]
    assert report.verdict.reason is not None
    assert said in "\n".join(first_page(report, language))


def test_an_unfair_model_with_right_labels_is_not_excused() -> None:
    """Black people need more merit to be granted; the outcomes are right: the first entry is about the decisions."""
    report = audited(0.0, None, 1.0)
    assert dict(report.folds[0].who) == {"race": "Black"}
    assert report.folds[0].first.check == "group_fairness"
    assert not [one for one in report.findings if one.check == "label_bias" and one.severity != "notice"]


def test_right_labels_and_a_fair_model_name_no_labels() -> None:
    assert not [one for one in audited(0.0).findings if one.check == "label_bias" and one.sure]


def test_standard_asks_about_labels_and_proxies() -> None:
    codes = [section.code for section in audited(0.0).document.sections]
    assert {"label_bias", "proxies"} <= {*codes}
