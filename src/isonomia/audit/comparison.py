"""Two audits side by side: did the new model get worse, and where?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from isonomia.audit.compared_criteria import compared_criteria, same_policy, steps
from isonomia.audit.compared_findings import compared_findings, unexamined
from isonomia.audit.compared_gaps import compared_gaps
from isonomia.audit.compared_scope import Scope
from isonomia.audit.figures import ReportFigure, figures_of
from isonomia.audit.naming import in_words, metric_title
from isonomia.audit.report import Report
from isonomia.errors import DataError, SpecError
from isonomia.evidence import Column, Picture, Result, Table, benjamini_hochberg, normal_p, normal_quantile
from isonomia.languages import Message, msg, with_people
from isonomia.metrics import METRICS
from isonomia.parameters import Choice, Number, validated
from isonomia.report import VerdictOutcome
from isonomia.report.naming import in_file_words
from isonomia.report.words import CRITERIA

#: A change counts as shown when its adjusted p-value is below this.
ALPHA = 0.05

Direction = Literal["worse", "better", "changed", "same"]
DIRECTIONS: Mapping[str, Message] = {
    "worse": msg("worse"),
    "better": msg("better"),
    "changed": msg("changed"),
    "same": msg("no clear change"),
}

#: Sentences about what got worse are written up to this many; the tables have the rest.
MAX_SENTENCES = 10

#: What ends a comparison with 1: criteria that got worse; gaps too; any figure too.
CompareOn = Literal["criteria", "gaps", "any"]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """What changed from one report to another.

    Attributes
    ----------
    worse_in : tuple of "criteria", "gaps", "figures"
        Where something got worse.
    fail_on : "criteria", "gaps" or "any"
        What counts.
    differences : tuple of Message
        Where checks, rows, policy or settings differ: nothing is better, gone or met where nobody looked.
    sentences : tuple of Message
        What got worse, the criteria first.
    before, after : Report
    tables
        ``criteria``: outcome and figure of every criterion before and after; ``gaps``: gaps and ratios between groups
        with the interval of their growth; ``findings``: those that are new, those that are gone, those
        that were not examined again; ``changes``: all
        figures with an interval, their difference and an adjusted p-value; ``verdicts``.
    """

    worse_in: tuple[str, ...] = ()
    fail_on: CompareOn = "gaps"
    differences: tuple[Message, ...] = ()
    sentences: tuple[Message, ...] = ()
    before: Report | None = field(default=None, compare=False)
    after: Report | None = field(default=None, compare=False)

    @property
    def worse(self) -> bool:
        """Whether something that counts got worse."""
        counted = {"criteria": ("criteria",), "gaps": ("criteria", "gaps")}.get(self.fail_on, self.worse_in)
        return any(part in counted for part in self.worse_in)

    @property
    def unexamined(self) -> tuple[str, ...]:
        """The criteria that the first audit examined and the second one could not."""
        criteria = self.tables["criteria"]
        steps = zip(criteria["criterion"].values, criteria["step"].values, strict=True)
        return tuple(str(name) for name, change in steps if change == "unexamined")

    @property
    def dropped_breach(self) -> bool:
        """Whether the policy was exceeded before and was not asked again."""
        return self.before is not None and self.after is not None and Scope(self.before, self.after).dropped_breach

    @property
    def unexamined_findings(self) -> int:
        """How many critical findings of the first audit the second one did not examine."""
        return unexamined(self.tables["findings"], "critical")

    @property
    def headline(self) -> Message:
        """How many criteria and gaps got worse, and other figures where they count."""
        columns = {"criteria": "step", "gaps": "trend", "changes": "direction"}
        compared = {name: len(self.tables[name]) for name in columns}
        worse = {
            f"worse_{name}": [str(value) for value in self.tables[name][column].values].count("worse")
            for name, column in columns.items()
        }
        if not self.worse and self.dropped_breach:
            return msg(
                "The policy that was exceeded was not asked again, so nothing shows that the model did not get worse."
            )
        if not self.worse and self.unexamined_findings:
            return msg(
                "{n:# critical finding was|# critical findings were} not examined again, so nothing shows that the "
                "model did not get worse.",
                n=self.unexamined_findings,
            )
        if not (compared["criteria"] or compared["gaps"] or (self.fail_on == "any" and compared["changes"])):
            return msg("Nothing could be compared: the reports share no criterion and no gap between the same groups.")
        if not self.worse and self.unexamined:
            return msg(
                "{n:# criterion was|# criteria were} not examined again, so nothing shows that the model did not get "
                "worse.",
                n=len(self.unexamined),
            )
        if not self.worse and not {"criteria", "gaps"} & {*self.worse_in}:
            return msg(
                "Nothing got worse ({criteria:# criterion|# criteria} and {gaps:# gap|# gaps} compared).", **compared
            )
        if self.fail_on == "any":
            return msg(
                "{worse_criteria:int} of {criteria:# criterion|# criteria}, {worse_gaps:int} of {gaps:# gap|# gaps} "
                "and {worse_changes:int} of {changes:# figure|# figures} got worse.",
                **compared,
                **worse,
            )
        return msg(
            "{worse_criteria:int} of {criteria:# criterion|# criteria} and {worse_gaps:int} of {gaps:# gap|# gaps} got "
            "worse.",
            **compared,
            **worse,
        )

    @property
    def lead(self) -> tuple[Message, ...]:
        """The verdict, what both audits are, where they differ, how many criteria and gaps got worse, and which."""
        return (*self.head, *self.differences, self.headline, *self.sentences[:MAX_SENTENCES])

    @property
    def head(self) -> tuple[Message, ...]:
        """The verdict before and now, and what the two audits examined."""
        if self.before is None or self.after is None:
            return ()
        before, after = (self.values[name] for name in ("verdict_before", "verdict_after"))
        return (
            msg("Verdict now: {after}. Before: {before}.", before=before, after=after),
            msg("Before: {audit}.", audit=_described(self.before)),
            msg("Now: {audit}.", audit=_described(self.after)),
        )

    def to_html(self, language: str = "en", *, page: bool = True) -> str:
        """As any result; without the names by which machines know gaps."""
        shown = replace(self, tables={**self.tables, "gaps": self.tables["gaps"].without("code")})
        return super(Comparison, shown).to_html(language, page=page)

    @property
    def exit_code(self) -> int:
        """1 where something that counts got worse, 3 where something that was critical was not examined again."""
        unknown = self.unexamined or self.unexamined_findings or self.dropped_breach
        return 1 if self.worse else 3 if unknown else 0


@validated(fail_on=Choice(get_args(CompareOn)), tolerance=Number(at_least=0, below=1))
def compare(before: Any, after: Any, *more: Any, fail_on: CompareOn = "gaps", tolerance: float = 0.0) -> Comparison:
    """Compare two reports: `Report` objects, their dictionaries, or paths of ``report.json`` files.

    Parameters
    ----------
    before, after
    *more
        Refused: two reports are compared at a time.
    fail_on : "criteria", "gaps" or "any"
        What counts as worse: a criterion of the policy whose outcome got worse; also a gap between groups that grew;
        also any other figure that got worse.
    tolerance : float
        Growth of a gap, or loss of a figure, that is still allowed.

    Notes
    -----
    Figures are compared as estimates from two separate samples: z = difference / sqrt(se1^2 + se2^2) with standard
    errors read off the intervals. Where both reports are about the same rows this is cautious: shared noise counts
    twice.
    """
    if more:
        raise SpecError(
            f"Two reports are compared at a time; got {len(more) + 2}. Compare each with the first: "
            "[compare(first, one) for one in others]."
        )
    old, new = _report(before, "before"), _report(after, "after")
    if fail_on == "criteria" and not same_policy(old, new):
        raise SpecError(
            "The reports have no verdict of the same policy, so there are no criteria to compare. Audit both with one "
            "policy, or choose fail_on='gaps' (--fail-on gaps)."
        )
    scope = Scope(old, new)
    criteria, gaps = compared_criteria(old, new), compared_gaps(old, new, tolerance)
    words = new.document.words
    changes = _changes(old, new, tolerance)
    worse_in = {
        "criteria": "worse" in criteria["step"].values,
        "gaps": "worse" in gaps["trend"].values,
        "figures": "worse" in changes["direction"].values,
    }
    compared = Comparison(
        "comparison",
        msg("Comparison of two audits"),
        {
            "criteria": criteria,
            "gaps": gaps,
            "verdicts": _verdicts(old, new),
            "findings": compared_findings(scope),
            "changes": changes,
        },
        {
            "verdict_before": CRITERIA[_outcome(old)],
            "verdict_after": CRITERIA[_outcome(new)],
            "same_data": scope.same_data,
        },
        pictures=(
            Picture(
                "dumbbell",
                "criteria",
                msg("Criteria before and after, with their limits"),
                {"labels": "criterion", "before": "before", "after": "after", "limit": "limit", "facet": "measure"},
            ),
        )
        if len(criteria)
        else (),
        notes=_notes(scope, len(gaps)),
        worse_in=tuple(name for name, is_worse in worse_in.items() if is_worse),
        fail_on=fail_on,
        differences=tuple(words.spoken(with_people(one)) for one in scope.differences),
        sentences=tuple(words.spoken(with_people(one)) for one in (*_worse_criteria(old, new), *_worse_gaps(gaps))),
        before=old,
        after=new,
        titles={
            "verdict_before": msg("verdict before"),
            "verdict_after": msg("verdict now"),
            "same_data": msg("same data"),
        },
    )
    return in_file_words(in_words(compared), words)


def _worse_criteria(old: Report, new: Report) -> Iterator[Message]:
    for first, second, change in steps(old, new):
        if change in ("worse", "unexamined") and second is not None:
            yield msg(
                "{criterion}: {before} before, {after} now. {sentence}",
                criterion=second.key,
                before=msg("not in this report") if first is None else CRITERIA[first.outcome],
                after=CRITERIA[second.outcome],
                sentence=second.sentence or second.name,
            )
        elif change == "unexamined" and first is not None:
            yield msg(
                "{criterion}: {before} before, not examined now.", criterion=first.key, before=CRITERIA[first.outcome]
            )


def _worse_gaps(gaps: Table) -> Iterator[Message]:
    for row in gaps.rows():
        if row["trend"] == "worse":
            yield msg(
                "{metric} of {group} and {reference}: the {kind} went from {before:num} to {after:num}.",
                metric=metric_title(row["metric"]) or row["metric"],
                **{name: row[name] for name in ("group", "reference", "kind", "before", "after")},
            )


def _report(given: Any, what: str) -> Report:
    if isinstance(given, Report):
        return given
    if isinstance(given, str | os.PathLike):
        return Report.load(Path(given))
    if isinstance(given, Mapping):
        return Report.from_dict(given)
    raise DataError(f"`{what}` must be a Report, its dictionary or a path; got {type(given).__name__}.")


def _outcome(report: Report) -> VerdictOutcome:
    return "not_applicable" if report.verdict is None else report.verdict.outcome


def _known(report: Report) -> dict[tuple[Any, ...], ReportFigure]:
    """Every metric that has a value, of all rows and of each group, by its key."""
    return {one.key: one for one in figures_of(report) if one.measure == "value" and one.estimate.value is not None}


def _changes(old: Report, new: Report, tolerance: float) -> Table:
    first, second = _known(old), _known(new)
    shared = [first[key] for key in first if key in second]
    pairs = [(one, second[one.key]) for one in shared]
    value = np.array([[one.estimate.value, two.estimate.value] for one, two in pairs], dtype=float).reshape(-1, 2)
    error = np.array([[one.error, two.error] for one, two in pairs], dtype=float).reshape(-1, 2)
    difference, spread = value[:, 1] - value[:, 0], np.sqrt((error**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(spread > 0, normal_p(difference / spread), np.where(difference == 0, 1.0, np.nan))
    adjusted = benjamini_hochberg(p)
    z = normal_quantile(0.95)
    low, high = difference - z * spread, difference + z * spread
    directions = [
        _direction(one.metric, d, q) if abs(d) > tolerance else "same"
        for one, d, q in zip(shared, difference, adjusted, strict=True)
    ]
    return Table(
        (
            Column(
                "group",
                [one.label for one in shared],
                title=msg("group"),
                keys=[one.group for one in shared],
                names={"overall": msg("everyone")},
            ),
            Column("metric", [one.metric for one in shared], title=msg("metric"), names=_titles(new)),
            Column("before", value[:, 0], format="num4", title=msg("before")),
            Column("after", value[:, 1], format="num4", title=msg("after")),
            Column("difference", difference, low, high, format="num4", title=msg("difference")),
            Column("p_value", p, format="p", title=msg("p-value")),
            Column("p_adjusted", adjusted, format="p", title=msg("p adjusted")),
            Column("direction", directions, title=msg("direction"), names=DIRECTIONS),
        ),
        msg("Figures before and after"),
    )


def _titles(report: Report) -> dict[str, Message]:
    """What the headline figures of the checks are called."""
    results = (section.result for section in report.document.sections)
    return {name: title for result in results if result is not None for name, title in result.titles.items()}


def _direction(metric: str, difference: float, p_adjusted: float) -> Direction:
    if not p_adjusted < ALPHA or difference == 0:
        return "same"
    name = metric.split("[")[0]
    higher = METRICS[name].higher_is_better if name in METRICS else {"brier": False, "mce": False}.get(name)
    if higher is None:
        return "changed"
    return "better" if (difference > 0) == higher else "worse"


def _described(report: Report) -> Message:
    """What an audit examined and when: the data, the model, how many rows."""
    document = report.document
    marks = [str(document.fingerprint.get(name) or "")[:12] for name in ("data_sha256", "model_sha256")]
    known = {
        "title": document.title,
        "rows": document.subject.get("rows"),
        "data": marks[0] or msg("not recorded"),
        "day": document.created[:16].replace("T", " "),
    }
    if "model" not in document.subject:
        return msg("{title}, {rows:int} rows (data {data}), decisions from the data, {day}", **known)
    return msg(
        "{title}, {rows:int} rows (data {data}), model {model} ({mark}), {day}",
        model=document.subject["model"],
        mark=marks[1] or msg("not a file"),
        **known,
    )


def _verdicts(old: Report, new: Report) -> Table:
    verdicts = [report.verdict for report in (old, new)]
    policies = [None if verdict is None else verdict.policy for verdict in verdicts]
    return Table(
        (
            Column("report", [msg("before"), msg("after")], title=msg("report")),
            Column("policy", policies, title=msg("policy")),
            Column(
                "outcome",
                [_outcome(report) for report in (old, new)],
                title=msg("outcome"),
                names={str(code): called for code, called in CRITERIA.items()},
            ),
        ),
        msg("Verdicts"),
    )


def _notes(scope: Scope, gaps: int) -> tuple[Message, ...]:
    notes = []
    if not gaps:
        notes.append(msg("The reports hold no gap between the same groups, so gaps are not compared."))
    if scope.same_data:
        notes.append(
            msg("Both reports are about the same data, so the tests are conservative: shared noise is counted twice.")
        )
    return tuple(notes)
