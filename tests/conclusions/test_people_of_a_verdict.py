"""How many people a breach concerns: an interval about the very group that is named, not about the worst of all pairs.

Two groups of 1,000 at 0.43 and 0.50, and one of 60 at 0.40 that is sometimes the worst and is named then. The interval
of its shortfall must hold the true one, 60 x (0.50 - 0.40) = 6 people, as often as promised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isonomia as iso

SIZES = {"large": 1000, "other": 1000, "small": 60}
RATES = {"large": 0.5, "other": 0.43, "small": 0.40}
RULE = {"name": "ratio", "metric": "selection_rate", "measure": "ratio", "at_least": 0.99}
POLICY: dict[str, Any] = {"id": "own", "title": "own", "rules": [RULE]}


def verdict(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    group = np.repeat(list(SIZES), list(SIZES.values()))
    granted = rng.random(group.size) < np.repeat(list(RATES.values()), list(SIZES.values()))
    data = iso.Dataset({"town": group, "granted": granted.astype(int)}, prediction="granted", protected=["town"])
    (one,) = iso.audit(data, checks=["representation"], policy=POLICY, n_boot=0).verdict.criteria
    return one


def test_the_interval_holds_the_true_shortfall_of_the_group_that_is_named() -> None:
    held: dict[str, list[bool]] = {}
    for seed in range(150):
        one = verdict(seed)
        (name,), (other,) = one.who.values(), one.reference.values()
        true = SIZES[name] * (RATES[other] - RATES[name])
        assert one.people is not None
        held.setdefault(name, []).append(one.people.low <= true <= one.people.high)
    assert len(held["small"]) > 30, "it is named often enough to say something"
    for name, hits in held.items():
        least = 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(hits))
        assert np.mean(hits) >= least, (name, np.mean(hits), len(hits))


def test_the_count_is_the_gap_of_the_pair_times_its_people() -> None:
    from isonomia.evidence import pair_level, score_difference

    one = verdict(1)
    (name,), (other,) = one.who.values(), one.reference.values()
    rng = np.random.default_rng(1)
    group = np.repeat(list(SIZES), list(SIZES.values()))
    granted = rng.random(group.size) < np.repeat(list(RATES.values()), list(SIZES.values()))
    hits = {key: int(granted[group == key].sum()) for key in SIZES}
    low, high = score_difference(hits[name], SIZES[name], hits[other], SIZES[other], pair_level(0.95, 3))
    assert one.people.value == pytest.approx(SIZES[name] * (hits[other] / SIZES[other] - hits[name] / SIZES[name]))
    assert (one.people.low, one.people.high) == pytest.approx((-SIZES[name] * high, -SIZES[name] * low), abs=0.01)
