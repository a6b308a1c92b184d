"""Rules about checks: a figure that a check reports, the number of findings, a figure that has to be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isonomia.audit.verdicts.missing_criterion import missing_criterion
from isonomia.audit.verdicts.verdict_sentences import documented, explained, overall_sentence
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import SEVERITIES, Estimate, Result, Severity
from isonomia.evidence.intervals import normal_quantile
from isonomia.evidence.simultaneous import simultaneous_level
from isonomia.fairness.judging.evidence import Evidence
from isonomia.fairness.judging.limits import WORST_FIRST, Outcome
from isonomia.fairness.judging.questions import few_without
from isonomia.fairness.judging.reasons import absent_reason, joined, no_value, unsure
from isonomia.languages import Message, People, msg
from isonomia.languages.people import people_of
from isonomia.metrics import METRICS
from isonomia.policies import CheckRule, FigureRule, FindingsRule, absent_attributes, policy_text
from isonomia.report import Criterion, Section, VerdictOutcome
from isonomia.subject import Subject


def check_criterion(rule: CheckRule, sections: Sequence[Section], subject: Subject, n_picks: int) -> Criterion:
    """A figure of a check compared with its limit; of a table the worst row, with an interval for all of them.

    Whole numbers are counts of what a search found: facts, which need no interval. Every other figure is decided by its
    interval, widened so that it holds together with the other criteria (on the scale of normal errors). Few people
    without a value of an attribute are left out.
    """
    name, level = policy_text(rule.name), subject.settings.level
    try:
        figures, form = _figures(rule, _result(rule.check, sections))
    except NotApplicable as error:
        return missing_criterion(rule, "not_enough_evidence", error.message, examined=False)
    set_aside: Message | None = None
    called = {
        column.name: str(column.texts[column.missing]) for column in subject.attributes if column.missing is not None
    }
    for attribute, n in few_without(subject).items():
        known = [one for one in figures if one.who.get(attribute) != called[attribute]]
        if len(known) < len(figures):
            figures, set_aside = known, joined(set_aside, no_value(attribute, n, len(subject)))
    together = n_picks - 1 + max(len(figures), 1)  # the worst row counts, so all rows are looked at
    valued = [(one, evidence) for one in figures if (evidence := _evidence(one.figure, level, together))]
    if not valued:
        notes = [str(one.figure.note) for one in figures if one.figure.note]
        why: Message | str = notes[0] if notes else msg("the check reports no such figure")
        return missing_criterion(rule, "not_enough_evidence", why, examined=False)
    outcome, worst, evidence = _worst(rule, valued)
    reason = unsure(rule, evidence, form) if outcome == "not_enough_evidence" else None
    left_out = [one.who for one in figures if one.who and one.figure.value is None]
    if outcome == "meets" and left_out:  # nobody is shown to be treated well whose figure is missing
        outcome, reason = "not_enough_evidence", msg("there is no figure for {group}", group=People.of(left_out[0]))
    statement = overall_sentence(rule, name, form, evidence, worst.who)
    whole = worst.figure.method == "count"
    low, high, least, most = (
        None if whole or not np.isfinite(end) else end
        for end in (evidence.low, evidence.high, evidence.least, evidence.most)
    )
    return Criterion(
        name,
        outcome,
        replace(worst.figure, low=low, high=high, level=level),
        rule.limit,
        rule.side,
        who=worst.who,
        citation=rule.citation,
        reason=joined(reason, set_aside),
        rule=rule.id,
        measure="value",
        sentence=explained(statement, outcome, joined(reason, set_aside), set_aside),
        least=least,
        most=most,
        complete=not left_out,
    )


@dataclass(frozen=True)
class _Reported:
    """A figure of a check, and the people of its row; nobody in particular for one over everyone."""

    figure: Estimate
    who: Mapping[str, str] = field(default_factory=dict)


def _worst(rule: CheckRule, valued: Sequence[tuple[_Reported, Evidence]]) -> tuple[Outcome, _Reported, Evidence]:
    """The figure that decides: one beyond the limit, else one that is not settled, else the closest to it."""
    each = [(evidence.outcome(rule), one, evidence) for one, evidence in valued]
    return min(each, key=lambda one: (WORST_FIRST.index(one[0]), rule.sign * (one[2].value - rule.limit)))


def findings_criterion(rule: FindingsRule, sections: Sequence[Section], known: Sequence[str]) -> Criterion:
    """How many findings there are of a severity or worse, compared with how many are allowed.

    `known` are the protected attributes of the data. Few findings are shown only where everything was examined.
    """
    name = policy_text(rule.name)
    ran = {section.code: section for section in sections if section.result is not None}
    stopped = [section.code for section in sections if section.outcome in ("failed", "skipped")]
    absent = [code for code in rule.of if code not in ran] if rule.of else stopped
    relevant = [section for section in ran.values() if not rule.of or section.code in rule.of]
    if not relevant:
        return missing_criterion(rule, "not_enough_evidence", _why_absent(absent, sections), examined=False)
    nobodys = absent_attributes(rule, known)
    grades = SEVERITIES[: SEVERITIES.index(rule.severity) + 1]
    found = [
        finding
        for section in relevant
        for finding in section.findings
        if finding.severity in grades and (not rule.attributes or {*finding.who, *finding.columns} & {*rule.attributes})
    ]
    outcome: VerdictOutcome = "exceeds" if len(found) > rule.at_most else "meets"
    reason = None
    if outcome == "meets" and (absent or nobodys):
        outcome = "not_enough_evidence"
        reason = _why_absent(absent, sections) if absent else absent_reason(nobodys[0], known)
    facts = {"found": len(found), "allowed": rule.at_most, "criterion": name}
    statement = _COUNTED[rule.severity](facts)
    return Criterion(
        name,
        outcome,
        Estimate(len(found), n=len(relevant), method="count"),
        rule.at_most,
        "at_most",
        citation=rule.citation,
        reason=reason,
        rule=rule.id,
        measure="count",
        sentence=_with_first(explained(statement, outcome, reason), found),
        examined=not (absent or nobodys),
    )


_COUNTED: dict[Severity, Any] = {
    "critical": lambda facts: msg(
        "{criterion:first}: {found:# critical finding|# critical findings}; {allowed:int} allowed.", **facts
    ),
    "warning": lambda facts: msg(
        "{criterion:first}: {found:# warning or critical finding|# warnings and critical findings}; "
        "{allowed:int} allowed.",
        **facts,
    ),
    "notice": lambda facts: msg("{criterion:first}: {found:# finding|# findings}; {allowed:int} allowed.", **facts),
}


def _with_first(sentence: Message, found: Sequence[Any]) -> Message:
    """The sentence and the first finding that counted."""
    if not found:
        return sentence
    return msg("{sentence} The first: {finding}", sentence=sentence, finding=found[0].message)


def figure_criteria(
    rule: FigureRule, sections: Sequence[Section], minimum: int, known: Sequence[str]
) -> list[Criterion]:
    """Whether the report holds a figure with its interval and the number of people: one criterion per grouping.

    `known` are the protected attributes of the data; one for each that the rule names and that is not among them.
    """
    absent = [
        missing_criterion(rule, "incomplete", absent_reason(name, known), by=(name,), examined=False)
        for name in absent_attributes(rule, known)
    ]
    return [*_figure_criteria(rule, sections, minimum), *absent]


def _figure_criteria(rule: FigureRule, sections: Sequence[Section], minimum: int) -> list[Criterion]:
    try:
        result = _result(rule.checks[0], sections)
        if rule.check:
            return [_of_check(rule, result)]
        if rule.by == "everyone":
            figure = result.values.get(METRICS[rule.metric].id)
            return [
                _documented(rule, figure) if _is_whole(figure) else missing_criterion(rule, "incomplete", _why(figure))
            ]
        return _by_group(rule, result, minimum)
    except NotApplicable as reason:
        return [missing_criterion(rule, "incomplete", reason.message, examined=False)]


def _of_check(rule: FigureRule, result: Result) -> Criterion:
    """Documented where the check reports a figure with an interval, in its table where one is named."""
    if rule.table and rule.table not in result.tables:
        raise SpecError(f"The check {rule.check!r} has no table {rule.table!r}.{close_to(rule.table, result.tables)}")
    tables = [result.tables[rule.table]] if rule.table else list(result.tables.values())
    figures = sum(column.low is not None for table in tables if len(table) for column in table.columns)
    if not rule.table:
        figures += sum(_is_whole(value) for value in result.values.values())
    if not figures:
        return missing_criterion(rule, "incomplete", msg("the figure has no interval"))
    return _documented(rule, Estimate(figures, method="count"))


def _by_group(rule: FigureRule, result: Result, minimum: int) -> list[Criterion]:
    """Documented where every group that is large enough has the figure with its interval."""
    table = result.tables["by_group"]
    names = [name for name in table.names if name.split("[")[0] in METRICS]
    columns = [table[name] for name in names if METRICS[name.split("[")[0]].id == METRICS[rule.metric].id]
    if not columns:
        raise NotApplicable(msg("the report holds no {metric} by group", metric=METRICS[rule.metric].title))
    ways: dict[tuple[str, ...], list[int]] = {}
    for row, key in enumerate(table["group"].keys or ()):
        way = tuple(name for name, _ in key)
        if (rule.by == "all" or len(way) == 1) and (not rule.attributes or {*way} <= {*rule.attributes}):
            ways.setdefault(way, []).append(row)
    if not ways:
        raise NotApplicable(msg("no protected attribute of the data is one that this rule names"))
    sizes, found = table["n"].values, []
    for way, rows in ways.items():
        large = [(column, row) for column in columns for row in rows if sizes[row] >= minimum]
        lacking = [row for column, row in large if not _is_whole(column.estimate(row))]
        if lacking or not large:
            who = str(table["group"].values[lacking[0]]) if lacking else " x ".join(way)
            reason = msg("{group} has no such figure with an interval", group=who)
            found.append(missing_criterion(rule, "incomplete", reason, by=way))
        else:
            n = int(sum(sizes[row] for row in rows))
            found.append(_documented(rule, Estimate(len(large), n=n, method="count"), by=way))
    return found


def _is_whole(figure: Any) -> bool:
    """Whether a figure has a value and an interval."""
    return isinstance(figure, Estimate) and None not in (figure.value, figure.low, figure.high)


def _why(figure: Any) -> Message | str:
    if isinstance(figure, Estimate):
        return figure.note if figure.value is None and figure.note else msg("the figure has no interval")
    return msg("the report does not hold this figure")


def _documented(rule: FigureRule, figure: Any, by: tuple[str, ...] = ()) -> Criterion:
    name = policy_text(rule.name)
    return Criterion(
        name,
        "documents",
        figure,
        citation=rule.citation,
        rule=rule.id,
        by=by,
        measure="figure",
        sentence=documented(name, by),
    )


def _result(check: str, sections: Sequence[Section]) -> Result:
    """The result of a check; raises `NotApplicable` with the reason where it has none."""
    section = next((one for one in sections if one.code == check), None)
    if section is None or section.result is None:
        raise NotApplicable(_why_absent([check], sections))
    return section.result


def _why_absent(checks: Sequence[str], sections: Sequence[Section]) -> Message:
    known = {section.code: section for section in sections}
    check = checks[0] if checks else ""
    section = known.get(check)
    if section is None:
        return msg("the check {check} was not run", check=check) if check else msg("no check was run")
    return msg("the check {check} has no result ({reason})", check=section.title, reason=section.reason)


def _figures(rule: CheckRule, result: Result) -> tuple[list[_Reported], str]:
    """The figures that a rule names, and how they are written."""
    if rule.figure in result.values:
        value = result.values[rule.figure]
        if isinstance(value, Estimate):
            return [_Reported(value)], "int" if value.method == "count" else "num"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SpecError(f"The figure {rule.figure!r} of the check {rule.check!r} is not a number.")
        whole = isinstance(value, int)
        return [_Reported(Estimate(value, n=0, method="count" if whole else ""))], "int" if whole else "num"
    if rule.figure in result.titles:  # the check knows it, and this run does not have it: a search that ended early
        raise NotApplicable(msg("the check reports no such figure"))
    table_name, _, column_name = rule.figure.partition(".")
    table = result.tables.get(table_name)
    if table is None or column_name not in table.names:
        known = [*result.values, *(f"{name}.{c.name}" for name, t in result.tables.items() for c in t.columns)]
        raise SpecError(
            f"The check {rule.check!r} reports no figure {rule.figure!r}.{close_to(rule.figure, known)} "
            f"Headline figures: {', '.join(result.values) or 'none'}."
        )
    rows = [
        row
        for row in range(len(table))
        if all(str(table[name].values[row]) == value for name, value in rule.where.items())
    ]
    column = table[column_name]
    form = column.format if column.format in ("pct", "int") else "num"
    method = "count" if form == "int" else ""
    groups = table["group"].values if "group" in table.names else [None] * len(table)
    whose = [people_of(groups[row]) or People(()) for row in rows]
    return [
        _Reported(replace(column.estimate(row), method=method), dict(who.values))
        for row, who in zip(rows, whose, strict=True)
    ], form


def _evidence(figure: Estimate, level: float, n_picks: int) -> Evidence | None:
    """A figure with ends at the level of the policy; a count is its own."""
    if figure.value is None:
        return None
    value = figure.value
    if figure.method == "count":
        return Evidence(value=value, low=value, high=value, least=value, most=value)
    if figure.low is None or figure.high is None:
        return Evidence(value=value, low=np.nan, high=np.nan, least=np.nan, most=np.nan)
    wide = normal_quantile(simultaneous_level(level, n_picks)) / normal_quantile(figure.level)
    one_sided = normal_quantile(1 - 2 * (1 - level)) / normal_quantile(figure.level)
    return Evidence(
        value=value,
        low=value - wide * (value - figure.low),
        high=value + wide * (figure.high - value),
        least=value - one_sided * (value - figure.low),
        most=value + one_sided * (figure.high - value),
    )
