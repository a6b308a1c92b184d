"""Findings about the same thing stand together; none is lost, none stands twice, in whatever order they come."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from isonomia.evidence import SEVERITIES, TIERS, Estimate, Finding, fold, rank
from isonomia.languages import msg


def found(code: str = "a.x", severity: Any = "notice", **about: Any) -> Finding:
    return Finding(code, severity, msg("{code}", code=code), Estimate(0.1), **about)


people = st.dictionaries(st.sampled_from(["sex", "race"]), st.sampled_from(["F", "M", "missing"]), max_size=2)
findings = st.builds(
    found,
    st.sampled_from(["a.x", "a.y", "b.x", "c.x"]),
    st.sampled_from(SEVERITIES),
    who=people,
    reference=people,
    columns=st.lists(st.sampled_from(["sex", "hours"]), max_size=2, unique=True).map(tuple),
    topic=st.sampled_from(["", "", "use"]),
    tier=st.sampled_from(TIERS),
    explained_by=st.sampled_from([{}, {}, {"sex": "F"}]),
    n=st.integers(0, 3),
    magnitude=st.sampled_from([0.5, 1.0, 2.0, math.inf, math.nan]),
    p_adjusted=st.sampled_from([None, 0.001, 0.5]),
)
many = st.lists(findings, max_size=14)


@given(many)
def test_every_finding_is_in_exactly_one_fold(given_: list[Finding]) -> None:
    folds = fold(given_)
    told = [id(finding) for one in folds for finding in one.findings]
    assert sorted(told) == sorted(map(id, given_))
    assert all(one.findings for one in folds)


@given(many, st.randoms())
def test_the_order_they_come_in_is_nothing(given_: list[Finding], chance: Any) -> None:
    turned = chance.sample(given_, len(given_))
    assert repr(fold(turned)) == repr(fold(given_))  # NaN is not equal to itself, but it reads the same


@given(many)
def test_the_worst_stands_first(given_: list[Finding]) -> None:
    folds = fold(given_)
    for one in folds:
        assert one.findings == rank(one.findings)
        grades = [SEVERITIES.index(finding.severity) for finding in one.findings]
        assert SEVERITIES.index(one.severity) == min(grades)
    firsts = tuple(one.first for one in folds)
    assert firsts == rank(firsts)


@given(many)
def test_what_is_said_about_one_group_is_together(given_: list[Finding]) -> None:
    """Two findings about one group are never in two entries, whoever is compared with it."""
    entries = [one.findings for one in fold(given_)]
    for people in ({"sex": "F"}, {"race": "F", "sex": "M"}):
        about = [
            index
            for index, entry in enumerate(entries)
            for finding in entry
            if finding.who == people and not finding.topic and not finding.explained_by and finding.tier != "slices"
        ]
        assert len(set(about)) <= 1


@given(many)
def test_two_groups_are_two_entries(given_: list[Finding]) -> None:
    """What is more than a notice never stands under another group, but under one that explains it."""
    for entry in fold(given_):
        groups = {
            frozenset((finding.explained_by or finding.who).items())
            for finding in entry.findings
            if finding.who and not finding.topic and finding.severity != "notice" and finding.tier != "slices"
        }
        assert len(groups) <= 1


def test_what_a_fold_says() -> None:
    women, men = {"sex": "F"}, {"sex": "M"}
    one, others, drift, alone = fold(
        [
            found("b.x", "warning", who=men, reference=women),
            found("b.x", who=men, reference=women),
            found("a.x", "critical", who=women, reference=men),
            found("a.y", "warning", who=women, magnitude=0.5),
            found("drift.feature", "warning", columns=("hours",)),
            found("drift.feature", "notice", columns=("income",)),
            found("awareness.x"),
        ]
    )
    assert (one.severity, one.who, one.columns) == ("critical", women, ())
    assert one.checks == ("a",)
    assert [finding.code for finding in one.others] == ["a.y"]
    assert (others.who, len(others.findings)) == (men, 2)
    assert (drift.columns, len(drift.others)) == (("hours",), 1)
    assert alone.first.code == "awareness.x"
    assert fold([]) == ()


def test_a_notice_about_a_group_is_listed_with_another_group_of_the_attribute() -> None:
    women, men, black = {"sex": "F"}, {"sex": "M"}, {"race": "B"}
    one, other = fold(
        [
            found("a.x", "critical", who=women, reference=men),
            found("b.x", who=men, reference=women),
            found("a.x", "notice", who=black),
        ]
    )
    assert (one.who, one.also) == (women, ("b",))
    assert other.who == black
    (together,) = fold([found("a.x", who=women), found("a.y", who=men)])
    assert len(together.findings) == 2


def test_an_intersection_stands_alone_where_it_is_worse_than_its_parts_explain() -> None:
    women, black_women = {"sex": "F"}, {"sex": "F", "race": "B"}
    alone = fold([found("a.x", "warning", who=women), found("a.x", "critical", who=black_women)])
    assert [dict(one.who) for one in alone] == [black_women, women]
    (listed,) = fold(
        [found("a.x", "warning", who=women), found("a.x", "critical", who=black_women, explained_by=women)]
    )
    assert len(listed.findings) == 2
    (noted,) = fold([found("a.x", "warning", who=women), found("a.x", "notice", who=black_women)])
    assert noted.severity == "warning"
    (only,) = fold([found("a.x", "notice", who=black_women)])
    assert only.who == black_women


def test_slices_of_one_column_are_one_entry_and_slight_ones_too() -> None:
    def slice_(column: str, value: str, severity: str = "warning") -> Finding:
        return found("weak_spots.slice", severity, who={column: value}, tier="slices")

    entries = fold(
        [
            slice_("job", "a"),
            slice_("job", "b"),
            slice_("age", "< 25", "notice"),
            slice_("town", "x", "notice"),
        ]
    )
    assert [len(one.findings) for one in entries] == [2, 2]


def test_checks_that_ask_whether_an_attribute_is_used_are_one_entry_for_each_attribute() -> None:
    use: dict[str, Any] = {"topic": "use", "tier": "people"}
    entries = fold(
        [
            found("counterfactual.flip", "critical", columns=("sex",), **use),
            found("proxies.predictable", columns=("sex",), **use),
            found("explain_gap.contribution", who={"sex": "F"}, columns=("hours",), **use),
            found("counterfactual.flip", "critical", columns=("race",), **use),
            found("group_fairness.tpr", "warning", who={"sex": "F"}, tier="people"),
        ]
    )
    assert [len(one.findings) for one in entries] == [1, 3, 1]
