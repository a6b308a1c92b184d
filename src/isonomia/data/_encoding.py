"""The encoding of a text file: UTF-8, or Windows-1252 where the bytes are plainly that of a Western language."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from isonomia.errors import DataError

#: What spreadsheets and older systems of Western Europe and the Americas write; Latin-1 is a part of it.
WESTERN = "cp1252"
_CHUNK = 1 << 20
_ASCII = bytes(range(128))
#: Bytes of Windows-1252 that are letters, or marks that stand in ordinary texts: quotes, dashes, the euro, degrees.
_ORDINARY = bytes({*range(0xC0, 0x100)} - {0xD7, 0xF7}) + "€…ŠŒŽ‘’“”•–—™šœžŸ\xa0¡£§©ª«®°²´·º»¿".encode("cp1252")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_RUN = re.compile(rb"[\x80-\xff]{3,}")
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def found_encoding(path: Path, source_path: Path) -> str | None:
    """None where the file is UTF-8, else ``"cp1252"``; an error where it is plainly neither.

    A text of a Western language has few letters beyond ASCII, seldom three in a row, and nearly all of them are letters
    of Windows-1252. Cyrillic, Greek, Asian and Central European encodings fail at one of these.
    """
    line = _first_line_not_utf8(path)
    if line is None:
        return None
    counts = _counted(path)
    if counts.is_western:
        return WESTERN
    if counts.utf8 > counts.beyond / 2:
        raise DataError(
            f"'{source_path}' is UTF-8 with damaged letters (the first in line {line}). Save it again, or pass "
            "encoding='cp1252' to read it as it is."
        )
    raise DataError(
        f"'{source_path}' is not written in UTF-8 (line {line}), nor plainly in Windows-1252. Pass the encoding it was "
        "saved with, for example encoding='cp1250', encoding='cp1251' or encoding='shift_jis'."
    )


@dataclass
class _Counts:
    """Bytes beyond ASCII, and what they look like."""

    beyond: int = 0
    ordinary: int = 0
    in_runs: int = 0
    utf8: int = 0
    undefined: bool = False

    @property
    def is_western(self) -> bool:
        return (
            not self.undefined
            and self.ordinary >= 0.9 * self.beyond
            and self.in_runs <= 0.2 * self.beyond
            and self.utf8 <= self.beyond / 2
        )


def _first_line_not_utf8(path: Path) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 1
    with path.open("rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                return lines + error.object[: error.start].count(b"\n")
            if not chunk:
                return None
            lines += chunk.count(b"\n")


def _counted(path: Path) -> _Counts:
    counts = _Counts()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            beyond = chunk.translate(None, _ASCII)
            counts.beyond += len(beyond)
            counts.ordinary += len(beyond) - len(beyond.translate(None, _ORDINARY))
            counts.in_runs += sum(len(run) for run in _RUN.findall(chunk))
            counts.utf8 += sum(len(letter) for letter in _UTF8_LETTER.findall(chunk))
            counts.undefined |= _UNDEFINED.search(chunk) is not None
    return counts
