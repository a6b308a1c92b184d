"""Verdicts wait for evidence: the same data, the same verdict; nobody is left out in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit.verdicts.verdict import judge
from isonomia.policies import load_policy
from isonomia.report import Criterion
from isonomia.subject import Subject

GAP = {"name": "gap", "metric": "selection_rate", "measure": "difference", "at_most": 0.1}
FOUR_FIFTHS = ("us-lending", "eeoc")


def people(attribute: str = "sex", **groups: tuple[int, int]) -> pd.DataFrame:
    """Rows of groups, each with (selected, all)."""
    columns = [(name, int(row < selected)) for name, (selected, n) in groups.items() for row in range(n)]
    return pd.DataFrame(columns, columns=[attribute, "p"])


def verdict_of(frame: pd.DataFrame, policy: Any, *, seed: int = 0, **roles: Any) -> Any:
    roles = {"prediction": "p", "protected": [name for name in frame if name not in ("p", "y")], **roles}
    subject = Subject.of(iso.Dataset(frame, **roles), seed=seed)
    return judge(load_policy(policy), subject)


def only(frame: pd.DataFrame, policy: Any, **options: Any) -> Criterion:
    (criterion,) = verdict_of(frame, policy, **options).criteria
    return criterion


def own(*rules: dict[str, Any], **facts: Any) -> dict[str, Any]:
    return {"id": "own", "title": "own", "rules": list(rules), **facts}


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
@pytest.mark.parametrize(
    ("groups", "outcome", "point"),
    [
        ({"a": (350, 1000), "b": (500, 1000)}, "exceeds", "breaks"),
        ({"a": (500, 1000), "b": (350, 1000)}, "exceeds", "breaks"),
        ({"a": (0, 1000), "b": (100, 1000)}, "exceeds", "breaks"),
        ({"a": (100, 1000), "b": (0, 1000)}, "exceeds", "breaks"),
        ({"a": (79_000, 200_000), "b": (100_000, 200_000)}, "exceeds", "breaks"),
        ({"a": (500, 1000), "b": (510, 1000)}, "meets", "keeps"),
        ({"a": (12, 30), "b": (14, 30)}, "not_enough_evidence", "keeps"),
        ({"a": (4, 40), "b": (8, 40)}, "not_enough_evidence", "breaks"),
    ],
)
def test_four_fifths_needs_evidence_in_both_directions(
    policy: str, groups: dict[str, tuple[int, int]], outcome: str, point: str
) -> None:
    criterion = only(people(**groups), policy)
    assert (criterion.outcome, criterion.point) == (outcome, point)
    assert criterion.estimate.low is not None
    assert criterion.estimate.high is not None
    assert (criterion.outcome == "exceeds") == (criterion.estimate.high < 0.8)
    if outcome == "not_enough_evidence" and point == "keeps":
        assert f"{criterion.estimate.low:.2f} cannot be ruled out" in str(criterion.reason)


def test_a_ratio_of_thirty_rows_does_not_meet() -> None:
    """Equal rates, and an interval that reaches far below four fifths."""
    assert only(people(a=(10, 30), b=(10, 30)), "eeoc").outcome == "not_enough_evidence"


@pytest.mark.parametrize("policy", FOUR_FIFTHS)
def test_groups_that_were_left_out_are_named(policy: str) -> None:
    """25 of 5,025 are below the share that these rules are about: named, and nothing has to be shown of them."""
    criterion = only(people(a=(2000, 2500), b=(2000, 2500), c=(0, 25)), policy)
    assert criterion.outcome == "meets"
    assert "sex c (25)" in str(criterion.reason)
    unproved = only(people(a=(800, 1000), b=(800, 1000), c=(20, 25), d=(20, 25)), own({**GAP, "min_share": 0.01}))
    assert unproved.outcome == "not_enough_evidence"
    assert "groups too small to compare: people with sex c (25), people with sex d (25)" in str(unproved.reason)
    exceeded = only(people(a=(1000, 2500), b=(2000, 2500), c=(0, 25)), policy)
    assert exceeded.outcome == "exceeds"
    assert "sex c (25)" in str(exceeded.reason)


def test_a_named_privileged_group_gives_the_direction() -> None:
    frame = people(a=(350, 1000), b=(500, 1000))
    assert only(frame, "us-lending", privileged={"sex": "b"}).outcome == "exceeds"
    assert only(frame, "us-lending", privileged={"sex": "a"}).outcome == "meets"
    assert only(frame, "us-lending").outcome == "exceeds", "nobody named: the worse of both directions"
    assert only(frame, "us-lending").who == {"sex": "a"}


def test_a_privileged_group_of_one_attribute_leaves_the_other_undirected() -> None:
    frame = people(a=(350, 1000), b=(500, 1000))
    frame["race"] = np.where(frame["sex"] == "a", "x", "y")
    verdict = verdict_of(frame, "us-lending", privileged={"sex": "a"})
    assert [criterion.outcome for criterion in verdict.criteria] == ["meets", "exceeds"]


def test_the_seed_decides_nothing() -> None:
    """444 and 500 of 1,000 with a limit of ten points: by the bootstrap 32 of 100 seeds said otherwise."""
    frame = people(a=(444, 1000), b=(500, 1000))
    verdicts = [verdict_of(frame, own(GAP), seed=seed).to_dict() for seed in range(20)]
    assert all(verdict == verdicts[0] for verdict in verdicts)
    frame["y"] = np.resize([0, 1, 1], len(frame))
    f1 = {"name": "f1", "metric": "f1", "measure": "difference", "at_most": 0.06}
    replicated = [verdict_of(frame, own(f1), seed=seed, target="y").to_dict() for seed in range(5)]
    assert all(verdict == replicated[0] for verdict in replicated)
    assert replicated[0]["criteria"][0]["estimate"]["low"] is not None


@pytest.mark.parametrize("measure", ["difference", "value"])
def test_without_an_interval_nothing_is_met(measure: str) -> None:
    """The largest error is far below its limit, and nothing says how large it could have been."""
    y = np.linspace(0, 1, 400)
    data = iso.Dataset({"sex": ["a", "b"] * 200, "y": y, "p": y + 0.1}, target="y", prediction="p", protected=["sex"])
    largest = {"name": "largest error", "metric": "max_error", "measure": measure, "at_most": 5.0}
    verdict = judge(load_policy(own(largest)), Subject.of(data))
    assert verdict.outcome == "not_enough_evidence"
    assert "no interval" in str(verdict.criteria[0].reason)


def test_one_sided_tests_show_that_groups_are_alike() -> None:
    """Equivalence: each pair is within the limit at 5%, though the interval over all pairs contains it."""
    frame = people(a=(500, 1500), b=(500, 1500), c=(500, 1500), d=(500, 1500), e=(500, 1500), f=(475, 1500))
    limit = {**GAP, "at_most": 0.05}
    criterion = only(frame, own(limit))
    assert criterion.estimate.high is not None
    assert criterion.estimate.high > 0.05
    assert criterion.outcome == "meets"
    assert "one-sided test" in str(criterion.reason)


def test_the_interval_holds_for_all_pairs_attributes_and_rules() -> None:
    frame = people(a=(300, 1000), b=(360, 1000))
    frame["race"] = np.resize(list("vwxyz"), len(frame))
    alone = only(frame[["sex", "p"]], own(GAP))
    among, _ = verdict_of(frame, own(GAP)).criteria
    several = verdict_of(frame, own(GAP, {**GAP, "name": "again"})).criteria[0]
    widths = [c.estimate.high - c.estimate.low for c in (alone, among, several)]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < widths[2]
    assert {c.estimate.value for c in (alone, among, several)} == {alone.estimate.value}


def test_figures_over_all_rows_need_evidence_too() -> None:
    frame = people(a=(300, 1000), b=(360, 1000))
    frame["y"] = frame["p"].where(np.arange(len(frame)) % 10 > 0, 1 - frame["p"])
    for limit, outcome in ((0.85, "meets"), (0.9, "not_enough_evidence"), (0.95, "exceeds")):
        rule = {"name": "accuracy", "metric": "accuracy", "measure": "value", "at_least": limit}
        assert verdict_of(frame, own(rule), target="y").outcome == outcome


def test_an_upper_limit_of_a_ratio_takes_the_largest() -> None:
    rule = {"name": "r", "metric": "selection_rate", "measure": "ratio", "at_most": 1.25}
    criterion = only(people(a=(350, 1000), b=(500, 1000)), own(rule))
    assert criterion.estimate.value == pytest.approx(500 / 350)
    assert criterion.outcome == "exceeds"


def test_the_outcome_of_the_point_is_shown_at_every_door() -> None:
    frame = people(a=(12, 30), b=(14, 30))
    data = iso.Dataset(frame, prediction="p", protected=["sex"])
    report = iso.audit(data, policy="eeoc", checks="representation")
    assert "the figure itself meets the limit" in report.to_markdown()
    assert "o próprio valor respeita o limite" in report.to_html("pt-BR")
    assert report.to_dict()["verdict"]["criteria"][0]["point"] == "keeps"
    again = iso.Report.from_dict(report.to_dict())
    assert again.verdict == report.verdict
    assert report.exit_code == 3


@pytest.mark.parametrize("old", ["point_and_test", "point", "interval"])
def test_the_old_key_is_refused(old: str) -> None:
    with pytest.raises(iso.SpecError, match="decide"):
        load_policy(own({**GAP, "decide": old}))
