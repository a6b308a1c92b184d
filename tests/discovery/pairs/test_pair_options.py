"""Options of the searches for pairs: what each refuses, and that numbers of NumPy pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isonomia import SpecError
from isonomia.discovery import METHODS, find_pairs

from .people import Boxed, people

DATA = people(300)

OUT_OF_BOUNDS: list[tuple[str, str, Any]] = [
    ("adf", "max_global", 0),
    ("adf", "max_local", -1),
    ("adf", "cluster_num", 0),
    ("adf", "max_iter", 0),
    ("adf", "step_size", 0),
    ("adf", "weights_every", 0),
    ("aequitas", "mode", "fulll"),
    ("aequitas", "max_global", "ten"),
    ("aequitas", "max_global", 0),
    ("aequitas", "step_size", 0.0),
    ("aequitas", "nominal_moves", "foo"),
    ("auto", "exact", 0),
    ("auto", "lift", "x"),
    ("auto", "max_boxes", 0),
    ("auto", "natural", 1.5),
    ("exact", "max_boxes", 0),
    ("exact", "n_pairs", 2.5),
    ("exact", "bounds", "no"),
    ("expga", "population", 10.5),
    ("expga", "population", 1),
    ("expga", "max_global", "ten"),
    ("expga", "explain_samples", 1),
    ("expga", "generations", -1),
    ("expga", "threshold_rank", 0),
    ("expga", "threshold_rank", 1.01),
    ("expga", "cross_rate", 1.5),
    ("expga", "mutation_rate", -0.1),
    ("fliptest", "solver", "exact"),
    ("fliptest", "max_exact", 1),
    ("fliptest", "max_runs", 0),
    ("fliptest", "batch", True),
    ("kosei", "num_samples", 0),
    ("kosei", "local_search_limit", -1),
    ("kosei", "nominal_moves", None),
    ("limi", "generator", "ctgan"),
    ("limi", "generator", 7),
    ("limi", "lambda_val", -0.1),
    ("limi", "confidence", 1.2),
    ("limi", "n_test_samples", 0),
    ("limi", "n_approx_samples", 99),
    ("limi", "early_stop", "no"),
    ("sg", "cluster_num", 0),
    ("sg", "max_seeds", 0),
    ("sg", "confidence", -0.1),
    ("sg", "neighbourhood", 9),
    ("sg", "batch", 0),
    ("themis", "error", 0.0),
    ("themis", "confidence", 1),
    ("themis", "batch", 0),
    ("themis", "min_tests", -1),
]


@pytest.mark.parametrize(("method", "option", "value"), OUT_OF_BOUNDS)
def test_values_out_of_bounds_are_refused_by_name(method: str, option: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"^`{option}` must be .*; got "):
        find_pairs(DATA, Boxed(), method=method, max_tests=200, **{option: value})


#: All but the values of an attribute, which are of any kind.
OPTIONS = [
    (one.id, name)
    for one in METHODS.where(finds="pairs")
    for name in [item.name for item in one.parameters]
    if name not in ("group1", "group2")
]


@pytest.mark.parametrize(("method", "option"), OPTIONS)
def test_every_option_refuses_what_is_of_no_kind(method: str, option: str) -> None:
    with pytest.raises(SpecError, match=f"`{option}` must be "):
        find_pairs(DATA, Boxed(), method=method, max_tests=200, **{option: ["of no kind"]})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_tests", 0),
        ("max_tests", 10.5),
        ("max_tests", "ten"),
        ("max_seconds", -1),
        ("max_seconds", float("nan")),
        ("max_seconds", "long"),
        ("max_model_rows", 0),
        ("max_model_rows", 1e3),
        ("gamma", -1),
        ("gamma", True),
        ("one_attr_at_a_time", "no"),
        ("one_attr_at_a_time", 1),
        ("seed", -1),
        ("seed", 1.0),
    ],
)
def test_what_every_search_takes(option: str, value: Any) -> None:
    with pytest.raises(SpecError, match=f"^`{option}` must be .*; got "):
        find_pairs(DATA, Boxed(), method="themis", **{option: value})


NUMPY: list[tuple[str, dict[str, Any]]] = [
    (
        "adf",
        {"max_global": np.int64(20), "max_local": np.int32(2), "cluster_num": np.int8(3), "step_size": np.int64(1)},
    ),
    ("aequitas", {"max_global": np.uint16(50), "max_local": np.int64(3), "step_size": np.float32(1)}),
    ("auto", {"exact": np.False_, "lift": np.True_, "natural": np.True_, "max_boxes": np.int64(100)}),
    ("expga", {"population": np.int64(20), "generations": np.int64(1), "cross_rate": np.float32(0.5)}),
    ("kosei", {"num_samples": np.int64(100), "local_search_limit": np.uint8(3)}),
    ("limi", {"n_approx_samples": np.int64(500), "confidence": np.float32(0.5), "early_stop": np.True_}),
    ("sg", {"max_seeds": np.int64(20), "confidence": np.float64(0.3), "neighbourhood": np.int64(200)}),
    ("themis", {"error": np.float64(0.05), "batch": np.int64(100), "min_tests": np.int64(100)}),
]


@pytest.mark.parametrize(("method", "options"), NUMPY)
def test_numbers_of_numpy_are_as_good(method: str, options: dict[str, Any], tmp_path: Path) -> None:
    common: dict[str, Any] = {"max_tests": np.int64(400), "seed": np.int64(3), "gamma": np.float32(0)}
    plain = {name: value.item() for name, value in (options | common).items()}
    result = find_pairs(
        DATA, Boxed(), method=method, one_attr_at_a_time=np.False_, ledger_dir=tmp_path, **options, **common
    )
    again = find_pairs(DATA, Boxed(), method=method, one_attr_at_a_time=False, ledger_dir=tmp_path, **plain)
    assert result.metrics["TSN"] == again.metrics["TSN"] > 0  # the second goes on where the first stopped: the same run
    assert result.metrics["DSN"] == again.metrics["DSN"]


def test_a_refused_search_leaves_no_ledger_in_the_way(tmp_path: Path) -> None:
    for options in ({"population": 10.5}, {"cross_rate": 5}):
        with pytest.raises(SpecError):
            find_pairs(DATA, Boxed(), method="expga", ledger_dir=tmp_path, max_tests=200, **options)  # type: ignore[arg-type]
    assert find_pairs(DATA, Boxed(), method="expga", ledger_dir=tmp_path, max_tests=200).metrics["TSN"] > 0
