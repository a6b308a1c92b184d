"""Files that are counted where they are: Parquet by DuckDB, and CSV once it is written as Parquet."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from isonomia.data._duckdb import open_restricted
from isonomia.data.engines.engine import require_polars
from isonomia.data.engines.fetching import explained
from isonomia.data.engines.lazy import LazyEngine
from isonomia.data.engines.watching import Watch
from isonomia.data.formats._columnar import damaged
from isonomia.data.formats.csv_files import column_index, duck_error
from isonomia.data.formats.parquet import check_marks, column_names, parquet_source
from isonomia.errors import DataError
from isonomia.languages import Message

#: What is left of the memory for the groups that come home, and for what DuckDB uses beyond its limit.
OWN = 100 * 10**6
#: Files that one pattern may stand for.
MAX_FILES = 10_000


def is_pattern(text: str) -> bool:
    """Whether a path may stand for several files."""
    return any(letter in text for letter in "*?[")


def matching_files(pattern: str | Path) -> list[Path]:
    """The files that a path or a pattern such as ``data/*.parquet`` stands for, in order."""
    text = str(Path(pattern).expanduser())
    if Path(text).is_file():
        return [Path(text)]
    start = Path(Path(text).anchor) if Path(text).is_absolute() else Path()
    try:
        matches = (file for file in start.glob(str(Path(text).relative_to(start))) if file.is_file())
        found = sorted(islice(matches, MAX_FILES + 1))
    except OSError as error:
        raise DataError(f"The files of {text!r} cannot be listed: {error.strerror}.") from None
    if not found:
        raise DataError(f"No file matches {text!r}.")
    if len(found) > MAX_FILES:
        raise DataError(f"{text!r} stands for more than {MAX_FILES:,} files; no more are read together.")
    return found


def open_parquet(
    files: Sequence[Path], *, memory: int, columns: Sequence[str] | None = None, notes: Sequence[Message] = ()
) -> LazyEngine:
    """An engine over Parquet files with the same columns."""
    require_polars()
    folder = _temporary_folder()
    watch = Watch(files)
    return _over_parquet(files, folder, watch, memory=memory, columns=columns, notes=notes)


def open_converted(
    file: Path,
    write: Callable[[Any, Path], tuple[list[str], tuple[Message, ...]]],
    *,
    memory: int,
    notes: Sequence[Message] = (),
) -> LazyEngine:
    """An engine over a file that `write(connection, target)` writes as Parquet first; it gives names and notes."""
    require_polars()
    folder = _temporary_folder()
    watch = Watch([file])
    connection = open_restricted([file], folder=folder, memory=_limit(memory))
    target = folder / "rows.parquet"
    try:
        names, found = write(connection, target)
    except duck_error() as error:
        raise explained(error) from None
    finally:
        connection.close()
    return _over_parquet([target], folder, watch, memory=memory, names=names, notes=(*notes, *found))


def _over_parquet(
    files: Sequence[Path],
    folder: Path,
    watch: Watch,
    *,
    memory: int,
    columns: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    notes: Sequence[Message] = (),
) -> LazyEngine:
    connection = open_restricted(files, folder=folder, memory=_limit(memory))
    names = names or _common_names(connection, files)
    kept = range(len(names)) if columns is None else [column_index(name, names) for name in columns]
    source = parquet_source(files)
    try:
        inner = connection.sql(f"SELECT * FROM {source}").columns
        # names of our own: DuckDB takes "Age" and "age" for one column
        picked = ", ".join(f"{_identifier(inner[index])} AS c{place}" for place, index in enumerate(kept))
        relation = connection.sql(f"SELECT {picked} FROM {source}")
    except duck_error() as error:
        raise damaged(error, files[0], "Parquet") from None
    engine = LazyEngine(relation, memory=memory, names=[names[index] for index in kept], watch=watch, notes=notes)
    weakref.finalize(engine, _clean, connection, folder)
    return engine


def _common_names(connection: Any, files: Sequence[Path]) -> list[str]:
    """The columns of the files, which must be the same in each."""
    first: dict[str, str] | None = None
    for file in files:
        check_marks(file, file)
        try:
            relation = connection.sql(f"SELECT * FROM {parquet_source([file])}")
        except duck_error() as error:
            raise damaged(error, file, "Parquet") from None
        schema = dict(zip(relation.columns, map(str, relation.types), strict=True))
        first = first or schema
        if schema != first:
            odd = min(set(schema.items()) ^ set(first.items()))[0]
            raise DataError(
                f"Files that are read together must have the same columns; '{file}' differs from '{files[0]}' in "
                f"{odd!r}."
            )
    return column_names(connection, files[0])


def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="isonomia-"))


def _limit(memory: int) -> int:
    """DuckDB's share: what an audit makes of the groups takes as much again."""
    return max((memory - OWN) // 2, 64 * 10**6)


def _clean(connection: Any, folder: Path) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
