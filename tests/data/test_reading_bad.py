"""Bad files get an error that says what was found and what to do; nothing of a library's own reaches the user."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import polars as pl
import pytest

import isonomia as iso


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return buffer.getvalue()


def parquet():
    buffer = io.BytesIO()
    pl.DataFrame({"a": list(range(1000))}).write_parquet(buffer)
    return buffer.getvalue()


def arrow():
    buffer = io.BytesIO()
    pl.DataFrame({"a": list(range(1000))}).write_ipc(buffer)
    return buffer.getvalue()


BAD = [
    ("empty.csv", b"", {}, "is empty"),
    ("blank.csv", b"\n \n", {}, "is empty"),
    ("header.csv", b"a,b\n", {}, "header .2 columns. but no rows"),
    ("header_blank.csv", b"a,b\n\n\n", {}, "no rows"),
    ("semicolon.csv", b"a;b;c\n1;2;3\n", {"delimiter": ","}, "one column.*pass delimiter=';'"),
    ("tabs.csv", b"a\tb\n1\t2\n", {"delimiter": ","}, r"pass delimiter='\\t'"),
    ("tab.tsv", b"a,b\n1,2\n", {}, "pass delimiter=','"),
    ("delim.csv", b"a,b\n1,2\n", {"delimiter": ",,"}, "one character"),
    ("ragged.csv", b"a,b\n1,2\n1,2,3\n", {}, "line 3 .* has 3, expected 2"),
    ("short.csv", b"a,b\n1,2\n1\n", {}, "line 3 .* has 1, expected 2"),
    ("quote.csv", b'a,b\n"x,2\n1,2\n', {}, "quote.*left open"),
    ("greek.csv", "a,b\n1,Ελληνικά\n".encode("cp1253"), {}, "not written in UTF-8.*line 2.*encoding='cp1250'"),
    ("polish.csv", "a,b\n1,łódź\n".encode("cp1250"), {}, "not written in UTF-8"),
    ("asian.csv", "a,b\n1,日本語\n".encode("shift_jis"), {}, "not written in UTF-8"),
    ("damaged.csv", b"a,b\n" + "1,é\n".encode() * 400_000 + b"1,\xe9\n", {}, "UTF-8 with damaged.*line 400002"),
    ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), {}, "encoding='utf-16'"),
    ("wrong.csv", b"a,b\n1,\xff\n", {"encoding": "ascii"}, "not written in UTF-8"),
    ("what.csv", b"a,b\n1,2\n", {"encoding": "klingon"}, "`encoding` 'klingon' is not known"),
    ("sjis.csv", b"a,b\n1,\x81\n", {"encoding": "shift_jis"}, "not written in shift_jis"),
    ("twice.csv", b"a,b,a\n1,2,3\n", {}, "repeats 'a'.*repeated='rename'"),
    ("numbers.csv", b"1,2\n3,4\n", {}, "only numbers.*header line"),
    ("nul.csv", b"a,b\n1,\x002\n", {}, "null bytes"),
    ("really.csv", parquet(), {}, "is Parquet, not CSV"),
    ("packed.csv", gzip.compress(b"a,b\n1,2\n"), {}, "packed with gzip"),
    ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100)[:-9], {}, "cannot be unpacked"),
    ("not.csv.gz", b"a,b\n1,2\n", {}, "cannot be unpacked"),
    ("not.csv.xz", b"a,b\n1,2\n", {}, "cannot be unpacked"),
    ("not.zip", b"a,b\n1,2\n", {}, "cannot be unpacked"),
    ("none.zip", zipped(README="x"), {}, "exactly one table.*'README'"),
    ("two.zip", zipped(a__csv="x,y\n1,2\n", b__csv="x,y\n1,2\n"), {}, "exactly one table.*'a.csv', 'b.csv'"),
    ("bomb.zip", zipped(a__csv="a,b\n" + "0,0\n" * 100_000), {"max_bytes": 10_000}, "more than 10,000 bytes"),
    ("bomb.csv.gz", gzip.compress(b"a,b\n" + b"0,0\n" * 100_000), {"max_bytes": 10_000}, "more than 10,000 bytes"),
    ("big.csv", b"a,b\n" + b"0,0\n" * 100, {"max_bytes": 100}, "more than 100 bytes"),
    ("cut.parquet", parquet()[:-20], {}, "truncated"),
    ("middle.parquet", parquet()[:40] + b"\xff" * 30 + parquet()[-60:], {}, "cannot be read as Parquet"),
    ("not.parquet", b"a,b\n1,2\n", {}, "does not start like a Parquet"),
    ("cut.arrow", arrow()[:300], {}, "cannot be read as Arrow"),
    ("not.feather", b"a,b\n1,2\n", {}, "cannot be read as Arrow"),
    ("array.jsonl", json.dumps([{"a": 1}]).encode(), {}, "one object in braces per line"),
    ("broken.jsonl", b'{"a": 1}\n{"a": \n', {}, "cannot be read as JSON lines"),
    ("blank.jsonl", b" \n\n", {}, "empty"),
    ("delim.jsonl", b'{"a": 1}\n', {"delimiter": ","}, "`delimiter` is for CSV"),
    ("coded.parquet", parquet(), {"encoding": "latin-1"}, "`encoding` is for CSV and JSON lines and TSV"),
    ("alike.parquet", parquet(), {"repeated": "rename"}, "`repeated` is for CSV and Excel and TSV"),
    (
        "unknown.xyz",
        b"PK",
        {},
        r"Cannot infer the format of 'unknown\.xyz' from '\.xyz'\. Supported: Arrow .*format=.*csv",
    ),
    ("old.xls", b"\xd0\xcf", {}, r"spreadsheet of a kind that is not read.*\.xlsx or as CSV"),
    ("comma.parquet", parquet(), {"decimal": ","}, "`decimal` is for CSV and TSV"),
    ("sheet.csv", b"a,b\n1,2\n", {"sheet": "one"}, "`sheet` is for Excel"),
    ("both.csv", b"a;b\n1,5;0.5\n", {}, "decimal comma .'a'. and with a point .'b'.*decimal=','"),
    ("thousands.csv", b"a;b\n1.234;x\n", {}, "1.234 in the column 'a'.*thousands or decimals.*decimal=','"),
    ("cols.csv", b"age,b\n1,2\n", {"columns": ["agee"]}, "`columns` must name.*'agee'.*'age'"),
    ("cols.parquet", parquet(), {"columns": ["b"]}, "`columns` must name.*'b'.*'a'"),
    ("colstr.csv", b"age,b\n1,2\n", {"columns": "age"}, "must be a list"),
    ("opt.csv", b"age,b\n1,2\n", {"tarket": "age"}, "no option 'tarket'.*'target'"),
    ("back.csv", b"age,b\n1,2\n", {"backend": "dask"}, "`backend` must be one of"),
    ("fmt.csv", b"age,b\n1,2\n", {"format": "xls"}, "`format` must be one of"),
    ("gap.csv", b"age,b\n1,2\n", {"na_values": [9]}, "`na_values` must be a text"),
    ("max.csv", b"age,b\n1,2\n", {"max_bytes": 0}, "`max_bytes`"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD, ids=[case[0] for case in BAD])
def test_bad_file(tmp_path, name, content, options, message):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(iso.IsonomiaError, match=f"(?s){message}") as caught:
        iso.read(file, **options)
    assert type(caught.value).__module__ == "isonomia.errors"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_missing_file_names_the_close_ones(tmp_path):
    (tmp_path / "adult.csv").write_text("a,b\n1,2\n")
    with pytest.raises(iso.DataError, match=r"no such file.*Did you mean 'adult.csv'"):
        iso.read(tmp_path / "adlut.csv")
    with pytest.raises(iso.DataError, match="is not a folder"):
        iso.read(tmp_path / "nowhere" / "adult.csv")


def test_folder_and_address_are_refused(tmp_path):
    with pytest.raises(iso.DataError, match="is a folder"):
        iso.read(tmp_path)
    with pytest.raises(iso.DataError, match="Only local files"):
        iso.read("https://example.org/adult.csv")
    with pytest.raises(iso.DataError, match="null character"):
        iso.read("a\x00.csv")


def test_something_else_is_refused():
    for thing in (None, 3, [1, 2], b"adult.csv"):
        with pytest.raises(iso.DataError, match="must be a table"):
            iso.read(thing)


def test_mixed_line_ends_are_an_error(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\r\n1,2\n3,4\n")
    with pytest.raises(iso.DataError, match="line end"):
        iso.read(tmp_path / "t.csv")
