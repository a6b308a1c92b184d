"""What a fix did: counts by another route, laws, simultaneous coverage, and no false alarms of levelling down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia import DataError, mitigation
from isonomia.mitigation import before_after


def decisions(n: int = 2000, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    sex, y = rng.choice(["F", "M"], n), rng.integers(0, 2, n)
    before = (rng.random(n) < 0.2 + 0.3 * y + 0.2 * (sex == "M")).astype(int)
    after = np.where((sex == "F") & (rng.random(n) < 0.3), 1, before)
    return y, before, after, sex


def test_every_number_by_another_route() -> None:
    y, before, after, sex = decisions()
    result = before_after(y, before, after, sensitive_features={"sex": sex})
    frame = pd.DataFrame({"y": y, "b": before, "a": after, "sex": sex})
    changes = result.changes.set_index("group")
    for value in ("F", "M"):
        own = frame[frame.sex == value]
        row = changes.loc[f"sex={value}"]
        granted, refused = own[(own.b == 0) & (own.a == 1)], own[(own.b == 1) & (own.a == 0)]
        assert (row["n"], row["granted"], row["refused"]) == (len(own), len(granted), len(refused))
        assert (row["granted_rightly"], row["granted_wrongly"]) == ((granted.y == 1).sum(), (granted.y == 0).sum())
        assert (row["refused_rightly"], row["refused_wrongly"]) == ((refused.y == 0).sum(), (refused.y == 1).sum())
        rates = result.groups[(result.groups["group"] == f"sex={value}") & (result.groups["metric"] == "tpr")].iloc[0]
        assert rates["before"] == pytest.approx(own[own.y == 1].b.mean())
        assert rates["change"] == pytest.approx(own[own.y == 1].a.mean() - own[own.y == 1].b.mean())
    criteria = result.criteria.set_index("criterion")
    for moment in ("b", "a"):
        column = {"b": "before", "a": "after"}[moment]
        rate = frame.groupby("sex")[moment].mean()
        assert criteria.loc["demographic_parity", column] == pytest.approx(rate.max() - rate.min())
        assert criteria.loc["disparate_impact", column] == pytest.approx(rate.min() / rate.max())
        gaps = [np.ptp(frame[frame.y == c].groupby("sex")[moment].mean()) for c in (1, 0)]
        assert criteria.loc["equalized_odds", column] == pytest.approx(max(gaps))
    price = result.price.set_index("criterion").loc["demographic_parity"]
    lost = (frame.b == frame.y).mean() - (frame.a == frame.y).mean()
    assert price["accuracy_per_point"] == pytest.approx(lost / (price["closed"] / 0.01))
    assert price["changed_per_point"] == pytest.approx((before != after).mean() / (price["closed"] / 0.01))
    flows = result.to_frame("flows")
    assert flows["n"].sum() == len(y)


def test_levelling_verdicts() -> None:
    y, before, after, sex = decisions()

    def verdict(changed: Any) -> str:
        table = before_after(y, before, changed, sensitive_features={"sex": sex}).levelling
        return str(table.set_index("metric").loc["selection_rate", "verdict"])

    down = np.where((sex == "M") & (np.arange(len(y)) % 3 == 0), 0, before)
    both = np.where(sex == "F", after, down)
    assert [verdict(one) for one in (after, down, both, before)] == [
        "levels_up",
        "levels_down",
        "trades",
        "no_change_shown",
    ]
    found = before_after(y, before, down, sensitive_features={"sex": sex}).findings
    assert {finding.code for finding in found} >= {"before_after.levels_down"}
    assert "falls for men" in found[0].message.text()
    assert before_after(y, before, before, sensitive_features={"sex": sex}).findings == ()


@given(st.integers(0, 1000))
def test_laws(seed: int) -> None:
    y, before, after, sex = decisions(300, seed)
    given_options: dict[str, Any] = {"n_boot": 100, "min_per_group": 10}
    forward = before_after(y, before, after, sensitive_features={"sex": sex}, **given_options)
    backward = before_after(y, after, before, sensitive_features={"sex": sex}, **given_options)
    assert forward.criteria["change"].to_numpy() == pytest.approx(-backward.criteria["change"].to_numpy())
    assert (forward.changes["granted"].to_numpy() == backward.changes["refused"].to_numpy()).all()
    order = np.random.default_rng(seed).permutation(300)
    mixed = before_after(y[order], before[order], after[order], sensitive_features={"sex": sex[order]}, **given_options)
    pd.testing.assert_frame_equal(mixed.criteria, forward.criteria)
    weighted = before_after(y, before, after, sensitive_features={"sex": sex}, weights=np.ones(300), **given_options)
    assert weighted.criteria["change"].to_numpy() == pytest.approx(forward.criteria["change"].to_numpy())


def test_scores_classes_numbers_and_no_truth() -> None:
    y, before, after, sex = decisions()
    rng = np.random.default_rng(1)
    scores = np.where(before == 1, 0.5 + rng.random(len(y)) / 2, rng.random(len(y)) / 2.01)
    moved = np.where(after == 1, 0.9, 0.1)
    one = before_after(y, scores, moved, sensitive_features={"sex": sex})
    two = before_after(y, before, after, sensitive_features={"sex": sex})
    pd.testing.assert_frame_equal(one.criteria, two.criteria)
    alone = before_after(None, before, after, sensitive_features={"sex": sex})
    assert set(alone.criteria["criterion"]) == {"demographic_parity", "disparate_impact"}
    three = rng.integers(0, 3, len(y))
    classes = before_after(three, three, np.where(sex == "F", 0, three), sensitive_features={"sex": sex})
    row = classes.criteria.set_index("criterion").loc["demographic_parity"]
    shares = [np.mean(three[sex == "M"] == k) for k in range(3)]
    assert row["after"] == pytest.approx(max(abs(1 - shares[0]), shares[1], shares[2]))
    truth = rng.normal(size=len(y))
    was, now = truth + (sex == "M"), truth
    numbers = before_after(truth, was, now, sensitive_features={"sex": sex}, task="regression")
    row = numbers.criteria.set_index("criterion").loc["demographic_parity"]
    assert row["change"] == pytest.approx(
        abs(now[sex == "M"].mean() - now[sex == "F"].mean()) - (was[sex == "M"].mean() - was[sex == "F"].mean())
    )
    assert row["change_high"] < 0


def test_bad_input_is_explained() -> None:
    y, before, after, sex = decisions(50)
    with pytest.raises(DataError, match="50 decisions before and 49"):
        before_after(y, before, after[:-1], sensitive_features={"sex": sex})
    with pytest.raises(DataError, match="No two groups have enough rows"):
        before_after(y, before, after, sensitive_features={"sex": sex}, min_per_group=1000)


def test_it_is_shown_and_stored() -> None:
    y, before, after, sex = decisions(400)
    result = before_after(y, before, after, sensitive_features={"sex": sex})
    assert "newly granted" in result.to_html()
    assert "passaram a ser aceitos" in result.to_html(language="pt-BR")
    assert type(result).from_dict(result.to_dict()).to_dict() == result.to_dict()
    assert mitigation.before_after is before_after
