"""Findings as a few entries: what follows from one fact, or is about the same people, is read together.

Many checks look at the same people: one finds that a group is selected less often, another that the ratio of the rates
is low, a third that its labels differ. Folding puts them together, the worst first; it is a way of reading, and leaves
the findings themselves as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isonomia.evidence.finding import SEVERITIES, Finding, Severity, rank

#: What an entry is about: people as column and value ("people"), columns, slices of some columns ("slices"), a topic
#: that is raised about columns, or an aspect of the model as a whole ("model").
About = tuple[str, frozenset[Any]]
_SLIGHT: About = ("slices", frozenset())


@dataclass(frozen=True)
class Fold:
    """An entry: findings about the same, ranked; the first stands for all of them.

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
        return min((finding.severity for finding in self.findings), key=SEVERITIES.index)

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
    """Findings as entries: each is in exactly one of them.

    - What is said about one group is one entry, whichever check found it; two groups are two entries. Notices about a
      group are listed with the group that has an entry by the same attributes, or by some of them.
    - People who share several values stand on their own only where they are worse off than each of the values
      explains; else they are listed with the wider group (`Finding.explained_by`).
    - Slices of one column that is not protected are one entry.
    - Notices about slices of columns that are not protected, and have no entry of their own, are one entry.
    - Findings with a topic are one entry for each topic and attribute; those that name no people one for each topic,
      else for each check.

    Entries, and findings within them, are in the order of `rank`.

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
    """The indices of ranked findings, those of one entry together."""
    together: dict[About, list[int]] = {}
    for index, finding in enumerate(ranked):
        together.setdefault(_about(finding), []).append(index)
    for index in together.pop(_SLIGHT, []):  # slices of a column that has an entry anyhow are in it
        named: About = ("slices", frozenset(map(str, ranked[index].who)))
        home = named if named in together else _SLIGHT
        together[home] = sorted([*together.get(home, []), index])
    for about, indices in reversed(list(together.items())):
        wider = _wider(about, together)
        if wider is not None and all(ranked[index].severity == "notice" for index in indices):
            together[wider] = sorted(together[wider] + together.pop(about))
    return sorted(together.values())


def _about(finding: Finding) -> About:
    named = frozenset(map(str, finding.who or finding.columns))
    if finding.topic and named:
        return finding.topic, named
    if finding.who and finding.tier == "slices":
        return _SLIGHT if finding.severity == "notice" else ("slices", named)
    if finding.who:
        shared = finding.explained_by or finding.who
        return "people", frozenset((str(column), str(value)) for column, value in shared.items())
    if finding.columns and finding.tier in ("policy", "people"):
        return "columns", named
    return "model", frozenset({finding.topic or finding.check})


def _wider(about: About, known: Mapping[About, Sequence[int]]) -> About | None:
    """The entry that notices about people are listed with: a wider group's, else the first by the same attributes."""
    if about[0] not in ("people", "columns"):
        return None
    own = _columns(about)
    wider = [
        other
        for other, indices in known.items()
        if other[0] in ("people", "columns")
        and other != about
        and (_columns(other) < own or (_columns(other) == own and indices[0] < known[about][0]))
    ]
    return min(wider, key=lambda other: (not other[1] < about[1], known[other][0]), default=None)


def _columns(about: About) -> frozenset[str]:
    kind, named = about
    return frozenset(column for column, _ in named) if kind == "people" else named
