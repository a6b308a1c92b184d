"""Every format comes in with the same values, whatever it is packed in."""

from __future__ import annotations

import gzip
import importlib.util
import io
import lzma
import zipfile

import narwhals.stable.v2 as nw
import polars as pl
import pytest

import isonomia as iso
from isonomia.data._duckdb import collected

CSV = 'zip,sex,age,pay,ok,when,note\n00123,F,20,1.5,true,2024-01-31,"a,b"\n10117,M,30,,false,2024-02-29,"say ""x"""\n'
KINDS = {
    "zip": "category",
    "sex": "category",
    "age": "integer",
    "pay": "numeric",
    "ok": "boolean",
    "when": "datetime",
    "note": "category",
}
BACKENDS = ["pandas", "polars", "pyarrow"]


def column(data, name):
    return data.column(name).to_list()


def packed(text, suffix):
    raw = text.encode()
    if suffix == ".gz":
        return gzip.compress(raw)
    if suffix == ".xz":
        return lzma.compress(raw)
    if suffix == ".zst":
        pa = pytest.importorskip("pyarrow")
        return pa.compress(raw, codec="zstd", asbytes=True)
    if suffix == ".zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("folder/table.csv", raw)
            archive.writestr("README", b"not a table")
            archive.writestr("__MACOSX/._table.csv", b"\x00")
        return buffer.getvalue()
    return raw


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zip", ".zst"])
def test_csv_packed_in_every_way(tmp_path, suffix, backend):
    file = tmp_path / f"people.csv{suffix}"
    file.write_bytes(packed(CSV, suffix))
    data = iso.read(file, protected=["sex"], backend=backend)
    assert data.backend == backend
    assert data.kinds == KINDS
    assert column(data, "zip") == ["00123", "10117"]
    assert column(data, "note") == ["a,b", 'say "x"']
    assert column(data, "ok") == [True, False]
    assert data.column("pay").fill_nan(None).is_null().to_list() == [False, True]
    assert data.name == "people"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".jsonl", ".ndjson"])
def test_typed_formats(tmp_path, suffix, backend):
    frame = pl.DataFrame({"zip": ["00123", None], "Sex": ["F", "M"], "sex": [1, 2], "pay": [1.5, None]})
    if suffix.endswith("jsonl") or suffix == ".ndjson":
        frame = frame.drop("Sex")
    file = tmp_path / f"t{suffix}"
    write = {".parquet": "write_parquet", ".feather": "write_ipc", ".arrow": "write_ipc_stream"}.get(suffix)
    getattr(frame, write or "write_ndjson")(file)
    data = iso.read(file, backend=backend)
    assert data.backend == backend
    assert data.columns == tuple(frame.columns)
    assert column(data, "sex") == [1, 2]
    assert data.column("zip").is_null().to_list() == [False, True]
    assert data.fingerprint == iso.Dataset(frame).fingerprint
    assert iso.read(file, columns=["sex"], backend=backend).columns == ("sex",)


def test_frames_go_straight_through(frame_kind):
    frame = frame_kind({"sex": ["F", "?"], "age": [20, 30]})
    assert iso.read(frame).columns == ("sex", "age")
    data = iso.read(frame, na_values="?", columns=["sex"])
    assert data.columns == ("sex",)
    assert data.column("sex").is_null().to_list() == [False, True]


def test_names_with_pattern_letters_are_letters(tmp_path):
    for name in ("a*.csv", "b?.csv", "[c].csv", "it's {d}.csv", 'q"uote.csv'):
        (tmp_path / name).write_text(f"x,y\n1,{name[0]}\n")
    (tmp_path / "ab.csv").write_text("x,y\n9,wrong\n")
    (tmp_path / "c.csv").write_text("x,y\n9,wrong\n")
    assert column(iso.read(tmp_path / "a*.csv"), "y") == ["a"]
    assert column(iso.read(tmp_path / "[c].csv"), "y") == ["["]
    assert column(iso.read(tmp_path / "it's {d}.csv"), "y") == ["i"]
    assert column(iso.read(tmp_path / 'q"uote.csv'), "y") == ["q"]
    with pytest.raises(iso.DataError, match="no such file"):
        iso.read(tmp_path / "*.csv")


def test_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert len(iso.read("~/x.csv")) == 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2"], "integer"),
        (["1", "2.5"], "numeric"),
        (["1", ""], "numeric"),  # pandas holds whole numbers with gaps as floats
        (["1", "NA"], "numeric"),
        (["NA", "b"], "category"),
        (["007", "8"], "category"),
        (["1", "x"], "category"),
        (["12345678901234567890", "1"], "category"),
        (["-0", "+3"], "integer"),
        (["1e3", ".5"], "numeric"),
        (["inf", "1"], "numeric"),
        (["true", "False"], "boolean"),
        (["t", "f"], "category"),
        (["yes", "no"], "category"),
        (["2024-01-31", "2024-02-29"], "datetime"),
        (["2024-01-31", "2024-02-30"], "category"),
        (["2024-01-31 10:00", "2024-02-29T11:30:59.5"], "datetime"),
        (["1_000", "2"], "category"),
        (["0x1F", "2"], "category"),
        (["", ""], "numeric"),
    ],
)
def test_types_of_csv_columns(tmp_path, values, kind):
    file = tmp_path / "t.csv"
    file.write_text("v,w\n" + "".join(f"{value},x\n" for value in values))
    assert iso.read(file, backend="pandas").kinds["v"] == kind


