"""Texts of a long file are kept as categories; nobody who asks for the frame or a column sees that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import isonomia as iso
from isonomia.counting import encode_features
from isonomia.data.packed import MAX_VALUES, MIN_ROWS, Packed
from isonomia.errors import DataError

N = MIN_ROWS + 1000


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    few = rng.choice(["b", "a", "ç", ""], N)
    return pl.DataFrame(
        {
            "few": few,
            "gaps": [None if k % 7 == 0 else f"v{k % 100}" for k in range(N)],
            "many": [f"w{k % (MAX_VALUES + 1)}" for k in range(N)],
            "late": [f"w{k % 5 if k < 9000 else k % 400}" for k in range(N)],
            "empty": pl.Series([None] * N, dtype=pl.String),
            "key": [f"id{k}" for k in range(N)],
            "x": rng.normal(size=N),
            "sex": rng.choice(["F", "M"], N),
            "y": rng.choice(["no", "yes"], N),
            "p": rng.choice(["no", "yes"], N),
        }
    )


@pytest.fixture(scope="module")
def files(frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("packed")
    found = {"parquet": folder / "t.parquet", "csv": folder / "t.csv"}
    frame.write_parquet(found["parquet"])
    frame.write_csv(found["csv"])
    return found


ROLES = {"target": "y", "positive": "yes", "prediction": "p", "protected": ["sex"]}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_what_is_handed_out_is_what_the_file_contains(
    files: dict[str, Path], frame: pl.DataFrame, backend: str
) -> None:
    pytest.importorskip(backend)
    data = iso.read(files["parquet"], backend=backend, **ROLES)
    assert data._packed.texts == {"few", "gaps"}  # not what has a role, too many values, or none
    whole = iso.Dataset(_as(frame, backend), **ROLES)
    codes = {one.name: one for one in encode_features(data)}
    assert data._packed.texts == {"few", "gaps"}  # what counts leaves it packed
    for one in encode_features(whole):
        assert codes[one.name].labels == one.labels
        np.testing.assert_array_equal(codes[one.name].codes, one.codes)
    assert (data.kinds, data.features, data.searchable, data.identifiers) == (
        whole.kinds,
        whole.features,
        whole.searchable,
        whole.identifiers,
    )
    for name in frame.columns:
        assert data.column(name).dtype == whole.column(name).dtype or name == "empty"
        assert data.column(name).to_list() == whole.column(name).to_list() or name in ("x", "empty")
    assert data._packed.texts == {"few", "gaps"}
    part = data.take(np.arange(0, N, 3))
    assert part._packed.texts == {"few", "gaps"}
    assert part.fingerprint == whole.take(np.arange(0, N, 3)).fingerprint
    assert data.fingerprint == whole.fingerprint
    native = data.frame
    assert native is data.frame
    assert str(native["few"].dtype if backend != "pyarrow" else native["few"].type) in ("str", "String", "string")
    np.testing.assert_array_equal(np.asarray(native["few"].to_numpy()), frame["few"].to_numpy())


def test_formats_agree_and_roles_can_change(files: dict[str, Path]) -> None:
    from_csv, from_parquet = (iso.read(files[name], **ROLES) for name in ("csv", "parquet"))
    assert from_csv._packed.texts == from_parquet._packed.texts
    again = from_parquet.with_roles(protected=["few"])
    assert again.column("few").to_list() == from_parquet.column("few").to_list()
    with pytest.raises(DataError, match="`kinds` calls 'few' integer"):
        iso.read(files["parquet"], kinds={"few": "integer"}, **ROLES)


def test_missing_texts_that_a_file_names(files: dict[str, Path], frame: pl.DataFrame) -> None:
    data = iso.read(files["parquet"], na_values="v1", **ROLES)
    expected = frame["gaps"].is_null().sum() + (frame["gaps"] == "v1").sum()
    assert 0 < frame["gaps"].is_null().sum() < expected
    assert data.column("gaps").null_count() == expected


def test_short_tables_are_left_as_they_are(frame: pl.DataFrame) -> None:
    assert Packed.of(frame.head(1000)).pack().texts == frozenset()
    packed = Packed.of(frame).pack()
    assert Packed.of(packed) is packed
    assert packed.unpack().table.to_native().equals(frame)
    assert packed.table.select(["few", "gaps"]).estimated_size() < 2.3 * N  # a code and a bit per cell
    assert packed.unpack(["few"]).texts == {"gaps", "sex", "y", "p"}


def _as(frame: pl.DataFrame, backend: str) -> object:
    return {"pandas": frame.to_pandas, "polars": lambda: frame, "pyarrow": frame.to_arrow}[backend]()
