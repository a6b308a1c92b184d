"""A file or a frame in, a dataset out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw

from isonomia.data._files import Source, locate, unpacked
from isonomia.data.dataset import Dataset
from isonomia.data.engines.engine import Engine
from isonomia.data.engines.files import is_pattern, matching_files, open_converted, open_parquet
from isonomia.data.engines.lazy import LazyEngine, is_lazy
from isonomia.data.engines.options import EngineOptions, split_engine_options
from isonomia.data.engines.postgres import is_database, open_postgres
from isonomia.data.file_format import (
    BYTE_LIMIT,
    DECIMAL,
    DELIMITER,
    ENCODING,
    FILE_FORMAT_NAME,
    FILE_FORMATS,
    NA_VALUES,
    REPEATED,
    SHEET,
    Converted,
    FileFormat,
)
from isonomia.data.frames import BACKENDS, Backend, wrap
from isonomia.data.packed import Packed
from isonomia.data.roles import RoleOptions
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages import Message, msg
from isonomia.parameters import Choice, Several, Text, validated


class ReadOptions(RoleOptions, EngineOptions, total=False):
    """What `read` takes beside the options of files: the roles of columns, and where rows are counted."""


@validated(
    delimiter=DELIMITER.kind,
    decimal=DECIMAL.kind,
    encoding=ENCODING.kind,
    sheet=SHEET.kind,
    na_values=NA_VALUES.kind,
    columns=Several(Text("the name of a column")).or_none("for all"),
    repeated=REPEATED.kind,
    format=FILE_FORMAT_NAME.or_none("to read it off the name"),
    max_bytes=BYTE_LIMIT.kind,
    backend=Choice(BACKENDS).or_none(),
)
def read(
    source: Any,
    *,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    na_values: str | Sequence[str] = (),
    columns: Sequence[str] | None = None,
    repeated: Literal["error", "rename"] = "error",
    format: str | None = None,  # noqa: A002  the word users know
    max_bytes: int | None = None,
    backend: Backend | None = None,
    **given: Unpack[ReadOptions],
) -> Dataset:
    """Read a table from a file, and say what its columns are for.

    Parameters
    ----------
    source : path, pattern of paths, or a frame
        A file of a format in `FILE_FORMATS` (``isonomia formats`` lists them), plain or packed as ``.gz``, ``.xz``,
        ``.zst`` or a ``.zip`` that contains one table. A path is one file: ``*`` and ``?`` in it are letters unless
        there is no such file and an engine reads several (``data/*.parquet``). A pandas, Polars or PyArrow frame is
        taken as it is.
    delimiter : str, optional
        Character between the values of a CSV; by default the one of comma, semicolon, tab and bar that fits.
    decimal : "." or ",", optional
        Decimal mark of a CSV; with a comma, points group thousands. By default a comma where whole columns are written
        with one and commas do not stand between the values, which the notes of the data state. A file that can be read
        in two ways is refused.
    encoding : str, optional
        Encoding of a text file. By default UTF-8, or Windows-1252 (with Latin-1 in it) where the file is plainly
        written in that, which the notes of the data state. Any other encoding must be named.
    sheet : str, optional
        The sheet of an Excel workbook; the first visible one by default.
    na_values : str or sequence of str, optional
        Texts that stand for a missing value, such as "?". An empty cell always does; "NA" and "NaN" do in a column
        whose other values are numbers.
    columns : sequence of str, optional
        The columns to keep, in this order.
    repeated : "error" or "rename"
        What to do with a header that names two columns alike: refuse it, or call the second one ``name.1``.
    format : str, optional
        Format of the file, where its name does not show it.
    max_bytes : int, optional
        Largest file to read, in bytes after unpacking: 4 GiB by default, and at most 100 times the size of a packed
        file that unpacks to more than 256 MiB.
    backend : "pandas", "polars" or "pyarrow", optional
        The kind of frame to build; pandas where it is installed, else Polars, else PyArrow.
    **given
        What each column is for: the keywords of `Dataset`. Where rows are counted: the keywords of
        `data.engines.options.EngineOptions` (``engine="duckdb", memory="512MB"``; ``table="loans"`` or
        ``query="SELECT ..."`` of a PostgreSQL address).

    Notes
    -----
    What was found and not given (an encoding, a decimal comma, a sheet) stands in the notes of the dataset and of every
    report.

    A CSV column is numeric only where every value of the whole file is a number; "00123" and whole numbers of 19 or
    more digits make it a column of texts. Dates are read where every value is written ``2024-02-29`` (or with a time).
    Formulas of a workbook are not evaluated: their values are those that were saved.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_text("zip;sex;hired\\n00123;F;no\\n10117;M;yes\\n")
    ...     data = read(file, target="hired", positive="yes", protected=["sex"])
    >>> data, data.kinds["zip"]
    (Dataset(2 rows, binary target 'hired' (positive: 'yes'), protected: sex), 'category')
    """
    gaps = (na_values,) if isinstance(na_values, str) else tuple(na_values)
    where, roles = split_engine_options(given)
    if not isinstance(source, str | Path):
        if is_lazy(source):
            return Dataset(LazyEngine(source, memory=where.memory), **roles)
        return Dataset(_from_frame(source, columns, gaps), **roles)
    if is_database(str(source)):
        return _named(open_postgres(str(source), where, columns), where.table or "query", roles)
    if where.engine == "duckdb" and not Path(source).expanduser().is_file() and is_pattern(str(source)):
        engine = open_parquet(matching_files(source), memory=where.bytes, columns=columns)
        return _named(engine, _name_of(Path(source)), roles)
    found = locate(source, format)
    own_options = {
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "sheet": sheet,
        "na_values": gaps,
        "repeated": repeated,
        "max_bytes": max_bytes,
    }
    note = () if where.engine == "duckdb" else _too_large(found, where.bytes)
    if where.engine == "duckdb" or (where.engine is None and note):
        return _named(_file_engine(found, own_options, where.bytes, columns, note), _name_of(found.path), roles)
    with unpacked(found, max_bytes=max_bytes, encoding=encoding, given=format is not None) as plain:
        own = _own_options(plain.format, own_options, found.path)
        table = plain.format.read(plain.path, found.path, columns=columns, backend=backend, **own)
        packed = Packed.of(table.frame)
        if gaps and not plain.format.takes("na_values"):
            packed = Packed.of(_from_frame(packed.unpack().table, None, gaps))
    roles.setdefault("name", _name_of(found.path))
    if len(packed.table) == 0:
        raise DataError(f"The file '{found.path}' has columns but no rows.")
    data = Dataset(packed.pack(), **roles)
    data.reading_notes = (*_encoding_note(plain.found_encoding), *table.notes)
    return data


def _encoding_note(found: str | None) -> tuple[Message, ...]:
    if found is None:
        return ()
    return (
        msg(
            "The file is not written in UTF-8; it was read as Windows-1252 ({encoding}). Name its encoding if letters "
            "look wrong.",
            encoding=found,
        ),
    )


def _named(engine: Engine, name: str, roles: RoleOptions) -> Dataset:
    roles.setdefault("name", name)
    return Dataset(engine, **roles)


def _name_of(path: Path) -> str:
    return path.name.split(".")[0] or path.name


def _file_engine(
    found: Source, given: Mapping[str, Any], memory: int, columns: Sequence[str] | None, notes: Sequence[Message]
) -> Engine:
    """An engine over one file: Parquet as it is, text once it is written as Parquet."""
    chosen = found.format
    if found.packing or given["encoding"] is not None or not (chosen.id == "parquet" or chosen.convert):
        raise DataError(
            f"'{found.path}' cannot be counted where it is: only plain Parquet and UTF-8 text can. Unpack it, or save "
            "it as Parquet, or read it into memory (engine='memory')."
        )
    own = _own_options(chosen, given, found.path)
    if chosen.convert is None:
        if given["na_values"]:
            raise SpecError("`na_values` does not go with a Parquet file that is counted where it is.")
        return open_parquet([found.path], memory=memory, columns=columns, notes=notes)
    convert = chosen.convert

    def write(connection: Any, target: Path) -> Converted:
        return convert(found.path, found.path, connection, target, columns=columns, **own)

    return open_converted(found.path, write, memory=memory, notes=notes)


def _too_large(found: Source, memory: int) -> tuple[Message, ...]:
    """That a file would not fit into memory, where it would not and can be counted where it is."""
    size = found.path.stat().st_size
    growth = IN_MEMORY.get(found.format.id)
    if growth is None or found.packing or size * growth <= memory:
        return ()
    return (
        msg(
            "The file takes more than the memory given ({memory:int} MB): its rows were counted where they are, by "
            "DuckDB.",
            memory=memory // 10**6,
        ),
    )


#: How much more memory than bytes a file of a format takes, roughly.
IN_MEMORY = {"parquet": 10, "csv": 4, "tsv": 4}


def _own_options(chosen: FileFormat, given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The options that the format reads with; one that it does not take is refused."""
    for one in (DELIMITER, DECIMAL, ENCODING, SHEET, REPEATED):
        if given[one.name] != one.default and not chosen.takes(one.name):
            takers = " and ".join(entry.title for entry in FILE_FORMATS if entry.takes(one.name))
            raise SpecError(f"`{one.name}` is for {takers}; '{path}' is read as {chosen.title}. Leave it out.")
    return {name: value for name, value in given.items() if chosen.takes(name) and name != ENCODING.name}


def _from_frame(frame: Any, columns: Sequence[str] | None, gaps: Sequence[str]) -> Any:
    if columns is None and not gaps:
        return frame
    table = wrap(frame)
    for name in columns or ():
        if name not in table.columns:
            raise DataError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, table.columns)}")
    table = table.select(columns) if columns is not None else table
    texts = [name for name in table.columns if table[name].dtype == nw.String]
    if gaps and texts:
        table = table.with_columns(*(nw.when(~nw.col(name).is_in(gaps)).then(nw.col(name)) for name in texts))
    return table.to_native()
