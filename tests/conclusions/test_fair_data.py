"""A model that treats everybody alike: the first page names nobody.

2,000 people by sex, race and two columns that mean nothing; decisions and outcomes are drawn alike for all of them.
Every figure of some group differs from others by chance, and some always exceed the default thresholds.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.conclusions.reading import LANGUAGES, matters, text

import isonomia as iso

GROUPS = ("women", "men", "Black", "White", "Asian", "sex", "race", "mulheres", "homens")


@cache
def audited(policy: str | None, seed: int, n: int = 2000) -> iso.Report:
    rng = np.random.default_rng(seed)
    outcome = rng.random(n) < 0.5
    decided = np.where(rng.random(n) < 0.75, outcome, ~outcome)
    frame = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["Black", "White", "Asian"], n, p=[0.3, 0.6, 0.1]),
        "income": rng.normal(size=n),
        "town": rng.choice(["x", "y", "z"], n),
        "decided": decided.astype(int),
        "repaid": outcome.astype(int),
    }
    data = iso.Dataset(frame, target="repaid", prediction="decided", protected=["sex", "race"], name="loans")
    return iso.audit(data, policy=policy, n_boot=50)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_a_policy_nobody_is_named(seed: int, language: str) -> None:
    report = audited(None, seed)
    said = {
        "en": "No check found anybody who is treated differently or served worse.",
        "pt-BR": "Nenhuma verificação encontrou pessoas tratadas de forma diferente ou mais mal atendidas.",
    }[language]
    page = text(report, language)
    assert said in page
    assert not [name for name in GROUPS if name in page.split("\n") or f" {name} " in page.replace("\n", " ")]


@pytest.mark.parametrize("seed", [0, 1])
def test_with_a_policy_the_limits_are_met_and_nobody_stands_under_them(seed: int) -> None:
    report = audited("eeoc", seed, 6000)
    assert report.verdict is not None
    assert report.verdict.outcome == "meets"
    lines = matters(report)
    assert lines[0].startswith("Nothing exceeds the limits.")
    assert not [name for name in GROUPS if name in "\n".join(lines)]


def test_what_may_be_chance_is_still_in_the_report() -> None:
    report = audited(None, 1)
    doubtful = [one for one in report.findings if one.sure is False]
    assert doubtful
    assert {one.severity for one in doubtful} == {"notice"}
    assert report.findings[: len(report.findings) - len(doubtful)] == tuple(
        one for one in report.findings if one.sure is not False
    )


def test_a_planted_gap_is_named() -> None:
    """The same page with a gap: who is hidden on fair data is not hidden always."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 2000)
    frame = {"sex": sex, "decided": (rng.random(2000) < np.where(sex == "F", 0.4, 0.7)).astype(int)}
    report = iso.audit(iso.Dataset(frame, prediction="decided", protected=["sex"]), n_boot=50)
    assert "women" in matters(report)[0].lower()
