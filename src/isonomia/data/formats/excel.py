"""Excel workbooks (.xlsx): the values of one sheet, as they were when the workbook was saved.

A workbook is a zip archive of XML. Before a library parses it, its size once unpacked is checked and XML entities are
refused; formulas are never evaluated, macros and links are never followed.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from isonomia.data._files import growth_limit
from isonomia.data.file_format import BYTE_LIMIT, FILE_FORMATS, REPEATED, SHEET, FileFormat, ReadTable
from isonomia.data.formats._columnar import damaged
from isonomia.data.formats._workbook_parts import check_part
from isonomia.data.formats.csv_files import check_header, column_index
from isonomia.data.frames import Backend, to_frame
from isonomia.errors import DataError, SpecError, close_to, require
from isonomia.languages import msg

#: Cells that are read at most: each is a Python object until its column is complete.
MAX_CELLS = 20_000_000
_ELEMENT = re.compile(rb"<[A-Za-z]")
#: What a formula without a value shows.
_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


def read_excel(
    path: Path,
    source_path: Path,
    *,
    sheet: str | None,
    columns: Sequence[str] | None,
    repeated: Literal["error", "rename"],
    backend: Backend | None,
    max_bytes: int | None,
) -> ReadTable:
    """The table of one sheet: names in its first row that is not empty, values below them."""
    openpyxl = require("openpyxl", extra="excel", purpose="Reading Excel workbooks")
    _check_archive(path, source_path, growth_limit(path, max_bytes))
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            chosen = _chosen(book, sheet, source_path)
            chosen.reset_dimensions()  # what the file claims about its size is not believed
            names, values = _columns(_rows(chosen, source_path), repeated, source_path)
            others = len(book.worksheets) - 1
        finally:
            book.close()
    except (DataError, SpecError):
        raise
    except Exception as error:  # anything at all may come out of a damaged workbook
        raise damaged(error, source_path, "an Excel workbook") from None
    kept = range(len(names)) if columns is None else [column_index(name, names) for name in columns]
    frame = to_frame({names[index]: _tidied(values[index]) for index in kept}, backend)
    note = msg("The rows come from the sheet {sheet} of the workbook.", sheet=chosen.title)
    return ReadTable(frame, (note,) if others else ())


def _check_archive(path: Path, source_path: Path, max_bytes: int) -> None:
    """Refuse what unpacks to too much, or has XML entities, which can grow without end."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            total = sum(entry.file_size for entry in entries)
            if total > max_bytes:
                raise DataError(
                    f"The workbook '{source_path}' unpacks to {total:,} bytes, more than {max_bytes:,}. If you trust "
                    "it, raise `max_bytes`; or save the sheet as CSV."
                )
            for entry in entries:
                if entry.filename.endswith((".xml", ".rels")):
                    with archive.open(entry) as part:
                        start = part.read(1 << 16)
                    # a document type stands before the first element, or nowhere
                    element = _ELEMENT.search(start)
                    if element is None or b"<!" in start[: element.start()].replace(b"<!--", b"") or b"\x00" in start:
                        raise DataError(
                            f"The workbook '{source_path}' has a part that does not begin as those of Excel do "
                            f"('{entry.filename}'). It was not opened."
                        )
                    with archive.open(entry) as part:
                        check_part(part, entry.filename, source_path)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise damaged(error, source_path, "an Excel workbook") from None


def _chosen(book: Any, sheet: str | None, source_path: Path) -> Any:
    sheets = {one.title: one for one in book.worksheets}
    if not sheets:
        raise DataError(f"The workbook '{source_path}' has no sheet with cells.")
    if sheet is None:
        return next((one for one in sheets.values() if one.sheet_state == "visible"), next(iter(sheets.values())))
    if sheet not in sheets:
        raise SpecError(f"`sheet` must name a sheet of '{source_path}'; got {sheet!r}.{close_to(sheet, sheets)}")
    return sheets[sheet]


def _rows(sheet: Any, source_path: Path) -> Iterator[tuple[Any, ...]]:
    cells = 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row)
        if cells > MAX_CELLS:
            raise DataError(
                f"The sheet '{sheet.title}' of '{source_path}' has more than {MAX_CELLS:,} cells. Save it as CSV or "
                "Parquet, which are read faster."
            )
        if any(value is not None and value != "" for value in row):
            yield row


def _columns(
    rows: Iterable[tuple[Any, ...]], repeated: Literal["error", "rename"], source_path: Path
) -> tuple[list[str], list[list[Any]]]:
    found = iter(rows)
    first = next(found, ())
    while first and first[-1] in (None, ""):
        first = first[:-1]
    if not first:
        raise DataError(f"The sheet of '{source_path}' is empty.")
    names = check_header(["" if name is None else str(name) for name in first], repeated, source_path)
    values: list[list[Any]] = [[] for _ in names]
    for number, row in enumerate(found, 2):
        if any(value not in (None, "") for value in row[len(names) :]):
            raise DataError(
                f"Row {number} of the sheet in '{source_path}' has values beyond its {len(names)} named columns. Name "
                "every column in the first row."
            )
        for index, column in enumerate(values):
            column.append(row[index] if index < len(row) else None)
    if not values[0]:
        raise DataError(f"The file '{source_path}' has a header ({len(names)} columns) but no rows.")
    return names, values


def _tidied(values: list[Any]) -> list[Any]:
    """Empty cells, and formulas that failed, are missing."""
    return [None if value == "" or (isinstance(value, str) and value in _ERRORS) else value for value in values]


FILE_FORMATS.add(
    FileFormat(
        id="excel",
        title="Excel",
        purpose="one sheet of a workbook: values as they were saved, no formulas, no macros",
        suffixes=(".xlsx",),
        read=read_excel,
        extra="excel",
        parameters=(SHEET, REPEATED, BYTE_LIMIT),
    )
)
