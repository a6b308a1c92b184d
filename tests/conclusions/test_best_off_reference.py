"""Nobody named a privileged group: people are compared with the best-off group that is large enough.

The largest group may be the one that is worse off. Then no page may call the favoured group affected, and the gap of
the largest group must be told.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.conclusions.reading import LANGUAGES, first_page, text

import isonomia as iso

COMPAS = Path(__file__).parents[3] / "shared" / "data" / "compas.csv.gz"
needs_compas = pytest.mark.skipif(not COMPAS.is_file(), reason="the COMPAS file is not beside this checkout")


def applicants(rates: dict[str, tuple[int, float]], seed: int = 0) -> dict[str, Any]:
    """People of groups: how many, and the share that is granted; the outcome is as likely for all."""
    rng = np.random.default_rng(seed)
    group = np.repeat(list(rates), [n for n, _ in rates.values()])
    chance = np.repeat([rate for _, rate in rates.values()], [n for n, _ in rates.values()])
    return {
        "origin": group,
        "granted": (rng.random(group.size) < chance).astype(int),
        "repaid": (rng.random(group.size) < 0.6).astype(int),
    }


def audited(rates: dict[str, tuple[int, float]], **options: Any) -> iso.Report:
    roles = {"target": "repaid", "prediction": "granted", "protected": ["origin"]}
    return iso.audit(iso.Dataset(applicants(rates), **roles), n_boot=50, **options)  # type: ignore[arg-type]


LARGEST_WORSE = {"north": (3000, 0.4), "south": (1500, 0.7)}
LARGEST_BETTER = {"north": (3000, 0.7), "south": (1500, 0.4)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("rates", "worse"), [(LARGEST_WORSE, "north"), (LARGEST_BETTER, "south")])
def test_the_group_that_is_worse_off_is_named(rates: dict[str, Any], worse: str, language: str) -> None:
    report = audited(rates)
    first = report.folds[0]
    assert dict(first.who) == {"origin": worse}
    better = ({"north", "south"} - {worse}).pop()
    for entry in report.folds:
        if entry.severity != "notice":
            assert dict(entry.who) != {"origin": better}, "the favoured are not affected"
    assert dict(first.first.reference) == {"origin": better}
    assert f"origin {worse}" in text(report, language)


def test_it_is_the_same_group_in_every_section() -> None:
    report = audited(LARGEST_WORSE, checks=["group_fairness", "fairness_suite"])
    names = {
        str(name)
        for section in report.document.sections
        if section.result is not None and "comparisons" in section.result.tables
        for name in section.result.tables["comparisons"]["reference"].values
    }
    assert names == {"origin=south"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_names_it_once_with_its_size(language: str) -> None:
    lines = first_page(audited(LARGEST_WORSE), language)
    said = {
        "en": "Compared with the best-off group: people with origin south (1,500).",
        "pt-BR": "Comparação com o grupo em melhor situação: pessoas com origin south (1.500).",
    }[language]
    assert sum(said in line for line in lines) == 1


def test_a_few_lucky_people_are_nobody_s_measure() -> None:
    """30 of 40 is no reference for 4,000: too few rows to say that they are best off."""
    report = audited({"north": (3000, 0.4), "south": (1000, 0.6), "west": (40, 0.95)})
    named = {str(one.reference.get("origin")) for one in report.findings if one.check == "group_fairness"}
    assert named == {"south"}


def test_with_many_groups_an_average_group_is_enough() -> None:
    groups = {f"g{k:02}": (100, 0.5) for k in range(39)} | {"best": (120, 0.9)}
    report = audited(groups, checks=["group_fairness"])
    table = report["group_fairness"].tables["comparisons"]
    assert set(table["reference"].values) == {"origin=best"}


def test_a_privileged_group_that_is_named_wins() -> None:
    data = iso.Dataset(
        applicants(LARGEST_WORSE), prediction="granted", protected=["origin"], privileged={"origin": "north"}
    )
    report = iso.audit(data, checks=["group_fairness"], n_boot=50)
    assert set(report["group_fairness"].tables["comparisons"]["reference"].values) == {"origin=north"}
    again = audited(LARGEST_WORSE, reference="largest", checks=["group_fairness"])
    assert set(again["group_fairness"].tables["comparisons"]["reference"].values) == {"origin=north"}


def test_one_attribute_named_leaves_the_best_off_group_of_the_other() -> None:
    people = applicants(LARGEST_WORSE)
    people["sex"] = np.where(np.arange(4500) % 2, "F", "M")
    data = iso.Dataset(people, prediction="granted", protected=["origin", "sex"], privileged={"sex": "M"})
    report = iso.audit(data, checks=["group_fairness"], n_boot=50)
    table = report["group_fairness"].tables["comparisons"]
    found = dict(zip(table["by"].keys or (), table["reference"].values, strict=True))
    assert found == {("origin",): "origin=south", ("sex",): "sex=M", ("origin", "sex"): "origin=south, sex=M"}


def test_of_intersections_the_best_off_intersection_is_the_reference() -> None:
    """Women and men alike, north and south alike; women of the south and men of the north are refused."""
    rng = np.random.default_rng(1)
    n = 6000
    sex, origin = rng.choice(["F", "M"], n), rng.choice(["north", "south"], n)
    refused = (sex == "F") == (origin == "south")
    granted = (rng.random(n) < np.where(refused, 0.35, 0.75)).astype(int)
    frame = {"sex": sex, "origin": origin, "granted": granted}
    report = iso.audit(iso.Dataset(frame, prediction="granted", protected=["sex", "origin"]), n_boot=50)
    critical = [dict(entry.who) for entry in report.folds if entry.severity == "critical"]
    assert sorted(map(str, critical)) == sorted(
        map(str, [{"sex": "F", "origin": "south"}, {"sex": "M", "origin": "north"}])
    )


@cache
def compas() -> iso.Report:
    frame = pd.read_csv(COMPAS)
    table = pd.DataFrame(
        {
            "race": frame["race"],
            "sex": frame["sex"],
            "age": frame["age"],
            "rated": np.where(frame["decile_score"] >= 5, "high", "low"),
            "did": np.where(frame["two_year_recid"] == 1, "high", "low"),
        }
    )
    data = iso.Dataset(
        table,
        target="did",
        prediction="rated",
        positive="low",
        protected={"race": None, "sex": None, "age": [25, 45]},
        name="compas",
    )
    return iso.audit(data, n_boot=50)


@needs_compas
@pytest.mark.parametrize("language", LANGUAGES)
def test_compas_without_a_privileged_group(language: str) -> None:
    """Of people who did not reoffend, 55% of African-Americans and 77% of Caucasians were rated low."""
    report = compas()
    lines = first_page(report, language)
    first = next(line for line in lines if "African-American" in line)
    assert "Caucasian" in first
    rates = [one for one in report.findings if dict(one.who) == {"race": "African-American"} and one.metric == "tpr"]
    assert {tuple(one.reference.items()) for one in rates} == {(("race", "Caucasian"),)}
    said = "\n".join(lines)
    assert "55%" in said
    assert "77%" in said
    assert not [one for one in report.findings if dict(one.who) == {"race": "Caucasian"} and one.severity != "notice"]
