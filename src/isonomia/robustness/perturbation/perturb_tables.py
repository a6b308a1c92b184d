"""Perturbation as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Finding, Format, Picture, Result, Table, benjamini_hochberg
from isonomia.languages import ColumnName, Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import Metric, evaluate_all
from isonomia.robustness.perturbation.perturbation_trials import Effect

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.perturb import Study

#: Maximum number of features reported; the table has all.
FEATURES = 3

_NUMBERS: dict[str, Format] = {
    "level": "num",
    "flips": "pct",
    "change": "num4",
    "touched": "pct",
    "trials": "int",
    "p_value": "p",
    "p_adjusted": "p",
    "loss": "pct",
}


def headings() -> dict[str, Message]:
    """What the columns of all tables of this examination are called."""
    return {
        "perturber": msg("Perturbation"),
        "level": msg("Level"),
        "metric": msg("Metric"),
        "base": msg("Unperturbed"),
        "value": msg("Perturbed"),
        "std": msg("Standard deviation over trials"),
        "worst": msg("Worst trial"),
        "drop": msg("Loss"),
        "loss": msg("Relative loss"),
        "flips": msg("Decisions that change"),
        "change": msg("Mean change of the prediction"),
        "touched": msg("Perturbed rows"),
        "trials": msg("Trials"),
        "sample": msg("The interval covers"),
        "feature": msg("Feature"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("Adjusted p-value"),
    }


def show(study: Study, backend: Backend) -> Result:
    """The result that a user sees."""
    from isonomia.robustness.perturbation.attack_tables import attack_findings, attack_pictures, attack_table

    tables = {"levels": _level_table(study, backend), "metrics": _metric_table(study, backend)}
    if study.features:
        tables["features"] = _feature_table(study, backend)
    if study.attacks:
        tables["adversarial"] = attack_table(study, backend)
    findings = [*_level_findings(study), *_feature_findings(study), *attack_findings(study), *_failures(study)]
    pictures = [*_pictures(study), *attack_pictures(study)]
    values, titles = _values(study)
    return Result(
        "perturb",
        msg("Perturbed inputs"),
        tables,
        values,
        tuple(findings),
        tuple(pictures),
        _notes(study),
        titles=titles,
    )


def span_of(metric: Metric, base: float) -> float:
    """What a loss is a share of: the metric's range, or its unperturbed value where the range has no end."""
    width = metric.range[1] - metric.range[0]
    return float(width if np.isfinite(width) else abs(base))


def share(drop: Any, span: float) -> Any:
    """A loss as a share; NaN where there is nothing to be a share of."""
    return drop / span if span > 0 else np.full(np.shape(drop), np.nan)


def _main(study: Study) -> tuple[Metric, float, float]:
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


def _level_table(study: Study, backend: Backend) -> Table:
    metric, base, span = _main(study)
    columns = _columns(study.effects, 0, base, float(study.trials.sign[0]))
    columns["loss"] = share(columns["drop"], span)
    columns |= _of_decisions(study.effects)
    columns["note"] = [effect.notes[0] for effect in study.effects]
    return table_of(columns, metric, msg("{metric} under each perturbation", metric=metric.title), backend)


def _metric_table(study: Study, backend: Backend) -> Table:
    """All metrics; a row each perturbation, level and metric."""
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


def _ranked(study: Study) -> list[Effect]:
    return sorted(study.features, key=lambda effect: (-effect.drop[0], -np.nan_to_num(effect.flips), -effect.change))


def _feature_table(study: Study, backend: Backend) -> Table:
    metric, base, span = _main(study)
    effects = _ranked(study)
    columns: dict[str, Any] = {"feature": [effect.names[0] for effect in effects]}
    columns |= _columns(effects, 0, base, float(study.trials.sign[0]))
    columns["loss"] = share(columns["drop"], span)
    columns |= _of_decisions(effects)
    columns["p_value"] = np.array([effect.p_value[0] for effect in effects])
    columns["p_adjusted"] = benjamini_hochberg(columns["p_value"])
    columns["note"] = [effect.notes[0] for effect in effects]
    return table_of(columns, metric, msg("Each feature perturbed alone"), backend)


