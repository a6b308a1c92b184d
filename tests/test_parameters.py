"""What a user may set: which values pass, as what, and what is said about the others."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.errors import SpecError
from isonomia.parameters import (
    Anything,
    Boolean,
    Choice,
    Either,
    File,
    Integer,
    Keyed,
    Kind,
    Made,
    Number,
    Parameter,
    Several,
    Text,
    options_schema,
    parameters_of,
    read_options,
    validated,
)

NOT_NUMBERS: list[Any] = [True, np.True_, "1", None, [1], np.array([1, 2]), 1j, Decimal(1), {}]


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.int64(3)])
def test_whole_numbers_of_every_make_become_ints(value: Any) -> None:
    assert type(Integer(1).check("k", value)) is int
    assert Integer(1).check("k", value) == 3


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 2.0, np.float64(2), float("nan"), 0, -1, 10**30])
def test_what_is_no_whole_number_within_bounds(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`k` must be a whole number of at least 1 and at most 9; got "):
        Integer(1, 9).check("k", value)


def test_whole_numbers_without_bounds() -> None:
    assert Integer().check("k", -(10**30)) == -(10**30)
    with pytest.raises(SpecError, match=r"^`k` must be a whole number of at most 5; got 6.$"):
        Integer(at_most=5).check("k", 6)
    with pytest.raises(SpecError, match=r"^`k` must be a whole number, or None; got 'x'.$"):
        Integer().or_none().check("k", "x")


@pytest.mark.parametrize("value", [0.5, Fraction(1, 2), np.float16(0.5), np.float64(0.5), np.longdouble(0.5)])
def test_numbers_of_every_make_become_floats(value: Any) -> None:
    assert type(Number().check("c", value)) is float
    assert Number().check("c", value) == 0.5


@pytest.mark.parametrize("value", [*NOT_NUMBERS, float("nan"), np.nan, float("inf"), -np.inf, 10**400, -(10**400)])
def test_what_is_no_finite_number(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`c` must be a finite number; got "):
        Number().check("c", value)


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
        assert Number(**bounds).check("c", value) == value
        return
    with pytest.raises(SpecError) as told:
        Number(**bounds).check("c", value)
    if low is not None and high is not None:
        assert f"in {'[' if low[0] else '('}{low[1]}, {high[1]}{']' if high[0] else ')'}; got" in str(told.value)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_yes_and_no(value: Any) -> None:
    assert Boolean().check("exact", value) is bool(value)


@pytest.mark.parametrize("value", [0, 1, 1.0, "no", "True", None, [], np.array([True])])
def test_nothing_else_stands_for_yes_or_no(value: Any) -> None:
    with pytest.raises(SpecError, match=r"^`exact` must be True or False; got "):
        Boolean().check("exact", value)


@pytest.mark.parametrize("value", ["", "c", None, 1, ["a"], np.array(["a", "b"]), b"a"])
def test_no_choice(value: Any) -> None:
    assert Choice(("a", "b")).check("mode", "a") == "a"
    with pytest.raises(SpecError, match=r"^`mode` must be one of a, b; got "):
        Choice(("a", "b")).check("mode", value)


def test_long_values_are_cut_short() -> None:
    with pytest.raises(SpecError) as told:
        Choice(("a", "b")).check("mode", "x" * 10_000)
    assert len(str(told.value)) < 300


KINDS: list[Kind[Any]] = [
    Integer(),
    Integer(1),
    Integer(0, 9),
    Integer(1).or_none("for all"),
    Number(above=0, below=1),
    Number(at_least=0, at_most=10),
    Number(at_least=-1).or_none(),
    Boolean(),
    Choice(("up", "down")),
    Choice(lambda: ("a", "b")).or_none(),
    Text(),
    Several(Number(at_least=0)),
    Several(Text(), at_least=1).or_none(),
    Keyed(Integer(0)),
    Either(Integer(2), Several(Number(above=0, below=1))),
    Either(Choice(("auto",)), Integer(1)).or_none(),
    Either(Text(), Several(Text())),
    Either(Choice(("l1", "l2")), Made(callable, "a function of two frames")),
    File(),
    File().or_none(),
]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.floats(-20, 20).filter(lambda number: not number.is_integer())  # 2.0 is an integer to JSON alone
    | st.sampled_from(["", "up", "down", "a", "auto", "l1", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.expected)
@given(value=VALUES)
@settings(max_examples=60)
def test_the_json_schema_accepts_exactly_what_validation_accepts(kind: Kind[Any], value: Any) -> None:
    import jsonschema

    valid = jsonschema.Draft202012Validator(kind.schema()).is_valid(value)
    if valid:
        assert kind.check("x", value) == value
        return
    with pytest.raises(SpecError) as told:
        kind.check("x", value)
    assert str(told.value).startswith(f"`x` must be {kind.expected}; got ")


def _draw(values: Any, *, bins: int = 10, share: float | None = None, side: str = "left") -> tuple[Any, ...]:
    """Draw values.

    Parameters
    ----------
    values : array
        What to draw from.
    bins : int
        How many bins. At least two.
    share, side : optional
        Of the rows; a share.

    Returns
    -------
    tuple
    """
    return values, bins, share, side


draw = validated(bins=Integer(2), share=Number(above=0, at_most=1).or_none(), side=Choice(("left", "right")))(_draw)


def test_a_validated_function_gets_plain_values() -> None:
    values, bins, share, side = draw([1], bins=np.int64(3), share=np.float32(0.5), side="right")
    assert (values, bins, share, side) == ([1], 3, 0.5, "right")
    assert (type(bins), type(share)) == (int, float)
    assert draw([1]) == ([1], 10, None, "left")


def test_a_validated_function_refuses_before_it_runs() -> None:
    with pytest.raises(SpecError, match=r"^`share` must be a number in \(0, 1\], or None; got 0.$"):
        draw([1], share=0)
    with pytest.raises(SpecError, match=r"^`_draw` has no option 'bin'. Did you mean 'bins'\?$"):
        draw([1], bin=3)  # type: ignore[call-arg]


def test_positional_arguments_are_checked_too() -> None:
    @validated(n=Integer(1))
    def first(n: int, *rest: int) -> tuple[int, ...]:
        return (n, *rest)

    assert first(np.int8(2), 3, 4) == (2, 3, 4)
    with pytest.raises(SpecError, match=r"^`n` must be"):
        first(0, 3)


def test_a_kind_for_a_parameter_that_is_not_there_is_a_fault_of_the_code() -> None:
    with pytest.raises(TypeError, match="no parameter 'bin' to validate"):
        validated(bin=Integer(2))(_draw)


def test_parameters_of_a_function_have_its_defaults_and_the_help_of_its_docstring() -> None:
    bins, share, side = parameters_of(draw)
    assert (bins.name, bins.default, bins.help) == ("bins", 10, "How many bins")
    assert (share.default, share.help, side.default) == (None, "Of the rows", "left")
    assert [one.name for one in parameters_of(draw, "side")] == ["side"]
    (other,) = parameters_of(draw, "bins", bins=None)
    assert other.default is None
    assert other.kind.check("bins", None) is None


def test_all_problems_of_options_are_raised_together() -> None:
    with pytest.raises(SpecError) as told:
        read_options(parameters_of(draw), {"bins": 1, "sides": "left", "share": 2}, owner="The check 'x'", path="x.")
    assert told.value.problems == (
        "`x.bins` must be a whole number of at least 2; got 1.",
        "The check 'x' has no option 'sides'. Did you mean 'side'?",
        "`x.share` must be a number in (0, 1], or None; got 2.",
    )
    with pytest.raises(SpecError, match=r"^The check 'y' has no option 'bins'; it has none.$"):
        read_options((), {"bins": 1}, owner="The check 'y'")


def test_the_schema_of_options_is_closed_and_typed() -> None:
    schema = options_schema([Parameter("bins", Integer(2), 10, "how many"), Parameter("free", Anything())])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["bins"] == {"type": "integer", "minimum": 2, "default": 10, "description": "how many"}
    assert schema["properties"]["free"] == {}
