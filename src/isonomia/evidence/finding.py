"""One statement worth reading."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.display import Shown
from isonomia.errors import close_to
from isonomia.evidence.affected import at_least
from isonomia.evidence.column import Format
from isonomia.evidence.estimate import Estimate
from isonomia.evidence.remedies import REMEDIES
from isonomia.languages import Message, Record, encode, take_texts, with_people

#: critical: act on it; warning: look at it; notice: know it.
Severity = Literal["critical", "warning", "notice"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "notice")
#: policy: it breaks a rule of the policy; people: it is about protected groups; slices: about other people; model:
#: about the model as a whole.
Tier = Literal["policy", "people", "slices", "model"]
TIERS: tuple[Tier, ...] = ("policy", "people", "slices", "model")


#: The topic of findings that outcomes are recorded wrongly for some people, on which error rates rest.
LABELS = "labels"


@dataclass(frozen=True)
class Tried(Record, kind="tried"):
    """What a fix did about a finding, on people that neither the model nor the fix had seen.

    Attributes
    ----------
    method : str
        The id of the mitigation.
    message : Message
        What it did, as a sentence.
    evidence : str
        The table that shows it, as "check/table".
    """

    method: str
    message: Message
    evidence: str = ""


@dataclass(frozen=True)
class Finding(Record, Shown, kind="finding"):
    """What was found: who is affected, how many people, how large, how certain.

    Attributes
    ----------
    code : str
        A stable name: the check and what it measured ("group_fairness.selection_rate").
    severity : "critical", "warning" or "notice"
    message : Message
        The statement as a sentence; a plain text will do.
    who : mapping
        The people it is about, as column and value; empty for everyone.
    n : int
        How many rows they are.
    estimate : Estimate
        The figure.
    magnitude : float
        How large, on one scale for all checks: 1 = just at the threshold that makes it worth reporting, 2 = twice it.
    p_value, p_adjusted : float, optional
        The test behind it, and the same after correcting over all tests of the run about the same question.
    test : tuple, optional
        The key of that test among the tests of its run: the key of a row of a table's column ``p_value``, or ``(check,
        table, row)`` where the column has none. None where the p-value stands in no table.
    threshold : float, optional
        The threshold the figure was compared with, in its unit.
    reference : mapping
        Whom they are compared with, as column and value.
    remedy : str, optional
        The id of what to do next, among `REMEDIES`.
    tried : Tried, optional
        What one of the remedy's fixes did, where one was tried.
    format : Format
        How the figure is written: "points" for a difference of rates, "pct" for a rate, "num" otherwise.
    evidence : str
        The table that shows it, as "check/table".
    columns : tuple of str
        The attributes or features it is about, where it is about columns rather than about some people.
    topic : str
        The question it answers, where several checks ask it: findings with the same topic about the same columns are
        read together ("use": does the model use a protected attribute, itself or through other columns?; "labels": are
        the outcomes right that error rates rest on?).
    people : Estimate, optional
        How many people are affected beyond what the reference would have had (see `affected`): positive where they are
        worse off, negative where they are better off. Its note says why it does not exist, where it does not.
    explained_by : mapping
        A wider group that is as badly off, where the finding is about people who share more values: it is then listed
        with that group. Empty where these people are worse off than each of their values explains.
    favourable : bool, optional
        Whether the class of several that it is about is a favourable one; None where it is about no class, or where
        nobody said which are.
    tier : "policy", "people", "slices" or "model"
        What it concerns; an audit sets it. See `rank`.
    """

    code: str
    severity: Severity
    message: Message
    estimate: Estimate
    who: Mapping[str, str] = field(default_factory=dict)
    n: int = 0
    magnitude: float = 1.0
    p_value: float | None = None
    p_adjusted: float | None = None
    threshold: float | None = None
    reference: Mapping[str, str] = field(default_factory=dict)
    remedy: str | None = None
    evidence: str = ""
    format: Format = "num"
    columns: tuple[str, ...] = ()
    topic: str = ""
    test: tuple[Any, ...] | None = None
    tried: Tried | None = None
    people: Estimate | None = None
    explained_by: Mapping[str, str] = field(default_factory=dict)
    favourable: bool | None = None
    tier: Tier = "model"

    @property
    def metric(self) -> str:
        """What it measured, without the class of several that it is about: "tpr" of "group_fairness.tpr[high]"."""
        return self.code.partition(".")[2].partition("[")[0]

    @property
    def people_at_least(self) -> float:
        """The lower bound of the people affected; 0 where it may be nobody, or where nobody is counted."""
        return at_least(self.people)

    @property
    def check(self) -> str:
        """The check that found it."""
        return self.code.split(".")[0]

    @property
    def advice(self) -> Message | None:
        """What to do next, as a sentence."""
        return None if self.remedy is None else REMEDIES[self.remedy]

    def __post_init__(self) -> None:
        take_texts(self, "message")
        object.__setattr__(self, "message", with_people(self.message))
        if self.remedy is not None and self.remedy not in REMEDIES:
            raise ValueError(f"There is no remedy {self.remedy!r}.{close_to(self.remedy, REMEDIES)}")

    def __repr__(self) -> str:
        return f"{self.severity}: {self.message}"

    @property
    def sure(self) -> bool | None:
        """Whether it stands after correcting for the tests of its family, at 5%; None where there was no test."""
        p = self.p_adjusted if self.p_adjusted is not None else self.p_value
        return None if p is None else p < 0.05

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, with the check and the advice beside the fields."""
        return {**super().to_dict(), "check": self.check, "advice": encode(self.advice)}


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings of all checks in one order: what breaks the policy, then severity, then how many people it concerns.

    Of equal severity, protected people come before slices of other columns and before the model as a whole, and groups
    of one attribute before those of several; then the lower bound of the people affected decides
    (`Finding.people_at_least`), then the magnitude (one that is not a number comes last). What may be chance comes last
    of its severity. Whatever order the findings come in, they leave in the same one.

    Those about the same people stand together, where the one that affects most of them would; how those with a
    favourable outcome fared leads. Of several classes, those that one metric says about the same people stand together
    too; favourable classes lead. Whether outcomes are recorded rightly (the topic `LABELS`) comes before the rest of
    the same severity, which takes them as true.
    """
    given = tuple(findings)
    return tuple(given[index] for index in ranking(given))


def ranking(findings: Sequence[Finding]) -> list[int]:
    """The indices of findings in the order of `rank`."""
    of_classes: dict[Any, float] = {}
    of_people: dict[Any, tuple[float, float]] = {}
    for finding in findings:
        most, largest = of_people.get(_people(finding), (0.0, -math.inf))
        of_people[_people(finding)] = max(most, finding.people_at_least), max(largest, _size(finding))
        if (classes := _classes(finding)) is not None:
            of_classes[classes] = max(finding.people_at_least, of_classes.get(classes, 0.0))

    def key(index: int) -> tuple[Any, ...]:
        finding = findings[index]
        alone = finding.people_at_least, _size(finding)
        most, largest = of_people[_people(finding)] if finding.who else alone
        named = [sorted((str(c), str(v)) for c, v in who.items()) for who in (finding.who, finding.reference)]
        about = (finding.code, named, finding.columns, finding.topic, finding.message.text())
        # of two figures of one fact, which count the same people, the difference leads
        people = -round(of_classes.get(_classes(finding), finding.people_at_least), 6), finding.format != "points"
        of_class = finding.favourable is False, -round(finding.people_at_least, 6)
        return (
            finding.tier != "policy",
            SEVERITIES.index(finding.severity),
            finding.sure is False,
            TIERS.index(finding.tier),
            finding.topic != LABELS,
            -round(most, 6),
            max(len(finding.who), 1),
            -largest,
            not finding.who,
            named[0],
            _FIRST.index(finding.metric) if finding.metric in _FIRST else len(_FIRST),
            *people,
            *of_class,
            finding.sure is None,
            -_size(finding),
            -finding.n,
            *about,
        )

    return sorted(range(len(findings)), key=key)


#: What leads of what is said about the same people: how those fared who deserved the decision.
_FIRST = ("tpr",)


def _size(finding: Finding) -> float:
    return -math.inf if math.isnan(finding.magnitude) else finding.magnitude


def _people(finding: Finding) -> Any:
    """What findings about the same people share that are equally severe."""
    who = frozenset((str(column), str(value)) for column, value in finding.who.items())
    return finding.tier, finding.severity, finding.sure is False, who


def _classes(finding: Finding) -> Any:
    """What findings about the classes of one decision share; None where it is not known which are favourable."""
    if finding.favourable is None:
        return None
    people = (frozenset((str(c), str(v)) for c, v in who.items()) for who in (finding.who, finding.reference))
    return finding.check, finding.metric, finding.tier, finding.severity, finding.sure is False, *people
