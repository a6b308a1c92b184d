"""Small files that unpack to gigabytes are refused, in bounded memory; what a file says of its size is not believed."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import isonomia as iso

SHEET = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"
HEAD = b'<row r="1"><c r="A1" t="str"><v>a</v></c></row>'

#: Reads a file in a process of its own, with so many bytes of addresses, and says what came of it and what it took.
CHILD = """
import json, resource, sys
import isonomia as iso, duckdb, openpyxl, pandas, polars, pyarrow
with open("/proc/self/statm") as file:  # what libraries reserve when they are imported is no bomb's
    most = int(file.read().split()[0]) * resource.getpagesize() + (6 << 30)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    said = f"read {iso.read(sys.argv[1]).height} rows"
except iso.IsonomiaError as error:
    said = f"{type(error).__name__}: {error}"
print(json.dumps([said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024]))
"""


def workbook(path: Path, sheet: Iterable[bytes], part: str = "xl/worksheets/sheet1.xml") -> None:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a"])  # type: ignore[union-attr]
    book.active.append(["b"])  # type: ignore[union-attr]
    book.save(buffer)
    source = zipfile.ZipFile(buffer)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in source.infolist():
            if entry.filename != part:
                archive.writestr(entry.filename, source.read(entry.filename))
        with archive.open(part, "w", force_zip64=True) as out:
            for chunk in sheet:
                out.write(chunk)


def rows_without_end(path: Path) -> None:
    workbook(path, [SHEET, HEAD, *[b"<row/>" * 1_000_000] * 10, END])


def rows_of_cells(path: Path) -> None:
    workbook(path, [SHEET, HEAD, b"<row>", *[b"<c/>" * 1_000_000] * 10, b"</row>", END])


def deep_cells(path: Path) -> None:
    workbook(path, [SHEET, HEAD, b"<row>", b"<c>" * 3_000_000, b"</c>" * 3_000_000, b"</row>", END])


def styles(path: Path) -> None:
    text = (
        b'<?xml version="1.0"?><styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>'
    )
    workbook(path, [text, *[b"<xf/>" * 1_000_000] * 10, b"</cellXfs></styleSheet>"], "xl/styles.xml")


def one_text(path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, dtype="i4")), pa.array(["x" * (1 << 20)]))
    pq.write_table(pa.table({"a": words}), path, compression="zstd")


def one_number(path: Path) -> None:
    part = pa.table({"a": pa.array(np.zeros(10_000_000, dtype="i8"))})
    with pq.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(6):
            writer.write_table(part)


def many_columns(path: Path) -> None:
    pq.write_table(pa.table({f"c{index}": [1, 2] for index in range(10_001)}), path)


def arrow(path: Path) -> None:
    part = pa.record_batch([pa.array(np.zeros(10_000_000, dtype="i8"))], names=["a"])
    packed = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, part.schema, options=packed) as writer:
        for _ in range(6):
            writer.write_batch(part)


def packed(path: Path) -> None:
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a,b\n")
        for _ in range(400):
            file.write(b"0" * (1 << 20))


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("t.csv", "w", force_zip64=True) as part:
        for _ in range(400):
            part.write(b"0" * (1 << 20))


def lines(path: Path) -> None:
    path.write_bytes((b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n") * 5)


BOMBS: list[tuple[str, Callable[[Path], None], str]] = [
    ("rows.xlsx", rows_without_end, "more than 1,048,576 rows"),
    ("cells.xlsx", rows_of_cells, "more elements in one place than a workbook has"),
    ("deep.xlsx", deep_cells, "elements within one another more than 64 times"),
    ("styles.xlsx", styles, r"more elements in one place .*styles\.xml"),
    ("text.parquet", one_text, "unpacks to 3,145,752,000 bytes or more, more than 268,435,456"),
    ("number.parquet", one_number, "unpacks to 480,000,000 bytes or more"),
    ("columns.parquet", many_columns, "has 10,001 columns; at most 10,000 are read at once"),
    ("number.arrow", arrow, "unpacks to 480,000,000 bytes or more"),
    ("line.csv.gz", packed, "has more than .* bytes once unpacked"),
    ("line.zip", archive, "has more than .* bytes once unpacked"),
    ("deep.jsonl", lines, "cannot be read as JSON lines"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize(("name", "make", "says"), BOMBS, ids=[name for name, _, _ in BOMBS])
def test_a_bomb_is_refused_in_bounded_memory(
    name: str, make: Callable[[Path], None], says: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    make(file)
    assert file.stat().st_size < 8 << 20
    given = {**os.environ, "PYTHONPATH": str(Path(iso.__file__).parent.parent)}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(file)], capture_output=True, env=given, check=True, timeout=120, text=True
    )
    said, took = json.loads(ran.stdout)
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(said)
    assert said.startswith("DataError")
    assert took < (1300 if name == "text.parquet" else 300), f"{took:.0f} MB"


def test_a_limit_that_is_raised_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(500, dtype="i4")), pa.array(["x" * 1000]))
    pq.write_table(pa.table({"a": words, "b": np.arange(500)}), file)
    with pytest.raises(iso.DataError, match="unpacks to 508,000 bytes or more, more than 500,000"):
        iso.read(file, max_bytes=500_000)
    assert iso.read(file, max_bytes=508_000).height == 500
    assert iso.read(file).height == 500


@pytest.mark.parametrize("rows", [3, 2_000_000_000, 2**40, 2**62])
def test_a_false_number_of_rows(rows: int, tmp_path: Path) -> None:
    """The end of a Parquet file that says another number of rows: refused, or what is there is read."""
    table = pa.table({"a": np.arange(100), "b": np.arange(100) % 2})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="none", use_dictionary=False)
    data = buffer.getvalue()
    end = int.from_bytes(data[-8:-4], "little")
    foot = data[-8 - end : -8].replace(b"\x16" + _varint(100), b"\x16" + _varint(rows))
    file = tmp_path / "false.parquet"
    file.write_bytes(data[: -8 - end] + foot + len(foot).to_bytes(4, "little") + b"PAR1")
    if rows == 3:
        assert iso.read(file).height == 3
        return
    with pytest.raises(iso.DataError, match=r"false\.parquet' (cannot be read as Parquet|unpacks to)"):
        iso.read(file)


def _varint(number: int) -> bytes:
    """A number as the end of a Parquet file has it."""
    left, out = number << 1, b""
    while left >= 128:
        out, left = out + bytes([left & 127 | 128]), left >> 7
    return out + bytes([left])
