"""JSON lines: one object per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from isonomia.data._duckdb import quoted, restricted_connection
from isonomia.data.file_format import ENCODING, FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.formats._columnar import damaged, selected
from isonomia.data.formats.csv_files import duck_error
from isonomia.data.frames import Backend
from isonomia.errors import DataError


def read_jsonl(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend | None) -> ReadTable:
    """A frame of a file with one JSON object per line."""
    with path.open("rb") as file:
        start = file.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise DataError(f"The file '{source_path}' is empty: it contains only whitespace.")
    if not start.startswith(b"{"):
        raise DataError(
            f"JSON lines are expected in '{source_path}': one object in braces per line; it starts with "
            f"{start[:20].decode('utf-8', 'replace')!r}."
        )
    source = (
        f"read_json({quoted(str(path))}, format = 'newline_delimited', records = true, sample_size = -1, "
        "maximum_depth = 2, convert_strings_to_integers = false, hive_partitioning = false, filename = false, "
        "compression = 'uncompressed')"
    )
    try:
        with restricted_connection(path) as connection:
            return ReadTable(selected(connection, source, None, columns, backend))
    except duck_error() as error:
        raise damaged(error, source_path, "JSON lines") from None


FILE_FORMATS.add(
    FileFormat(
        id="jsonl",
        title="JSON lines",
        purpose="one JSON object per line",
        suffixes=(".jsonl", ".ndjson"),
        read=read_jsonl,
        parameters=(ENCODING,),
    )
)
