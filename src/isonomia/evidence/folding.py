"""Findings of several checks about the same subject, reported once.

Many checks look at the same people: one finds that a group is selected less often, another that its labels are lower,
a third that its decisions are less steady. Folding puts them together, the worst first; it is a way of reading, and
leaves the findings themselves as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from isonomia.evidence.finding import Finding, Severity, rank

#: What a finding is about: people, columns, or an aspect of the model as a whole.
About = tuple[str, frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class Fold:
    """Findings about the same thing, ranked: the first stands for all of them.

    Attributes
    ----------
    findings : tuple of Finding
        At least one, the worst first.
    """

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The worst of them, which is reported."""
        return self.findings[0]

    @property
    def others(self) -> tuple[Finding, ...]:
        """What stands beneath it."""
        return self.findings[1:]

    @property
    def severity(self) -> Severity:
        """The worst severity among them."""
        return self.first.severity

    @property
    def who(self) -> Mapping[str, str]:
        """The people it is about, as column and value; empty where it is about columns or about everyone."""
        return self.first.who

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is about, where it is not about some people."""
        return () if self.first.who else self.first.columns

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks that found something here, in the order of their findings."""
        return tuple(dict.fromkeys(finding.check for finding in self.findings))

    @property
    def also(self) -> tuple[str, ...]:
        """The checks besides the one that is reported."""
        return self.checks[1:]


def fold(findings: Iterable[Finding]) -> tuple[Fold, ...]:
    """Findings about the same people, the same columns or the same aspect of the model, each in exactly one fold.

    Two findings belong together where they are about the same people, or compare the same two groups the other way
    round; where they name no people, the same columns; where they name neither, the same topic (else the same check).
    Folds, and findings within them, are in the order of `rank`: the severity first, then how sure and how large.

    Examples
    --------
    >>> from isonomia.evidence import Estimate
    >>> from isonomia.languages import msg
    >>> def found(code, severity, **about):
    ...     return Finding(code, severity, msg("{code}", code=code), Estimate(0.1), **about)
    >>> women, men = {"sex": "F"}, {"sex": "M"}
    >>> folds = fold([
    ...     found("label_bias.similar_people", "warning", who=women),
    ...     found("group_fairness.tpr", "critical", who=women, reference=men),
    ...     found("fairness_suite.treatment_equality", "notice", who=men, reference=women),
    ...     found("drift.feature", "notice", columns=("hours",)),
    ... ])
    >>> [(one.severity, one.first.check, one.also) for one in folds]
    [('critical', 'group_fairness', ('label_bias', 'fairness_suite')), ('notice', 'drift', ())]
    """
    ranked = rank(findings)
    return tuple(Fold(tuple(ranked[index] for index in indices)) for indices in folding(ranked))


def folding(ranked: Sequence[Finding]) -> list[list[int]]:
    """The indices of ranked findings, those of one fold together."""
    standing = _both_ways(ranked)
    together: dict[About, list[int]] = {}
    for index, finding in enumerate(ranked):
        about = _about(finding)
        together.setdefault(standing.get(about, about), []).append(index)
    return list(together.values())


def _about(finding: Finding) -> About:
    if finding.who:
        return _people(finding.who)
    if finding.columns:
        return "columns", frozenset((name, "") for name in finding.columns)
    return "model", frozenset({(finding.topic or finding.check, "")})


def _people(who: Mapping[str, str]) -> About:
    return "people", frozenset((str(column), str(value)) for column, value in who.items())


def _both_ways(findings: Iterable[Finding]) -> dict[About, About]:
    """Groups that are compared with each other in both directions, each with the one that stands for all of them."""
    compared = {
        (_people(finding.who), _people(finding.reference))
        for finding in findings
        if finding.who and set(finding.who) == set(finding.reference)
    }
    mirrored = [(one, other) for one, other in compared if one != other and (other, one) in compared]
    sets: dict[About, set[About]] = {}
    for one, other in mirrored:
        joined = sets.get(one, {one}) | sets.get(other, {other})
        for member in joined:
            sets[member] = joined
    return {about: min(joined, key=_order) for about, joined in sets.items()}


def _order(about: About) -> list[tuple[str, str]]:
    return sorted(about[1])
