"""Counterfactual answers as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.evidence import Table, benjamini_hochberg, normal_p, wilson
from isonomia.evidence.intervals import error_within
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.fairness.groups.grouping import condition
from isonomia.fairness.people.counterfactual_rows import Altered
from isonomia.languages import Message, msg
from isonomia.typing import Floats

WORST_ROWS = 20
#: What the routes are called in a report.
ROUTES = {"flip": msg("flip"), "graph": msg("graph"), "proxies": msg("proxies")}
_TITLES = {
    "route": msg("route"),
    "attribute": msg("protected attribute"),
    "from": msg("own value"),
    "to": msg("other value"),
    "n": msg("rows"),
    "rate": msg("decided differently"),
    "change": msg("mean change"),
    "size": msg("mean size of change"),
    "largest": msg("largest change"),
    "group": msg("group"),
    "row": msg("row"),
    "before": msg("prediction"),
    "after": msg("counterfactual prediction"),
    "flip": msg("by the flip"),
    "graph": msg("by the graph"),
    "difference": msg("difference"),
    "p_value": msg("p-value"),
    "p_adjusted": msg("p adjusted"),
    "disagree": msg("different decision by only one of them"),
    "note": msg("note"),
}
_FORMATS: dict[str, Any] = (
    dict.fromkeys(("rate", "disagree"), "pct")
    | dict.fromkeys(
        (
            "change",
            "size",
            "largest",
            "before",
            "after",
            "flip",
            "graph",
            "difference",
        ),
        "num4",
    )
    | {"n": "int", "row": "int", "p_value": "p", "p_adjusted": "p"}
)


#: Why a figure is missing.
NO_ORDER = msg("several classes have no order: there is a size of change, but no direction")
ONE_ROW = msg("one row: no interval")
NO_SPREAD = msg("both give the same result for everyone, so there is nothing to test")


def _why_missing(answer: Altered, n: int) -> Message | None:
    if not answer.signed:
        return NO_ORDER
    return ONE_ROW if n < 2 else None


def change_table(
    answers: Sequence[Altered], weights: Floats | None, tolerance: float, level: float, backend: Backend
) -> Table:
    """A row for each route, attribute, own and other value."""
    names = (
        "route",
        "attribute",
        "from",
        "to",
        "n",
        "rate",
        "change",
        "size",
        "largest",
        "note",
    )
    out: dict[str, list[Any]] = {name: [] for name in names}
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
                signed = mean_interval(change, w, level) if answer.signed else (None, None, None)
                size = mean_interval(np.abs(change), w, level)
                rate = _rate(answer.changed(other, tolerance)[inside], w, level)
                largest = float(change[np.abs(change).argmax()])
                row = (
                    ROUTES[answer.route],
                    " x ".join(answer.names),
                    text,
                    other_text,
                    int(inside.sum()),
                    rate,
                    signed,
                    size,
                    largest,
                    _why_missing(answer, int(inside.sum())),
                )
                for name, value in zip(names, row, strict=True):
                    out[name].append(value)
    return Table.of(out, _FORMATS, _TITLES, msg("Changes under another value"), backend)


def by_group_table(
    answers: Sequence[Altered], weights: Floats | None, tolerance: float, level: float, backend: Backend
) -> Table:
    """For each group: how many would be decided differently under any other value."""
    names = (
        "route",
        "attribute",
        "group",
        "n",
        "rate",
        "size",
        "note",
    )
    out: dict[str, list[Any]] = {name: [] for name in names}
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
            row = (
                ROUTES[answer.route],
                " x ".join(answer.names),
                condition(" x ".join(answer.names), text),
                int(inside.sum()),
                _rate(any_changed[inside], w, level),
                mean_interval(widest[inside], w, level),
                ONE_ROW if inside.sum() < 2 else None,
            )
            for name, value in zip(out, row, strict=True):
                out[name].append(value)
    return Table.of(out, _FORMATS, _TITLES, msg("People whose decision would change"), backend)


def row_table(answers: Sequence[Altered], backend: Backend) -> Table:
    """The people most affected, of every route."""
    names = ("route", "attribute", "row", "from", "to", "before", "after", "change", "note")
    out: dict[str, list[Any]] = {name: [] for name in names}
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
            before_after = (answer.before[row], answer.after[v, row]) if answer.signed else (None, None)
            values = (
                ROUTES[answer.route],
                " x ".join(answer.names),
                row,
                answer.texts[answer.own[row]],
                answer.texts[v],
                *before_after,
                float(answer.change(v)[row]),
                None if answer.signed else NO_ORDER,
            )
            for name, value in zip(names, values, strict=True):
                out[name].append(value)
    if not any(answer.signed for answer in answers):  # several classes: there is no single number to report
        out = {name: values for name, values in out.items() if name not in ("before", "after", "note")}
    titles = {**_TITLES, "change": msg("change")}
    return Table.of(out, _FORMATS, titles, msg("People most affected"), backend)


def compared_table(answers: Sequence[Altered], weights: Floats | None, level: float, backend: Backend) -> Table | None:
    """What the graph (or the proxies) adds to the flip, person by person."""
    flips = {answer.names: answer for answer in answers if answer.route == "flip"}
    names = (
        "attribute",
        "from",
        "to",
        "n",
        "flip",
        "graph",
        "difference",
        "p_value",
        "disagree",
        "note",
    )
    out: dict[str, list[Any]] = {name: [] for name in names}
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
                row = (
                    " x ".join(answer.names),
                    text,
                    other_text,
                    int(inside.sum()),
                    mean_interval(a, w, level)[0],
                    mean_interval(b, w, level)[0],
                    gap,
                    p,
                    _rate(split, w, level)[0],
                    None if p is not None else ONE_ROW if inside.sum() < 2 else NO_SPREAD,
                )
                for name, value in zip(names, row, strict=True):
                    out[name].append(value)
    if not out["attribute"]:
        return None
    shown: dict[str, Any] = {**out, "p_adjusted": benjamini_hochberg(np.array(out["p_value"], dtype=float))}
    shown["note"] = shown.pop("note")  # the last column, as everywhere
    return Table.of(shown, _FORMATS, _TITLES, msg("The graph compared with the flip"), backend)


def _rate(changed: NDArray[np.bool_], w: Floats | None, level: float) -> tuple[float, float, float]:
    n = effective_rows(changed.size, w)
    value = mean_interval(changed.astype(float), w, level)[0]
    low, high = wilson(value * n, n, level)
    return value, float(low), float(high)