def test_type_is_read_to_the_end(tmp_path):
    file = tmp_path / "late.csv"
    file.write_text("v,w\n" + "1,2\n" * 20_000 + "x,2\n")
    data = iso.read(file)
    assert data.kinds == {"v": "category", "w": "integer"}
    assert column(data, "v")[-1] == "x"


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_found(tmp_path, mark):
    file = tmp_path / "t.csv"
    file.write_text(f"a{mark}b\n1{mark}'x,y;z'\n2{mark}u\n".replace("'", '"'))
    assert iso.read(file).columns == ("a", "b")


def test_line_ends_and_byte_order_mark(tmp_path):
    for raw in (b"\xef\xbb\xbfa,b\r\n1,2\r\n", b"a,b\r1,2\r", b"a,b\n1,2", b"\n\na,b\n\n1,2\n\n"):
        (tmp_path / "t.csv").write_bytes(raw)
        data = iso.read(tmp_path / "t.csv")
        assert (data.columns, column(data, "b")) == (("a", "b"), [2])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
def test_encodings_by_name(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("raça,n\nmaçã,1\n".encode(encoding))
    data = iso.read(tmp_path / "t.csv", encoding=encoding)
    assert column(data, "raça") == ["maçã"]


def test_repeated_names_can_be_renamed(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a,a.1,a\n1,2,3,4,5\n")
    assert iso.read(tmp_path / "t.csv", repeated="rename").columns == ("a", "b", "a.2", "a.1", "a.3")


def test_hostile_names_and_values_stay_data(tmp_path):
    names = ["<script>alert(1)</script>", "a'); DROP TABLE t; --", 'q"q', "🙂", "pipe|pipe", "new\nline", "Sex", "sex"]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (tmp_path / "t.csv").write_text(f"{quoted}\n{quoted}\n", encoding="utf-8")
    for backend in BACKENDS:
        data = iso.read(tmp_path / "t.csv", backend=backend)
        assert list(data.columns) == names
        assert [column(data, name)[0] for name in names] == names


def test_wrapped_by_narwhals(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert isinstance(iso.read(tmp_path / "t.csv").column("a"), nw.Series)


def without(monkeypatch, *packages):
    """As if some packages were not installed."""
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in packages else found(name))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_without_pandas_and_pyarrow(tmp_path, monkeypatch, suffix):
    frame = pl.DataFrame({"zip": ["00123", None], "n": [1, None], "pay": [1.5, None], "ok": [True, None]})
    file = tmp_path / f"t{suffix}"
    getattr(frame, {".csv": "write_csv", ".parquet": "write_parquet"}.get(suffix, "write_ndjson"))(file)
    expected = iso.read(file, backend="polars").frame
    without(monkeypatch, "pandas", "pyarrow")
    found = iso.read(file).frame
    assert found.equals(expected)
    assert found.schema == expected.schema


@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream"])
def test_arrow_without_polars(tmp_path, monkeypatch, write):
    frame = pl.DataFrame(
        {"sex": ["F", None], "when": pl.Series(["2024-02-29"] * 2).str.to_date(), "pay": [1.5, None], "n": [1, 2]},
        schema_overrides={"sex": pl.Categorical},
    )
    file = tmp_path / "t.arrow"
    getattr(frame, write)(file)
    cut = tmp_path / "cut.arrow"
    cut.write_bytes(file.read_bytes()[:300])
    expected = {backend: iso.read(file, backend=backend) for backend in ("pandas", "pyarrow")}
    without(monkeypatch, "polars")
    for backend, data in expected.items():
        found = iso.read(file, backend=backend)
        assert found.backend == backend
        assert found.kinds == data.kinds
        assert found.fingerprint == data.fingerprint
        assert iso.read(file, backend=backend, columns=["n", "sex"]).columns == ("n", "sex")
        with pytest.raises(iso.DataError, match="cannot be read as Arrow"):
            iso.read(cut, backend=backend)


def test_parquet_columns_keep_their_names_beside_nested_ones(tmp_path):
    nested = {"Name": {"Name": "x", "parts": [{"a": 1, "b": [2]}]}, "many": [[1], [2, 3]], "name": 1, "NAME": "y"}
    pl.DataFrame([nested]).write_parquet(tmp_path / "t.parquet")
    data = iso.read(tmp_path / "t.parquet")
    assert data.columns == tuple(nested)
    assert column(data, "NAME") == ["y"]


def test_texts_that_never_are_objects_leave_the_frame_that_duckdb_makes(tmp_path):
    """Of every type, with and without missing values, and texts that are all missing."""
    import duckdb
    import pandas as pd

    both = "1::TINYINT, 2::UBIGINT, 2.5::DOUBLE, true, 'a', DATE '2020-01-01', TIME '10:00', INTERVAL 3 DAY, 'é'"
    none = "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'b'"
    with duckdb.connect() as connection:
        query = f"SELECT * FROM (VALUES ({both}), ({both.replace(', 2.5', ', 1.5')})) UNION ALL SELECT {none}"
        for name, rows in (("gaps", query), ("whole", f"{query} LIMIT 2"), ("empty", f"{query} LIMIT 0")):
            connection.execute(f"CREATE TABLE {name} AS SELECT *, NULL::VARCHAR AS nothing FROM ({rows})")
            made = collected(connection, f"SELECT * FROM {name}", "pandas")
            pd.testing.assert_frame_equal(made, connection.sql(f"SELECT * FROM {name}").df())
