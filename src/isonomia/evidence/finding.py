"""One statement worth reading."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.display import Shown
from isonomia.errors import close_to
from isonomia.evidence.column import Format
from isonomia.evidence.estimate import Estimate
from isonomia.evidence.remedies import REMEDIES
from isonomia.languages import Message, Record, encode

#: critical: act on it; warning: look at it; notice: know it.
Severity = Literal["critical", "warning", "notice"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "notice")


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
    """What was found: who is affected, how many rows, how large, how certain.

    Attributes
    ----------
    code : str
        A stable name: the check and what it measured ("group_fairness.selection_rate").
    severity : "critical", "warning" or "notice"
    message : Message
        The statement as a sentence.
    who : mapping
        The people it is about, as column and value; empty for everyone.
    n : int
        How many rows they are.
    estimate : Estimate
        The figure.
    magnitude : float
        How large, on one scale for all checks: 1 = just at the threshold that makes it worth telling, 2 = twice it.
    p_value, p_adjusted : float, optional
        The test behind it, and the same after correcting over all tests of the run about the same question.
    test : tuple, optional
        The key of that test among the tests of its run: the key of a row of a table's column ``p_value``, or ``(check,
        table, row)`` where the column has none. None where the p-value stands in no table.
    threshold : float, optional
        The threshold the figure was compared with.
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
        The side of the model it is about where it names neither people nor columns; the check where it is empty.
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

    @property
    def check(self) -> str:
        """The check that found it."""
        return self.code.split(".")[0]

    @property
    def advice(self) -> Message | None:
        """What to do next, as a sentence."""
        return None if self.remedy is None else REMEDIES[self.remedy]

    def __post_init__(self) -> None:
        if self.remedy is not None and self.remedy not in REMEDIES:
            raise ValueError(f"There is no remedy {self.remedy!r}.{close_to(self.remedy, REMEDIES)}")

    @property
    def sure(self) -> bool | None:
        """Whether it stands after correcting for the tests of its family, at 5%; None where there was no test."""
        p = self.p_adjusted if self.p_adjusted is not None else self.p_value
        return None if p is None else p < 0.05

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, with the check and the advice beside the fields."""
        return {**super().to_dict(), "check": self.check, "advice": encode(self.advice)}


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings of all checks in one order: severity, whether it stands after adjusting, magnitude, rows.

    A magnitude that is not a number comes last; whatever order the findings come in, they leave in the same one.
    """
    given = tuple(findings)
    return tuple(given[index] for index in ranking(given))


def ranking(findings: Sequence[Finding]) -> list[int]:
    """The indices of findings in the order of `rank`."""

    def key(index: int) -> tuple[Any, ...]:
        finding = findings[index]
        doubtful = {True: 0, None: 1, False: 2}[finding.sure]
        size = -math.inf if math.isnan(finding.magnitude) else finding.magnitude
        people = [sorted((str(c), str(v)) for c, v in who.items()) for who in (finding.who, finding.reference)]
        about = (finding.code, people, finding.columns, finding.topic, finding.message.text())
        return (SEVERITIES.index(finding.severity), doubtful, -size, -finding.n, *about)

    return sorted(range(len(findings)), key=key)
