"""A file or a frame in, a dataset out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw

from isonomia.data._columnar import read_arrow, read_jsonl, read_parquet
from isonomia.data._csv import read_csv
from isonomia.data._files import MAX_BYTES, Format, locate, unpacked
from isonomia.data.dataset import Dataset
from isonomia.data.frames import BACKENDS, Backend, default_backend, wrap
from isonomia.data.roles import RoleOptions
from isonomia.errors import DataError, SpecError, close_to
from isonomia.parameters import Choice, validated


@validated(backend=Choice(BACKENDS).or_none(), repeated=Choice(("error", "rename")))
def read(
    source: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    na_values: str | Sequence[str] = (),
    columns: Sequence[str] | None = None,
    repeated: Literal["error", "rename"] = "error",
    format: Format | None = None,  # noqa: A002  the word users know
    max_bytes: int = MAX_BYTES,
    backend: Backend | None = None,
    **roles: Unpack[RoleOptions],
) -> Dataset:
    """Read a table from a file, and say what its columns are for.

    Parameters
    ----------
    source : path, or a frame
        CSV or TSV, Parquet, Arrow (Feather) or JSON lines (``.jsonl``, ``.ndjson``), plain or packed as ``.gz``,
        ``.xz``, ``.zst`` or a ``.zip`` that contains one table. A path is one file: ``*`` and ``?`` in it are letters.
        A pandas, Polars or PyArrow frame is taken as it is.
    delimiter : str, optional
        Of a CSV; by default the one of comma, semicolon, tab and bar that fits the first rows.
    encoding : str, optional
        Of a text file; UTF-8 by default. Nothing is guessed: another encoding must be named.
    na_values : str or sequence of str, optional
        Texts that stand for a missing value, such as "?". An empty cell always does; "NA" and "NaN" do in a column
        whose other values are numbers.
    columns : sequence of str, optional
        The columns to keep, in this order.
    repeated : "error" or "rename"
        What to do with a header that names two columns alike: refuse it, or call the second one ``name.1``.
    format : "csv", "tsv", "parquet", "arrow" or "jsonl", optional
        For a file whose name does not tell.
    max_bytes : int
        Most bytes to read, after unpacking.
    backend : "pandas", "polars" or "pyarrow", optional
        The kind of frame to build; pandas where it is installed, else Polars.
    **roles
        What each column is for: the keywords of `Dataset`.

    Notes
    -----
    A CSV column is numeric only where every value of the whole file is a number; "00123" and whole numbers of 19 or
    more digits make it a column of texts. Dates are read where every value is written ``2024-02-29`` (or with a time).

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
    unknown = [name for name in roles if name not in RoleOptions.__annotations__]
    if unknown:
        options = (*RoleOptions.__annotations__, "delimiter", "encoding", "na_values", "columns", "backend")
        raise SpecError(f"`read` has no option {unknown[0]!r}.{close_to(unknown[0], options)}")
    gaps = (na_values,) if isinstance(na_values, str) else tuple(na_values)
    if any(not isinstance(gap, str) for gap in gaps):
        raise SpecError(f"`na_values` must be texts as they are written in the file; got {list(gaps)}.")
    if isinstance(columns, str):
        raise SpecError(f"`columns` must be a list of names; got the text {columns!r}. Write [{columns!r}].")
    if not isinstance(source, str | Path):
        return Dataset(_from_frame(source, columns, gaps), **roles)
    found = locate(source, format)
    with unpacked(found, max_bytes=max_bytes, encoding=encoding, given=format is not None) as plain:
        if plain.format in ("csv", "tsv"):
            mark = delimiter if delimiter is not None or plain.format == "csv" else "\t"
            frame = read_csv(
                plain.path,
                found.path,
                delimiter=mark,
                na_values=gaps,
                columns=columns,
                repeated=repeated,
                backend=backend or default_backend(),
            )
        else:
            if delimiter is not None:
                raise SpecError(f"`delimiter` is for CSV; '{found.path}' is read as {plain.format}. Leave it out.")
            if plain.format == "arrow":
                frame = read_arrow(plain.path, found.path, columns=columns, backend=backend)
            else:
                reader = read_parquet if plain.format == "parquet" else read_jsonl
                frame = reader(plain.path, found.path, columns=columns, backend=backend or default_backend())
            frame = _from_frame(frame, None, gaps)
    roles.setdefault("name", found.path.name.split(".")[0] or found.path.name)
    if len(wrap(frame)) == 0:
        raise DataError(f"The file '{found.path}' has columns but no rows.")
    return Dataset(frame, **roles)


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
        table = table.with_columns(nw.when(~nw.col(*texts).is_in(gaps)).then(nw.col(*texts)))
    return table.to_native()
