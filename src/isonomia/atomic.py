"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The path of a temporary file beside `path`, which becomes `path` once the block has ended without an error.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/report.md") as part:
    ...         _ = part.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['report.md']
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a text or bytes whole or not at all, and return where; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        # half of a surrogate pair, which hostile data may hold, has no UTF-8
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    return path
