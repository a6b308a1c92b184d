"""Features as codes: bins hold what they say, in original units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isonomia as iso
from isonomia.counting import bin_edges, encode_features
from isonomia.errors import DataError, SpecError


@given(
    values=st.lists(st.integers(-5, 5), min_size=1, max_size=60),
    bins=st.integers(1, 8),
    binning=st.sampled_from(["quantile", "uniform", "tree"]),
)
def test_edges_rise_and_span_the_values(values: list[int], bins: int, binning: str) -> None:
    edges = bin_edges(values, bins=bins, binning=binning, target=np.arange(len(values), dtype=float))  # type: ignore[arg-type]
    assert list(edges) == sorted(set(edges))
    assert 1 <= len(edges) - 1 <= bins
    assert edges[0] == min(values)
    assert edges[-1] >= max(values)


def test_each_kind_of_column_is_encoded_in_its_way() -> None:
    n = 40
    data = iso.Dataset(
        {
            "city": ["a", "b"] * (n // 2),
            "flag": [True, False] * (n // 2),
            "stars": [1, 2, 3, 4] * (n // 4),
            "pay": np.linspace(0, 1, n),
            "age": np.arange(n),
            "day": np.datetime64("2024-01-01", "s") + np.arange(n) * np.timedelta64(1, "D"),
        },
        protected={"age": [18]},
    )
    city, flag, stars, pay, age, day = encode_features(data, bins=4)
    assert city.labels == ("a", "b")
    assert flag.labels == (False, True)
    assert stars.labels == (1, 2, 3, 4)
    assert pay.texts == ("[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]")
    assert pay.counts().tolist() == [10, 10, 10, 10]
    assert age.texts == ("< 18", ">= 18")
    assert day.texts[0] == "[2024-01-01, 2024-01-11)"
    assert day.counts().sum() == n
    assert encode_features(data, ["pay"], bins=None)[0].size == n


def test_a_tree_cuts_where_the_target_changes() -> None:
    values = np.arange(200.0)
    edges = bin_edges(values, binning="tree", bins=2, target=(values >= 150).astype(float))
    assert edges == (0.0, 149.5, 199.0)


def test_what_cannot_be_binned_is_told() -> None:
    with pytest.raises(DataError, match="without finite numbers"):
        bin_edges([float("nan")] * 3)
    with pytest.raises(SpecError, match="needs a target"):
        bin_edges([1.0, 2.0], binning="tree")
    with pytest.raises(SpecError, match="`bins` must be"):
        bin_edges([1.0, 2.0], bins=0)
