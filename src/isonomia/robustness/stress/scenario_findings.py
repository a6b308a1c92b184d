"""Scenarios as findings: which metric, or which gap between groups, gets worse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.evidence import THRESHOLDS, Estimate, Finding, Table
from isonomia.languages import ColumnName, Message, msg
from isonomia.metrics import METRICS, Metric
from isonomia.robustness.perturbation.degradation import scale_of
from isonomia.robustness.stress.measures import Measures


def estimate(row: Mapping[str, Any], level: float) -> Estimate:
    """The degradation in a row of a table, with the spread of its trials."""
    return Estimate(row["degradation"], n=row["trials"], method="trials", level=level)


def findings_of(
    measures: Measures,
    tables: Mapping[str, Table],
    names: Mapping[str, Message],
    main: str,
    tolerance: float,
    level: float,
) -> tuple[Finding, ...]:
    found = []
    for row in tables["scenarios"].rows():
        if row["metric"] == main and row["relative"] is not None and row["relative"] > tolerance:
            found.append(_finding(row, METRICS[main], names[row["scenario"]], tolerance, level, len(measures.base)))
    if "gaps" in tables:
        rates = {one.id for one in measures.gaps if one.range == (0.0, 1.0)}
        wider = [
            row
            for row in tables["gaps"].rows()
            if row["metric"] in rates
            and row["change"] is not None
            and row["change"] > THRESHOLDS["scenario_gap"].reported
            and row["change_low"] > 0
        ]
        worst: dict[tuple[str, str], dict[str, Any]] = {}
        for row in sorted(wider, key=lambda one: -one["change"]):
            worst.setdefault((row["scenario"], row["attribute"]), row)
        found += [_gap_finding(row, names[row["scenario"]], level) for row in worst.values()]
    return tuple(sorted(found, key=lambda one: -one.magnitude))


def _finding(row: Mapping[str, Any], metric: Metric, title: Message, tolerance: float, level: float, n: int) -> Finding:
    gaps = {
        "metric": metric.title,
        "scenario": title,
        "before": row["baseline"],
        "after": row["mean"],
        "trials": row["trials"],
    }
    message = (
        msg(
            '{metric} goes from {before:pct} to {after:pct} under the scenario "{scenario}" (mean of {trials:int} '
            "trials).",
            **gaps,
        )
        if metric.format == "pct"
        else msg(
            '{metric} goes from {before:num} to {after:num} under the scenario "{scenario}" (mean of '
            "{trials:int} trials).",
            **gaps,
        )
    )
    share = row["relative"] / tolerance if tolerance else 1.0 + row["relative"]
    return Finding(
        "scenarios.degradation",
        "notice",
        message,
        estimate(row, level),
        n=n,
        magnitude=share,
        threshold=tolerance * scale_of(metric, row["baseline"]),
        evidence="scenarios/scenarios",
        format="num4",
        topic="disturbance",
        remedy="monitor_scenario",
    )


def _gap_finding(row: Mapping[str, Any], title: Message, level: float) -> Finding:
    metric = METRICS[row["metric"]]
    return Finding(
        "scenarios.gap",
        "notice",
        msg(
            "The largest gap in {metric} between groups of {attribute} goes from {before:points} to {after:points} "
            'points under the scenario "{scenario}".',
            metric=metric.title,
            attribute=ColumnName(row["attribute"]),
            before=row["baseline"],
            after=row["mean"],
            scenario=title,
        ),
        Estimate(row["change"], n=row["trials"], method="trials", level=level),
        magnitude=row["change"] / THRESHOLDS["scenario_gap"].reported,
        threshold=THRESHOLDS["scenario_gap"].reported,
        evidence="scenarios/gaps",
        format="points",
        columns=(row["attribute"],),
        remedy="measure_fairness_again",
    )
