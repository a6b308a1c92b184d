"""Files that must not change while they are counted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from isonomia.languages import Message, msg

#: Bytes at the end of a file that are compared: the footer of a Parquet file names all of its parts.
_FOOTER = 1 << 16


class Watch:
    """Files as they were when they were opened: size, time of the last change, and a digest of their ends."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self._before = self._state()

    @property
    def fingerprint(self) -> str:
        """A text that changes with the files."""
        return hashlib.sha256(repr(self._before).encode()).hexdigest()

    def moved(self) -> Message | None:
        """Which files changed since they were opened."""
        now = self._state()
        changed = [file.name for file, old, new in zip(self.files, self._before, now, strict=True) if old != new]
        if not changed:
            return None
        return msg(
            "The data changed while they were examined ({files}): figures of different checks may be about different "
            "rows. Repeat the audit.",
            files=", ".join(changed[:5]),
        )

    def _state(self) -> list[tuple[int, int, str] | None]:
        return [_state_of(file) for file in self.files]


def _state_of(file: Path) -> tuple[int, int, str] | None:
    try:
        found = file.stat()
        with file.open("rb") as content:
            content.seek(max(found.st_size - _FOOTER, 0))
            return found.st_size, found.st_mtime_ns, hashlib.sha256(content.read(_FOOTER)).hexdigest()
    except OSError:
        return None  # gone: not what it was