def table_of(columns: dict[str, Any], metric: Metric | None, title: Message, backend: Backend) -> Table:
    """A table of this examination; figures of one metric are written as that metric is."""
    style: Format = "num4" if metric is None else metric.format
    names = {name: heading for name, heading in headings().items() if name in columns}
    formats: dict[str, Format] = {name: _NUMBERS[name] for name in columns if name in _NUMBERS}
    formats |= {name: style for name in ("base", "value", "std", "worst", "drop") if name in columns}
    notes = columns.pop("note", None)
    for name, reason in (("drop", notes), ("flips", None)):
        if name in columns:
            ends = columns.pop(f"{name}_low"), columns.pop(f"{name}_high")
            columns[name] = Column(name, columns[name], *ends, reason)
    return Table.of(columns, formats, names, title, backend)


# --- figures of the whole --------------------------------------------------------------------------------------------


def _values(study: Study) -> tuple[dict[str, Any], dict[str, Message]]:
    measures, trials = study.trials.measures, study.trials
    metric = measures.metrics[0]
    found = evaluate_all(
        measures.truth,
        trials.altering.predicted,
        [metric],
        weights=measures.weights,
        level=trials.level,
        seed=trials.seed,
    )
    worst = max(study.effects, key=lambda effect: effect.drop[0])
    values: dict[str, Any] = {
        "base": found[metric.id],
        "largest_loss": estimate(study, worst),
        "worst_disturbance": msg("{name}, level {level:num}", name=worst.perturber.title, level=worst.level),
    }
    titles = {
        "base": metric.title,
        "largest_loss": msg("Largest loss"),
        "worst_disturbance": msg("Worst perturbation"),
        "most_important": msg("Feature that matters most for robustness"),
    }
    if study.features and _ranked(study)[0].drop[0] > 0:
        values["most_important"] = _ranked(study)[0].names[0]
    return values, titles


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


def _notes(study: Study) -> tuple[Message, ...]:
    notes = [
        msg(
            "A loss is positive where the metric got worse. Perturbed rows were made with seed {seed:int}.",
            seed=study.trials.seed,
        ),
    ]
    notes += [msg("No column can be perturbed by “{name}”.", name=one.title) for one in study.idle]
    columns = study.trials.altering.columns
    same = [feature.name for feature, flat in zip(columns.features, columns.constant, strict=True) if flat]
    if same:
        notes.append(msg("Constant columns get no noise: {names}.", names=", ".join(same)))
    for name, reason in study.left_out.items():
        notes.append(msg("The column {name} was left as it is: {reason}", name=name, reason=reason))
    return tuple(notes)


# --- findings and pictures -------------------------------------------------------------------------------------------


def _level_findings(study: Study) -> list[Finding]:
    """For each perturbation the lowest level at which the loss is surely above the tolerance."""
    metric, base, span = _main(study)
    out = []
    for code in dict.fromkeys(effect.perturber.id for effect in study.effects):
        own = sorted((e for e in study.effects if e.perturber.id == code), key=lambda effect: effect.level)
        clear = next((e for e in own if _low(e, span) > study.tolerance), None)
        if clear is not None:
            out.append(_finding(study, clear, metric, base, span))
    return out


def _low(effect: Effect, span: float) -> float:
    """The lower end of a loss as a share; with nothing to be a share of, any sure loss counts in full."""
    low = effect.low[0] if np.isfinite(effect.low[0]) else -np.inf
    return float(low / span) if span > 0 else (np.inf if low > 0 else -np.inf)


def _finding(study: Study, effect: Effect, metric: Metric, base: float, span: float) -> Finding:
    gaps = {
        "metric": metric.title,
        "base": base,
        "value": float(effect.value[0]),
        "name": effect.perturber.title,
        "level": effect.level,
        "n": len(study.trials.altering),
    }
    message = (
        msg(
            "{metric} goes from {base:pct} to {value:pct} under “{name}” at level {level:num} ({n:# row|# rows}).",
            **gaps,
        )
        if metric.format == "pct"
        else msg(
            "{metric} goes from {base:num} to {value:num} under “{name}” at level {level:num} ({n:# row|# rows}).",
            **gaps,
        )
    )
    return Finding(
        "perturb.level",
        "notice",
        message,
        estimate(study, effect),
        n=len(study.trials.altering),
        magnitude=_magnitude(study, effect, span),
        threshold=_threshold(study, span),
        evidence="perturb/levels",
        topic="disturbance",
        format="points" if metric.format == "pct" else metric.format,
        remedy="train_with_noise",
    )


