"""The document: everything a report shows, as an immutable description.

An audit builds one `Document`; `to_json`, `to_markdown`, `to_html` and `summary` only show it. Nothing is computed in
between: what a number is, and what a verdict is, was decided before the document was made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from isonomia.display import Shown
from isonomia.errors import SpecError, close_to
from isonomia.evidence import Estimate, Finding, Fold, Result, Severity, Table, fold, rank
from isonomia.languages import Language, Message, Record, Words, msg
from isonomia.languages.naming import both
from isonomia.parameters import Choice

#: What a policy says of the subject: one with limits, or (the last two) one that asks for figures in the report.
VerdictOutcome = Literal["meets", "exceeds", "not_enough_evidence", "not_applicable", "documents", "incomplete"]
#: How a check ended: with findings, without, without an answer, left out on purpose, or with an error.
SectionOutcome = Literal["issue", "passed", "not_applicable", "skipped", "failed"]
#: Whether the figure itself, without its interval, keeps its limit.
Point = Literal["keeps", "breaks"]
#: On which side of its threshold a criterion's figure has to be.
Side = Literal["at_least", "at_most", "between"]


@dataclass(frozen=True)
class ComparedGroup(Record, kind="compared_group"):
    """One group of a criterion.

    Attributes
    ----------
    who : mapping
        The people, as column and value.
    figure : Estimate
        What is compared with the limit; its interval holds together with all others of the policy. `n` counts the rows
        behind `value`. The group that the criterion names has the criterion's own estimate, the reference no interval.
    value : float
        The metric of this group.
    """

    who: Mapping[str, str]
    figure: Estimate
    value: float


@dataclass(frozen=True)
class Criterion(Record, kind="criterion"):
    """One line of a policy, compared with one figure.

    Attributes
    ----------
    name : Message or str
        What is required ("selection rate ratio").
    outcome : "meets", "exceeds", "not_enough_evidence" or "not_applicable"
    estimate : Estimate
        The figure; one without a value says why in its note.
    threshold : float, optional
        What the figure is compared with; for ``side="between"`` the lower end, with the upper end in `upper`.
    side : "at_least", "at_most" or "between"
    upper : float, optional
    who, reference : mapping
        The people it is about and whom they are compared with, as column and value.
    citation : str
        Where the threshold comes from ("29 CFR 1607.4(D)").
    reason : Message or str, optional
        Why there is not enough evidence, or why it does not apply.
    point : "keeps" or "breaks", optional
        Whether the figure itself keeps the limit, for a rule that its source states about the figure; None for others.
    rule : str
        The stable id of the rule, whoever is worst off.
    by : tuple of str
        The attributes that groups were formed by; empty for everyone.
    metric, measure : str
        What was compared ("selection_rate", "ratio"); no metric for rules about checks and findings.
    sentence : Message, optional
        The whole criterion as a sentence: people, figure, interval, limit and what follows.
    people : Estimate, optional
        How many people the worst-off group lacks at the rate of the other one; None where the figure counts nobody.
    also : tuple of mapping
        Other groups that are shown to break the rule, as column and value.
    least, most : float, optional
        The ends of the one-sided tests behind "meets": every figure that the rule looks at is shown to lie above the
        first, or below the second.
    complete : bool
        False where somebody was left out whom the rule asks about: then nothing is shown to be met.
    groups : tuple of ComparedGroup
        Each group compared with the reference, worst first; the reference itself stands last.
    examined : bool
        False where nothing was there to examine: an attribute that is not protected, a check without a result. Such a
        criterion never passes, whatever its policy makes of evidence that is too weak.
    """

    name: Message | str
    outcome: VerdictOutcome
    estimate: Estimate
    threshold: float | None = None
    side: Side = "at_most"
    upper: float | None = None
    who: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, str] = field(default_factory=dict)
    citation: str = ""
    reason: Message | str | None = None
    point: Point | None = None
    rule: str = ""
    by: tuple[str, ...] = ()
    metric: str = ""
    measure: str = ""
    sentence: Message | None = None
    people: Estimate | None = None
    also: tuple[Mapping[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    complete: bool = True
    groups: tuple[ComparedGroup, ...] = ()
    examined: bool = True

    @property
    def passes(self) -> bool:
        """Whether what it requires was shown to be there."""
        return self.outcome in ("meets", "documents")

    @property
    def margin(self) -> float:
        """How far the figure keeps its limit, relative to it; below 0 where it breaks it, infinite without a figure.

        >>> round(Criterion("ratio", "exceeds", Estimate(0.6), 0.8, "at_least").margin, 3)
        -0.25
        """
        value, limit = self.estimate.value, self.threshold
        if value is None or limit is None:
            return math.inf
        return (1 if self.side == "at_least" else -1) * (value - limit) / (abs(limit) or 1.0)

    @property
    def was_examined(self) -> bool:
        """Whether there was something to examine; reports of earlier versions say it by the outcome alone."""
        return self.examined and self.outcome != "not_applicable"

    @property
    def key(self) -> str:
        """The stable name over runs: the rule and the attributes, never the group that happens to be worst off.

        >>> Criterion("ratio", "meets", Estimate(0.9), rule="selection-rate-ratio", by=("sex", "race")).key
        'selection-rate-ratio[sex x race]'
        """
        return f"{self.rule}[{' x '.join(self.by)}]" if self.by else self.rule

    def __post_init__(self) -> None:
        Choice(get_args(VerdictOutcome)).check("outcome", self.outcome)
        Choice(get_args(Point)).or_none().check("point", self.point)
        Choice(get_args(Side)).check("side", self.side)

    def __repr__(self) -> str:
        if self.sentence is not None:
            return f"{self.outcome.replace('_', ' ')}: {self.sentence}"
        whom = "".join(f", {column}={value}" for column, value in self.who.items())
        limit = "" if self.threshold is None else f"; limit: {self.side.replace('_', ' ')} {self.threshold:g}"
        upper = "" if self.upper is None else f" and {self.upper:g}"
        return f"{self.name}{whom}: {self.estimate}{limit}{upper} ({self.outcome.replace('_', ' ')})"


@dataclass(frozen=True)
class Verdict(Record, kind="verdict"):
    """What a named policy says of the subject.

    Attributes
    ----------
    outcome : "meets", "exceeds", "not_enough_evidence" or "not_applicable"
    policy : str
        The policy's stable name ("eeoc").
    title : Message or str
        What it is called.
    source : str
        The law, guideline or file its thresholds come from.
    criteria : tuple of Criterion
    reason : Message or str, optional
        The outcome as a sentence: of the worst criterion the people, the figure, its interval and the limit.
    about : Message or str, optional
        What the policy itself says a reader has to know.
    basis : Message, optional
        How this policy decides.
    notes : tuple of Message
        Its standing (in force, practice, proposed), and that the audit lies outside its dates.
    """

    outcome: VerdictOutcome
    policy: str
    title: Message | str
    source: str = ""
    criteria: tuple[Criterion, ...] = ()
    reason: Message | str | None = None
    about: Message | str | None = None
    basis: Message | None = None
    notes: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        Choice(get_args(VerdictOutcome)).check("outcome", self.outcome)

    @property
    def decisive(self) -> Criterion | None:
        """The criterion that its sentence is about: of those with its outcome the one that keeps its limit worst."""
        same = [one for one in self.criteria if one.outcome == self.outcome and one.estimate.value is not None]
        return min(same, key=lambda one: one.margin, default=None)

    def __repr__(self) -> str:
        lines = [f"{self.policy}: {self.outcome.replace('_', ' ')}. {self.reason or ''}".rstrip()]
        return "\n".join([*lines, *(f"  {one!r}" for one in self.criteria)])


@dataclass(frozen=True)
class Section(Record, Shown, kind="section"):
    """One check of the audit and how it ended.

    Attributes
    ----------
    code : str
        The check's stable name; the same as ``result.code`` where there is a result.
    title : Message
    purpose : Message
        The question it answers, in a sentence.
    outcome : "issue", "passed", "not_applicable", "skipped" or "failed"
    result : Result, optional
        What it returned; None where it did not run or did not end.
    reason : Message or str, optional
        Why it has no answer, was left out or failed; needed for those three outcomes.
    seconds : float
        How long it took.
    topic : str
        The question that several checks ask: they stand together (see `chapters`).
    """

    code: str
    title: Message
    purpose: Message
    outcome: SectionOutcome
    result: Result | None = None
    reason: Message | str | None = None
    seconds: float = 0.0
    topic: str = ""

    def __repr__(self) -> str:
        ended = f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'}" if self.result else self.reason
        return f"Section({self.code}: {self.outcome}; {ended})"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What it found."""
        return () if self.result is None else self.result.findings

    def __post_init__(self) -> None:
        Choice(get_args(SectionOutcome)).check("outcome", self.outcome)
        if self.outcome in ("not_applicable", "skipped", "failed") and not self.reason:
            raise SpecError(f"A check that ended as {self.outcome!r} needs a reason; {self.code!r} has none.")


