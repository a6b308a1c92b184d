"""A sweep of thresholds as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Estimate, Finding, Format, Picture, Result, Table
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS, Metric
from isonomia.robustness.row_tables import table_of_rows

if TYPE_CHECKING:
    from isonomia.robustness.stress.threshold_sweep import Curves, Limit

_TITLES = {
    "threshold": msg("Threshold"),
    "metric": msg("metric"),
    "value": msg("Value"),
    "low": msg("from"),
    "high": msg("to"),
    "current": msg("At the current threshold"),
    "gain": msg("Gain"),
    "attribute": msg("attribute"),
    "gap": msg("Gap"),
    "group": msg("group"),
    "n": msg("Rows"),
    "limit": msg("Limit"),
    "at_least": msg("At least"),
    "kept_from": msg("Met from threshold"),
    "kept_to": msg("Met up to threshold"),
    "kept_now": msg("Met at the current threshold"),
    "selection_rate": msg("Selection rate"),
    "tpr": msg("True positive rate"),
    "fpr": msg("False positive rate"),
    "note": msg("note"),
}
_FORMATS: dict[str, Format] = {
    "threshold": "num4",
    "value": "num4",
    "low": "num4",
    "high": "num4",
    "current": "num4",
    "gain": "num4",
    "n": "int",
    "limit": "num",
    "kept_from": "num4",
    "kept_to": "num4",
    "selection_rate": "pct",
    "tpr": "pct",
    "fpr": "pct",
}


def gap_title(name: str) -> Message:
    """What a gap between groups is called."""
    return {
        "selection_rate_difference": msg("Difference of selection rates"),
        "selection_rate_ratio": msg("Ratio of selection rates"),
        "tpr_difference": msg("Difference of true positive rates"),
        "tpr_ratio": msg("Ratio of true positive rates"),
        "fpr_difference": msg("Difference of false positive rates"),
        "fpr_ratio": msg("Ratio of false positive rates"),
        "equalized_odds_difference": msg("Equalized odds difference"),
    }[name]


def show(curves: Curves, limits: Sequence[Limit], backend: Backend, level: float) -> Result:
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


def _table(rows: list[dict[str, Any]], names: Sequence[str], title: Message, backend: Backend) -> Table:
    return table_of_rows(rows, names, title, backend, formats=_FORMATS, headings=_TITLES, intervals=("value",))


def _metric_table(curves: Curves, backend: Backend) -> Table:
    rows = [
        {
            "threshold": float(at),
            "metric": name,
            "value": float(value[t]),
            "low": float(low[t]),
            "high": float(high[t]),
            "note": msg("no value: {reason}", reason=METRICS[name].undefined) if np.isnan(value[t]) else None,
        }
        for name, (value, low, high) in curves.overall.items()
        for t, at in enumerate(curves.thresholds)
    ]
    return _table(
        rows, ("threshold", "metric", "value", "low", "high", "note"), msg("Metrics at every threshold"), backend
    )


def _best_table(curves: Curves, backend: Backend) -> Table:
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
                "value": float(value[best]),
                "low": float(low[best]),
                "high": float(high[best]),
                "current": now,
                "gain": metric.worse_by(now, float(value[best])),
                "note": _why_not_now(metric, now),
            }
        )
    names = ("metric", "threshold", "value", "low", "high", "current", "gain", "note")
    return _table(rows, names, msg("The best threshold of each metric"), backend)


def _why_not_now(metric: Metric, now: float) -> Message | None:
    return msg("no baseline value: {reason}", reason=metric.undefined) if np.isnan(now) else None


def _why_no_rate(rates: Mapping[str, float]) -> Message | None:
    """The first rate of a group that has none, and why."""
    missing = next((name for name, rate in rates.items() if np.isnan(rate)), None)
    return None if missing is None else msg("no value: {reason}", reason=METRICS[missing].undefined)


def _why_not_kept(now: float, first: int) -> Message | None:
    if np.isnan(now):
        return msg("no value at the current threshold: fewer than two groups have one, or the largest is 0")
    return msg("no threshold meets it") if first < 0 else None


def _gap_table(curves: Curves, backend: Backend) -> Table:
    rows = [
        {
            "threshold": float(at),
            "attribute": part.attribute,
            "gap": name,
            "value": float(value[t]),
            "low": float(low[t]),
            "high": float(high[t]),
            "note": msg("fewer than two groups have a value, or the largest is 0") if np.isnan(value[t]) else None,
        }
        for part in curves.between
        for name, (value, low, high) in part.gaps.items()
        for t, at in enumerate(curves.thresholds)
    ]
    names = ("threshold", "attribute", "gap", "value", "low", "high", "note")
    return _table(rows, names, msg("Gaps between groups at every threshold"), backend)


def _group_table(curves: Curves, backend: Backend) -> Table:
    rows = [
        {
            "threshold": float(at),
            "attribute": part.attribute,
            "group": condition(part.attribute, group),
            "n": int(part.sizes[g]),
            **(rates := {name: float(part.rates[name][0][t, g]) for name in part.rates}),
            "note": _why_no_rate(rates),
        }
        for part in curves.between
        for g, group in enumerate(part.groups)
        for t, at in enumerate(curves.thresholds)
    ]
    names = ("threshold", "attribute", "group", "n", "selection_rate", "tpr", "fpr", "note")
    return _table(rows, names, msg("Rates of each group at every threshold"), backend)


def _held(curves: Curves, limit: Limit) -> list[tuple[str, Any]]:
    """The values a limit is compared with: over everyone, or of each attribute."""
    if not limit.between:
        return [("", curves.overall[limit.name][0])]
    return [(part.attribute, part.gaps[limit.name][0]) for part in curves.between]


def _ranges(met: Any) -> list[tuple[int, int]]:
    """Runs of thresholds that keep a limit, as first and last index."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], met, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _limit_table(curves: Curves, limits: Sequence[Limit], backend: Backend) -> Table:
    rows = []
    for limit in limits:
        for attribute, value in _held(curves, limit):
            met = limit.met(value)
            for first, last in _ranges(met) or [(-1, -1)]:
                rows.append(
                    {
                        "gap": limit.name,
                        "attribute": attribute or None,
                        "at_least": limit.at_least,
                        "limit": limit.value,
                        "current": float(value[curves.current_index]),
                        "kept_now": bool(met[curves.current_index]),
                        "kept_from": None if first < 0 else float(curves.thresholds[first]),
                        "kept_to": None if first < 0 else float(curves.thresholds[last]),
                        "note": _why_not_kept(float(value[curves.current_index]), first),
                    }
                )
    names = ("gap", "attribute", "at_least", "limit", "current", "kept_now", "kept_from", "kept_to", "note")
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
        "gap": gap_title(limit.name),
        "attribute": attribute,
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
        titles = {name: gap_title(name) for name in part.gaps}
        pictures += [
            Picture(
                "lines",
                "gaps",
                msg("Gaps between groups of {attribute}", attribute=part.attribute),
                {**line, "color": "gap", "where": ratio, "names": titles},
            ),
            Picture(
                "lines",
                "groups",
                msg("Selection rates of {attribute}", attribute=part.attribute),
                {"x": "threshold", "value": "selection_rate", "color": "group", "where": {"attribute": part.attribute}},
            ),
        ]
    return tuple(pictures)
