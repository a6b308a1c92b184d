"""From what a search found to tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.discovery.by_value import TOTAL, shares
from isonomia.discovery.subgroups.conditions import slice_text, value_text
from isonomia.discovery.subgroups.mass import Mass
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.overlap import Overlaps
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.rates import GIVEN_SCORE
from isonomia.events import Clock
from isonomia.evidence import THRESHOLDS, Column, Finding, Picture, Table, beyond, free_name, rank
from isonomia.languages import Message, msg
from isonomia.typing import Floats

_COLUMNS = (
    Column("subgroup_key", title=msg("Key")),
    Column("slice", title=msg("Subgroup")),
    Column("size", format="int", title=msg("Rows")),
    Column("support", format="pct", title=msg("Share of rows")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
    Column("outcome", format="num", title=msg("Outcome")),
    Column("diff_outcome", format="num", title=msg("Difference from everyone")),
    Column("overlap", format="pct", title=msg("Overlap with a higher-ranked subgroup")),
    Column("note", title=msg("note")),
)
#: Values of a protected attribute listed in `dsn_by_attr_value`, at most.
_MAX_VALUES = 100
#: Above this share of common rows, a subgroup repeats a better one and makes no finding of its own.
REPEATS = 0.8


def subgroup_key(subgroup: Subgroup, features: Mapping[str, Codes]) -> str:
    """Values of all features joined by "|"; "*" where any will do; a "|" or "*" in a value is escaped."""
    parts = []
    for name, column in features.items():
        codes = subgroup.conditions.get(name)
        if codes is None:
            parts.append("*")
        else:
            text = value_text(column, codes).replace("\\", "\\\\").replace("|", "\\|")
            parts.append("\\*" if text == "*" else text)
    return "|".join(parts)


def kind_of_finding(subgroup: Subgroup) -> tuple[object, object]:
    """Subgroups repeat each other only where they were found by the same metric in the same way."""
    return subgroup.stats.get("metric"), subgroup.stats.get("approach")


def without_repeats(search: Search, problem: Problem, max_overlap: float | None, k: int) -> Search:
    """The search without subgroups that repeat a better one."""
    if max_overlap is None:
        return search
    common = Overlaps(problem)
    kept: dict[object, list[Subgroup]] = {}
    listed = []
    for item in search.subgroups:
        before = kept.setdefault(kind_of_finding(item), [])
        if len(before) < k and common.largest(item, before, above=max_overlap) <= max_overlap:
            before.append(item)
            listed.append(item)
    return replace(search, subgroups=tuple(listed))


def subgroup_table(problem: Problem, search: Search) -> Table:
    """One row per subgroup, in the columns every method shares and then its own.

    Sizes and figures are those of the rows a subgroup was measured on, overlaps those of all rows.
    """
    features, found = problem.by_name, search.subgroups
    parts = [problem if item.measured is None else item.measured for item in found]
    own = [_inside(part, item) for part, item in zip(parts, found, strict=True)]
    everyone = [_mean(part.outcome, part.mass) for part in parts]
    outcome = [_mean(values, mass) for values, mass in own]
    kinds, common = [kind_of_finding(item) for item in found], Overlaps(problem)
    before = [[found[j] for j in range(i) if kinds[j] == kind] for i, kind in enumerate(kinds)]
    columns: dict[str, Any] = {
        name: [value_text(column, item.conditions[name]) if name in item.conditions else None for item in found]
        for name, column in features.items()
    }
    shared: dict[str, Any] = {
        "subgroup_key": [subgroup_key(item, features) for item in found],
        "slice": [slice_text(item, features) for item in found],
        "size": np.array([mass.n for _, mass in own], dtype=np.int64),
        "support": np.array(
            [mass.total / part.mass.total for (_, mass), part in zip(own, parts, strict=True)], dtype=float
        ),
        "p_value": _numbers(item.p_value for item in found),
        "p_adjusted": _numbers(item.p_adjusted for item in found),
        "outcome": _numbers(outcome),
        "diff_outcome": _numbers(
            None if value is None or other is None else value - other
            for value, other in zip(outcome, everyone, strict=True)
        ),
        "overlap": np.array(
            [common.largest(item, others) for item, others in zip(found, before, strict=True)], dtype=float
        ),
    }
    stats = {name: [item.stats.get(name) for item in found] for name in (column.name for column in search.columns)}
    stats["note"] = [_why_missing(item) for item in found]
    columns = {free_name(name, {*shared, *stats}): values for name, values in columns.items()}
    called = {"metric": _metric_names(search)}
    described = (*_COLUMNS, *(replace(one, names={**one.names, **called.get(one.name, {})}) for one in search.columns))
    return Table.of({**columns, **shared, **stats}, described, title=msg("Subgroups found"), backend=problem.backend)


def _why_missing(subgroup: Subgroup) -> Message | str | None:
    """Why a subgroup has no figure, or no p-value."""
    if subgroup.estimate.value is None:
        return subgroup.estimate.note
    return msg("not tested") if subgroup.p_value is None else None


def _metric_names(search: Search) -> dict[str, Message]:
    """What metrics that no registry names are called: errors, and outcomes beyond what scores let expect."""
    names = {}
    for item in search.subgroups:
        metric, measure = item.stats.get("metric"), item.measure or search.measure
        if metric in GIVEN_SCORE:
            names[str(metric)] = msg("{measure} beyond what the scores predict", measure=measure)
        elif metric == "error":
            names["error"] = measure
    return names


def findings_of(method: str, search: Search, table: Table, features: Mapping[str, Codes]) -> tuple[Finding, ...]:
    """One finding a subgroup that is measured and does not repeat a better one."""
    out = []
    for index, (item, row) in enumerate(zip(search.subgroups, table.rows(), strict=True)):
        value, overall = item.estimate.value, item.overall
        if value is None or overall is None or row["overlap"] > REPEATS:
            continue
        gap = value - overall
        share = gap / overall if overall else None
        size = (
            abs(gap) / THRESHOLDS["subgroup_gap"].reported
            if search.style == "pct"
            else abs(share or 0.0) / THRESHOLDS["subgroup_share"].reported
        )
        params = {
            "measure": item.measure or search.measure,
            "value": value,
            "overall": overall,
            "slice": row["slice"],
            "n": row["size"],
        }
        text = (
            msg(
                "{measure:first} is {value:pct} for {slice} ({n:int} in all); by their scores it would be "
                "{overall:pct}.",
                **params,
            )
            if search.style == "pct" and item.stats.get("metric") in GIVEN_SCORE
            else msg(
                "{measure:first} is {value:pct} for {slice} ({n:int} in all) and {overall:pct} overall.",
                **params,
            )
            if search.style == "pct"
            else msg(
                "{measure:first} is {value:num} for {slice} ({n:int} in all) and {overall:num} overall.",
                **params,
            )
        )
        sure = item.p_adjusted is not None and item.p_adjusted < 0.05
        out.append(
            Finding(
                code=f"subgroups.{method}",
                severity="warning" if sure else "notice",
                message=item.message or text,
                estimate=item.estimate,
                who={name: value_text(features[name], codes) for name, codes in item.conditions.items()},
                n=row["size"],
                magnitude=size,
                p_value=item.p_value,
                p_adjusted=item.p_adjusted,
                test=("subgroups", "subgroups", index),
                remedy="confirm_on_new_rows",
                people=beyond(item.estimate, overall, row["size"] if search.style == "pct" else None),
                evidence="subgroups/subgroups",
            )
        )
    return rank(out)


def pictures_of(table: Table) -> tuple[Picture, ...]:
    """Size against effect, one point per subgroup."""
    if not len(table):
        return ()
    options = {
        "x": "size",
        "y": "diff_outcome",
        "hover": ["slice", "p_adjusted"],
        "n": "size",
        "x_title": msg("Rows"),
        "y_title": msg("Difference from everyone"),
        "reference": 0.0,
    }
    return (Picture("scatter", "subgroups", msg("Size of a subgroup and its difference from everyone"), options),)


def _numbers(values: Any) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _inside(problem: Problem, item: Subgroup) -> tuple[Floats, Mass]:
    """The outcomes of a subgroup's rows, and how much each counts."""
    cells = problem.on(item.names)
    inside = item.mask(cells.by_name)
    return cells.outcome[inside], cells.mass.take(inside)


