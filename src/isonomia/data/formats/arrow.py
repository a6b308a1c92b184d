"""Arrow files and streams (Feather)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from isonomia.data.file_format import FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.formats._columnar import damaged
from isonomia.data.formats.csv_files import column_index
from isonomia.data.frames import Backend
from isonomia.errors import require


def read_arrow(path: Path, source_path: Path, *, columns: Sequence[str] | None, backend: Backend | None) -> ReadTable:
    """A frame of an Arrow file or stream; pandas needs PyArrow here, so without it the frame is Polars."""
    import polars as pl

    with path.open("rb") as file:
        start = file.read(6)
    reader = pl.read_ipc if start == b"ARROW1" else pl.read_ipc_stream
    try:
        frame = reader(path.read_bytes() if reader is pl.read_ipc_stream else path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise damaged(error, source_path, "Arrow") from None
    if columns is not None:
        frame = frame.select([frame.columns[column_index(name, frame.columns)] for name in columns])
    if backend is None:
        both = all(importlib.util.find_spec(package) is not None for package in ("pandas", "pyarrow"))
        backend = "pandas" if both else "polars"
    if backend == "polars":
        return ReadTable(frame)
    require("pyarrow", extra="arrow", purpose=f"reading Arrow files with backend={backend!r}")
    return ReadTable(frame.to_pandas() if backend == "pandas" else frame.to_arrow())


FILE_FORMATS.add(
    FileFormat(
        id="arrow",
        title="Arrow",
        purpose="Arrow files and streams, also called Feather",
        suffixes=(".arrow", ".feather", ".ipc"),
        read=read_arrow,
        mark=b"ARROW1",
        extra="arrow",
    )
)
