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
    assert set(result.tables) == {"sliceline", "divexplorer"}
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


def test_other_methods_by_option() -> None:
    report = iso.audit(
        people(0, planted=True),
        checks="hidden_subgroups",
        options={"hidden_subgroups": {"methods": "gerryfair", "k": 2}},
    )
    assert set(report["hidden_subgroups"].tables) == {"gerryfair"}
