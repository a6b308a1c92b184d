"""From what the caller gave to a `Problem`: names checked, predictions read, features encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Binning, Bins, encode_features
from isonomia.data import Dataset
from isonomia.discovery.method import Method
from isonomia.discovery.subgroups.counted import CountedRows
from isonomia.discovery.subgroups.mass import Mass
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.pulled import PulledRows
from isonomia.discovery.subgroups.rates import ERROR_GIVEN_SCORE
from isonomia.errors import DataError
from isonomia.events import Progress
from isonomia.models import finite_numbers
from isonomia.parameters import Integer, Number
from isonomia.subject import Reading, Subject, are_probabilities, read_dataset
from isonomia.typing import Floats


def check_limits(method: Method, k: Any, max_l: Any, min_support: Any, n: int, n_features: int) -> dict[str, Any]:
    """`k`, `max_l` and `min_support`, checked, with the method's defaults filled in."""
    longest = Integer(1).or_none("for no limit").check("max_l", max_l)
    limits = {"k": Integer(1).check("k", k), "max_l": min(longest or n_features, n_features)}
    if min_support is None:
        return {**limits, "min_support": method.defaults.get("min_support", 0.01)}
    if isinstance(min_support, float | np.floating):
        share = Number(above=0, at_most=1, hint=" (a share), or an int (rows)").check("min_support", min_support)
        return {**limits, "min_support": share}
    rows = Integer(1, n, hint=" (the rows there are), or a share of them (float)").check("min_support", min_support)
    return {**limits, "min_support": rows}


def read_subject(data: Any, model: Any, features: Sequence[str] | None, given: Reading, progress: Progress) -> Subject:
    """What is searched. Predictions that are fractions between 0 and 1 are taken as probabilities."""
    if not isinstance(data, Dataset | Subject):
        data = read_dataset(data, given)
    if features is not None and isinstance(data, Dataset):
        data = data.with_roles(features=tuple(features))
    y_true = given.get("y_true")
    if y_true is None and isinstance(data, Dataset) and data.target is not None:
        y_true = data.column(data.target)
    y_pred = given.get("y_pred")
    if y_pred is not None and given.get("y_score") is None and are_probabilities(y_pred, y_true, given.get("task")):
        given = {**given, "y_pred": None, "y_score": y_pred}
    return Subject.of(data, model, progress=progress, counted=True, **given).fitting()


def read_errors(errors: Any, subject: Subject) -> Floats | None:
    """Errors as given: one finite, non-negative number per row."""
    if errors is None:
        return None
    values = finite_numbers(errors, what="errors")
    if len(values) != subject.rows.size:
        raise DataError(f"`errors` has {len(values)} values, but the data has {subject.rows.size} rows.")
    if (values < 0).any():
        raise DataError(
            f"`errors` must not be negative; the smallest is {float(values.min()):g}. Give absolute or squared errors."
        )
    return values[subject.rows]


def read_problem(
    subject: Subject,
    method: Method,
    *,
    errors: Floats | None,
    limits: tuple[int, int | None, float | int | None],
    bins: Bins,
    binning: Binning,
    pulled: PulledRows | None = None,
    **settings: Any,
) -> Problem:
    """Everything a method is given; `limits` are k, max_l and min_support, `settings` fields of the problem.

    `pulled` are the rows that the subject has counts of, as codes.
    """
    rows = subject if pulled is None else pulled.outcomes()
    data, surface, truth = subject.known, rows.outcome.surface, rows.outcome.truth
    searchable = subject.data.searchable
    if not searchable:
        raise DataError(
            "There is no feature to search; give a table with at least one feature column that is not an identifier."
        )
    task = surface.task if surface.kinds or truth is not None else None
    method.check_task(task)
    _check_needs(method, subject, errors)
    label = surface.continuous if surface.task == "regression" else surface.label
    counted = None
    target = _bin_target(errors, truth, label)
    if pulled is not None:
        features = pulled.features(rows.rows, bins=bins, binning=binning, target=target)
    elif subject.counts is not None:
        metric = settings["metric"]
        scored = ERROR_GIVEN_SCORE in ([metric] if isinstance(metric, str) else metric or ())
        counted = CountedRows.of(subject, bins=bins, binning=binning, scored=scored)
        features = counted.features
    else:
        features = encode_features(data, bins=bins, binning=binning, target=target)
    problem = Problem(
        features=features,
        task=task,
        classes=surface.classes,
        truth=truth,
        label=label,
        probability=surface.probability,
        errors=errors,
        weights=Mass(rows.known.height, rows.weights, rows.counts).mean_one,
        counts=rows.counts,
        numbers=np.flatnonzero(rows.rows) if counted is None else None,
        protected=data.protected,
        **check_limits(method, *limits, len(rows), len(searchable)),
        **settings,
        data=data,
        model=subject.model if subject.model is not None else surface if surface.kinds else None,
    )
    return problem if counted is None else counted.everyone(problem)


def _bin_target(errors: Any, truth: Any, label: Any) -> NDArray[np.float64] | None:
    """What trees that bin a feature are grown on: errors, else disagreement, else whatever outcome there is."""
    if errors is not None:
        return np.asarray(errors, dtype=float)
    if truth is not None and label is not None:
        return np.asarray(np.abs(np.subtract(label, truth, dtype=float)), dtype=float)
    known = label if label is not None else truth
    return None if known is None else np.asarray(known, dtype=float)


def _check_needs(method: Method, subject: Subject, errors: Any) -> None:
    has_labels, has_predictions = subject.outcome.truth is not None, bool(subject.outcome.surface.kinds)
    facts = {
        "labels": (has_labels, "true outcomes: give y_true, or a Dataset with a target"),
        "predictions": (has_predictions, "predictions: give a model, or y_pred"),
        "probabilities": (
            subject.outcome.surface.probability is not None,
            "probabilities: give a model with predict_proba, or y_pred as probabilities",
        ),
        "model": (subject.model is not None, "a model to ask about new rows: give model="),
        "protected": (bool(subject.known.protected), "protected attributes: give protected="),
        "errors": (
            errors is not None or (has_labels and has_predictions),
            "errors: give y_true with y_pred (or a model), or errors=",
        ),
    }
    missing = [facts[need][1] for need in method.needs if not facts[need][0]]
    if missing:
        raise DataError(f"The method '{method.id}' needs {'; and '.join(missing)}.")
