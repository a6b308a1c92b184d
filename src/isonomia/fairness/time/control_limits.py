"""Metrics of periods: control limits, change points, and what stands out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.evidence import Column, Table, benjamini_hochberg, normal_p, simultaneous_level
from isonomia.evidence.intervals import error_within, normal_interval
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.languages import Message, msg
from isonomia.typing import Floats

Series = dict[str, list[Any]]

PERIOD = "period"
#: Why a period is not compared with limits.
NO_SPREAD = msg("the interval has no width, so it is not compared with limits")
NO_TEST = msg("a single point outside its limits is not tested")
FEW_PERIODS = msg("fewer than two periods have limits")
#: Kinds of alerts: the code in `OverTime.alerts`, and how a person reads it.
KINDS = {
    "change of the gap": msg("change of the gap"),
    "change of the metric": msg("change of the metric"),
    "gap outside its limits": msg("gap outside its limits"),
    "metric outside its limits": msg("metric outside its limits"),
}
COLUMNS = (
    Column("metric", title=msg("metric")),
    Column("group", title=msg("group")),
    Column("reference", title=msg("reference")),
    Column("period", title=msg("period")),
    Column("n", format="int", title=msg("rows")),
    Column("value", format="num4", title=msg("value")),
    Column("difference", format="num4", title=msg("difference")),
    Column("centre", format="num4", title=msg("mean of all periods")),
    Column("limit_low", format="num4", title=msg("lower limit")),
    Column("limit_high", format="num4", title=msg("upper limit")),
    Column("outside", title=msg("outside the limits")),
    Column("kind", title=msg("what")),
    Column("before", format="num4", title=msg("before")),
    Column("after", format="num4", title=msg("after")),
    Column("change", format="num4", title=msg("change")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("p adjusted")),
)


def table_of(rows: Series, figure: str, title: Message, backend: Backend | None) -> Table:
    """A table of periods, change points or alerts; `figure` has an interval, and the remarks are about it."""
    ends = rows[f"{figure}_low"], rows[f"{figure}_high"]
    columns: dict[str, Any] = {
        name: Column(name, values, *ends, rows.get("note")) if name == figure else values
        for name, values in rows.items()
        if name not in (f"{figure}_low", f"{figure}_high", "note")
    }
    return Table.of(columns, COLUMNS, title=title, backend=backend)


def series_of(measured: GroupMetrics, order: Mapping[str, int]) -> Series:
    """Every metric of every group, period by period."""
    assert measured.groups is not None
    names = ("metric", "group", "period", "n", "value", "value_low", "value_high", "note")
    out: Series = {name: [] for name in names}
    groups = measured.groups.groups
    indices = sorted(range(len(groups)), key=lambda i: (groups[i].name, order[groups[i].control[PERIOD]]))
    for name, part in measured.measured.items():
        out["metric"] += [name] * len(indices)
        out["group"] += [groups[i].name for i in indices]
        out["period"] += [groups[i].control[PERIOD] for i in indices]
        out["n"] += measured.sizes[indices].tolist()
        for key, values in (("value", part.value), ("value_low", part.low), ("value_high", part.high)):
            out[key] += values[indices].tolist()
        out["note"] += [part.reasons[i] if part.reasons else None for i in indices]
    return out


def gaps_of(measured: GroupMetrics, order: Mapping[str, int]) -> Series:
    """Every group's differences to its reference, period by period."""
    assert measured.groups is not None
    names = ("metric", "group", "reference", "period", "n", "difference", "difference_low", "difference_high", "note")
    sizes = {
        (group.name, group.control[PERIOD]): int(n)
        for group, n in zip(measured.groups.groups, measured.sizes, strict=True)
    }
    rows = list(measured.tables["comparisons"].rows())
    rows.sort(key=lambda row: (row["metric"], row["group"], row["reference"], order[row[PERIOD]]))
    out: Series = {name: [row.get(name) for row in rows] for name in names if name != "n"}
    out["n"] = [sizes[row["group"], row[PERIOD]] for row in rows]
    return {name: out[name] for name in names}


def limited(rows: Series, keys: Sequence[str], value: str, least: int, sigmas: float, level: float) -> Series:
    """The series with their centres and control limits."""
    x, low, high = (np.array(rows[name], dtype=float) for name in (value, f"{value}_low", f"{value}_high"))
    error = error_within(low, high, level)
    usable = np.isfinite(x) & np.isfinite(error) & (error > 0) & (np.array(rows["n"]) >= least)
    centre = np.full(x.size, np.nan)
    for indices in _row_indices(rows, keys):
        used = indices[usable[indices]]
        if used.size >= 2:
            w = 1 / error[used] ** 2
            centre[indices] = float(w @ x[used] / w.sum())
    half = np.where(usable, sigmas * error, np.nan)
    with np.errstate(invalid="ignore"):
        outside = np.abs(x - centre) > half
    few = msg("fewer than {least:int} rows, so not compared with limits", least=least)
    notes = [
        note or (few if n < least else NO_SPREAD if np.isnan(width) else FEW_PERIODS if np.isnan(middle) else None)
        for note, n, width, middle in zip(rows["note"], rows["n"], half.tolist(), centre.tolist(), strict=True)
    ]
    return {
        **rows,
        "centre": centre.tolist(),
        "limit_low": (centre - half).tolist(),
        "limit_high": (centre + half).tolist(),
        "outside": outside.tolist(),
        "note": notes,
        "_error": error.tolist(),
        "_usable": usable.tolist(),
    }


