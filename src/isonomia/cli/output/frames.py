"""Writing a frame to a file by its suffix."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from isonomia.atomic import atomic_write
from isonomia.errors import SpecError

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
    """A frame as CSV, packed CSV or Parquet; the same frame gives the same bytes."""
    import narwhals.stable.v2 as nw

    check_writable(path)
    table = nw.from_native(frame, eager_only=True).to_polars()
    with atomic_write(path) as part:
        if path.name.lower().endswith(".parquet"):
            table.write_parquet(part)
        elif path.name.lower().endswith(".csv"):
            table.write_csv(part)
        else:
            with part.open("wb") as plain, gzip.GzipFile(filename="", fileobj=plain, mode="wb", mtime=0) as stream:
                table.write_csv(stream)
