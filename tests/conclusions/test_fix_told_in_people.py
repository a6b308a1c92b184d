"""A recommendation says both sides in people, counted on those that the fix has not seen; a count has no interval."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.report import to_html, to_markdown
from isonomia.report.words import people_affected


@cache
def applicants() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    n = 3000
    sex = rng.choice(["F", "M"], n)
    skill = rng.normal(size=n)
    granted = np.where(skill + 0.7 * (sex == "M") + 0.6 * rng.normal(size=n) > 0.4, "granted", "denied")
    return pd.DataFrame({"sex": sex, "skill": skill, "decision": granted})


@cache
def fixed(limit: float = 0.15) -> Any:
    data = iso.Dataset(applicants(), target="decision", positive="granted", protected=["sex"])
    methods = ["thresholds"]
    return iso.mitigate(
        data,
        "logistic",
        goal="demographic_parity",
        limit=limit,
        methods=methods,
        attribute_at_decision=True,
        folds=3,
    )


def counted(found: Any, method: str) -> dict[str, int]:
    """By hand from the decisions themselves: people won and lost of each sex, and wrong decisions."""
    frame = applicants()
    sex, truth = frame["sex"].to_numpy(), (frame["decision"] == "granted").to_numpy()
    was, now = np.asarray(found.judged.comparison.was), np.asarray(found.decisions[method])
    return {
        "changed": int((was != now).sum()),
        **{group: int(now[sex == group].sum()) - int(was[sex == group].sum()) for group in ("F", "M")},
        "wrong": int((now != truth).sum()) - int((was != truth).sum()),
    }


def test_the_best_fix_says_whom_it_helps_whom_it_costs_and_how_many_are_wrong() -> None:
    found = fixed()
    assert found.best == "thresholds", found.to_text()
    by_hand = counted(found, found.best)
    said = found.findings[0].message.text()
    assert f"{by_hand['changed']:,} decisions change" in said
    assert f"{abs(by_hand['F'])} more women and {abs(by_hand['M'])} fewer men would be granted" in said
    number, way = re.search(r"(\d+|one) (more|fewer) decisions? of 3,000 would be wrong", said).groups()
    assert {"one": 1}.get(number, number) in (abs(by_hand["wrong"]), str(abs(by_hand["wrong"])))
    assert way == ("more" if by_hand["wrong"] > 0 else "fewer")


def test_in_portuguese() -> None:
    said = fixed().findings[0].message.text("pt-BR")
    by_hand = counted(fixed(), "thresholds")
    assert f"{abs(by_hand['F'])} mulheres a mais" in said
    assert f"{abs(by_hand['M'])} homens a menos" in said
    assert "estaria" in said
    assert "would" not in said


def test_the_closest_fix_says_it_too_and_where_the_limit_is_still_missed() -> None:
    found = fixed(0.0001)
    assert found.best is None
    said = found.findings[0].message.text()
    by_hand = counted(found, "thresholds")
    assert "No fix is shown to meet the limit" in said
    assert f"{abs(by_hand['F'])} more women" in said


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_count_has_no_interval(language: str) -> None:
    assert people_affected(fixed().findings[0], language) == ""  # the sentence has the count
    for text in (to_html(fixed(), language), to_markdown(fixed(), language)):
        assert re.search(r"(\d+) (?:to|a) \1\b", text) is None