def _row_indices(rows: Series, keys: Sequence[str]) -> list[NDArray[np.intp]]:
    found: dict[tuple[Any, ...], list[int]] = {}
    for index, key in enumerate(zip(*(rows[name] for name in keys), strict=True)):
        found.setdefault(key, []).append(index)
    return [np.array(index) for index in found.values()]


def changes_of(series: Series, gaps: Series, level: float) -> dict[str, Any]:
    """The most likely change point of each series, with its test; interval and p-value are adjusted for all splits."""
    out: dict[str, Any] = {
        name: []
        for name in (
            "kind",
            "metric",
            "group",
            "reference",
            "period",
            "before",
            "after",
            "change",
            "change_low",
            "change_high",
            "p_value",
        )
    }
    for kind, rows, value, keys in (
        (KINDS["change of the gap"], gaps, "difference", ("metric", "group", "reference")),
        (KINDS["change of the metric"], series, "value", ("metric", "group")),
    ):
        x, error = np.array(rows[value], dtype=float), np.array(rows["_error"], dtype=float)
        usable = np.array(rows["_usable"], dtype=bool)
        for indices in _row_indices(rows, keys):
            used = indices[usable[indices]]
            if used.size < 2:
                continue
            split, before, after, spread = change_point(x[used], error[used])
            change = after - before
            # the split was picked among all: its interval holds for every split at once
            picked = simultaneous_level(level, used.size - 1)
            low, high = (float(end) for end in normal_interval(change, spread, picked))
            p = min(1.0, float(normal_p(change / spread)) * (used.size - 1))
            first = int(used[0])
            row = (
                kind,
                rows["metric"][first],
                rows["group"][first],
                rows.get("reference", [None] * len(x))[first],
                rows["period"][int(used[split])],
                before,
                after,
                change,
                low,
                high,
                p,
            )
            for name, item in zip(out, row, strict=True):
                out[name].append(item)
    for rows in (series, gaps):
        rows.pop("_error")
        rows.pop("_usable")
    out["p_adjusted"] = benjamini_hochberg(np.array(out["p_value"], dtype=float))
    return out


def change_point(x: Floats, error: Floats) -> tuple[int, float, float, float]:
    """The split of a series with the largest |z|: where the second part begins, both means, the error of their gap.

    Means are weighted by 1 / variance.

    >>> change_point(np.array([1.0, 1.0, 3.0, 3.0]), np.full(4, 0.1))[0]
    2
    """
    w = 1 / error**2
    weight, total = np.cumsum(w), np.cumsum(w * x)
    left, right = weight[:-1], weight[-1] - weight[:-1]
    before, after = total[:-1] / left, (total[-1] - total[:-1]) / right
    spread = np.sqrt(1 / left + 1 / right)
    best = int(np.argmax(np.abs(after - before) / spread))
    return best + 1, float(before[best]), float(after[best]), float(spread[best])


def alerts_of(series: Series, gaps: Series, changes: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What stands out, worst first; `kind` is a key of `KINDS`."""
    out: list[dict[str, Any]] = []
    for index, p in enumerate(changes["p_adjusted"]):
        if p < 0.05:
            row = {name: changes[name][index] for name in ("metric", "group", "reference", "period", "change")}
            low, high = changes["change_low"][index], changes["change_high"][index]
            out.append(
                {
                    "kind": changes["kind"][index].text("en"),
                    **row,
                    "before": changes["before"][index],
                    "after": changes["after"][index],
                    "change_low": low,
                    "change_high": high,
                    "p_value": changes["p_value"][index],
                    "row": index,
                }
            )
    for kind, rows, value in (
        ("gap outside its limits", gaps, "difference"),
        ("metric outside its limits", series, "value"),
    ):
        for index in np.flatnonzero(rows["outside"]).tolist():
            row = {name: rows[name][index] for name in ("metric", "group", "period")}
            centre = rows["centre"][index]
            row |= {f"change_{end}": rows[f"{value}_{end}"][index] - centre for end in ("low", "high")}
            out.append(
                {
                    "kind": kind,
                    **row,
                    "reference": rows.get("reference", [None] * (index + 1))[index],
                    "change": rows[value][index] - centre,
                }
            )
    return tuple(sorted(out, key=lambda row: (row.get("p_value", 1.0), -abs(row["change"]))))


def alert_table(alerts: Sequence[Mapping[str, Any]], backend: Backend | None) -> Table:
    """The alerts as a reader sees them."""
    names = ("kind", "metric", "group", "reference", "period", "change", "change_low", "change_high", "p_value")
    columns: dict[str, Any] = {name: [alert.get(name) for alert in alerts] for name in names}
    columns["note"] = [NO_TEST if p is None else None for p in columns["p_value"]]
    columns["kind"] = [KINDS[kind] for kind in columns["kind"]]
    return table_of(columns, "change", msg("Alerts"), backend)
