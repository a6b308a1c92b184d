"""Perturbation as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Format, Table, benjamini_hochberg
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import Metric
from isonomia.robustness.perturbation.perturbation_trials import Effect

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.perturb import Study


#: The columns of all tables of perturbations.
_COLUMNS = (
    Column("perturber", title=msg("Perturbation")),
    Column("level", format="num", title=msg("Level")),
    Column("metric", title=msg("Metric")),
    Column("base", title=msg("Unperturbed")),
    Column("value", title=msg("Perturbed")),
    Column("std", title=msg("Standard deviation over trials")),
    Column("worst", title=msg("Worst trial")),
    Column("drop", title=msg("Loss")),
    Column("loss", format="pct", title=msg("Relative loss")),
    Column("flips", format="pct", title=msg("Decisions that change")),
    Column("change", format="num4", title=msg("Mean change of the prediction")),
    Column("touched", format="pct", title=msg("Perturbed rows")),
    Column("trials", format="int", title=msg("Trials")),
    Column("sample", title=msg("The interval covers")),
    Column("feature", title=msg("Feature")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
)
#: Those that are written as the metric is.
_OF_METRIC = ("base", "value", "std", "worst", "drop")


def span_of(metric: Metric, base: float) -> float:
    """What a loss is a share of: the metric's range, or its unperturbed value where the range has no end."""
    width = metric.range[1] - metric.range[0]
    return float(width if np.isfinite(width) else abs(base))


def share(drop: Any, span: float) -> Any:
    """A loss as a share; NaN where there is nothing to be a share of."""
    return drop / span if span > 0 else np.full(np.shape(drop), np.nan)


def main_metric(study: Study) -> tuple[Metric, float, float]:
    """The metric that the study is about, its value on undisturbed rows, and what a loss is a share of."""
    metric, base = study.trials.measures.metrics[0], float(study.trials.base.value[0, 0])
    return metric, base, span_of(metric, base)


# --- tables ----------------------------------------------------------------------------------------------------------


def _columns(effects: Sequence[Effect], index: int, base: float, sign: float) -> dict[str, Any]:
    spread = [effect.values[:, index].std(ddof=1) if len(effect.values) > 1 else np.nan for effect in effects]
    worst = [(effect.values[:, index] * sign).max() * sign for effect in effects]
    return {
        "perturber": [effect.perturber.title for effect in effects],
        "level": np.array([effect.level for effect in effects]),
        "base": np.full(len(effects), base),
        "value": np.array([effect.value[index] for effect in effects]),
        "std": np.array(spread),
        "worst": np.array(worst),
        "drop": np.array([effect.drop[index] for effect in effects]),
        "drop_low": np.array([effect.low[index] for effect in effects]),
        "drop_high": np.array([effect.high[index] for effect in effects]),
    }


def _of_decisions(effects: Sequence[Effect]) -> dict[str, Any]:
    names = ("flips", "flips_low", "flips_high", "change", "touched")
    out: dict[str, Any] = {name: np.array([getattr(effect, name) for effect in effects]) for name in names}
    if np.isnan(out["flips"]).all():
        out = {name: out[name] for name in ("change", "touched")}
    return {**out, "trials": np.array([len(effect.values) for effect in effects])}


def level_table(study: Study, backend: Backend | None) -> Table:
    """The main metric at every level of every perturbation."""
    metric, base, span = main_metric(study)
    columns = _columns(study.effects, 0, base, float(study.trials.sign[0]))
    columns["loss"] = share(columns["drop"], span)
    columns |= _of_decisions(study.effects)
    columns["note"] = [effect.notes[0] for effect in study.effects]
    return table_of(columns, metric, msg("{metric} under each perturbation", metric=metric.title), backend)


def metric_table(study: Study, backend: Backend | None) -> Table:
    """All metrics; one row per perturbation, level and metric."""
    parts: dict[str, list[Any]] = {}
    for index, metric in enumerate(study.trials.measures.metrics):
        base = float(study.trials.base.value[0, index])
        block = _columns(study.effects, index, base, float(study.trials.sign[index]))
        block["loss"] = share(block["drop"], span_of(metric, base))
        block["metric"] = [metric.title] * len(study.effects)
        block["sample"] = [
            msg("rows and trials") if effect.by_rows[index] else msg("trials") for effect in study.effects
        ]
        block["note"] = [effect.notes[index] for effect in study.effects]
        for name, values in block.items():
            parts.setdefault(name, []).extend(values)
    order = ["metric", *(name for name in parts if name != "metric")]
    columns = {name: _array(parts[name]) for name in order}
    return table_of(columns, None, msg("All metrics under each perturbation"), backend)


def _array(values: list[Any]) -> Any:
    texts = any(isinstance(value, Message) for value in values)
    return values if texts or values == [None] * len(values) else np.array(values, dtype=float)


def ranked(study: Study) -> list[Effect]:
    """The effects of single features, the largest loss first."""
    return sorted(study.features, key=lambda effect: (-effect.drop[0], -np.nan_to_num(effect.flips), -effect.change))


def feature_table(study: Study, backend: Backend | None) -> Table:
    """What disturbing each feature alone changes."""
    metric, base, span = main_metric(study)
    effects = ranked(study)
    columns: dict[str, Any] = {"feature": [effect.names[0] for effect in effects]}
    columns |= _columns(effects, 0, base, float(study.trials.sign[0]))
    columns["loss"] = share(columns["drop"], span)
    columns |= _of_decisions(effects)
    columns["p_value"] = np.array([effect.p_value[0] for effect in effects])
    columns["p_adjusted"] = benjamini_hochberg(columns["p_value"])
    columns["note"] = [effect.notes[0] for effect in effects]
    return table_of(columns, metric, msg("Each feature perturbed alone"), backend)


def table_of(columns: dict[str, Any], metric: Metric | None, title: Message, backend: Backend | None) -> Table:
    """A table of this examination; figures of one metric are written as that metric is."""
    style: Format = "num4" if metric is None else metric.format
    described = (replace(column, format=style) if column.name in _OF_METRIC else column for column in _COLUMNS)
    notes = columns.pop("note", None)
    for name, reason in (("drop", notes), ("flips", None)):
        if name in columns:
            ends = columns.pop(f"{name}_low"), columns.pop(f"{name}_high")
            columns[name] = Column(name, columns[name], *ends, reason)
    return Table.of(columns, described, title=title, backend=backend)


# --- figures of the whole --------------------------------------------------------------------------------------------


def estimate(study: Study, effect: Effect, index: int = 0) -> Estimate:
    """A loss with its interval."""
    n = len(study.trials.altering)
    if np.isnan(effect.drop[index]):
        return Estimate.missing(effect.notes[index] or msg("it is not defined"), n=n)
    method = "normal" if effect.by_rows[index] else "student over trials"
    note = effect.notes[index]
    return Estimate(
        float(effect.drop[index]),
        float(effect.low[index]),
        float(effect.high[index]),
        n=n,
        method=method,
        level=study.trials.level,
        note=None if note is None else as_text(note),
    )


# --- findings and pictures -------------------------------------------------------------------------------------------
