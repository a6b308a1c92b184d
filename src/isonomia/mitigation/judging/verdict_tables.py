"""The tables, findings and pictures of `mitigate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from isonomia.evidence import Column, Estimate, Finding, Picture, Table, yes_no
from isonomia.fairness.judging.limits import WORST_FIRST
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text, together
from isonomia.mitigation.judging.bands import criteria_of
from isonomia.mitigation.judging.comparison import Comparison
from isonomia.mitigation.judging.effect_findings import both_sides, findings_of, people_apart, people_changed
from isonomia.mitigation.judging.effect_tables import (
    COSTS,
    changes_table,
    cost_of,
    criteria_table,
    criterion_titles,
    flows_table,
    groups_table,
    interval_at,
    levelling_table,
    number_format,
    pictures_of,
    price_of,
)
from isonomia.mitigation.judging.judge import Judged
from isonomia.mitigation.judging.outcomes_table import OUTCOMES, limit_title, outcomes_table
from isonomia.mitigation.judging.subgroups import refused_subgroups
from isonomia.mitigation.judging.trying import Attempt
from isonomia.mitigation.registry import Mitigation

VERDICTS = {**OUTCOMES, "not_tried": msg("not tried")}
STAGES = {
    "before": msg("before training"),
    "in": msg("in training"),
    "after": msg("after training"),
    "none": msg("unchanged"),
}
#: Metrics of the goal that slopes show.
MOST_METRICS = 3
Skipped = Mapping[str, tuple[Mitigation, Message | str]]


def result_parts(judged: Judged, tried: Mapping[str, Attempt], skipped: Skipped) -> dict[str, Any]:
    """Tables, values, findings, pictures and notes of the result."""
    comparison = judged.comparison
    headings = {name: one.entry.title for name, one in tried.items()}
    tables = {"methods": methods_table(judged, tried, skipped), "outcomes": outcomes_table(judged, headings)}
    makers: dict[str, Callable[[Comparison, int], Table]] = {
        "groups": groups_table,
        "criteria": criteria_table,
        "levelling": levelling_table,
    }
    if comparison.subject.task != "regression":
        makers |= {"changes": changes_table, "flows": flows_table}
    for name, make in makers.items():
        tables[name] = _stacked(judged, tried, make)
    if (found := refused_subgroups(judged)) is not None:
        tables["subgroups"] = found
    return {
        "tables": tables,
        "values": _values(judged, tried),
        "titles": {"best": msg("best fix"), "verdict": msg("verdict"), "front": msg("fixes that no other beats")},
        "findings": _findings(judged, tried),
        "pictures": _pictures(judged),
        "notes": (
            msg("Every person is judged by a model and a fix that were fitted without them."),
            msg("Intervals are simultaneous over all methods, gaps and groups."),
            *_not_compared(judged),
            *_worthless(judged, tried),
            *_read_features(judged),
            *comparison.subject.notes,
        ),
    }


def _not_compared(judged: Judged) -> tuple[Message, ...]:
    """Groups that are too small to be compared, what is not in the data, and whom the rules set aside."""
    questions = [one.judgement.question for one in judged.each["none"]]
    names = {question.groups[index].name: None for question in questions if question for index in question.unproved}
    notes = [
        msg("No fix is shown to meet the policy: {reason}.", reason=one.judgement.reason)
        for one in judged.each["none"]
        if one.outcome == "not_enough_evidence" and not one.judgement.examined
    ]
    if names:
        groups = together(names, "; ")
        notes.append(
            msg("Groups too small to compare, so that no fix is shown to meet the limit: {groups}.", groups=groups)
        )
    aside = {
        one.judgement.set_aside.text(): one.judgement.set_aside
        for one in judged.each["none"]
        if one.judgement.set_aside
    }
    return (*notes, *(Message("{remark:first}.", {"remark": remark}) for remark in aside.values()))


def _worthless(judged: Judged, tried: Mapping[str, Attempt]) -> tuple[Message, ...]:
    """Fixes that are worse than the same answer for everyone."""
    if not judged.worthless:
        return ()
    methods = Message.join([tried[name].entry.title for name in judged.worthless])
    if judged.comparison.subject.task == "regression":
        return (
            msg(
                "Predicting the median for everyone has a mean absolute error of {constant:num}, less than after these "
                "fixes, so that none of them is offered as the best: {methods}.",
                constant=judged.constant,
                methods=methods,
            ),
        )
    if judged.objective == "accuracy":
        return (
            msg(
                "The same decision for everyone is right for {constant:pct}, more than after these fixes, so that none "
                "of them is offered as the best: {methods}. Where the rarer outcome counts more, choose the objective "
                "balanced accuracy.",
                constant=judged.constant,
                methods=methods,
            ),
        )
    return (
        msg(
            "The same decision for everyone has a balanced accuracy of {constant:pct}, more than after these fixes, so "
            "that none of them is offered as the best: {methods}.",
            constant=judged.constant,
            methods=methods,
        ),
    )


def _read_features(judged: Judged) -> tuple[Message, ...]:
    """Protected attributes that the model itself reads."""
    if not judged.features:
        return ()
    return (
        msg(
            "The model has protected attributes among its features ({names}), so that every fix of it reads them when "
            "it decides. Leave them out of the features where that is not allowed.",
            names=", ".join(judged.features),
        ),
    )


def _values(judged: Judged, tried: Mapping[str, Attempt]) -> dict[str, Any]:
    """The headline: the best fix, its verdict, and the fixes that no other beats, by the names people read."""

    def title(name: str) -> Message:
        return msg("no fix") if name == "none" else tried[name].entry.title

    best = msg("none is shown to meet the limit") if judged.best is None else title(judged.best)
    front = Message(", ".join(f"{{{name}}}" for name in judged.front), {name: title(name) for name in judged.front})
    return {"best": as_text(best), "verdict": as_text(VERDICTS[judged.verdict]), "front": as_text(front)}


def methods_table(judged: Judged, tried: Mapping[str, Attempt], skipped: Skipped) -> Table:
    """A row per method; those that were not tried have the reason."""
    rows = [method_row(judged, name, tried.get(name)) for name in judged.comparison.names]
    rows += [_skipped_row(judged, entry, reason) for entry, reason in skipped.values()]
    titles = {name: one.entry.title for name, one in tried.items()}
    titles |= {name: entry.title for name, (entry, _) in skipped.items()}
    cost, number = cost_of(judged.comparison), number_format(judged.comparison)
    figure, change, price = COSTS[cost]
    columns = (
        Column("method", title=msg("method"), names={**titles, "none": msg("no fix")}),
        Column("stage", title=msg("stage"), names=STAGES),
        Column("criterion", title=msg("criterion"), names=criterion_titles()),
        Column("aim", title=msg("tuned for"), names={**criterion_titles(), "average_odds": msg("Average odds")}),
        Column("gap_before", format=number, title=msg("before")),
        Column("gap", format=number, title=msg("after")),
        Column("gap_change", format=number, title=msg("change")),
        Column(cost, format=number, title=figure),
        Column(f"{cost}_change", format=number, title=change),
        Column("share_changed", format="pct", title=msg("decisions changed")),
        Column("share_by_chance", format="pct", title=msg("left to chance")),
        Column("reads_attribute", title=msg("reads the attribute")),
        Column("labels_changed", format="pct", title=msg("labels changed")),
        Column("price", format=number, title=price),
        Column("verdict", title=msg("verdict"), names=VERDICTS),
        Column("beats_constant", title=msg("better than one answer for all")),
        Column("on_front", title=msg("not beaten")),
    )
    return Table.from_rows(rows, columns, title=msg("Fixes that were tried"), backend=judged.comparison.subject.backend)


def method_row(judged: Judged, name: str, one: Attempt | None) -> dict[str, Any]:
    """What a fix did, by the columns of the table of methods."""
    comparison, fix = judged.comparison, judged.comparison.names.index(name)
    entry, figure = (None if one is None else one.entry), judged.figures[name]
    bands, cost = comparison.bands, cost_of(comparison)
    regression = comparison.subject.task == "regression"
    return {
        "method": name,
        "stage": "none" if entry is None else entry.stage,
        "criterion": comparison.gaps.keys[figure][0],
        "aim": None if one is None else one.aim,
        "gap_before": interval_at(bands.before, (figure,), 0.0),
        "gap": interval_at(bands.after, (fix, figure), 0.0),
        "gap_change": interval_at(bands.change, (fix, figure)),
        cost: float(comparison.measures.after[fix, comparison.measures.index(cost), -1]),
        f"{cost}_change": comparison.overall_of(fix, cost),
        "share_changed": None if regression else comparison.share_changed(fix),
        "share_by_chance": judged.chances[name],
        "reads_attribute": yes_no(_reads(judged, entry)),
        "labels_changed": 0.0 if one is None else one.flips,
        "price": price_of(comparison, fix, figure)[0],
        "verdict": judged.verdicts[name],
        "beats_constant": yes_no(name not in judged.worthless),
        "on_front": yes_no(name in judged.front),
    }


def _reads(judged: Judged, entry: Mitigation | None) -> bool:
    """Whether the attribute is read when a decision is made: by the fix, or by the model as one of its features."""
    return bool(judged.features) or (entry is not None and "attribute" in entry.needs)


def _skipped_row(judged: Judged, entry: Mitigation, reason: Message | str) -> dict[str, Any]:
    missing, cost = Estimate.missing(reason), cost_of(judged.comparison)
    nothing = dict.fromkeys(
        (
            "gap_before",
            "gap_change",
            cost,
            f"{cost}_change",
            "share_changed",
            "share_by_chance",
            "labels_changed",
            "price",
        )
    )
    return {
        "method": entry.id,
        "stage": entry.stage,
        "criterion": None,
        "aim": None,
        **nothing,
        "gap": missing,
        "reads_attribute": yes_no(_reads(judged, entry)),
        "verdict": "not_tried",
        "beats_constant": None,
        "on_front": yes_no(False),
    }


def _stacked(judged: Judged, tried: Mapping[str, Attempt], make: Callable[[Comparison, int], Table]) -> Table:
    """The table of every fix, one below the other: the one that is shown in detail first, no fix last."""
    comparison = judged.comparison
    order = sorted(comparison.names, key=lambda name: (name != judged.leading, name == "none"))
    titles = {"none": msg("no fix"), **{name: one.entry.title for name, one in tried.items()}}
    parts = []
    for name in order:
        table = make(comparison, comparison.names.index(name))
        method = Column("method", [name] * len(table), title=msg("method"), names=titles)
        parts.append(replace(table, columns=(method, *table.columns)))
    return Table.stack(parts)


def _findings(judged: Judged, tried: Mapping[str, Attempt]) -> tuple[Finding, ...]:
    comparison = judged.comparison
    names = [name for name in comparison.names if name != "none"]
    if judged.best is not None and judged.best != "none":
        fix = comparison.names.index(judged.best)
        return (_best(judged, tried[judged.best].entry), *findings_of(comparison, fix, "mitigation"))
    if judged.best == "none" or not names:
        return ()
    closest = judged.leading
    if len(judged.each[closest]) > 1:
        return (_none_meets_all(judged, tried[closest].entry),)
    figure, fix = judged.figures[closest], comparison.names.index(closest)
    value, low, high = interval_at(comparison.bands.after, (fix, figure), 0.0)
    facts = {
        "limit": judged.of[closest].limit,
        "criterion": criterion_titles()[judged.of[closest].criterion],
        "by": " x ".join(comparison.gaps.keys[figure][1]),
        "method": tried[closest].entry.title,
        "gap": value,
        "change": both_sides(comparison, fix, comparison.gaps.keys[figure][1]),
    }
    message = msg(
        "No fix is shown to meet the limit of {limit:num} for {criterion} by {by}; "
        "the closest is {method} with {gap:num}. {change:first}.",
        **facts,
    )
    if any(judged.verdicts[name] == "meets" for name in judged.worthless) or closest in judged.worthless:
        message = msg(
            "No fix is shown to meet the limit of {limit:num} for {criterion} by {by} and to be better than the same "
            "answer for everyone; the closest is {method} with {gap:num}. {change:first}.",
            **facts,
        )
    return (
        Finding(
            code="mitigation.none_meets",
            severity="warning",
            message=message,
            estimate=Estimate(value, low, high, n=len(comparison.subject), method="max-t"),
            n=len(comparison.subject),
            threshold=judged.of[closest].limit,
            people=people_apart(comparison, fix, figure),
            columns=comparison.gaps.keys[figure][1],
            evidence="mitigation/methods",
        ),
    )


#: So many of the limits that a fix meets or misses are named in a sentence, the worst first.
MOST_NAMED = 6


def _outcome_by(outcome: str, facts: Mapping[str, Any]) -> Message:
    """What a fix does about one limit; its criterion is named where there are several."""
    if "by" not in facts:
        if outcome == "exceeds":
            return msg("exceeds in {criterion:inner} ({after:num}, was {before:num})", **facts)
        if outcome == "meets":
            return msg("meets in {criterion:inner} ({after:num}, was {before:num})", **facts)
        return msg("not shown in {criterion:inner} ({after:num}, was {before:num})", **facts)
    if "criterion" in facts:
        if outcome == "exceeds":
            return msg("exceeds by {by} in {criterion:inner} ({after:num}, was {before:num})", **facts)
        if outcome == "meets":
            return msg("meets by {by} in {criterion:inner} ({after:num}, was {before:num})", **facts)
        return msg("not shown by {by} in {criterion:inner} ({after:num}, was {before:num})", **facts)
    if outcome == "exceeds":
        return msg("exceeds by {by} ({after:num}, was {before:num})", **facts)
    if outcome == "meets":
        return msg("meets by {by} ({after:num}, was {before:num})", **facts)
    return msg("not shown by {by} ({after:num}, was {before:num})", **facts)


def _by_limit(judged: Judged, name: str) -> Message | str | None:
    """What a fix does about every limit, the worst first: "exceeds by ethnicity (0.52, was 0.52); meets by sex ..."."""
    before = {(one.judgement.rule.id, one.judgement.by): one.value for one in judged.each["none"]}
    several = len({limit_title(one).text() for one in judged.each[name]}) > 1
    parts = []
    said = [one for one in judged.each[name] if one.outcome != "not_applicable"]
    for one in sorted(said, key=lambda one: WORST_FIRST.index(one.outcome)):
        found = one.judgement
        was = before[found.rule.id, found.by]
        if one.value is None or was is None:  # its reason stands in the table of outcomes
            continue
        facts: dict[str, Any] = {"after": one.value, "before": was}
        if found.by:
            facts["by"] = " x ".join(found.by)
        if several or not found.by:
            facts["criterion"] = limit_title(one)
        parts.append(_outcome_by(one.outcome, facts))
    if len(parts) > MOST_NAMED:
        parts = [*parts[:MOST_NAMED], msg("and {n:int} more", n=len(parts) - MOST_NAMED)]
    return Message.join(parts)


def _none_meets_all(judged: Judged, entry: Mitigation) -> Finding:
    comparison, fix = judged.comparison, judged.comparison.names.index(entry.id)
    figure = judged.figures[entry.id]
    value, low, high = interval_at(comparison.bands.after, (fix, figure), 0.0)
    return Finding(
        code="mitigation.none_meets",
        severity="warning",
        message=msg(
            "No fix is shown to meet all limits. The closest is {method}: {each}. {change:first}.",
            method=entry.title,
            each=_by_limit(judged, entry.id),
            change=both_sides(comparison, fix, comparison.gaps.keys[figure][1]),
        ),
        estimate=Estimate(value, low, high, n=len(comparison.subject), method="max-t"),
        n=len(comparison.subject),
        threshold=judged.of[entry.id].limit,
        people=people_apart(comparison, fix, figure),
        columns=comparison.gaps.keys[figure][1],
        evidence="mitigation/methods",
    )


def _best(judged: Judged, entry: Mitigation) -> Finding:
    comparison, fix = judged.comparison, judged.comparison.names.index(entry.id)
    figure = judged.figures[entry.id]
    value, low, high = interval_at(comparison.bands.after, (fix, figure), 0.0)
    return Finding(
        code="mitigation.best",
        severity="notice",
        message=msg(
            "{method} meets all limits: {each}. {people:first}.",
            method=entry.title,
            each=_by_limit(judged, entry.id),
            people=both_sides(comparison, fix, comparison.gaps.keys[figure][1]),
        )
        if len(judged.each[entry.id]) > 1
        else msg(
            "{method} meets the limit of {limit:num} for {criterion} by {by}: {before:num} before, "
            "{after:num} after. {people:first}.",
            method=entry.title,
            limit=judged.of[entry.id].limit,
            criterion=criterion_titles()[judged.of[entry.id].criterion],
            by=" x ".join(comparison.gaps.keys[figure][1]),
            before=float(comparison.bands.before.value[figure]),
            after=value,
            people=both_sides(comparison, fix, comparison.gaps.keys[figure][1]),
        ),
        estimate=Estimate(value, low, high, n=len(comparison.subject), method="max-t"),
        n=len(comparison.subject),
        threshold=judged.of[entry.id].limit,
        people=people_changed(comparison, fix),
        columns=comparison.gaps.keys[figure][1],
        evidence="mitigation/methods",
    )


def _pictures(judged: Judged) -> tuple[Picture, ...]:
    """The gap and the price of every fix; then groups and decisions before and after the one shown in detail."""
    comparison, goal = judged.comparison, judged.of[judged.leading]
    limits = {one.limit for one in judged.of.values()}
    line = {"reference": limits.pop(), "reference_label": msg("limit")} if len(limits) == 1 else {}
    cost = cost_of(comparison)
    front = Picture(
        "front",
        "methods",
        msg("Gap and price of each fix, with simultaneous intervals"),
        {
            "labels": ["method"],
            "x": "gap",
            "y": f"{cost}_change",
            "front": "on_front",
            "x_title": msg("{criterion} after the fix", criterion=criterion_titles()[goal.criterion]),
            **line,
        },
    )
    gaps = Picture(
        "forest",
        "methods",
        msg("Gap after each fix, with simultaneous intervals"),
        {"labels": ["method"], "value": "gap", **line},
    )
    indices = criteria_of(comparison.measures)[goal.criterion][0]
    metrics = [comparison.measures.metrics[index].id for index in indices][:MOST_METRICS]
    return (front, gaps, *pictures_of(comparison, metrics, judged.leading))
