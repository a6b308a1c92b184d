"""What a user may set: which values pass, as what, and what is said about the others."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.errors import SpecError
from isonomia.options import check_choice, check_kinds, check_number, check_whole, check_yes_no

NOT_NUMBERS: list[Any] = [True, np.True_, "1", None, [1], np.array([1, 2]), 1j, Decimal(1), {}]


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.int64(3)])
def test_whole_numbers_of_every_make_become_ints(value: Any) -> None:
    assert type(check_whole("k", value)) is int
    assert check_whole("k", value) == 3


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 2.0, np.float64(2), float("nan"), 0, -1, 10**30])
def test_what_is_no_whole_number_within_bounds(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`k` must be a whole number of at least 1 and at most 9; got "):
        check_whole("k", value, 1, 9)


def test_whole_numbers_without_bounds() -> None:
    assert check_whole("k", -(10**30), None) == -(10**30)
    with pytest.raises(SpecError, match=r"^`k` must be a whole number of at most 5; got 6.$"):
        check_whole("k", 6, None, 5)
    with pytest.raises(SpecError, match=r"^`k` must be a whole number, or None; got 'x'.$"):
        check_whole("k", "x", None, hint=", or None")


@pytest.mark.parametrize("value", [0.5, Fraction(1, 2), np.float16(0.5), np.float64(0.5), np.longdouble(0.5)])
def test_numbers_of_every_make_become_floats(value: Any) -> None:
    assert type(check_number("c", value)) is float
    assert check_number("c", value) == 0.5


@pytest.mark.parametrize("value", [*NOT_NUMBERS, float("nan"), np.nan, float("inf"), -np.inf, 10**400, -(10**400)])
def test_what_is_no_finite_number(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`c` must be a finite number; got "):
        check_number("c", value)


@given(
    value=st.integers(-3, 3),
    low=st.none() | st.tuples(st.booleans(), st.integers(-2, 2)),
    high=st.none() | st.tuples(st.booleans(), st.integers(-2, 2)),
)
@settings(max_examples=60)
def test_bounds_are_open_or_closed_as_they_are_told(
    value: int, low: tuple[bool, int] | None, high: tuple[bool, int] | None
) -> None:
    bounds: dict[str, Any] = {}
    fits = True
    if low is not None:
        bounds["at_least" if low[0] else "above"] = low[1]
        fits = value >= low[1] if low[0] else value > low[1]
    if high is not None:
        bounds["at_most" if high[0] else "below"] = high[1]
        fits = fits and (value <= high[1] if high[0] else value < high[1])
    if fits:
        assert check_number("c", value, **bounds) == value
        return
    with pytest.raises(SpecError) as told:
        check_number("c", value, **bounds)
    if low is not None and high is not None:
        assert f"in {'[' if low[0] else '('}{low[1]}, {high[1]}{']' if high[0] else ')'}; got" in str(told.value)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_yes_and_no(value: Any) -> None:
    assert check_yes_no("exact", value) is bool(value)


@pytest.mark.parametrize("value", [0, 1, 1.0, "no", "True", None, [], np.array([True])])
def test_nothing_else_stands_for_yes_or_no(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`exact` must be True or False; got "):
        check_yes_no("exact", value)


@pytest.mark.parametrize("value", ["", "c", None, 1, ["a"], np.array(["a", "b"]), b"a"])
def test_no_choice(value: Any) -> None:
    assert check_choice("mode", "a", ("a", "b")) == "a"
    with pytest.raises(SpecError, match=r"^`mode` must be one of a, b; got "):
        check_choice("mode", value, ("a", "b"))


def test_long_values_are_cut_short() -> None:
    with pytest.raises(SpecError) as told:
        check_choice("mode", "x" * 10_000, ("a", "b"))
    assert len(str(told.value)) < 300


def _search(
    space: Any,
    *,
    flag: bool = False,
    count: int = 1,
    rate: float = 0.1,
    way: Literal["up", "down"] = "up",
    most: int | None = None,
    bound: float | None = None,
    side: Literal["left", "right"] | None = None,
    either: int | Literal["auto"] = "auto",
    free: Any = None,
) -> None: ...


BAD: list[tuple[str, Any, str]] = [
    ("flag", 1, "True or False;"),
    ("count", 1.5, "a whole number;"),
    ("count", None, "a whole number;"),
    ("rate", "x", "a finite number;"),
    ("rate", float("nan"), "a finite number;"),
    ("way", "dwn", "one of up, down; got 'dwn'. Did you mean 'down'?"),
    ("most", 2.0, "a whole number, or None;"),
    ("bound", True, "a finite number, or None;"),
    ("side", "top", "one of left, right, or None;"),
]


@pytest.mark.parametrize(("name", "value", "told"), BAD)
def test_values_of_another_kind_than_annotated(name: str, value: Any, told: str) -> None:
    with pytest.raises(SpecError, match=f"^`{name}` must be {told}"):
        check_kinds(_search, {name: value})


def test_values_of_the_annotated_kinds_become_plain() -> None:
    one: dict[str, Any] = {"flag": np.True_, "count": np.uint8(200), "rate": 1, "way": "down", "most": None}
    two: dict[str, Any] = {"rate": np.float32(0.5), "side": None, "most": np.int64(3), "bound": None}
    for values, kinds in ((one, "bool int float str NoneType"), (two, "float NoneType int NoneType")):
        plain = check_kinds(_search, values)
        assert plain == values
        assert [type(value).__name__ for value in plain.values()] == kinds.split()
    other = {"either": object(), "free": object(), "unknown": object()}
    assert check_kinds(_search, other) == other  # left to the function


def test_annotations_that_cannot_be_read_are_left_to_the_function() -> None:
    def search(*, count: Missing = 1) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    odd: list[Callable[..., Any]] = [search, lambda *, count: None]
    for one in odd:
        assert check_kinds(one, {"count": "x"}) == {"count": "x"}
