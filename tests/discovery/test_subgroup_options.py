"""Options of the subgroup methods: what each refuses, and that numbers of NumPy pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia import Dataset, SpecError
from isonomia.discovery import METHODS, find_subgroups

_RNG = np.random.default_rng(0)
_ROWS = 400
_TRUTH = _RNG.integers(0, 2, _ROWS)
DATA = Dataset(
    {
        "sex": _RNG.choice(["F", "M"], _ROWS),
        "race": _RNG.choice(["a", "b", "c"], _ROWS),
        "age": _RNG.integers(18, 80, _ROWS),
        "y": _TRUTH,
        "said": np.where(_RNG.random(_ROWS) < 0.3, 1 - _TRUTH, _TRUTH),
        "p": _RNG.uniform(0.05, 0.95, _ROWS),
    },
    target="y",
    prediction="said",
    score="p",
    protected=["sex", "race"],
)

OUT_OF_BOUNDS: list[tuple[str, str, Any]] = [
    ("sliceline", "alpha", 0),
    ("sliceline", "alpha", True),
    ("divexplorer", "th_redundancy", -0.1),
    ("divexplorer", "direction", "up"),
    ("divexplorer", "n_corrective", 2.5),
    ("divexplorer", "n_corrective", -1),
    ("slicefinder", "approach", "tree"),
    ("slicefinder", "epsilon", -1),
    ("slicefinder", "degree", 0),
    ("slicefinder", "effect", "release"),
    ("slicefinder", "alpha", 1),
    ("slicefinder", "policy", "save"),
    ("slicefinder", "disjoint", "no"),
    ("slicefinder", "disjoint", 1),
    ("slicefinder", "dt_max_depth", 2.5),
    ("slicefinder", "min_size", 0),
    ("slicefinder", "min_effect_size", float("nan")),
    ("biasscan", "bias_scan_num_iters", 0),
    ("biasscan", "bias_scan_scoring", "Cauchy"),
    ("biasscan", "bias_scan_mode", "binry"),
    ("biasscan", "penalty", float("inf")),
    ("biasscan", "direction", "up"),
    ("biasscan", "n_randomisations", -1),
    ("biasscan", "alpha", 1),
    ("verifair", "c", 1),
    ("verifair", "delta", 0.5),
    ("verifair", "spec", "parity"),
    ("verifair", "population", "rows"),
    ("verifair", "n_samples", 1),
    ("verifair", "n_max", 1e5),
    ("naivebayes", "delta", 1),
    ("naivebayes", "ranking", "size"),
    ("naivebayes", "smoothing", -1),
    ("naivebayes", "paper_compat_swapped_prior", "no"),
    ("gerryfair", "gamma", 1),
    ("gerryfair", "n_randomisations", 9.5),
]


@pytest.mark.parametrize(("method", "option", "value"), OUT_OF_BOUNDS)
def test_values_out_of_bounds_are_refused_by_name(method: str, option: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"^`{option}` must be .*; got "):
        find_subgroups(DATA, method=method, **{option: value})


@pytest.mark.parametrize(
    ("method", "option"),
    [(one.id, name) for one in METHODS.where(finds="subgroups") for name in [item.name for item in one.parameters]],
)
def test_every_option_refuses_what_is_of_no_kind(method: str, option: str) -> None:
    with pytest.raises(SpecError, match=f"`{option}` must be "):
        find_subgroups(DATA, method=method, **{option: ["of no kind"]})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("k", "five"),
        ("max_l", 2.0),
        ("min_support", "much"),
        ("min_support", True),
        ("seed", -1),
        ("max_seconds", 0),
        ("max_seconds", "long"),
        ("holdout", 1.5),
        ("holdout", "half"),
        ("max_overlap", "half"),
        ("bins", 0),
        ("binning", "kmeans"),
    ],
)
def test_what_every_method_takes(option: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"^`{option}` must be .*; got "):
        find_subgroups(DATA, method="sliceline", **{option: value})


NUMPY: list[tuple[str, dict[str, Any]]] = [
    ("sliceline", {"alpha": np.float32(0.75)}),
    ("divexplorer", {"th_redundancy": np.float32(0.25), "n_corrective": np.int64(3)}),
    (
        "slicefinder",
        {"degree": np.int64(2), "disjoint": np.True_, "dt_max_depth": np.uint8(2), "min_size": np.int64(40)},
    ),
    ("biasscan", {"bias_scan_num_iters": np.int64(3), "penalty": np.float32(0.5), "n_randomisations": np.uint8(9)}),
    ("verifair", {"c": np.float32(0.25), "n_samples": np.int64(100), "n_max": np.int64(1000)}),
    ("naivebayes", {"delta": np.float64(0.01), "smoothing": np.int64(1), "paper_compat_swapped_prior": np.False_}),
    ("gerryfair", {"gamma": np.float32(0), "n_randomisations": np.uint8(9)}),
]


@pytest.mark.parametrize(("method", "options"), NUMPY)
def test_numbers_of_numpy_are_as_good(method: str, options: dict[str, Any]) -> None:
    common: dict[str, Any] = {
        "k": np.int64(3),
        "max_l": np.int8(2),
        "seed": np.int64(1),
        "min_support": np.float32(0.125),
    }
    given = find_subgroups(DATA, method=method, **common, **options)
    plain = find_subgroups(DATA, method=method, **{name: value.item() for name, value in (common | options).items()})
    assert given.tables["subgroups"].to_dict() == plain.tables["subgroups"].to_dict()
