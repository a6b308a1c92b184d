"""Options of public functions: a value of another kind than annotated is refused by name."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from isonomia import Dataset, SpecError, discovery, fairness, load_model, metrics, robustness
from isonomia.models import Surface

_RNG = np.random.default_rng(0)
_N = 300
_SEX, _AGE, _PAY = _RNG.choice(["F", "M"], _N), _RNG.integers(18, 80, _N), _RNG.uniform(0, 9, _N)
_TRUE, _SCORE = _RNG.integers(0, 2, _N), _RNG.uniform(0.05, 0.95, _N)
_SAID = (_SCORE > 0.5).astype(int)
_PEOPLE = {"age": _AGE, "pay": _PAY}
DATA = Dataset(
    {**_PEOPLE, "sex": _SEX, "y": _TRUE, "p": _SCORE},
    target="y",
    protected=["sex"],
    score="p",
    features=["sex", "age", "pay"],
)
_SURFACE = Surface.of_probabilities(_SCORE, classes=(0, 1))


def model(frame: Any) -> Any:
    return np.where(np.asarray(frame["pay"]) > 4, 0.8, 0.3)


def judged(function: Callable[..., Any], said: Any = _SAID, **more: Any) -> Callable[..., Any]:
    return lambda **options: function(_TRUE, said, sensitive_features=_SEX, **more, **options)


CALLS: dict[Callable[..., Any], Callable[..., Any]] = {
    robustness.conformal: lambda **options: robustness.conformal(DATA, model, **options),
    robustness.drift: lambda **options: robustness.drift(DATA, DATA, **options),
    robustness.failure_modes: lambda **options: robustness.failure_modes(DATA, model, **options),
    robustness.local_robustness: lambda **options: robustness.local_robustness(DATA, model, **options),
    robustness.metric_disagreement: lambda **options: robustness.metric_disagreement(DATA, model, **options),
    robustness.overfit: lambda **options: robustness.overfit(DATA, DATA, model, **options),
    robustness.perturb: lambda **options: robustness.perturb(DATA, model, **{"n_trials": 2, **options}),
    robustness.scenarios: lambda **options: robustness.scenarios(DATA, model, **{"n_trials": 2, **options}),
    robustness.sensitivity: lambda **options: robustness.sensitivity(DATA, model, **{"n_trials": 2, **options}),
    robustness.subgroup_diagnostics: lambda **options: robustness.subgroup_diagnostics(DATA, model, **options),
    robustness.threshold_sweep: lambda **options: robustness.threshold_sweep(DATA, **options),
    robustness.weak_spots: lambda **options: robustness.weak_spots(DATA, model, **options),
    fairness.awareness: lambda **options: fairness.awareness(_PEOPLE, _SAID, **options),
    fairness.consistency: lambda **options: fairness.consistency(_PEOPLE, _SAID, **options),
    fairness.counterfactual: lambda **options: fairness.counterfactual(DATA, model, **options),
    fairness.distribution_parity: lambda **options: fairness.distribution_parity(
        _SCORE, sensitive_features=_SEX, **options
    ),
    fairness.equivalence: judged(fairness.equivalence),
    fairness.generalized_entropy: judged(fairness.generalized_entropy),
    fairness.group_calibration: judged(fairness.group_calibration, _SCORE),
    fairness.group_metrics: judged(fairness.group_metrics),
    fairness.incompatibility: judged(fairness.incompatibility),
    fairness.label_bias: lambda **options: fairness.label_bias(DATA, **options),
    fairness.over_time: judged(fairness.over_time, time=np.arange(_N) % 6),
    fairness.proxies: lambda **options: fairness.proxies(DATA, **options),
    fairness.suite: judged(fairness.suite),
    metrics.evaluate_all: lambda **options: metrics.evaluate_all(_TRUE, _SURFACE, ["accuracy"], **options),
    metrics.reliability: lambda **options: metrics.reliability(_TRUE, _SURFACE, **options),
    discovery.fit_fair_naive_bayes: lambda **options: discovery.fit_fair_naive_bayes(DATA, **options),
}


def wrong_values(kind: Any) -> list[Any]:
    """Values of other kinds than the annotation's."""
    several = typing.get_origin(kind) in (typing.Union, types.UnionType)
    kinds = [one for one in (typing.get_args(kind) if several else (kind,)) if one is not types.NoneType]
    if len(kinds) != 1:
        return []
    if typing.get_origin(kinds[0]) is Literal:
        return ["of no kind", 7]
    return {bool: ["no", 1], int: ["ten", 2.5, True], float: ["much", float("nan"), True]}.get(kinds[0], [])


def cases() -> Iterator[Any]:
    for function in CALLS:
        kinds = typing.get_type_hints(function)
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                for value in wrong_values(kinds[name]):
                    yield pytest.param(function, name, value, id=f"{function.__name__}-{name}-{value}")


@pytest.mark.parametrize(("function", "option", "value"), list(cases()))
def test_values_of_another_kind_are_refused_by_name(function: Callable[..., Any], option: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"`{option}` must be .*; got "):
        CALLS[function](**{option: value})


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (robustness.weak_spots, {"pairs": np.False_, "bins": np.uint8(5), "alpha": np.float32(0.05)}),
        (robustness.perturb, {"by_feature": np.False_, "n_trials": np.int64(2), "tolerance": np.float32(0.1)}),
        (robustness.drift, {"joint": np.False_, "bins": np.int16(5), "alpha": np.float64(0.01), "seed": np.uint8(3)}),
        (fairness.group_metrics, {"n_boot": np.int64(50), "min_per_group": np.uint8(10), "level": np.float32(0.9)}),
        (fairness.consistency, {"k": np.int64(3), "max_rows": np.int64(50), "seed": np.int64(1)}),
        (fairness.counterfactual, {"together": np.True_, "tolerance": np.float32(0.1)}),
    ],
)
def test_numbers_of_numpy_are_as_good(function: Callable[..., Any], options: dict[str, Any]) -> None:
    assert CALLS[function](**options).tables


def test_trust_is_given_by_yes_alone(tmp_path: Path) -> None:
    """A word such as "no" must not load a pickle."""
    import joblib

    joblib.dump(len, tmp_path / "model.joblib")
    for value in ("no", "yes", 1, None):
        with pytest.raises(SpecError, match="`trust` must be True or False"):
            load_model(tmp_path / "model.joblib", trust=value)  # type: ignore[arg-type]
