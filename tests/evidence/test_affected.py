"""People affected: gap x count, by brute force on small data, and the laws that any such figure obeys."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.evidence import Estimate, Finding, affected, at_least, beyond, rank
from isonomia.evidence.finding import TIERS
from isonomia.languages import msg

share = st.floats(-1, 1)
counts = st.integers(1, 10_000)


@st.composite
def gaps(draw: st.DrawFn) -> Estimate:
    low, value, high = sorted(draw(st.lists(share, min_size=3, max_size=3)))
    return Estimate(value, low, high, n=100, method="score")


@given(gaps(), counts, st.integers(2, 9))
def test_people_scale_with_the_group(gap: Estimate, count: int, times: int) -> None:
    one, many = affected(gap, count), affected(gap, times * count)
    assert [many.value, many.low, many.high] == pytest.approx([times * x for x in (one.value, one.low, one.high)])


@given(gaps(), counts)
def test_a_lack_is_the_opposite_of_an_excess(gap: Estimate, count: int) -> None:
    lack, excess = affected(gap, count, harm="lack"), affected(gap, count)
    assert lack.value == pytest.approx(-excess.value)
    assert (lack.low, lack.high) == pytest.approx((-excess.high, -excess.low))
    assert lack.low <= lack.value <= lack.high
    assert at_least(lack) == pytest.approx(at_least(excess))


@given(gaps(), counts)
def test_the_lower_bound_is_within_the_figure(gap: Estimate, count: int) -> None:
    people = affected(gap, count)
    assert 0 <= at_least(people) <= abs(people.value) + 1e-9
    assert (at_least(people) == 0) == (people.low <= 0 <= people.high)


def test_what_has_no_value_says_why() -> None:
    assert affected(Estimate.missing("no positives"), 10).note == "no positives"
    assert affected(Estimate(0.2, 0.1, 0.3), None).note == "a difference of numbers does not count people"
    assert affected(Estimate(0.2), 10).note == "the gap has no interval"
    assert beyond(Estimate.missing("no rows"), 0.1, 10).value is None
    assert "weighted" in str(affected(Estimate(0.2, 0.1, 0.3), 10, weighted=True).note)


# what an audit says ----------------------------------------------------------------------------------------------


def people_frame(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = rng.choice(["Black", "White"], n, p=[0.3, 0.7])
    good = rng.random(n) < 0.6
    given_ = np.where(race == "Black", rng.random(n) < 0.45, rng.random(n) < 0.8)
    return pd.DataFrame(
        {
            "race": race,
            "truth": np.where(good, "approved", "denied"),
            "said": np.where(given_, "approved", "denied"),
            "w": rng.integers(1, 4, n).astype(float),
        }
    )


def found(frame: pd.DataFrame, **roles: object) -> dict[str, Finding]:
    data = iso.Dataset(
        frame, target="truth", positive="approved", protected=["race"], prediction="said", features=[], **roles
    )
    report = iso.audit(data, checks=["group_fairness"], n_boot=0, reference={"race": "White"})
    return {finding.metric: finding for finding in report.findings}


def test_the_shortfall_by_brute_force() -> None:
    """How many more would have been approved: by moving people one by one until the rates are equal."""
    frame = people_frame()
    finding = found(frame)["selection_rate"]
    black, white = (frame[frame["race"] == race]["said"] == "approved" for race in ("Black", "White"))
    more = 0
    while (black.sum() + more) / black.size < white.mean():
        more += 1
    assert finding.people is not None
    assert more - 1 < finding.people.value <= more
    assert finding.people.value == pytest.approx(black.size * (white.mean() - black.mean()))
    assert finding.people.low == pytest.approx(-black.size * finding.estimate.high)
    text = finding.message.text()
    assert text.startswith("Black people are approved less often than White people: ")
    assert f"{finding.people.value:.0f} more of {black.size} would be approved" in text


@pytest.mark.parametrize(("metric", "value"), [("tpr", "approved"), ("fpr", "denied")])
def test_rates_of_true_outcomes_count_their_own_people(metric: str, value: str) -> None:
    frame = people_frame()
    finding = found(frame)[metric]
    own = frame[frame["truth"] == value]
    black, white = (own[own["race"] == race]["said"] == "approved" for race in ("Black", "White"))
    gap = black.mean() - white.mean()
    assert finding.people is not None
    assert finding.people.n == black.size
    assert abs(finding.people.value) == pytest.approx(abs(gap) * black.size)
    assert f'Of people whose truth is "{value}"' in finding.message.text()


def test_doubled_data_double_the_people_and_doubled_weights_do_not() -> None:
    frame = people_frame()
    once, twice = found(frame)["selection_rate"], found(pd.concat([frame, frame]))["selection_rate"]
    assert twice.people.value == pytest.approx(2 * once.people.value)
    assert twice.people_at_least > 2 * once.people_at_least, "the interval is narrower too"
    weighted = found(frame, weight="w")["selection_rate"]
    doubled = found(frame.assign(w=2 * frame["w"]), weight="w")["selection_rate"]
    black = frame[frame["race"] == "Black"]
    assert weighted.people.value == pytest.approx(len(black) * -weighted.estimate.value)
    assert doubled.people.value == pytest.approx(weighted.people.value)
    assert "a weighted rate" in str(weighted.people.note)


def test_swapping_group_and_reference_turns_the_sign() -> None:
    frame = people_frame()
    swapped = frame.assign(race=frame["race"].map({"Black": "White", "White": "Black"}))
    ours, theirs = found(frame)["selection_rate"], found(swapped)["selection_rate"]
    assert ours.people.value > 0 > theirs.people.value
    assert ours.people.value / ours.people.n == pytest.approx(-theirs.people.value / theirs.people.n)


# ranking ----------------------------------------------------------------------------------------------------------


def finding(code: str, severity: str = "warning", *, tier: str = "people", low: float = 0.0) -> Finding:
    people = Estimate(low + 1, low, low + 2) if low else None
    return Finding(code, severity, msg("Result"), Estimate(0.2), tier=tier, people=people)  # type: ignore[arg-type]


def test_findings_are_ranked_by_the_policy_then_severity_then_the_people_surely_affected() -> None:
    given_ = [
        finding("a.model", "warning", tier="model", low=900),
        finding("b.slice", "warning", tier="slices", low=800),
        finding("c.notice", "notice", low=700),
        finding("d.few", "critical", low=5),
        finding("e.many", "warning", low=500),
        finding("f.none", "critical"),
        finding("g.policy", "critical", tier="policy", low=1),
    ]
    order = [one.code[0] for one in rank(given_)]
    assert order == ["g", "d", "f", "e", "b", "a", "c"], "people never come before severity"
    assert [one.code[0] for one in rank(reversed(given_))] == order


def test_an_old_finding_loads_and_a_new_one_comes_back() -> None:
    new = finding("a.x", low=3)
    assert Finding.from_dict(new.to_dict()) == new
    old = new.to_dict()
    del old["people"], old["tier"]
    loaded = Finding.from_dict(old)
    assert loaded.people is None
    assert loaded.tier in TIERS
    assert loaded.people_at_least == 0
