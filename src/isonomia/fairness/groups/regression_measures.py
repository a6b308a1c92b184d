"""The suite's measures of a regression: means, errors and whole distributions of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isonomia.evidence import Estimate, Table
from isonomia.fairness.criteria.criterion import MEAN_THRESHOLD
from isonomia.fairness.groups.gaps import combine, facts, gaps_of, scaled
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.fairness.groups.suite_table import Judged
from isonomia.languages import msg
from isonomia.subject import Outcome


def judge_numbers(
    measured: GroupMetrics, distances: Table, outcome: Outcome, threshold: float, ratio_threshold: float, level: float
) -> dict[tuple[tuple[str, ...], str], Judged]:
    """Mean parity, error parity and distribution parity for every way of grouping."""
    assert measured.groups is not None
    assert outcome.surface.continuous is not None
    spread = float(np.std(outcome.surface.continuous))
    ways = list(dict.fromkeys(group.by for group in measured.groups.groups))
    ways_of = {group.key: group.by for group in measured.groups.groups}
    out: dict[tuple[tuple[str, ...], str], Judged] = {}
    n = len(outcome)
    for way in ways:
        titles = {
            "mean_prediction": ("mean_parity", msg("Mean parity, in standard deviations")),
            "mean_error": ("mean_error_parity", msg("Parity of mean errors, in standard deviations")),
            "mae": ("error_parity", msg("Error parity")),
        }
        for metric, (name, title) in titles.items():
            if metric not in measured.measured:
                continue
            gaps = [gap for gap in gaps_of(measured, [metric]) if gap.by == way]
            worst = facts(gaps[0], measured) if gaps else {}
            if metric == "mae":
                figure = combine(gaps, "ratio", "worst", n=n, level=level)
                out[way, name] = Judged(title, "ratio", figure, ratio_threshold, (metric,), worst)
            else:
                figure = scaled(combine(gaps, "difference", "worst", n=n, level=level), spread)
                out[way, name] = Judged(title, "difference", figure, MEAN_THRESHOLD, (metric,), worst)
        out[way, "distribution_parity"] = _distribution(distances, way, ways_of, measured, threshold)
    return out


def _distribution(
    distances: Table, way: tuple[str, ...], ways_of: Mapping[Any, tuple[str, ...]], measured: GroupMetrics, limit: float
) -> Judged:
    """The largest Kolmogorov-Smirnov distance to the reference among groups with enough rows."""
    title = msg("Distribution parity: Kolmogorov-Smirnov distance")
    rows = [
        row
        for key, row in zip(distances["group"].keys or (), distances.rows(), strict=True)
        if ways_of[key] == way and not row["small"] and row["ks"] is not None
    ]
    if not rows:
        reason = msg("fewer than two groups with enough rows have a value")
        return Judged(title, "difference", Estimate.missing(reason, n=int(measured.values["rows"])), limit)
    row: dict[str, Any] = max(rows, key=lambda one: one["ks"])
    figure = Estimate(row["ks"], row["ks_low"], row["ks_high"], n=row["n"], method="bootstrap on binned counts")
    p = None if row["p_value"] is None else min(1.0, row["p_value"] * len(rows))
    return Judged(
        title, "difference", figure, limit, worst={"lowest": row["group"], "highest": row["reference"]}, p_value=p
    )


def score_parts_of_numbers(judged: Mapping[tuple[tuple[str, ...], str], Judged]) -> dict[str, dict[str, Estimate]]:
    """Figures in [0, 1], 1 = equal, of each attribute alone."""
    out: dict[str, dict[str, Estimate]] = {}
    for (by, name), one in judged.items():
        if len(by) > 1 or name == "mean_error_parity":
            continue
        out.setdefault(by[0], {})[name] = one.figure if one.measure == "ratio" else _turned(one.figure)
    return out


def _turned(figure: Estimate) -> Estimate:
    if figure.value is None:
        return figure
    low, high = (None if end is None else max(0.0, 1.0 - end) for end in (figure.high, figure.low))
    return Estimate(max(0.0, 1.0 - figure.value), low, high, figure.n, figure.method, figure.note, figure.level)
