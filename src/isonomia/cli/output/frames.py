"""Writing a frame to a file by its suffix."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia.atomic import atomic_write
from isonomia.errors import SpecError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

SUFFIXES = (".csv", ".csv.gz", ".parquet")


def check_writable(path: Path) -> None:
    """Tell what is wrong with a file to be written before any work is done."""
    if not path.name.lower().endswith(SUFFIXES):
        raise SpecError(
            f"The file to write must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}; got '{path.name}'."
        )
    if not path.parent.is_dir():
        raise SpecError(f"There is no folder '{path.parent}' to write '{path.name}' into.")


def write_frame(frame: Any, path: Path) -> None:
    """A frame of any kind as CSV, packed CSV or Parquet, by its own library; the same frame gives the same bytes."""
    import narwhals.stable.v2 as nw

    check_writable(path)
    table = nw.from_native(frame, eager_only=True)
    with atomic_write(path) as part:
        if path.name.lower().endswith(".parquet"):
            _write_parquet(table, part)
        elif path.name.lower().endswith(".csv"):
            table.write_csv(part)
        else:
            with part.open("wb") as plain, gzip.GzipFile(filename="", fileobj=plain, mode="wb", mtime=0) as stream:
                stream.write(table.write_csv().encode())


def _write_parquet(table: nw.DataFrame[Any], part: Path) -> None:
    """Parquet by the frame's library; DuckDB writes for pandas, which would need another package for it."""
    if table.implementation.is_pandas():
        import duckdb

        with duckdb.connect() as connection:
            connection.from_df(table.to_native()).write_parquet(str(part))
    else:
        table.write_parquet(part)
