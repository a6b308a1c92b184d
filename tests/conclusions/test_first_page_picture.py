"""The picture under the verdict: each group against the limit, with the figure and the interval of the sentence.

2,000 applicants of three races: 80% of A, 78% of B and 40% of C are granted, whoever asks. C must be seen left of the
limit of 0.80 with its whole interval, B right of it, A as who they are compared with.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pytest

import isonomia as iso

RATES = {"A": 0.80, "B": 0.78, "C": 0.40}
SIZES = {"A": 1000, "B": 600, "C": 400}


@cache
def audited(policy: str | None = "eeoc", checks: str = "group_fairness") -> iso.Report:
    race = np.repeat(list(SIZES), list(SIZES.values()))
    granted = np.concatenate([np.arange(n) < round(RATES[one] * n) for one, n in SIZES.items()]).astype(int)
    truth = np.tile([1, 0], 1000)
    frame: dict[str, Any] = {"race": race, "granted": granted, "repaid": truth}
    data = iso.Dataset(frame, target="repaid", prediction="granted", protected=["race"], name="loans")
    return iso.audit(data, checks=[checks], policy=policy, n_boot=50)


def picture(html: str, size: str = "wide") -> str:
    """The drawing that stands between the verdict and who is affected."""
    first = html[html.index('<section class="first-page">') :]
    found = re.search(rf'<figure class="limits">.*?(<svg class="{size}".*?</svg>).*?</figure>', first, re.DOTALL)
    assert found, "no picture under the verdict"
    return found[1]


def texts(drawing: str) -> list[str]:
    return [unescape(re.sub("<[^>]+>", "", one)) for one in re.findall(r"<text\b.*?</text>", drawing, re.DOTALL)]


@pytest.mark.parametrize("extent", ["whole", "short", "first_page"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_every_group_stands_against_the_limit(extent: Any, size: str) -> None:
    drawing = picture(audited().to_html(extent=extent), size)
    shown = texts(drawing)
    assert [one for one in shown if re.fullmatch("race [ABC]", one)] == ["race C", "race B", "race A"]
    assert drawing.count('class="point"') == 3
    assert "limit 0.80" in shown
    assert [one for one in shown if re.match(r"[\d.]+% ·", one)] == ["40.0% · 400", "78.0% · 600", "80.0% · 1,000"]
    line = float(re.search(r'class="reference"[^>]*d="M([\d.]+)|d="M([\d.]+)[^>]*class="reference"', drawing)[2])  # type: ignore[index]
    spots = [float(x) for x in re.findall(r'<circle[^>]*cx="([\d.]+)"', drawing)]
    assert spots[0] < line < spots[1] < spots[2]


@pytest.mark.parametrize(("language", "mark"), [("en", "."), ("pt-BR", ",")])
def test_the_headline_figure_is_large(language: str, mark: str) -> None:
    html = audited().to_html(language, extent="first_page")
    found = re.search(r'<p class="headline">\s*<strong>(.*?)</strong>\s*(<span.*?</span>)', html, re.DOTALL)
    assert found is not None
    assert found[1] == f"0{mark}50"
    assert re.sub("<[^>]+>", "", found[2]) == {"en": "limit 0.80", "pt-BR": "limite 0,80"}[language]


def test_the_picture_says_what_the_sentence_says() -> None:
    """One figure, one interval: of the group that the verdict names both are the verdict's."""
    criterion = audited().verdict.criteria[0]  # type: ignore[union-attr]
    groups = {one.who["race"]: one for one in criterion.groups}
    assert list(groups) == ["C", "B", "A"]
    worst = groups["C"].figure
    assert (worst.value, worst.low, worst.high) == (
        criterion.estimate.value,
        criterion.estimate.low,
        criterion.estimate.high,
    )
    assert groups["B"].figure.value == pytest.approx(0.78 / 0.80)
    assert groups["A"].figure.value == 1.0
    assert groups["A"].figure.low is None
    assert {name: (one.value, one.figure.n) for name, one in groups.items()} == {
        name: (RATES[name], SIZES[name]) for name in SIZES
    }


def test_a_reader_who_cannot_see_it_hears_it() -> None:
    html = audited().to_html(extent="first_page")
    label = re.search(r'<figure class="limits">.*?role="img" aria-label="([^"]*)"', html, re.DOTALL)
    assert label is not None
    said = unescape(label[1])
    assert "race C: 0.50 [0.4" in said
    assert "race B: 0.97 [" in said
    assert "limit 0.80" in said


def chips(html: str) -> list[str]:
    found = re.search(r'<ul class="criteria"[^>]*>(.*?)</ul>', html, re.DOTALL)
    assert found is not None
    return [re.sub("<[^>]+>", "", one).strip() for one in re.findall("<li.*?</li>", found[1], re.DOTALL)]


def test_every_criterion_is_a_chip() -> None:
    assert chips(audited().to_html(extent="first_page")) == ["race: exceeds"]


def test_of_several_rules_each_has_a_chip_for_each_outcome() -> None:
    shown = chips(audited("engineering").to_html(extent="first_page"))
    assert shown[0].endswith("by race: exceeds")
    assert any(one.startswith("accuracy") for one in shown)
    assert len(shown) == len(set(shown)) == 4


def test_without_a_policy_the_first_finding_is_drawn() -> None:
    report = audited(None)
    shown = texts(picture(report.to_html(extent="first_page")))
    assert any(one == "race C" for one in shown)
    assert any(one == "race B" for one in shown)


def test_a_stored_report_has_the_same_picture(tmp_path: Any) -> None:
    report = audited()
    report.save(tmp_path)
    again = iso.Report.load(tmp_path)
    assert again.to_html(extent="first_page") == report.to_html(extent="first_page")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "loans · 400 records · December 31, 2023 to March 1, 2024"),
        ("pt-BR", "loans · 400 registros · 31 de dezembro de 2023 a 1º de março de 2024"),
    ],
)
def test_the_title_says_what_was_examined_and_of_when(language: str, said: str) -> None:
    days = ["2024-03-01", "2023-12-31"] * 200
    frame = {"race": ["A", "B"] * 200, "granted": [1, 0, 0, 1] * 100, "day": days}
    data = iso.Dataset(frame, prediction="granted", protected=["race"], time="day", name="loans")
    html = iso.audit(data, checks="representation", n_boot=50).to_html(language)
    assert said in re.sub("<[^>]+>", "", html[html.index("<header") : html.index("</header>")])
