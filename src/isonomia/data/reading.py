"""A file or a frame in, a dataset out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw

from isonomia.data._files import locate, unpacked
from isonomia.data.dataset import Dataset
from isonomia.data.file_format import (
    DELIMITER,
    ENCODING,
    FILE_FORMAT_NAME,
    FILE_FORMATS,
    NA_VALUES,
    REPEATED,
    FileFormat,
)
from isonomia.data.frames import BACKENDS, Backend, wrap
from isonomia.data.roles import RoleOptions
from isonomia.errors import DataError, SpecError, close_to
from isonomia.parameters import Choice, Integer, Several, Text, validated


@validated(
    delimiter=DELIMITER.kind,
    encoding=ENCODING.kind,
    na_values=NA_VALUES.kind,
    columns=Several(Text("the name of a column")).or_none("for all"),
    repeated=REPEATED.kind,
    format=FILE_FORMAT_NAME.or_none("to read it off the name"),
    max_bytes=Integer(1).or_none(),
    backend=Choice(BACKENDS).or_none(),
)
def read(
    source: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    na_values: str | Sequence[str] = (),
    columns: Sequence[str] | None = None,
    repeated: Literal["error", "rename"] = "error",
    format: str | None = None,  # noqa: A002  the word users know
    max_bytes: int | None = None,
    backend: Backend | None = None,
    **roles: Unpack[RoleOptions],
) -> Dataset:
    """Read a table from a file, and say what its columns are for.

    Parameters
    ----------
    source : path, or a frame
        A file of a format in `FILE_FORMATS` (``isonomia formats`` lists them), plain or packed as ``.gz``, ``.xz``,
        ``.zst`` or a ``.zip`` that contains one table. A path is one file: ``*`` and ``?`` in it are letters. A pandas,
        Polars or PyArrow frame is taken as it is.
    delimiter : str, optional
        Character between the values of a CSV; by default the one of comma, semicolon, tab and bar that fits.
    encoding : str, optional
        Encoding of a text file; UTF-8 by default. Nothing is guessed: another encoding must be named.
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
    gaps = (na_values,) if isinstance(na_values, str) else tuple(na_values)
    if not isinstance(source, str | Path):
        return Dataset(_from_frame(source, columns, gaps), **roles)
    found = locate(source, format)
    given = {"delimiter": delimiter, "encoding": encoding, "na_values": gaps, "repeated": repeated}
    with unpacked(found, max_bytes=max_bytes, encoding=encoding, given=format is not None) as plain:
        own = _own_options(plain.format, given, found.path)
        frame = plain.format.read(plain.path, found.path, columns=columns, backend=backend, **own)
        if not plain.format.takes("na_values"):
            frame = _from_frame(frame, None, gaps)
    roles.setdefault("name", found.path.name.split(".")[0] or found.path.name)
    if len(wrap(frame)) == 0:
        raise DataError(f"The file '{found.path}' has columns but no rows.")
    return Dataset(frame, **roles)


def _own_options(chosen: FileFormat, given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The options that the format reads with; one that it does not take is refused."""
    for one in (DELIMITER, ENCODING, REPEATED):
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
        table = table.with_columns(nw.when(~nw.col(*texts).is_in(gaps)).then(nw.col(*texts)))
    return table.to_native()
