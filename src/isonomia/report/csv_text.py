"""Tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isonomia.evidence import Table


def to_csv(table: Table) -> str:
    """The table as CSV: intervals and reasons as columns of their own, full precision.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    rows = list(table.rows())
    return csv_of(rows, list(rows[0]) if rows else list(table.names))


def csv_of(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Rows as CSV, by the same rules."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_plain, names))  # columns of the data are named by whoever made them
    writer.writerows([_plain(row.get(name)) for name in names] for row in rows)
    return stream.getvalue()


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return f"'{text}" if text[:1] in FORMULA else text


#: How a text begins that a spreadsheet takes for a formula; some skip what is not printed, or read wide forms alike.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
