"""Findings about the same thing stand together; none is lost, none stands twice, in whatever order they come."""

from __future__ import annotations

import itertools
import math
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from isonomia.evidence import SEVERITIES, Estimate, Finding, fold, rank
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
    topic=st.sampled_from(["", "", "disturbance"]),
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
    for before, after in itertools.pairwise(firsts):
        graded = SEVERITIES.index(before.severity), SEVERITIES.index(after.severity)
        assert graded[0] <= graded[1]
        if graded[0] == graded[1] and before.sure == after.sure and not math.isnan(after.magnitude):
            assert before.magnitude >= after.magnitude


@given(many)
def test_those_about_the_same_are_together_and_others_are_apart(given_: list[Finding]) -> None:
    """Against a closure by brute force: two findings are linked where they are about the same, or mirror each other."""

    def linked(one: Finding, other: Finding) -> bool:
        if bool(one.who) != bool(other.who):
            return False
        if one.who:
            return one.who == other.who
        if one.columns or other.columns:
            return set(one.columns) == set(other.columns)
        return (one.topic or one.check) == (other.topic or other.check)

    def mirrors(one: Finding, other: Finding) -> bool:
        same = set(one.who) == set(one.reference)
        return bool(one.who) and same and one.who == other.reference and one.reference == other.who

    label = list(range(len(given_)))
    for _ in given_:
        for i, one in enumerate(given_):
            for j, other in enumerate(given_):
                if linked(one, other) or mirrors(one, other):
                    label[i] = label[j] = min(label[i], label[j])
    expected = {frozenset(id(f) for f, at in zip(given_, label, strict=True) if at == each) for each in set(label)}
    assert {frozenset(map(id, one.findings)) for one in fold(given_)} == expected


def test_what_a_fold_tells() -> None:
    women, men = {"sex": "F"}, {"sex": "M"}
    one, hours, alone = fold(
        [
            found("b.x", "warning", who=men, reference=women),
            found("a.x", "critical", who=women, reference=men),
            found("a.y", "warning", who=women, magnitude=0.5),
            found("drift.feature", "warning", columns=("hours",)),
            found("awareness.x"),
        ]
    )
    assert (one.severity, one.who, one.columns) == ("critical", women, ())
    assert one.checks == ("a", "b")
    assert one.also == ("b",)
    assert [finding.code for finding in one.others] == ["b.x", "a.y"]
    assert (hours.columns, hours.others) == (("hours",), ())
    assert alone.first.code == "awareness.x"
    assert fold([]) == ()
