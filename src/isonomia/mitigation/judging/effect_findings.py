"""What is found about a fix: groups that it lowers, and how many people it concerns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.evidence import Estimate, Finding, affected
from isonomia.evidence.affected import NO_COUNT
from isonomia.languages import Message, People, msg
from isonomia.languages.naming import both
from isonomia.languages.words import BE_SELECTED
from isonomia.mitigation.judging.bands import criteria_of
from isonomia.mitigation.judging.comparison import LEVELLED_DOWN, Comparison, levelled_metrics
from isonomia.mitigation.judging.effect_tables import cost_sentence, group_names, interval_at
from isonomia.typing import Indices

#: Groups of which a sentence says what they win or lose.
MOST_GROUPS = 4


def findings_of(comparison: Comparison, fix: int, code: str = "before_after") -> tuple[Finding, ...]:
    """Metrics that get worse for some group: for no other better (levelling down), or for others better (trades)."""
    found = []
    for by in comparison.ways:
        for metric in levelled_metrics(comparison.measures):
            verdict, raised, lowered = comparison.levelling(fix, by, metric)
            if verdict not in ("levels_down", "trades"):
                continue
            errors = comparison.measures.metrics[metric].id in LEVELLED_DOWN
            changes = comparison.bands.groups.value[fix, metric]
            worst = max(lowered, key=lambda g: changes[g] if errors else -changes[g])
            value, low, high = interval_at(comparison.bands.groups, (fix, metric, worst))
            n = round(float(comparison.measures.size[metric, worst]))
            change = Estimate(value, low, high, n=n, method="max-t")
            found.append(
                Finding(
                    code=f"{code}.{verdict}",
                    severity="warning" if verdict == "levels_down" else "notice",
                    message=_sentence(comparison, metric, raised, lowered, errors),
                    estimate=change,
                    who=dict(comparison.groups.groups[worst].key),
                    n=n,
                    people=_people_moved(comparison, metric, worst, change),
                    format="num" if comparison.subject.task == "regression" else "points",
                    evidence=f"{code}/levelling",
                )
            )
    return tuple(found)


def _sentence(comparison: Comparison, metric: int, raised: list[int], lowered: list[int], errors: bool) -> Message:
    """For whom a metric rises and falls; more is worse where it measures errors."""
    title = comparison.measures.metrics[metric].title
    up, down = (group_names(comparison, groups) for groups in ((lowered, raised) if errors else (raised, lowered)))
    if up and down:
        return msg("{metric} rises for {raised} and falls for {lowered}.", metric=title, raised=up, lowered=down)
    if up:
        return msg("{metric} rises for {raised} and falls for no group.", metric=title, raised=up)
    return msg("{metric} falls for {lowered} and rises for no group.", metric=title, lowered=down)


def _people_moved(comparison: Comparison, metric: int, group: int, change: Estimate) -> Estimate:
    """The people of a group whom the change of a rate takes it from."""
    regression = comparison.subject.task == "regression"
    count = None if regression else float(comparison.measures.size[metric, group])
    return affected(change, count, harm="lack", weighted=comparison.subject.weights is not None)


def people_changed(comparison: Comparison, fix: int) -> Estimate:
    """How many people a fix decides about otherwise: counted, not estimated."""
    if comparison.subject.task == "regression":
        return Estimate.missing(NO_COUNT, n=len(comparison.subject))
    changed = float(comparison.by_group(comparison.was != list(comparison.after.values())[fix])[-1])
    return Estimate(changed, n=len(comparison.subject), method="count")


def both_sides(comparison: Comparison, fix: int, by: Sequence[str]) -> Message:
    """What a fix does to people, counted on those it was not fitted on: who wins, who loses, how many are wrong.

    Groups are those of one way of grouping, by what they win and lose on balance. Rows are counted, also where they are
    weighted. Of numbers that are predicted nobody is counted: the change of the error is said instead.
    """
    if comparison.subject.task == "regression":
        return cost_sentence(comparison, fix)
    now, was = list(comparison.after.values())[fix], comparison.was
    facts: dict[str, Any] = {
        "changed": int((was != now).sum()),
        "wrong": _wrong(was, now, comparison.subject.truth),
        "be_selected": BE_SELECTED,
        "groups": _won_and_lost(comparison, was, now, by),
    }
    if not facts["changed"]:
        return msg("no decision changes")
    if facts["groups"] is None:  # several classes, or as many won as lost in every group
        said = msg("{changed:# decision changes|# decisions change}; {wrong}", **facts)
    else:
        said = msg("{changed:# decision changes|# decisions change}: {groups} would {be_selected}; {wrong}", **facts)
    return comparison.subject.words.spoken(said)


def _won_and_lost(comparison: Comparison, was: Indices, now: Indices, by: Sequence[str]) -> Message | None:
    """Groups by how many more or fewer of them get the favourable decision, those that win first."""
    if len(comparison.subject.surface.classes) != 2:
        return None
    net = comparison.by_group(now == 1) - comparison.by_group(was == 1)
    members = [g for g in comparison.members(tuple(by)) if round(float(net[g]))]
    largest = sorted(members, key=lambda g: -abs(float(net[g])))
    parts = []
    for g in sorted(largest[:MOST_GROUPS], key=lambda g: float(net[g]) < 0):
        facts = {"n": abs(round(float(net[g]))), "who": People.of(dict(comparison.groups.groups[g].key))}
        parts.append(msg("{n:int} more {who}", **facts) if net[g] > 0 else msg("{n:int} fewer {who}", **facts))
    if len(largest) > MOST_GROUPS:
        parts.append(msg("others of {n:one more group|# more groups}", n=len(largest) - MOST_GROUPS))
    if not parts:
        return None
    *others, last = parts
    listed = others[:1]
    for part in others[1:]:
        listed = [Message("{one}, {other}", {"one": listed[0], "other": part})]
    return both([*listed, last])


def _wrong(was: Indices, now: Indices, truth: Indices) -> Message:
    """How many more or fewer decisions are wrong."""
    more = int((now != truth).sum()) - int((was != truth).sum())
    facts = {"n": abs(more), "all": int(truth.size)}
    if not more:
        return msg("as many decisions would be wrong as before")
    if more > 0:
        return msg("{n:one more decision|# more decisions} of {all:int} would be wrong", **facts)
    return msg("{n:one decision fewer|# decisions fewer} of {all:int} would be wrong", **facts)


def people_apart(comparison: Comparison, fix: int, figure: int) -> Estimate:
    """The people of the group furthest behind whom a gap of rates concerns after a fix: the gap times its size."""
    criterion, by = comparison.gaps.keys[figure]
    if comparison.subject.task == "regression" or comparison.gaps.ratio[figure]:
        return Estimate.missing(NO_COUNT, n=len(comparison.subject))
    value, low, high = interval_at(comparison.bands.after, (fix, figure), 0.0)
    gap = Estimate(value, low, high, n=len(comparison.subject), method="max-t")
    members = np.array(comparison.members(by))
    least = comparison.gaps.least[figure]
    rates = []
    for q in criteria_of(comparison.measures)[criterion][0]:
        used = members[comparison.measures.size[q, members] >= least]
        values = comparison.measures.after[fix, q, used]
        if np.isfinite(values).any():
            behind = used[int(np.nanargmin(values))]
            rates.append((float(np.nanmax(values) - np.nanmin(values)), float(comparison.measures.size[q, behind])))
    return affected(gap, max(rates)[1] if rates else None, weighted=comparison.subject.weights is not None)
