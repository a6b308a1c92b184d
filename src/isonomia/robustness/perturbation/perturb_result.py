"""The result of `perturb`: tables, findings, pictures, figures and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isonomia.data import Backend
from isonomia.evidence import Picture, Result
from isonomia.languages import Message, msg
from isonomia.metrics import Rows, evaluate_all
from isonomia.robustness.perturbation.attack_tables import attack_findings, attack_pictures, attack_table
from isonomia.robustness.perturbation.perturb_findings import failures, feature_findings, level_findings
from isonomia.robustness.perturbation.perturb_tables import estimate, feature_table, level_table, metric_table, ranked

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.perturb import Study


def show(study: Study, backend: Backend | None) -> Result:
    """The result that a user sees."""
    tables = {"levels": level_table(study, backend), "metrics": metric_table(study, backend)}
    if study.features:
        tables["features"] = feature_table(study, backend)
    if study.attacks:
        tables["adversarial"] = attack_table(study, backend)
    findings = [*level_findings(study), *feature_findings(study), *attack_findings(study), *failures(study)]
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


def _values(study: Study) -> tuple[dict[str, Any], dict[str, Message]]:
    measures, trials = study.trials.measures, study.trials
    metric = measures.metrics[0]
    rows = Rows(measures.truth, trials.altering.predicted, measures.weights)
    found = evaluate_all(rows, metrics=[metric], level=trials.level, seed=trials.seed)
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
    if study.features and ranked(study)[0].drop[0] > 0:
        values["most_important"] = ranked(study)[0].names[0]
    return values, titles


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
        features = [effect.names[0] for effect in ranked(study)[:20]]
        pictures.append(
            Picture(
                "bars",
                "features",
                msg("Loss of {metric} with one feature perturbed", metric=metric.title),
                {"labels": "feature", "value": "drop", "where": {"feature": features}},
            )
        )
    return pictures
