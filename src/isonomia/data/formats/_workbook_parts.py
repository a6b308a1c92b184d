"""The parts of a workbook, looked through before a library builds anything of them.

A few kilobytes of XML can unpack to millions of elements in one row, or one within the other, each of which becomes an
object. What no program writes is refused as it streams by, in the memory of one chunk.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO
from xml.parsers import expat

from isonomia.errors import DataError

#: What a sheet may have: Excel's own limits, and more levels of elements than any program writes.
MAX_ROWS, MAX_ROW_CELLS, MAX_DEPTH = 1 << 20, 1 << 14, 64
#: Elements of one row or one text (a cell has a handful), and of a part that is built as a whole, such as the styles.
MAX_TOGETHER, MAX_WHOLE = 16 * MAX_ROW_CELLS, 1 << 20
_CHUNK = 1 << 18
#: Parts that are read piece by piece: what holds the pieces.
_PIECES = ("row", "si")


class _Count:
    """Counts elements as they begin and end."""

    def __init__(self) -> None:
        self.depth = self.rows = self.together = self.whole = 0

    def begin(self, name: str, _: object) -> None:
        self.depth += 1
        self.together += 1
        self.whole += 1
        if name.rpartition(":")[2] in _PIECES:
            self.rows += 1

    def end(self, name: str) -> None:
        self.depth -= 1
        if name.rpartition(":")[2] in _PIECES:
            self.whole -= self.together  # its objects are gone once it is read
            self.together = 0

    @property
    def _problem(self) -> str:
        if self.depth > MAX_DEPTH:
            return f"elements within one another more than {MAX_DEPTH} times"
        if self.rows > MAX_ROWS:
            return f"more than {MAX_ROWS:,} rows"
        if self.whole > MAX_WHOLE or (self.rows and self.together > MAX_TOGETHER):
            return "more elements in one place than a workbook has"
        return ""


def check_part(part: IO[bytes], name: str, source_path: Path) -> None:
    """Refuse a part that would take far more memory than its cells do; damage is for the library to say."""
    count, parser = _Count(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = count.begin, count.end
    try:
        while chunk := part.read(_CHUNK):
            parser.Parse(chunk, False)
            if count._problem:
                raise DataError(
                    f"The workbook '{source_path}' has {count._problem} ('{name}'). It was not opened; save the sheet "
                    "as CSV."
                )
    except expat.ExpatError:
        return
