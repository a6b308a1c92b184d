"""A dataset is the same thing whatever kind of frame its rows came in."""

from __future__ import annotations

import socket

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from isonomia.data import Dataset, frames, to_frame
from isonomia.data.frames import BACKENDS
from isonomia.subject import read_attributes

COLUMNS = {"sex": ["F", "M", "F", "M"], "age": [20, 30, 40, 50], "pay": [1.5, 2.0, 3.25, 4.0], "hired": [0, 1, 1, 0]}


def test_same_roles_from_every_kind(frame_kind):
    data = Dataset(frame_kind(COLUMNS), target="hired", protected=["sex"], privileged={"sex": "M"})
    assert len(data) == 4
    assert data.features == ("sex", "age", "pay")
    assert data.kinds == {"sex": "category", "age": "integer", "pay": "numeric", "hired": "integer"}
    assert data.positive == 1


def test_same_fingerprint_from_every_kind(frame_kind):
    assert Dataset(frame_kind(COLUMNS)).fingerprint == Dataset(COLUMNS).fingerprint


def test_columns_of_every_kind_are_attributes(frame_kind):
    frame = frame_kind({name: COLUMNS[name] for name in ("sex", "age")})
    for given in (frame, frame if isinstance(frame, dict) else nw.from_native(frame, eager_only=True)):
        assert [(one.name, *one.labels) for one in read_attributes(given)] == [
            ("sex", "F", "M"),
            ("age", 20, 30, 40, 50),
        ]


def test_network_is_refused():
    with socket.socket() as line, pytest.raises(RuntimeError, match="tried to reach"):
        line.connect(("127.0.0.1", 9))


def test_columns_of_every_kind_become_a_pandas_frame_as_narwhals_makes_it():
    columns = {
        "sex": ["F", None, "M"],
        "n": np.array([1, 2, 3]),
        "group": ["a", "b", "c"],
        "rate": np.array([0.5, np.nan, 1.0]),
        "seen": [True, False, True],
        "note": ["", "x", None],
    }
    made, expected = to_frame(columns, "pandas"), nw.from_dict(columns, backend="pandas").to_native()
    assert made.equals(expected)
    assert made.dtypes.equals(expected.dtypes)
    made.loc[0, "rate"] = 9.0
    assert columns["rate"][0] == 0.5


@pytest.mark.parametrize("kind", BACKENDS)
def test_columns_without_texts_or_rows_become_a_frame(kind):
    assert to_frame({"n": np.array([1, 2])}, kind).shape == (2, 1)
    assert to_frame({"sex": [], "n": np.array([], dtype=float)}, kind).shape == (0, 2)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": ["x", None], "b": np.array([0.5, np.nan]), "n": np.array([1, 2]), "c": np.array([0.25, 1.0])},
        {"ok": np.array([True, False]), "small": np.array([1, 2], dtype=np.uint8), "nothing": [None, None]},
        {"fixed": np.array(["aa", "b"]), "when": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")},
        {"a": [], "b": np.zeros(0)},
        {},
    ],
)
def test_frames_laid_out_in_blocks_are_those_that_pandas_builds(columns, monkeypatch):
    pd = pytest.importorskip("pandas")
    built = frames.to_frame(columns, "pandas")
    monkeypatch.setattr(frames, "_from_blocks", lambda: None)
    pd.testing.assert_frame_equal(built, frames.to_frame(columns, "pandas"), check_column_type=True)


def test_a_frame_does_not_share_its_numbers_with_the_columns_it_was_built_from():
    pytest.importorskip("pandas")
    values = np.array([1.0, 2.0])
    built = frames.to_frame({"a": values, "b": ["x", "y"]}, "pandas")
    built.loc[0, "a"] = 9.0
    assert values.tolist() == [1.0, 2.0]
    assert built["a"].tolist() == [9.0, 2.0]
