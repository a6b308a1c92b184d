"""Metrics of means and of ordered rows over sets of rows: their values, and the intervals that have a closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.counting import Codes, tally
from isonomia.errors import NotApplicable
from isonomia.evidence.explained_intervals import FEWEST_EXPLAINED
from isonomia.evidence.intervals import SAME, or_zero, quotient
from isonomia.evidence.mean_intervals import FEWEST_OF_CLASS, AreaEnds, LogitEnds
from isonomia.languages import Message, msg
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.measured import Measured, rates_of, reasons_of
from isonomia.metrics.registry import Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.row_sums import RowSums
from isonomia.metrics.rows import Rows
from isonomia.metrics.set_sums import Sums
from isonomia.typing import Bools, Floats


def of_means(metric: Metric, sets: RowSets, level: float) -> Measured:
    parts = RowSums(metric, sets.rows)
    sums = parts.over([sets.cells]).each(sets.sums)
    if metric.proportion:
        value, w, w2 = parts.value(sums.sums), sums.sums[:, 0], sums.squares[:, 0, 0]
        size = or_zero(quotient(w * w, w2))
        return rates_of([metric], (or_zero(value) * w)[None], w[None], sums.n[None], size[None], level)[0]
    return (
        _of_single_mean(metric, parts, sums, level) if parts.single else _of_several_means(metric, parts, sums, level)
    )


#: Why a value has no interval.
ONE_ROW = msg("there is one row")
ALL_EQUAL = msg("every row has the same value, so the variation is unknown")


def few_of_class(least: int) -> Message:
    """Why a figure of classes has no interval."""
    return msg("a class has fewer than {least:int} rows", least=least)


def _of_single_mean(metric: Metric, parts: RowSums, sums: Sums, level: float) -> Measured:
    """A mean of one quantity (or its root): Hall's interval."""
    value, ends = parts.value(sums.sums), parts.ends(sums)
    alone, equal = np.isnan(ends.error), ends.error == 0
    low, high = np.clip(ends.at((1 - level) / 2), *metric.range)
    low, high = (np.where(equal, np.nan, end) for end in (low, high))
    return Measured(
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=sums.n,
        size=np.asarray(sums.n, dtype=float),
        error=ends.error if ends.kind != "root" else quotient(ends.error, 2 * value),
        method="hall",
        reasons=reasons_of(metric, value),
        ends=ends,
        unsure=_first_reasons((alone, ONE_ROW), (equal, ALL_EQUAL)),
    )


def _of_several_means(metric: Metric, parts: RowSums, sums: Sums, level: float) -> Measured:
    """A function of several means, R2: the delta method."""
    ends, size = parts.delta_ends(sums), np.asarray(sums.n, dtype=float)
    low, high = np.clip(ends.at((1 - level) / 2), *metric.range)
    known = ~np.isnan(ends.value)
    few = known & np.isnan(low) & (size < FEWEST_EXPLAINED)
    return Measured(
        metric=metric,
        value=ends.value,
        low=low,
        high=high,
        n=sums.n,
        size=size,
        error=ends.error * (1 - ends.value) if parts.explains else ends.error,
        method="delta",
        reasons=reasons_of(metric, ends.value),
        ends=ends,
        unsure=_first_reasons(
            (few, msg("there are fewer than {least:int} rows", least=FEWEST_EXPLAINED)),
            (known & np.isnan(low), ALL_EQUAL),
        ),
    )


def _first_reasons(*cases: tuple[Bools, Message]) -> tuple[Message | None, ...]:
    """Set by set the message of the first case that holds."""
    columns = zip(*(case.tolist() for case, _ in cases), strict=True)
    return tuple(next((cases[i][1] for i, holds in enumerate(row) if holds), None) for row in columns)


def _class_weights(sets: RowSets) -> tuple[Floats, Floats]:
    """Weights and squared weights (S, K) of the true classes in each set."""
    truth = sets.rows.truth
    assert truth is not None
    classes = Codes("true", truth, tuple(range(len(sets.rows.surface.classes))))
    table = tally([sets.cells, classes], weights=sets.rows.weights, counts=sets.rows.counts)
    return sets.sums(table.w), sets.sums(table.w2)


def of_ranks(metric: Metric, sets: RowSets, level: float) -> Measured:
    """A metric of ordered rows over the sets, one by one."""
    assert metric.from_rows is not None  # the registry makes sure
    value, error, size = (np.full(len(sets), np.nan) for _ in range(3))
    reasons: list[Message | str | None] = [None] * len(sets)
    ends: list[Any] = [None] * len(sets)
    for index, chosen in sets.each():
        part = sets.rows.take(chosen)
        size[index] = len(part)
        reasons[index] = check_applicable(metric, part.truth, part.surface, part.weights, part.counts)
        if reasons[index] is not None or part.truth is None:
            continue
        try:
            value[index], spread = metric.from_rows(part.truth, part.surface, part.weights, **_times(part))
        except NotApplicable as reason:
            reasons[index] = reason.message
            continue
        error[index] = np.nan if spread is None else spread
        if np.isnan(value[index]):
            reasons[index] = metric.undefined
        elif metric.ends is not None:
            ends[index] = metric.ends(part.truth, part.surface, part.weights, **_times(part))
    nothing = np.full(len(sets), np.nan)
    found = Measured(
        metric=metric,
        value=value,
        low=nothing,
        high=nothing,
        n=size,
        size=size,
        error=error,
        method=metric.interval,
        reasons=tuple(reasons),
    )
    known = [part for part in ends if part is not None]
    if known:
        joined = type(known[0]).joined(ends)
        low, high = joined.at((1 - level) / 2)
        return replace(found, low=low, high=high, error=joined.error, ends=joined)
    return _of_area(found, sets, level) if metric.interval and metric.ends is None else found


def _times(rows: Rows) -> dict[str, Any]:
    """How often each row counts, as an argument; none where each counts once."""
    return {} if rows.counts is None else {"counts": rows.counts}


def _of_area(found: Measured, sets: RowSets, level: float) -> Measured:
    """An area under a curve with its interval, where each class has enough (effective) rows."""
    w, w2 = _class_weights(sets)
    rows = np.nan_to_num(quotient(w * w, w2))
    few = rows.min(axis=1) < FEWEST_OF_CLASS - SAME
    rows = np.where(few[:, None], np.nan, rows)
    assert found.error is not None
    error = np.where(few, np.nan, found.error)
    ends: AreaEnds | LogitEnds
    if found.metric.interval == "newcombe":
        ends = AreaEnds(value=found.value, error=error, positives=rows[:, 1], negatives=rows[:, 0])
    else:
        ends = LogitEnds(value=found.value, error=error, size=rows.min(axis=1))
    low, high = ends.at((1 - level) / 2)
    return replace(
        found,
        low=low,
        high=high,
        error=error,
        ends=ends,
        at_boundary=np.isnan(error) & ~few & (found.metric.interval != "newcombe"),
        unsure=_first_reasons((few, few_of_class(FEWEST_OF_CLASS))),
    )
