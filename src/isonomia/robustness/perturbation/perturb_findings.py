"""Perturbations as findings: what changes with disturbed inputs, and which features matter most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.evidence import Estimate, Finding, benjamini_hochberg
from isonomia.languages import ColumnName, msg
from isonomia.metrics import Metric
from isonomia.robustness.perturbation.perturbation_trials import Effect

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.perturb import Study
from isonomia.robustness.perturbation.perturb_tables import estimate, main_metric, ranked

#: Maximum number of features reported; the table has all.
FEATURES = 3


def level_findings(study: Study) -> list[Finding]:
    """For each perturbation the lowest level at which the loss is surely above the tolerance."""
    metric, base, span = main_metric(study)
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
        evidence="perturb/levels",
        topic="disturbance",
        remedy="train_with_noise",
        **_loss_of(study, effect, metric, span),
    )


def _loss_of(study: Study, effect: Effect, metric: Metric, span: float) -> dict[str, Any]:
    """The fields of a finding that hold a loss: how large, among how many rows, beyond which threshold."""
    loss = float(effect.drop[0] / span) if span > 0 else 1.0
    return {
        "estimate": estimate(study, effect),
        "n": len(study.trials.altering),
        "magnitude": loss / study.tolerance if study.tolerance > 0 else 1.0 + loss,
        "threshold": study.tolerance * span if span > 0 else study.tolerance,
        "format": "points" if metric.format == "pct" else metric.format,
    }


def feature_findings(study: Study) -> list[Finding]:
    metric, base, span = main_metric(study)
    effects = ranked(study)
    clear = [row for row, effect in enumerate(effects) if _low(effect, span) > study.tolerance][:FEATURES]
    adjusted = benjamini_hochberg(np.array([effect.p_value[0] for effect in effects])) if clear else ()
    out = []
    for row in clear:
        effect = effects[row]
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
                evidence="perturb/features",
                columns=(effect.names[0],),
                p_value=None if np.isnan(p) else p,
                test=("perturb", "features", row),
                p_adjusted=None if np.isnan(p) else float(adjusted[row]),
                remedy="verify_feature",
                **_loss_of(study, effect, metric, span),
            )
        )
    return out


def failures(study: Study) -> list[Finding]:
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
