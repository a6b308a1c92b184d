"""Public functions on generated frames of awkward types and names: no error but ours, and what they return is shown."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, given

import isonomia as iso
from isonomia.discovery import METHODS
from isonomia.evidence import Result
from isonomia.fairness import group_metrics, homogeneity

from .test_generated_frames import frames_with_models, quick

#: Doors that take data and a model.
WITH_MODEL = [
    *(getattr(iso.robustness, name) for name in ("weak_spots", "failure_modes", "perturb", "local_robustness")),
    *(getattr(iso.robustness, name) for name in ("threshold_sweep", "metric_disagreement", "subgroup_diagnostics")),
    *(getattr(iso.robustness, name) for name in ("conformal", "dashboard")),
    *(getattr(iso.fairness, name) for name in ("group_metrics", "suite", "awareness", "consistency", "counterfactual")),
    *(getattr(iso.fairness, name) for name in ("equivalence", "generalized_entropy", "group_calibration")),
    *(getattr(iso.fairness, name) for name in ("incompatibility", "label_bias", "missingness", "proxies")),
    iso.fairness.duplicates,
    *(getattr(iso.explain, name) for name in ("shapley", "gap", "sensitive", "interactions")),
]


def _halves(door: Callable[..., Any], *, with_model: bool) -> Callable[..., Any]:
    def compared(data: Any, model: Any) -> Any:
        middle = len(data) // 2
        parts = data.take(list(range(middle))), data.take(list(range(middle, len(data))))
        return door(*parts, *([model] if with_model else []))

    return compared


def _search(name: str) -> Callable[..., Any]:
    def search(data: Any, model: Any) -> Any:
        if METHODS[name].finds == "pairs":
            return iso.discovery.find_pairs(data, model, method=name, max_tests=200, max_seconds=5)
        return iso.discovery.find_subgroups(data, model, method=name)

    return search


def _mitigated(data: Any, model: Any) -> Any:
    """Fixes tried on numbers that every row has, since an estimator takes nothing else."""
    from sklearn.linear_model import LogisticRegression, Ridge

    middle = len(data) // 2
    parts = data.take(list(range(middle))), data.take(list(range(middle, len(data))))
    estimator = Ridge() if data.task == "regression" else LogisticRegression()
    return iso.mitigate(parts[0], estimator, test=parts[1], methods=["reweighing", "thresholds"], folds=2)


def _compared(data: Any, model: Any) -> Any:
    middle = len(data) // 2
    parts = [data.take(list(range(middle))), data.take(list(range(middle, len(data))))]
    reports = [iso.audit(part, model, checks="quick", n_boot=20) for part in parts]
    return iso.compare(*reports, fail_on="any")


DOORS: dict[str, Callable[..., Any]] = {
    "mitigate": _mitigated,
    "compare": _compared,
    **{door.__name__: door for door in WITH_MODEL},
    **{method.id: _search(method.id) for method in METHODS},
    "representation": lambda data, model: iso.fairness.representation(data),
    "subgroups": iso.discovery.find_subgroups,
    "drift": _halves(iso.robustness.drift, with_model=False),
    "overfit": _halves(iso.robustness.overfit, with_model=True),
}


@quick(10)
@given(frames_with_models())
def test_public_functions_on_awkward_frames(made: tuple[Any, dict[str, Any], Any]) -> None:
    frame, roles, model = made
    try:
        data = iso.Dataset(frame, **roles)
    except iso.DataError:
        return
    for name in random.Random(len(frame)).sample(sorted(DOORS), 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers at the edge of what floats hold, optional packages
            try:
                found = DOORS[name](data, model)
            except iso.IsonomiaError as error:
                event(f"{name}: {type(error).__name__}")
                continue
            event(f"{name}: answered")
            if hasattr(found, "tables"):
                assert found.to_html(page=False)
                kept = Result.from_dict(found.to_dict()).to_dict()
                assert kept == {key: value for key, value in found.to_dict().items() if key in kept}


def test_a_result_is_needed_where_groups_are_tested_alike() -> None:
    with pytest.raises(iso.SpecError, match="takes what `group_metrics` returned; got dict"):
        homogeneity({"y": [1, 0]})  # type: ignore[arg-type]
    found = group_metrics([0, 1, 1, 0], [0, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    with pytest.raises(iso.SpecError, match="no metric 'tprr'"):
        homogeneity(found, metrics=["tprr"])
