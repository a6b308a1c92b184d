"""The check for hidden subgroups fires on planted errors, stays silent on none, and says when it does not apply."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.errors import SpecError


def people(seed: int, *, planted: bool, n: int = 3000) -> iso.Dataset:
    rng = np.random.default_rng(seed)
    sex, job, age = rng.choice(["F", "M"], n), rng.choice(list("uvw"), n), rng.integers(18, 80, n)
    y = rng.integers(0, 2, n)
    odd = (sex == "F") & (job == "u") if planted else np.zeros(n, dtype=bool)
    said = np.where(rng.random(n) < np.where(odd, 0.45, 0.1), 1 - y, y)
    frame: dict[str, Any] = {"sex": sex, "job": job, "age": age, "y": y, "said": said}
    return iso.Dataset(frame, target="y", positive=1, protected=["sex"], prediction="said")


def test_it_fires_where_errors_are_planted() -> None:
    report = iso.audit(people(0, planted=True), checks="hidden_subgroups")
    result = report["hidden_subgroups"]
    assert set(result.tables) == {"sliceline"}
    first = report.findings[0]
    assert first.who == {"sex": "F", "job": "u"}
    assert first.severity == "warning"
    assert first.evidence.startswith("hidden_subgroups/")
    assert first.p_adjusted is not None
    assert first.p_adjusted < 0.001
    people_told = [(tuple(sorted(f.who.items())), f.n) for f in report.findings]
    assert len(people_told) == len(set(people_told))


def test_it_is_silent_where_there_is_nothing() -> None:
    alarms = sum(
        bool(iso.audit(people(seed, planted=False), checks="hidden_subgroups").findings) for seed in range(1, 9)
    )
    assert alarms <= 2


def test_it_says_when_it_does_not_apply_and_refuses_unknown_options() -> None:
    small = iso.audit(people(0, planted=True, n=100), checks="hidden_subgroups,performance")
    assert not any(finding.check == "hidden_subgroups" for finding in small.findings)
    with pytest.raises(SpecError, match="no option 'depth'"):
        iso.audit(people(0, planted=True), checks="hidden_subgroups", options={"hidden_subgroups": {"depth": 2}})
    with pytest.raises(SpecError, match=r"Unknown method 'slice'. Did you mean 'sliceline'"):
        iso.audit(
            people(0, planted=True), checks="hidden_subgroups", options={"hidden_subgroups": {"methods": ["slice"]}}
        )


def of_the_right_model(seed: int, n: int, *, planted: bool) -> iso.Dataset:
    """The true chances as scores; with `planted`, 3% of the rows (two conditions) have 15 points more errors."""
    rng = np.random.default_rng(seed)
    x, job, city = rng.normal(size=(n, 3)), rng.choice(list("abcde"), n), rng.choice(list("uvwxyz"), n)
    chance = 1 / (1 + np.exp(-2 * (x[:, 0] + x[:, 1])))
    y = (rng.random(n) < chance).astype(int)
    right = (chance >= 0.5) == y
    odd = (job == "b") & (city == "w") & right & (rng.random(n) < 0.15 / right.mean())
    y = np.where(odd, 1 - y, y) if planted else y
    frame: dict[str, Any] = {
        "a": x[:, 0],
        "b": x[:, 1],
        "c": x[:, 2],
        "job": job,
        "city": city,
        "y": y,
        "chance": chance,
    }
    return iso.Dataset(frame | {"sex": rng.choice(["F", "M"], n)}, target="y", protected=["sex"], score="chance")


def test_errors_near_the_border_are_not_a_subgroup_of_the_right_model() -> None:
    """Errors are twice as frequent near the border; the scores say so."""
    data = of_the_right_model(5, 6_000, planted=False)
    assert iso.audit(data, checks="hidden_subgroups").findings == ()
    spots = iso.discovery.find_subgroups(data, method="sliceline", metric="error", holdout=0.5, k=2, alpha=0.99)
    assert spots.findings[0].sure  # by plain errors the border stands out
    assert set(spots.findings[0].who) <= {"a", "b"}


def test_three_percent_with_fifteen_points_more_errors_are_found() -> None:
    report = iso.audit(of_the_right_model(6, 12_000, planted=True), checks="hidden_subgroups")
    planted = {"job": "b", "city": "w"}
    found = [finding for finding in report.findings if finding.severity == "warning"]
    (finding,) = (finding for finding in found if finding.who == planted)
    assert "by their scores it would be" in finding.message.text()
    assert all(finding.who.items() <= planted.items() for finding in found)  # of larger sets only those with it inside


def test_other_methods_by_option() -> None:
    report = iso.audit(
        people(0, planted=True),
        checks="hidden_subgroups",
        options={"hidden_subgroups": {"methods": "gerryfair", "k": 2}},
    )
    assert set(report["hidden_subgroups"].tables) == {"gerryfair"}