@dataclass(frozen=True)
class Document(Shown):
    """Everything a report shows.

    Attributes
    ----------
    title : Message or str
    subject : mapping
        What was examined, in the order it is to be shown. Known keys get a heading in the reader's language: dataset,
        rows, target, positive, protected, privileged, weight, time, prediction, score, model, trusted, task, source;
        others are headed by their name. Values are texts, numbers, truth values, messages, lists or mappings of them.
    sections : tuple of Section
        The checks, in the order they are to be read.
    balance_sheet : Result, optional
        Rows used, missing protected values, groups too small, cells empty.
    verdict : Verdict, optional
        None where no policy was given.
    policy : mapping, optional
        The policy itself, as plain data.
    language : str
        The language it is shown in unless another is requested.
    fingerprint : mapping
        What makes the run repeatable: hashes of data and spec, the seed, versions of the packages.
    spec : mapping
        What was asked: the roles of the columns, checks, options and settings. With it, the data and the model the
        audit can be repeated.
    created : str
        ISO 8601 time.
    timings : mapping
        Seconds by step; the checks' own seconds are added under their codes.
    words : Words
        What the file's columns, values and outcomes are called in sentences.

    Examples
    --------
    >>> document = Document(msg("Audit"), {"dataset": "adult", "rows": 48842})
    >>> document.counts
    {'issue': 0, 'passed': 0, 'not_applicable': 0, 'skipped': 0, 'failed': 0}
    """

    title: Message | str
    subject: Mapping[str, Any]
    sections: tuple[Section, ...] = ()
    balance_sheet: Result | None = None
    verdict: Verdict | None = None
    policy: Mapping[str, Any] | None = None
    language: Language = "en"
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    timings: Mapping[str, float] = field(default_factory=dict)
    words: Words = field(default_factory=Words)

    def __post_init__(self) -> None:
        codes = [section.code for section in self.sections]
        twice = sorted({code for code in codes if codes.count(code) > 1})
        if twice:
            raise SpecError(f"Each section of a document needs a code of its own; {twice} came more than once.")

    def _repr_html_(self) -> str:
        return self.to_html(self.language, page=False)

    def __getitem__(self, code: str) -> Section:
        for section in self.sections:
            if section.code == code:
                return section
        raise SpecError(f"There is no section {code!r}.{close_to(code, [section.code for section in self.sections])}")

    def table(self, place: str) -> Table | None:
        """A table by its place, "check/table"; None where there is none."""
        check, _, name = place.partition("/")
        results = (section.result for section in self.sections if section.code == check and section.result is not None)
        return next((result.tables[name] for result in results if name in result.tables), None)

    @property
    def counts(self) -> dict[SectionOutcome, int]:
        """How many checks ended in which way."""
        outcomes = [section.outcome for section in self.sections]
        return {outcome: outcomes.count(outcome) for outcome in get_args(SectionOutcome)}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all checks, ranked (`evidence.rank`), p-values corrected within their families."""
        return rank(finding for section in self.sections for finding in section.findings)

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """Findings about the same people, columns or aspect of the model together, the worst first."""
        return fold(self.findings)

    def called(self, code: str) -> Message:
        """What a check is called: its section's title; its code where it has no section."""
        titles = {section.code: section.title for section in self.sections}
        return titles.get(code, msg("{name}", name=code))

    @property
    def severities(self) -> dict[Severity, int]:
        """How many findings are of which severity, the worst first."""
        grades = [finding.severity for finding in self.findings]
        return {grade: grades.count(grade) for grade in get_args(Severity)}

    @property
    def assessment(self) -> Message:
        """The whole report in one sentence: what the checks found. It is not the verdict of a policy."""
        counts, grades = self.counts, self.severities
        ran = counts["issue"] + counts["passed"]
        if not ran:
            return msg("No check could be run, so there is no statement about the model.")
        if not self.findings:
            return msg("No issues in {ran:# check|# checks}.", ran=ran)
        *others, last = [counted(n, grade) for grade, n in grades.items() if n]
        listed = [Message("{one}, {other}", {"one": others[0], "other": others[1]})] if len(others) == 2 else others
        return msg("Found: {found}.", found=both([*listed, last]))


def counted(n: int, grade: Severity) -> Message:
    """How many findings there are of a severity.

    >>> counted(1, "warning").text("pt-BR"), counted(3, "critical").text("pt-BR")
    ('1 alerta', '3 achados críticos')
    """
    counts: Mapping[Severity, Message] = {
        "critical": msg("{n:# critical finding|# critical findings}", n=n),
        "warning": msg("{n:# warning|# warnings}", n=n),
        "notice": msg("{n:# notice|# notices}", n=n),
    }
    return counts[grade]
