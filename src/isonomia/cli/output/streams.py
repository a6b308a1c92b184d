"""Standard output and standard error that fail in a way a shell understands, and show letters a terminal lacks.

Output that cannot be written ends the program with 5, as any output does; where its reader went away, with the code
that shells give for it, never with that of a verdict. Messages that cannot be written end nothing.
"""

from __future__ import annotations

import codecs
import os
import sys
import unicodedata
from io import TextIOWrapper
from typing import Any

from isonomia.cli.output.reader import reader_language

#: How a program ends whose output was lost, or whose reader went away (as shells report it): never a verdict.
LOST, READER_GONE = 5, 141
_NEAREST = "isonomia.nearest"


def nearest_letters(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an encoding lacks: the letter without its accent, else a question mark.

    >>> codecs.register_error(_NEAREST, nearest_letters)
    >>> "não há 3 ≥ 2".encode("ascii", _NEAREST)
    b'nao ha 3 ? 2'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    bases = (next(iter(unicodedata.normalize("NFKD", char)), "?") for char in lacking)
    return "".join(base if base.isascii() else "?" for base in bases), error.end


class _Output(TextIOWrapper):
    """Standard output: a failure ends the program."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise self._ended(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise self._ended(error) from error

    def _ended(self, error: OSError) -> SystemExit:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # what is left must not fail again at the end
        if isinstance(error, BrokenPipeError):
            return SystemExit(READER_GONE)
        from isonomia.languages import error_text

        sys.stderr.write(error_text(f"{error.strerror}: 'standard output'.\n", reader_language()))
        return SystemExit(LOST)


class _Messages(TextIOWrapper):
    """Standard error: nobody can be told that it failed."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


def guard_streams() -> None:
    """Let the program write to such streams; one that was closed takes what is written and forgets it."""
    codecs.register_error(_NEAREST, nearest_letters)
    for name, kind in (("stderr", _Messages), ("stdout", _Output)):
        given: Any = getattr(sys, name)
        if given is None:  # the program runs as long as the stream is open
            setattr(sys, name, kind(open(os.devnull, "wb"), "utf-8"))  # noqa: PTH123, SIM115
        else:
            given.flush()  # what was printed before must not be lost or come later
            at_once = name == "stderr" or given.line_buffering
            setattr(sys, name, kind(given.buffer, given.encoding, _NEAREST, line_buffering=at_once))