def _mean(values: Floats, mass: Mass) -> float | None:
    return mass.mean(values) if mass.total > 0 else None


def metrics_of(problem: Problem, search: Search, clock: Clock, sent: tuple[int, int]) -> dict[str, Any]:
    """What the search took and came to; `sent` are the rows that the model was sent, and its calls."""
    listed = search.subgroups if search.discriminating is None else search.discriminating
    found = len(listed)
    seconds = clock.seconds
    total = shares(search.tested, found, seconds)
    return {
        **total,
        "DSR": total["SUR"],
        "max_memory": problem.max_memory,
        "total_time": seconds,
        "RUNTIME": seconds,
        "dsn_by_attr_value": {TOTAL: total, **_by_value(problem, listed, seconds)},
        "nodes_visited": search.nodes or search.tested,
        "n_model_rows": sent[0],
        "n_model_calls": sent[1],
    }


def _by_value(problem: Problem, found: Sequence[Subgroup], seconds: float) -> dict[str, dict[str, Any]]:
    """For each value of the protected attributes: rows that have it, and subgroups found that are about it."""
    out: dict[str, dict[str, Any]] = {}
    for column in problem.features:
        if column.name not in problem.protected:
            continue
        cells = problem.on([column.name])
        rows = np.ones(cells.length) if cells.counts is None else cells.counts
        counts = sum_by(cells.by_name[column.name].codes, rows, column.size)
        for code in np.argsort(-counts, kind="stable")[:_MAX_VALUES].tolist():
            about = sum(code in item.conditions.get(column.name, ()) for item in found)
            out[f"{column.name}={column.text(code)}"] = shares(int(counts[code]), about, seconds)
    return out
