"""Scenarios as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Picture, Table, finite
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS, Metric
from isonomia.robustness.missing_reasons import no_value, of_trials
from isonomia.robustness.perturbation.degradation import scale_of, spread_over, worse_by
from isonomia.robustness.stress.measures import Measures
from isonomia.robustness.stress.scenario_findings import estimate, findings_of
from isonomia.robustness.stress.scenarios import Scenarios
from isonomia.robustness.stress.trials import Run


def show(
    measures: Measures,
    figures: Mapping[str, Estimate],
    runs: Mapping[str, Run],
    absent: Mapping[str, str],
    left_out: Mapping[str, str],
    *,
    main: str,
    tolerance: float,
    level: float,
) -> Scenarios:
    """The result that a user sees."""
    backend = measures.base.data.backend
    base_gaps = _base_gaps(measures)
    tables = {"scenarios": scenario_table(measures, figures, runs, level, backend)}
    if base_gaps:
        tables["gaps"] = _gap_table(measures, base_gaps, runs, level, backend)
    if absent:
        tables["absent"] = absent_table(absent, backend)
    names = {name: run.plan.scenario.title for name, run in runs.items()}
    row = [one for one in tables["scenarios"].rows() if one["metric"] == main and one["degradation"] is not None]
    worst = max(row, key=lambda one: one["degradation"], default=None)
    values: dict[str, Any] = {
        "metric": METRICS[main].title,
        "baseline": figures[main],
        "worst_scenario": msg("none could be run") if worst is None else names[worst["scenario"]],
        "degradation": estimate(worst, level) if worst else Estimate.missing(msg("no scenario could be run")),
        "played": len(runs),
    }
    titles = {
        "metric": msg("Primary metric"),
        "baseline": METRICS[main].title,
        "worst_scenario": msg("Worst scenario"),
        "degradation": msg("Degradation in that scenario"),
        "played": msg("Scenarios run"),
    }
    return Scenarios(
        "scenarios",
        msg("Scenarios"),
        tables,
        values,
        findings_of(measures, tables, names, main, tolerance, level),
        _pictures(tables, names, main),
        _notes(measures, runs, absent, left_out),
        titles=titles,
        metrics=measures.metrics,
        main=main,
        baseline=figures,
        base_gaps=base_gaps,
        runs=dict(runs),
        absent=dict(absent),
        tolerance=tolerance,
        n_rows=len(measures.base),
    )


#: Which way a metric is better.
DIRECTIONS = {"higher": msg("higher is better"), "lower": msg("lower is better"), "none": msg("descriptive")}
_COLUMNS = {
    column.name: column
    for column in (
        Column("scenario", title=msg("Scenario")),
        Column("level", format="num", title=msg("Strength")),
        Column("metric", title=msg("metric")),
        Column("attribute", title=msg("attribute")),
        Column("baseline", format="num4", title=msg("Baseline")),
        Column("mean", format="num4", title=msg("Mean over trials")),
        Column("std", format="num4", title=msg("Standard deviation over trials")),
        Column("low", format="num4", title=msg("spread of trials from")),
        Column("high", format="num4", title=msg("spread of trials to")),
        Column("worst", format="num4", title=msg("Worst trial")),
        Column("degradation", format="num4", title=msg("Degradation")),
        Column("degradation_low", format="num4", title=msg("spread of trials from")),
        Column("degradation_high", format="num4", title=msg("spread of trials to")),
        Column("relative", format="pct", title=msg("Degradation on a common scale")),
        Column("trials", format="int", title=msg("Trials with a value")),
        Column("change", format="num4", title=msg("Change of the gap")),
        Column("change_low", format="num4", title=msg("spread of trials from")),
        Column("change_high", format="num4", title=msg("spread of trials to")),
        Column("reason", title=msg("Reason")),
        Column("share_worse", format="pct", title=msg("Trials that are worse")),
        Column("rank", format="int", title=msg("Rank")),
        Column("response", format="pct", title=msg("Degradation at the highest strength")),
        Column("slope", format="num", title=msg("Degradation per unit of strength")),
        Column("gives_way", format="num", title=msg("Exceeds the tolerance at strength")),
        Column("direction", title=msg("direction"), names=DIRECTIONS),
        Column("worst_scenario", title=msg("Worst scenario")),
        Column("large", title=msg("Large drop")),
        Column("large_drops", format="int", title=msg("Metrics with large drops")),
        Column("worst_metric", title=msg("Metric that loses most")),
        Column("score", format="num4", title=msg("Score")),
        Column("score_low", format="num4", title=msg("spread of trials from")),
        Column("score_high", format="num4", title=msg("spread of trials to")),
    )
}


def table_of(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    title: Message,
    backend: Backend | None,
    *,
    notes_on: str | None = None,
) -> Table:
    """Rows of scenarios as a table; a number that is not finite is missing. `notes_on`: what the notes are about."""
    kept = [{name: _plain(row[name]) for name in names} for row in rows]
    table = Table.from_rows(kept, [_COLUMNS[name] for name in names], title=title, backend=backend)
    if notes_on is None:
        return table
    return table.with_columns(replace(table[notes_on], reason=[row["note"] for row in rows]))


def _plain(value: Any) -> Any:
    return finite(value) if isinstance(value, float) else value


def scenario_table(
    measures: Measures, figures: Mapping[str, Estimate], runs: Mapping[str, Run], level: float, backend: Backend | None
) -> Table:
    """A row for each scenario and metric."""
    rows = [
        {"scenario": name, "level": run.plan.level, **measured_row(metric, figures[metric.id], run.values[:, i], level)}
        for name, run in runs.items()
        for i, metric in enumerate(measures.metrics)
    ]
    names = (
        "scenario",
        "level",
        "metric",
        "baseline",
        "mean",
        "std",
        "low",
        "high",
        "worst",
        "degradation",
        "degradation_low",
        "degradation_high",
        "relative",
        "share_worse",
        "trials",
    )
    return table_of(rows, names, msg("Every metric under every scenario"), backend, notes_on="degradation")


def measured_row(metric: Metric, figure: Estimate, trials: Any, level: float) -> dict[str, Any]:
    """One metric over trials against its baseline."""
    base = float("nan") if figure.value is None else figure.value
    mean, deviation, low, high, known = spread_over(trials, level)
    harm = worse_by(metric, trials, base)
    worse, _, lowest, highest, _ = spread_over(harm, level)
    worst = float("nan") if np.isnan(harm).all() else float(trials[int(np.nanargmax(harm))])
    share = float("nan") if np.isnan(harm).all() else float((harm[~np.isnan(harm)] > 0).mean())
    return {
        "metric": metric.id,
        "baseline": base,
        "mean": mean,
        "std": deviation,
        "low": low,
        "high": high,
        "worst": worst,
        "degradation": worse,
        "degradation_low": lowest,
        "degradation_high": highest,
        "relative": worse / scale_of(metric, base),
        "share_worse": share,
        "trials": known,
        "note": of_trials(metric, base, trials),
    }


def _base_gaps(measures: Measures) -> dict[tuple[str, str], float]:
    found = measures.gap_values([measures.read(measures.base)])[0]
    return {
        (column.name, metric.id): float(found[a, g])
        for a, (column, _) in enumerate(measures.groups)
        for g, metric in enumerate(measures.gaps)
        if not np.isnan(found[a, g])
    }


def _gap_table(
    measures: Measures,
    base: Mapping[tuple[str, str], float],
    runs: Mapping[str, Run],
    level: float,
    backend: Backend | None,
) -> Table:
    names = [column.name for column, _ in measures.groups]
    ids = [metric.id for metric in measures.gaps]
    rows = []
    for name, run in runs.items():
        for (attribute, metric), before in base.items():
            trials = run.gaps[:, names.index(attribute), ids.index(metric)]
            mean, deviation, low, high, known = spread_over(trials, level)
            rows.append(
                {
                    "scenario": name,
                    "attribute": attribute,
                    "metric": metric,
                    "baseline": before,
                    "mean": mean,
                    "std": deviation,
                    "low": low,
                    "high": high,
                    "change": mean - before,
                    "change_low": low - before,
                    "change_high": high - before,
                    "trials": known,
                    "note": _gap_note(trials),
                }
            )
    columns = (
        "scenario",
        "attribute",
        "metric",
        "baseline",
        "mean",
        "std",
        "low",
        "high",
        "change",
        "change_low",
        "change_high",
        "trials",
    )
    return table_of(rows, columns, msg("Largest gaps between groups under every scenario"), backend, notes_on="change")


def _gap_note(trials: Any) -> Message | None:
    missing = int(np.isnan(trials).sum())
    reason = msg("fewer than two groups have a value")
    return no_value(reason, missing, len(trials)) if missing else None


def absent_table(absent: Mapping[str, str], backend: Backend | None) -> Table:
    """Scenarios that could not be run, and why."""
    rows = [{"scenario": name, "reason": reason} for name, reason in absent.items()]
    return table_of(rows, ("scenario", "reason"), msg("Scenarios that could not be run"), backend)


def _pictures(tables: Mapping[str, Table], names: Mapping[str, Message], main: str) -> tuple[Picture, ...]:
    titles = {**names, **METRICS.titles()}
    rows = [row for row in tables["scenarios"].rows() if row["relative"] is not None]
    if not rows:
        return ()
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    pictures = [
        Picture(
            "forest",
            "scenarios",
            msg("Degradation of {metric} by scenario", metric=METRICS[main].title),
            {
                "labels": "scenario",
                "value": "degradation",
                "low": "degradation_low",
                "high": "degradation_high",
                "where": {"metric": main},
                "names": names,
                "reference": 0.0,
                "reference_label": msg("baseline"),
            },
        ),
        Picture(
            "heatmap",
            "scenarios",
            msg("Degradation on a common scale: metrics and scenarios"),
            {
                "x": "scenario",
                "y": "metric",
                "value": "relative",
                "where": {"metric": metrics},
                "names": titles,
                "middle": 0.0,
            },
        ),
    ]
    return tuple(pictures)


def spread_note() -> Message:
    """What the ranges of a table of trials are."""
    return msg(
        "Ranges of degradations, changes and scores are the spread of the trials, not confidence intervals of their "
        "mean: the rows are taken as they are."
    )


def _notes(
    measures: Measures, runs: Mapping[str, Run], absent: Mapping[str, str], left_out: Mapping[str, str]
) -> tuple[Message, ...]:
    notes = [
        msg("Degradation is above 0 where a metric gets worse, whatever its direction."),
    ]
    for name, run in runs.items():
        undefined = [m.id for i, m in enumerate(measures.metrics) if np.isnan(run.values[:, i]).any()]
        if undefined:
            notes.append(
                msg(
                    'Under the scenario "{scenario}" some trials have no value of: {metrics}.',
                    scenario=run.plan.scenario.title,
                    metrics=", ".join(undefined[:10]),
                )
            )
        del name
    if absent:
        notes.append(msg("{n:# scenario|# scenarios} could not be run; a table gives the reasons.", n=len(absent)))
    if left_out:
        notes.append(msg("Metrics that do not apply here: {metrics}.", metrics=", ".join(list(left_out)[:12])))
    return (*notes, spread_note())
