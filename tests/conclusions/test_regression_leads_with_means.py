"""Wages: whatever is decided about them, a reader first meets what women and men are predicted, and what they earn.

Women are predicted 5.05 on average and earn 4.58, men 7.04 and 6.85, exactly, in the unit of the wage.
"""

from __future__ import annotations

import io
import re
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import isonomia as iso
from isonomia.report import summary

SAID = {
    "en": "Women are predicted 5.05 on average (true: 4.58), men 7.04 (6.85).",
    "pt-BR": "Valor previsto médio: mulheres 5,05 (real: 4,58), homens 7,04 (6,85).",
}


def around(mean: float, n: int, spread: float, rng: np.random.Generator) -> Any:
    drawn = rng.normal(0, spread, n)
    return mean + drawn - drawn.mean()


@cache
def audited(policy: str | None, target: bool = True) -> iso.Report:
    rng = np.random.default_rng(0)
    sex = np.repeat(["F", "M"], [500, 500])
    frame = {
        "sex": sex,
        "guess": np.concatenate([around(5.05, 500, 0.8, rng), around(7.04, 500, 0.8, rng)]),
        "wage": np.concatenate([around(4.58, 500, 1.0, rng), around(6.85, 500, 1.0, rng)]),
    }
    if not target:
        del frame["wage"]
    data = iso.Dataset(
        frame, target="wage" if target else None, prediction="guess", protected=["sex"], task="regression"
    )
    return iso.audit(data, policy=policy, checks="group_fairness", n_boot=50)


def first_page(report: iso.Report, language: str) -> str:
    html = report.to_html(language, extent="first_page")
    return " ".join(unescape(re.sub("<[^>]+>", " ", html[html.index("<main") :])).split())


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("policy", [None, "engineering-regression"])
def test_the_means_come_first(policy: str | None, language: str) -> None:
    page = first_page(audited(policy), language)
    assert SAID[language] in page
    if policy is not None:
        reason = audited(policy).verdict.reason.text(language)  # type: ignore[union-attr]
        assert page.index(SAID[language]) < page.index(reason)
    assert SAID[language] in re.sub(r"\\", "", audited(policy).to_markdown(language))
    screen = io.StringIO()
    Console(file=screen, width=200, no_color=True).print(summary(audited(policy).document, language))
    assert SAID[language] in screen.getvalue()


def test_without_true_outcomes_the_predictions_alone_are_said() -> None:
    page = first_page(audited(None, target=False), "en")
    assert "Women are predicted 5.05 on average, men 7.04." in page


def test_decisions_have_no_means() -> None:
    frame = {"sex": ["F", "M"] * 200, "granted": [1, 0, 1, 1] * 100}
    data = iso.Dataset(frame, prediction="granted", protected=["sex"])
    page = first_page(iso.audit(data, checks="group_fairness", n_boot=50), "en")
    assert "on average" not in page


def test_of_many_groups_the_lowest_and_the_highest_are_said() -> None:
    rng = np.random.default_rng(1)
    place = np.repeat([f"{letter} hill" for letter in "abcdefghi"], 60)
    guess = np.repeat(np.arange(1.0, 10.0), 60) + np.tile([-0.5, 0.5], 270)
    frame = {"place": place, "guess": guess, "wage": guess + rng.normal(0, 0.1, 540)}
    data = iso.Dataset(frame, target="wage", prediction="guess", protected=["place"], task="regression")
    page = first_page(iso.audit(data, checks="group_fairness", n_boot=50), "en")
    first = r"People with place a hill are predicted 1.00 on average \(true: .*?\)"
    found = re.search(first + r", (.*?) 9.00 \(.*?\)\.", page)
    assert found is not None, page
    assert found[1] == "people with place i hill"
