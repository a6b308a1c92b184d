"""A sweep of thresholds as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table, finite
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import ColumnName, Message, msg
from isonomia.metrics import METRICS

if TYPE_CHECKING:
    from isonomia.robustness.stress.threshold_sweep import Curves, Limit

#: What the gaps between groups are called.
GAPS = {
    "selection_rate_difference": msg("Difference of selection rates"),
    "selection_rate_ratio": msg("Ratio of selection rates"),
    "tpr_difference": msg("Difference of true positive rates"),
    "tpr_ratio": msg("Ratio of true positive rates"),
    "fpr_difference": msg("Difference of false positive rates"),
    "fpr_ratio": msg("Ratio of false positive rates"),
    "equalized_odds_difference": msg("Equalized odds difference"),
}
_COLUMNS = {
    column.name: column
    for column in (
        Column("threshold", format="num4", title=msg("Threshold")),
        Column("metric", title=msg("metric")),
        Column("value", format="num4", title=msg("Value")),
        Column("current", format="num4", title=msg("At the current threshold")),
        Column("gain", format="num4", title=msg("Gain")),
        Column("attribute", title=msg("attribute")),
        Column("gap", title=msg("Gap"), names=GAPS),
        Column("group", title=msg("group")),
        Column("n", format="int", title=msg("Rows")),
        Column("limit", format="num", title=msg("Limit")),
        Column("at_least", title=msg("At least")),
        Column("kept_from", format="num4", title=msg("Met from threshold")),
        Column("kept_to", format="num4", title=msg("Met up to threshold")),
        Column("kept_now", title=msg("Met at the current threshold")),
        Column("selection_rate", format="pct", title=msg("Selection rate")),
        Column("tpr", format="pct", title=msg("True positive rate")),
        Column("fpr", format="pct", title=msg("False positive rate")),
    )
}


def show(curves: Curves, limits: Sequence[Limit], backend: Backend | None, level: float) -> Result:
    """The result that a user sees."""
    tables = {"metrics": _metric_table(curves, backend), "best": _best_table(curves, backend)}
    if curves.between:
        tables["gaps"] = _gap_table(curves, backend)
        tables["groups"] = _group_table(curves, backend)
    if limits:
        tables["limits"] = _limit_table(curves, limits, backend)
    values: dict[str, Any] = {"threshold": curves.current, "thresholds": len(curves.thresholds)}
    titles = {"threshold": msg("Current threshold"), "thresholds": msg("Thresholds tested")}
    notes = [
        msg(
            "The best threshold of a metric is selected on the rows it is measured on: expect slightly less on new "
            "rows."
        ),
    ]
    if curves.small:
        notes.append(msg("Fewer than two groups are large enough in: {names}.", names=", ".join(curves.small)))
    return Result(
        "threshold_sweep",
        msg("Threshold sweep"),
        tables,
        values,
        _findings(curves, limits, level),
        _pictures(curves),
        tuple(notes),
        titles=titles,
    )


def _table(rows: list[dict[str, Any]], names: Sequence[str], title: Message, backend: Backend | None) -> Table:
    return Table.from_rows(rows, [_COLUMNS[name] for name in names], title=title, backend=backend)


def _number(value: float, reason: Message) -> float | Message:
    return reason if np.isnan(value) else float(value)


def _figure(value: float, low: float, high: float, reason: Message) -> Estimate:
    return Estimate.missing(reason) if np.isnan(value) else Estimate(float(value), float(low), float(high))


def _metric_table(curves: Curves, backend: Backend | None) -> Table:
    rows = []
    for name, (value, low, high) in curves.overall.items():
        undefined = msg("no value: {reason}", reason=METRICS[name].undefined)
        rows += [
            {"threshold": float(at), "metric": name, "value": _figure(value[t], low[t], high[t], undefined)}
            for t, at in enumerate(curves.thresholds)
        ]
    return _table(rows, ("threshold", "metric", "value"), msg("Metrics at every threshold"), backend)


def _best_table(curves: Curves, backend: Backend | None) -> Table:
    rows = []
    for metric in curves.metrics:
        value, low, high = curves.overall[metric.id]
        if metric.higher_is_better is None or np.isnan(value).all():
            continue
        signed = value if metric.higher_is_better else -value
        ties = np.flatnonzero(signed >= np.nanmax(signed) - 1e-12)
        best = int(ties[np.argmin(np.abs(curves.thresholds[ties] - curves.current))])
        now = float(value[curves.current_index])
        rows.append(
            {
                "metric": metric.id,
                "threshold": float(curves.thresholds[best]),
                "value": Estimate(float(value[best]), float(low[best]), float(high[best])),
                "current": _number(now, msg("no baseline value: {reason}", reason=metric.undefined)),
                "gain": finite(metric.worse_by(now, float(value[best]))),
            }
        )
    names = ("metric", "threshold", "value", "current", "gain")
    return _table(rows, names, msg("The best threshold of each metric"), backend)


def _gap_table(curves: Curves, backend: Backend | None) -> Table:
    undefined = msg("fewer than two groups have a value, or the largest is 0")
    rows = [
        {
            "threshold": float(at),
            "attribute": part.attribute,
            "gap": name,
            "value": _figure(value[t], low[t], high[t], undefined),
        }
        for part in curves.between
        for name, (value, low, high) in part.gaps.items()
        for t, at in enumerate(curves.thresholds)
    ]
    names = ("threshold", "attribute", "gap", "value")
    return _table(rows, names, msg("Gaps between groups at every threshold"), backend)


def _group_table(curves: Curves, backend: Backend | None) -> Table:
    names = ("selection_rate", "tpr", "fpr")
    undefined = {name: msg("no value: {reason}", reason=METRICS[name].undefined) for name in names}
    rows = [
        {
            "threshold": float(at),
            "attribute": part.attribute,
            "group": condition(part.attribute, group),
            "n": int(part.sizes[g]),
            **{name: _number(part.rates[name][0][t, g], undefined[name]) for name in names},
        }
        for part in curves.between
        for g, group in enumerate(part.groups)
        for t, at in enumerate(curves.thresholds)
    ]
    title = msg("Rates of each group at every threshold")
    return _table(rows, ("threshold", "attribute", "group", "n", *names), title, backend)


def _packed(curves: Curves, limit: Limit) -> list[tuple[str, Any]]:
    """The values a limit is compared with: over everyone, or of each attribute."""
    if not limit.between:
        return [("", curves.overall[limit.name][0])]
    return [(part.attribute, part.gaps[limit.name][0]) for part in curves.between]


def _ranges(met: Any) -> list[tuple[int, int]]:
    """Runs of thresholds that keep a limit, as first and last index."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], met, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _limit_table(curves: Curves, limits: Sequence[Limit], backend: Backend | None) -> Table:
    undefined = msg("no value at the current threshold: fewer than two groups have one, or the largest is 0")
    never = msg("no threshold meets it")
    rows = []
    for limit in limits:
        for attribute, value in _packed(curves, limit):
            met = limit.met(value)
            for first, last in _ranges(met) or [(-1, -1)]:
                rows.append(
                    {
                        "gap": limit.name,
                        "attribute": attribute or None,
                        "at_least": limit.at_least,
                        "limit": limit.value,
                        "current": _number(value[curves.current_index], undefined),
                        "kept_now": bool(met[curves.current_index]),
                        "kept_from": never if first < 0 else float(curves.thresholds[first]),
                        "kept_to": never if first < 0 else float(curves.thresholds[last]),
                    }
                )
    names = ("gap", "attribute", "at_least", "limit", "current", "kept_now", "kept_from", "kept_to")
    table = _table(rows, names, msg("Where each limit is met"), backend)
    return table.with_columns(replace(table["gap"], title=msg("Requirement")))


