"""Values go into JSON and come back."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia.errors import DataError
from isonomia.evidence import Change, Column, Estimate, Table
from isonomia.languages import Message, Name, decode, encode, msg
from isonomia.languages.naming import between, is_in

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.datetimes()
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.just("$") | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_any_value_comes_back(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value), allow_nan=False))) == value


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        date(2026, 1, 2),
        time(3, 4),
        timedelta(days=2, seconds=1.5),
        Decimal("1.10"),
        frozenset({1, 2}),
        {("sex", "F"): 1},
        "\ud800 </script> {x}",
        Change("F", "M"),
        Estimate(math.inf, 0.1, None, n=3, note=Name(msg("missing"))),
        Estimate.missing(msg("no rows")),
        msg("{n:int} rows of {who}", n=3, who=is_in("age", between(18.5, 30))),
    ],
)
def test_each_kind_comes_back(value: Any) -> None:
    again = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert again == value
    assert type(again) is type(value)


def test_numpy_is_written_as_python() -> None:
    given = {"a": np.float64(0.5), "b": np.int8(3), "c": np.bool_(True), "d": np.array([1, 2]), "e": np.str_("x")}
    assert encode(given) == {"a": 0.5, "b": 3, "c": True, "d": [1, 2], "e": "x"}
    assert math.isnan(decode(encode(np.float64("nan"))))
    assert decode(encode(np.datetime64("2026-01-02T03:04", "ns"))) == datetime(2026, 1, 2, 3, 4)


def test_a_name_is_told_in_the_other_language_after_loading() -> None:
    name = decode(encode(is_in("age", between(18.5, 30))))
    assert isinstance(name, Name)
    assert (str(name), name.text("pt-BR")) == ("age in [18.5, 30)", "age em [18,5; 30)")
    loaded = decode(encode(msg("{n:# row|# rows}", n=1500)))
    assert isinstance(loaded, Message)
    assert "1.500" in loaded.text("pt-BR")


def test_a_table_comes_back_with_its_intervals_reasons_keys_and_names() -> None:
    table = Table(
        (
            Column("group", ["sex=F", "sex=M"], keys=[(("sex", "F"),), (("sex", "M"),)], title=msg("group")),
            Column("metric", ["tpr", "tpr"], names={"tpr": msg("missing")}),
            Column(
                "rate", np.array([0.5, np.nan]), np.array([0.4, np.nan]), np.array([0.6, np.inf]), [None, msg("no")]
            ),
            Column("when", np.array(["2026-01-02", "2026-01-03"], dtype="datetime64[D]")),
            Column("small", np.array([True, False])),
        ),
        msg("{x}", x="a"),
        "polars",
    )
    again = Table.from_dict(json.loads(json.dumps(table.to_dict(), allow_nan=False)))
    assert again.to_dict() == table.to_dict()
    assert (again["group"].keys, again["rate"].values) == ([(("sex", "F"),), (("sex", "M"),)], [0.5, None])
    assert again.frame().columns == ["group", "metric", "rate", "rate_low", "rate_high", "when", "small", "note"]
    assert again.frame().equals(table.frame(), null_equal=True)
    assert str(again["rate"].estimate(1)) == "not available: no"


def test_what_nobody_knows_is_refused() -> None:
    with pytest.raises(DataError, match="Unknown kind"):
        decode({"$": "subprocess"})
    with pytest.raises(DataError, match="Unknown kind"):
        decode({"$": ["message"]})
