"""Counterfactual answers as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.evidence import Column, Table, benjamini_hochberg, normal_p, wilson
from isonomia.evidence.intervals import error_within
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.fairness.groups.grouping import condition
from isonomia.fairness.people.counterfactual_rows import Altered
from isonomia.languages import Message, msg
from isonomia.typing import Floats

WORST_ROWS = 20
#: What the routes are called in a report.
ROUTES = {"flip": msg("flip"), "graph": msg("graph"), "proxies": msg("proxies")}
_COLUMNS = {
    column.name: column
    for column in (
        Column("route", title=msg("route")),
        Column("attribute", title=msg("protected attribute")),
        Column("from", title=msg("own value")),
        Column("to", title=msg("other value")),
        Column("n", format="int", title=msg("rows")),
        Column("rate", format="pct", title=msg("decided differently")),
        Column("change", format="num4", title=msg("mean change")),
        Column("size", format="num4", title=msg("mean size of change")),
        Column("largest", format="num4", title=msg("largest change")),
        Column("group", title=msg("group")),
        Column("row", format="int", title=msg("row")),
        Column("before", format="num4", title=msg("prediction")),
        Column("after", format="num4", title=msg("counterfactual prediction")),
        Column("flip", format="num4", title=msg("by the flip")),
        Column("graph", format="num4", title=msg("by the graph")),
        Column("difference", format="num4", title=msg("difference")),
        Column("p_value", format="p", title=msg("p-value")),
        Column("p_adjusted", format="p", title=msg("p adjusted")),
        Column("disagree", format="pct", title=msg("different decision by only one of them")),
        Column("note", title=msg("note")),
    )
}
#: Why a figure is missing.
NO_ORDER = msg("several classes have no order: there is a size of change, but no direction")
ONE_ROW = msg("one row: no interval")
NO_SPREAD = msg("both give the same result for everyone, so there is nothing to test")


def _why_missing(answer: Altered, n: int) -> Message | None:
    if not answer.signed:
        return NO_ORDER
    return ONE_ROW if n < 2 else None


def _table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: Message, backend: Backend) -> Table:
    return Table.from_rows(rows, [_COLUMNS[name] for name in names], title=title, backend=backend)


def change_table(
    answers: Sequence[Altered], weights: Floats | None, tolerance: float, level: float, backend: Backend
) -> Table:
    """A row for each route, attribute, own and other value."""
    rows = []
    for answer in answers:
        for own, text in enumerate(answer.texts):
            inside = answer.own == own
            if not inside.any():
                continue
            for other, other_text in enumerate(answer.texts):
                if other == own:
                    continue
                w = None if weights is None else weights[inside]
                change = answer.change(other)[inside]
                rows.append(
                    {
                        "route": ROUTES[answer.route],
                        "attribute": " x ".join(answer.names),
                        "from": text,
                        "to": other_text,
                        "n": int(inside.sum()),
                        "rate": _rate(answer.changed(other, tolerance)[inside], w, level),
                        "change": mean_interval(change, w, level) if answer.signed else (None, None, None),
                        "size": mean_interval(np.abs(change), w, level),
                        "largest": float(change[np.abs(change).argmax()]),
                        "note": _why_missing(answer, int(inside.sum())),
                    }
                )
    names = ("route", "attribute", "from", "to", "n", "rate", "change", "size", "largest", "note")
    return _table(rows, names, msg("Changes under another value"), backend)


def by_group_table(
    answers: Sequence[Altered], weights: Floats | None, tolerance: float, level: float, backend: Backend
) -> Table:
    """For each group: how many would be decided differently under any other value."""
    rows = []
    for answer in answers:
        indices = range(len(answer.texts))
        other = [answer.own != v for v in indices]
        any_changed = np.logical_or.reduce([answer.changed(v, tolerance) & other[v] for v in indices])
        widest = np.max([np.abs(answer.change(v)) * other[v] for v in indices], axis=0)
        for own, text in enumerate(answer.texts):
            inside = answer.own == own
            if not inside.any():
                continue
            w = None if weights is None else weights[inside]
            rows.append(
                {
                    "route": ROUTES[answer.route],
                    "attribute": " x ".join(answer.names),
                    "group": condition(" x ".join(answer.names), text),
                    "n": int(inside.sum()),
                    "rate": _rate(any_changed[inside], w, level),
                    "size": mean_interval(widest[inside], w, level),
                    "note": ONE_ROW if inside.sum() < 2 else None,
                }
            )
    names = ("route", "attribute", "group", "n", "rate", "size", "note")
    return _table(rows, names, msg("People whose decision would change"), backend)


def row_table(answers: Sequence[Altered], backend: Backend) -> Table:
    """The people most affected, of every route."""
    rows = []
    for answer in answers:
        changes = np.stack(
            [np.abs(answer.change(v)) * (answer.own != v) * (answer.own >= 0) for v in range(len(answer.texts))]
        )
        to = changes.argmax(axis=0)
        widest = changes.max(axis=0)
        for row in np.argsort(-widest, kind="stable")[:WORST_ROWS].tolist():
            if widest[row] <= 0:
                break
            v = int(to[row])
            rows.append(
                {
                    "route": ROUTES[answer.route],
                    "attribute": " x ".join(answer.names),
                    "row": row,
                    "from": answer.texts[answer.own[row]],
                    "to": answer.texts[v],
                    "before": answer.before[row] if answer.signed else None,
                    "after": answer.after[v, row] if answer.signed else None,
                    "change": float(answer.change(v)[row]),
                    "note": None if answer.signed else NO_ORDER,
                }
            )
    names = ["route", "attribute", "row", "from", "to", "before", "after", "change", "note"]
    if not any(answer.signed for answer in answers):  # several classes: there is no single number to report
        names = [name for name in names if name not in ("before", "after", "note")]
    table = _table(rows, names, msg("People most affected"), backend)
    return table.with_columns(replace(table["change"], title=msg("change")))


def compared_table(answers: Sequence[Altered], weights: Floats | None, level: float, backend: Backend) -> Table | None:
    """What the graph (or the proxies) adds to the flip, person by person."""
    flips = {answer.names: answer for answer in answers if answer.route == "flip"}
    rows: list[dict[str, Any]] = []
    for answer in answers:
        flip = flips.get(answer.names)
        if answer.route == "flip" or flip is None:
            continue
        for own, text in enumerate(answer.texts):
            inside = answer.own == own
            for other, other_text in enumerate(answer.texts):
                if other == own or not inside.any():
                    continue
                w = None if weights is None else weights[inside]
                a, b = flip.change(other)[inside], answer.change(other)[inside]
                gap = mean_interval(b - a, w, level)
                error = error_within(gap[1], gap[2], level)
                p = float(normal_p(gap[0] / error)) if error > 0 else None
                split = flip.changed(other, 0.0)[inside] != answer.changed(other, 0.0)[inside]
                rows.append(
                    {
                        "attribute": " x ".join(answer.names),
                        "from": text,
                        "to": other_text,
                        "n": int(inside.sum()),
                        "flip": mean_interval(a, w, level)[0],
                        "graph": mean_interval(b, w, level)[0],
                        "difference": gap,
                        "p_value": p,
                        "disagree": _rate(split, w, level)[0],
                        "note": None if p is not None else ONE_ROW if inside.sum() < 2 else NO_SPREAD,
                    }
                )
    if not rows:
        return None
    adjusted = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=float))
    rows = [{**row, "p_adjusted": p} for row, p in zip(rows, adjusted, strict=True)]
    names = ("attribute", "from", "to", "n", "flip", "graph", "difference", "p_value", "disagree", "p_adjusted", "note")
    return _table(rows, names, msg("The graph compared with the flip"), backend)


def _rate(changed: NDArray[np.bool_], w: Floats | None, level: float) -> tuple[float, float, float]:
    n = effective_rows(changed.size, w)
    value = mean_interval(changed.astype(float), w, level)[0]
    low, high = wilson(value * n, n, level)
    return value, float(low), float(high)