def _findings(curves: Curves, limits: Sequence[Limit], level: float) -> tuple[Finding, ...]:
    found = []
    for limit in limits:
        if not limit.between:
            continue
        for part in curves.between:
            value, low, high = part.gaps[limit.name]
            now = float(value[curves.current_index])
            met = limit.met(value)
            if np.isnan(now) or met[curves.current_index]:
                continue
            found.append(
                _finding(
                    curves,
                    limit,
                    part.attribute,
                    now,
                    met,
                    Estimate(
                        now,
                        float(low[curves.current_index]),
                        float(high[curves.current_index]),
                        n=curves.n_rows,
                        method="simultaneous",
                        level=level,
                    ),
                )
            )
    return tuple(found)


def _finding(curves: Curves, limit: Limit, attribute: str, now: float, met: Any, figure: Estimate) -> Finding:
    gaps: dict[str, Any] = {
        "gap": GAPS[limit.name],
        "attribute": ColumnName(attribute),
        "now": now,
        "limit": limit.value,
        "at": curves.current,
    }
    useful = np.flatnonzero(met & _decides(curves))
    if useful.size:
        best = int(useful[np.argmin(np.abs(curves.thresholds[useful] - curves.current))])
        name = "accuracy" if "accuracy" in curves.overall else next(iter(curves.overall))
        gaps |= {
            "other": float(curves.thresholds[best]),
            "metric": METRICS[name].title,
            "before": float(curves.overall[name][0][curves.current_index]),
            "after": float(curves.overall[name][0][best]),
        }
        message = msg(
            "{gap} between groups of {attribute} is {now:num} at the current threshold ({at:num}); the limit of "
            "{limit:num} is met at {other:num}, where {metric} is {after:num4} instead of {before:num4}.",
            **gaps,
        )
    else:
        message = msg(
            "{gap} between groups of {attribute} is {now:num} at the current threshold ({at:num}); no threshold that "
            "still separates people meets the limit of {limit:num}.",
            **gaps,
        )
    off = (1 - now) / max(1 - limit.value, 1e-9) if limit.at_least else now / max(limit.value, 1e-9)
    return Finding(
        "threshold_sweep.limit",
        "notice",
        message,
        figure,
        n=curves.n_rows,
        magnitude=max(1.0, off),
        threshold=limit.value,
        evidence="threshold_sweep/limits",
        format="num",
        columns=(attribute,),
        remedy="set_thresholds_by_group",
    )


def _decides(curves: Curves) -> Any:
    """Thresholds that neither accept everyone nor nobody."""
    rates = np.stack([part.rates["selection_rate"][0] for part in curves.between[:1]])[0]
    return (np.nanmax(rates, axis=1) > 0) & (np.nanmin(rates, axis=1) < 1)


def _pictures(curves: Curves) -> tuple[Picture, ...]:
    names = METRICS.titles()
    line: dict[str, Any] = {"x": "threshold", "value": "value", "low": "low", "high": "high"}
    pictures = [
        Picture("lines", "metrics", msg("Metrics at every threshold"), {**line, "color": "metric", "names": names}),
    ]
    for part in curves.between:
        ratio = {"attribute": part.attribute, "gap": ["selection_rate_difference", "equalized_odds_difference"]}
        pictures += [
            Picture(
                "lines",
                "gaps",
                msg("Gaps between groups of {attribute}", attribute=part.attribute),
                {**line, "color": "gap", "where": ratio},
            ),
            Picture(
                "lines",
                "groups",
                msg("Selection rates of {attribute}", attribute=part.attribute),
                {"x": "threshold", "value": "selection_rate", "color": "group", "where": {"attribute": part.attribute}},
            ),
        ]
    return tuple(pictures)
