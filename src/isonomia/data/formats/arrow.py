"""Arrow files and streams (Feather)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data._files import growth_limit
from isonomia.data.file_format import BYTE_LIMIT, FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.formats._columnar import damaged
from isonomia.data.formats.csv_files import column_index
from isonomia.data.frames import Backend, default_backend, installed, require_backend
from isonomia.errors import DataError, require


def read_arrow(
    path: Path,
    source_path: Path,
    *,
    columns: Sequence[str] | None,
    backend: Backend | None,
    max_bytes: int | None = None,
) -> ReadTable:
    """A frame of an Arrow file or stream; pandas needs PyArrow here, so without it the frame is Polars."""
    with path.open("rb") as file:
        stream = file.read(6) != b"ARROW1"
    if installed("polars") and not stream:
        _check_size(path, source_path, growth_limit(path, max_bytes))
    read = _by_polars if installed("polars") else _by_pyarrow
    table: nw.DataFrame[Any] = nw.from_native(read(path, source_path, stream=stream), eager_only=True)
    if columns is not None:
        table = table.select([table.columns[column_index(name, table.columns)] for name in columns])
    kind = backend or (default_backend() if installed("pyarrow") else "polars")
    if kind != "polars":
        require("pyarrow", extra="arrow", purpose=f"reading Arrow files with backend={kind!r}")
    require_backend(kind)
    if kind == "pandas":
        return ReadTable(table.to_native().to_pandas(date_as_object=False))
    return ReadTable(table.to_native() if kind == "polars" else table.to_arrow())


def _check_size(path: Path, source_path: Path, limit: int) -> None:
    """Refuse a file whose numbers unpack to more than the limit: its end says how many rows there are."""
    import polars as pl

    try:
        rows = pl.scan_ipc(path).select(pl.len()).collect().item()
        widths = [1 if kind == pl.Boolean else 8 for kind in pl.read_ipc_schema(path).values()]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise damaged(error, source_path, "Arrow") from None
    if (size := rows * sum(widths)) > limit:
        raise DataError(
            f"The file '{source_path}' unpacks to {size:,} bytes or more, more than {limit:,}. If you trust it, raise "
            "`max_bytes`."
        )


def _by_polars(path: Path, source_path: Path, *, stream: bool) -> Any:
    import polars as pl

    try:
        return pl.read_ipc_stream(path.read_bytes()) if stream else pl.read_ipc(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise damaged(error, source_path, "Arrow") from None


def _by_pyarrow(path: Path, source_path: Path, *, stream: bool) -> Any:
    """A PyArrow table; its buffers are checked, since a damaged file may point outside them."""
    pa = require("pyarrow", extra="arrow", purpose="reading Arrow files")
    try:
        with pa.OSFile(str(path)) as file:
            table = (pa.ipc.open_stream if stream else pa.ipc.open_file)(file).read_all()
        table.validate(full=True)
        return table.cast(pa.schema([field.with_type(_without_view(field.type)) for field in table.schema]))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(error, source_path, "Arrow") from None


def _without_view(kind: Any) -> Any:
    """The type with plain texts for views of texts, which Polars writes and few functions of PyArrow take."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_view(kind.value_type), kind.ordered)
    return pa.large_string() if pa.types.is_string_view(kind) else kind


FILE_FORMATS.add(
    FileFormat(
        id="arrow",
        title="Arrow",
        purpose="Arrow files and streams, also called Feather",
        suffixes=(".arrow", ".feather", ".ipc"),
        read=read_arrow,
        mark=b"ARROW1",
        parameters=(BYTE_LIMIT,),
        extra="arrow",
    )
)