def _threshold(study: Study, span: float) -> float:
    """The tolerance in units of the loss that is compared with it."""
    return study.tolerance * span if span > 0 else study.tolerance


def _magnitude(study: Study, effect: Effect, span: float) -> float:
    loss = float(effect.drop[0] / span) if span > 0 else 1.0
    return loss / study.tolerance if study.tolerance > 0 else 1.0 + loss


def _feature_findings(study: Study) -> list[Finding]:
    metric, base, span = _main(study)
    clear = [effect for effect in _ranked(study) if _low(effect, span) > study.tolerance][:FEATURES]
    adjusted = (
        dict(
            zip(
                [effect.names[0] for effect in _ranked(study)],
                benjamini_hochberg(np.array([effect.p_value[0] for effect in _ranked(study)])),
                strict=True,
            )
        )
        if clear
        else {}
    )
    out = []
    rows = {effect.names[0]: row for row, effect in enumerate(_ranked(study))}
    for effect in clear:
        gaps = {
            "metric": metric.title,
            "base": base,
            "value": float(effect.value[0]),
            "feature": ColumnName(effect.names[0]),
            "level": effect.level,
            "n": len(study.trials.altering),
        }
        message = (
            msg(
                "{metric} goes from {base:pct} to {value:pct} when only {feature} is perturbed at level {level:num} "
                "({n:# row|# rows}).",
                **gaps,
            )
            if metric.format == "pct"
            else msg(
                "{metric} goes from {base:num} to {value:num} when only {feature} is perturbed at level {level:num} "
                "({n:# row|# rows}).",
                **gaps,
            )
        )
        p = float(effect.p_value[0])
        out.append(
            Finding(
                "perturb.feature",
                "notice",
                message,
                estimate(study, effect),
                n=len(study.trials.altering),
                magnitude=_magnitude(study, effect, span),
                threshold=_threshold(study, span),
                evidence="perturb/features",
                columns=(effect.names[0],),
                format="points" if metric.format == "pct" else metric.format,
                p_value=None if np.isnan(p) else p,
                test=("perturb", "features", rows[effect.names[0]]),
                p_adjusted=None if np.isnan(p) else float(adjusted[effect.names[0]]),
                remedy="verify_feature",
            )
        )
    return out


def _failures(study: Study) -> list[Finding]:
    """A model that gives no answer is a finding of its own."""
    return [
        Finding(
            "perturb.failure",
            "notice",
            msg("The model fails under “{name}”: {reason}", name=perturber.title, reason=reason),
            Estimate.missing(msg("the model raised an error"), n=len(study.trials.altering)),
            n=len(study.trials.altering),
            evidence="perturb/levels",
            remedy="handle_invalid_rows",
        )
        for perturber, reason in study.failed.values()
    ]


def _pictures(study: Study) -> list[Picture]:
    metric = study.trials.measures.metrics[0]
    pictures = []
    if len({effect.level for effect in study.effects}) > 1:
        pictures.append(
            Picture(
                "lines",
                "levels",
                msg("Loss of {metric} by level", metric=metric.title),
                {"x": "level", "value": "drop", "color": "perturber", "reference": 0.0},
            )
        )
    else:
        pictures.append(
            Picture(
                "bars",
                "levels",
                msg("Loss of {metric} by perturbation", metric=metric.title),
                {"labels": "perturber", "value": "drop"},
            )
        )
    if study.features:
        shown = [effect.names[0] for effect in _ranked(study)[:20]]
        pictures.append(
            Picture(
                "bars",
                "features",
                msg("Loss of {metric} with one feature perturbed", metric=metric.title),
                {"labels": "feature", "value": "drop", "where": {"feature": shown}},
            )
        )
    return pictures
