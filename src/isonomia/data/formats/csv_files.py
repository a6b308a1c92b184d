"""CSV: the delimiter, the header, and the type of every column from all of its values.

A column is of numbers only where every value is written as one. Digits that start with a zero ("00123") and digits
too long for a 64-bit integer are codes, not quantities, and stay texts.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from isonomia.data._duckdb import collected, quoted, restricted_connection
from isonomia.data.file_format import (
    DECIMAL,
    DELIMITER,
    ENCODING,
    FILE_FORMATS,
    NA_VALUES,
    REPEATED,
    Converted,
    FileFormat,
    ReadTable,
)
from isonomia.data.formats._number_forms import Decimal, Form, cast, decimal_mark, form_test
from isonomia.data.frames import Backend, default_backend
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages import Message, msg

DELIMITERS = (",", ";", "\t", "|")
#: Bytes read to find the delimiter and the header.
_HEAD = 1 << 20
_SAMPLE_ROWS = 100
_FIRST_ROWS = 5000
#: More columns are refused once the header is read: each takes a buffer of 2,000 values, however few rows there are.
MAX_COLUMNS = 10_000


def read_csv(
    path: Path,
    source_path: Path,
    *,
    delimiter: str | None,
    decimal: Decimal | None,
    na_values: Sequence[str],
    columns: Sequence[str] | None,
    repeated: Literal["error", "rename"],
    backend: Backend | None,
) -> ReadTable:
    """The table in `path` (plain, UTF-8); `source_path` is its name in errors."""
    backend = backend or default_backend()
    given = {"delimiter": delimiter, "decimal": decimal, "na_values": na_values, "repeated": repeated}
    with (
        restricted_connection(path) as connection,
        _typed(connection, path, source_path, columns, backend, given) as (query, names, notes),
    ):
        return ReadTable(collected(connection, query, backend, names), notes)


def convert_csv(
    path: Path, source_path: Path, connection: Any, target: Path, *, columns: Sequence[str] | None, **given: Any
) -> Converted:
    """The columns of a table, and notes on it, once a file that does not fit into memory was written as Parquet."""
    with _typed(connection, path, source_path, columns, default_backend(), given) as (query, names, notes):
        connection.execute(f"COPY ({query}) TO {quoted(str(target))} (FORMAT parquet)")
        return names, notes


@contextlib.contextmanager
def _typed(
    connection: Any,
    path: Path,
    source_path: Path,
    columns: Sequence[str] | None,
    backend: Backend,
    given: Mapping[str, Any],
) -> Iterator[tuple[str, list[str], tuple[Message, ...]]]:
    """The query that gives every value its type, the names of its columns, and notes; errors name what is wrong."""
    head, whole = _head(path, source_path)
    blank = len(head) - len(head.lstrip("\r\n"))
    skipped = len(head[:blank].splitlines())
    head = head[blank:]
    mark = _delimiter(head, whole, given["delimiter"], source_path)
    names = _header(head, mark, given["repeated"], source_path)
    if whole and len(_records(head, mark, 2)) < 2:
        raise DataError(f"The file '{source_path}' has a header ({len(names)} columns) but no rows.")
    kept = range(len(names)) if columns is None else [column_index(name, names) for name in columns]
    if len(kept) > MAX_COLUMNS:
        raise DataError(
            f"The file '{source_path}' has {len(kept):,} columns; at most {MAX_COLUMNS:,} are read at once. Name those "
            "that are needed: columns=[...]."
        )
    source = _source(path, len(names), mark, given["na_values"], skipped)
    try:
        bits = _written_as(connection, source, kept, whole)
        if not any(bits.values()):
            raise DataError(f"The file '{source_path}' has a header ({len(names)} columns) but no rows.")
        point = given["decimal"] or decimal_mark({names[index]: bits[index] for index in kept}, mark, source_path)
        casts = ", ".join(f"{cast(f'c{index}', bits[index], point, backend)} AS c{index}" for index in kept)
        notes = () if given["decimal"] or point == "." else (_COMMA,)
        yield f"SELECT {casts} FROM {source}", [names[index] for index in kept], notes
    except duck_error() as error:
        raise _explained(str(error), source_path, mark) from None


#: What is stated where a decimal comma was found, not given.
_COMMA = msg("Numbers of the file have a decimal comma (points group thousands), and were read as such.")


def _head(path: Path, source_path: Path) -> tuple[str, bool]:
    """The start of the file as text, and whether that is all of it."""
    with path.open("rb") as file:
        raw = file.read(_HEAD)
        whole = not file.read(1)
    if not whole:
        raw = raw[: max(raw.rfind(b"\n"), raw.rfind(b"\r")) + 1] or raw
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _wrong_encoding(source_path, line) from None
    if not text.strip():
        raise DataError(f"The file '{source_path}' is empty: it contains only whitespace.")
    return text, whole


def _records(text: str, mark: str, limit: int) -> list[list[str]]:
    """The first records that are not empty; an open quote ends them."""
    found: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        for record in reader:
            if record:
                found.append(record)
            if len(found) == limit:
                break
    except csv.Error:  # guess from the records before it; reading the whole file raises the error
        pass
    return found


def _delimiter(head: str, whole: bool, given: str | None, source_path: Path) -> str:
    if given is not None:
        if len(given) != 1 or given in '"\r\n':
            raise SpecError(f"`delimiter` must be one character, not a quote or a line end; got {given!r}.")
        mark = given
    else:
        mark = max(DELIMITERS, key=lambda each: _fit(head, whole, each))
    header = _records(head, mark, 1)[0] if _records(head, mark, 1) else [""]
    other = [each for each in DELIMITERS if each != mark and each in header[0]]
    if len(header) == 1 and other:
        raise DataError(
            f"With the delimiter {mark!r} the file '{source_path}' has one column, called {header[0][:80]!r}. "
            f"That looks like another delimiter: pass delimiter={other[0]!r}."
        )
    return mark


def _fit(head: str, whole: bool, mark: str) -> tuple[bool, int]:
    """How well a delimiter explains the first rows: all of one width above 1, then the wider header."""
    records = _records(head, mark, _SAMPLE_ROWS)
    if not whole and len(records) < _SAMPLE_ROWS:
        records = records[:-1] or records
    widths = {len(record) for record in records}
    return (len(widths) == 1 and widths != {1}, len(records[0]) if records else 0)


def _header(head: str, mark: str, repeated: Literal["error", "rename"], source_path: Path) -> list[str]:
    records = _records(head, mark, 1)
    if not records:
        raise DataError(f"The first line of '{source_path}' cannot be read: a quote is left open.")
    return check_header(records[0], repeated, source_path)


def check_header(given: Sequence[str], repeated: Literal["error", "rename"], source_path: Path) -> list[str]:
    """The names of the columns; those that are missing are made, repeated ones are refused or renamed."""
    names = [name.strip() or f"unnamed_{index}" for index, name in enumerate(given, 1)]
    if all(re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+", name) for name in names):
        raise DataError(
            f"The first line of '{source_path}' has only numbers ({', '.join(names[:5])}, ...), expected column names. "
            "Put a header line on top of the file."
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice and repeated == "error":
        raise DataError(
            f"The header of '{source_path}' repeats {', '.join(map(repr, twice[:5]))}. Rename the columns, or "
            "pass repeated='rename' to read the second as 'name.1'."
        )
    return _renamed(names)


def _renamed(names: Sequence[str]) -> list[str]:
    taken = set(names)
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        new = name
        while seen[name] and (new == name or new in taken):
            new = f"{name}.{seen[name]}"
            seen[name] += 1
        seen[name] += not seen[name]
        taken.add(new)
        result.append(new)
    return result


def column_index(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise DataError(f"`columns` must name columns of the file; got {name!r}.{close_to(name, names)}")
    return list(names).index(name)


def _source(path: Path, n_columns: int, mark: str, na_values: Sequence[str], skipped: int) -> str:
    # Names made here, not the file's own: nothing written in a header ever becomes part of a query.
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(n_columns))
    gaps = ", ".join(quoted(text) for text in dict.fromkeys(("", *na_values)))
    return (
        f"read_csv({quoted(str(path))}, columns = {{{columns}}}, delim = {quoted(mark)}, quote = '\"', escape = '\"', "
        f"header = true, skip = {skipped}, auto_detect = false, nullstr = [{gaps}], strict_mode = true, "
        "null_padding = false, ignore_errors = false, hive_partitioning = false, filename = false, "
        "compression = 'none')"
    )


def _written_as(connection: Any, source: str, kept: Sequence[int], short: bool) -> dict[int, int]:
    """The forms of the values of each column; columns that start with texts are not read to the end of a long file.

    The values are tested one below the other: with an expression for each column a wide table is mostly expressions,
    and the patterns of 10,000 columns took 3.5 GB.
    """
    bits = dict.fromkeys(kept, 0)
    for rows in (source,) if short else (f"(SELECT * FROM {source} LIMIT {_FIRST_ROWS})", source):
        untyped = [index for index in bits if not bits[index] & Form.TEXT]
        if untyped:
            values, numbers = ", ".join(f"c{index}" for index in untyped), ", ".join(map(str, untyped))
            below = f"SELECT unnest([{numbers}]) AS number, unnest([{values}]) AS value FROM {rows}"
            found = connection.execute(f"SELECT number, {form_test('value')} FROM ({below}) GROUP BY number").fetchall()
            bits.update(found)
    return bits


def duck_error() -> type[Exception]:
    import duckdb

    return duckdb.Error


def _explained(message: str, source_path: Path, mark: str) -> DataError:
    """What is wrong with the file, without the settings of the reader."""
    at = re.search(r"CSV Error on Line: (\d+)", message)
    line = int(at[1]) if at else None
    where = f"line {line} of '{source_path}'" if line else f"'{source_path}'"
    widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if widths:
        return DataError(
            f"Rows must have as many values as the header has names: {where} has {widths[2]}, expected {widths[1]} "
            f"(delimiter {mark!r}). Repair the line, quote values that contain the delimiter, or pass `delimiter`."
        )
    if "not utf-8" in message.lower() or "invalid unicode" in message.lower():
        return _wrong_encoding(source_path, line)
    if "quote" in message.lower().split("possible")[0]:
        return DataError(f"A quote in {where} is left open or closed too early. Repair the line.")
    if "maximum line size" in message.lower():
        return DataError(f"A line is too long in {where}: is a quote left open, or is it not {mark!r}-delimited text?")
    if "state machine" in message.lower():
        return DataError(
            f"'{source_path}' mixes kinds of line ends or leaves a quote open. Save it with one kind of line end."
        )
    return DataError(f"'{source_path}' cannot be read as CSV: {message.splitlines()[0][:200]}")


def _wrong_encoding(source_path: Path, line: int | None) -> DataError:
    where = f" (line {line})" if line else ""
    return DataError(
        f"'{source_path}' is not written in UTF-8{where}. Pass the encoding it was saved with, for example "
        "encoding='latin-1' or encoding='cp1252'."
    )


def read_tsv(path: Path, source_path: Path, *, delimiter: str | None, **options: Any) -> ReadTable:
    """A frame of a table whose values stand between tabs, unless another delimiter is given."""
    return read_csv(path, source_path, delimiter="\t" if delimiter is None else delimiter, **options)


def convert_tsv(path: Path, source_path: Path, *parts: Any, delimiter: str | None, **options: Any) -> Converted:
    """As `convert_csv`, of a table whose values stand between tabs unless another delimiter is given."""
    return convert_csv(path, source_path, *parts, delimiter="\t" if delimiter is None else delimiter, **options)


FILE_FORMATS.add(
    FileFormat(
        id="csv",
        title="CSV",
        purpose="text with a delimiter, which is found; types are those that fit every value of the file",
        suffixes=(".csv", ".txt"),
        read=read_csv,
        convert=convert_csv,
        parameters=(DELIMITER, DECIMAL, ENCODING, NA_VALUES, REPEATED),
    ),
    FileFormat(
        id="tsv",
        title="TSV",
        purpose="text with tabs between the values; otherwise like CSV",
        suffixes=(".tsv", ".tab"),
        read=read_tsv,
        convert=convert_tsv,
        parameters=(DELIMITER, DECIMAL, ENCODING, NA_VALUES, REPEATED),
    ),
)
