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
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
        os.close(handle)
        part = Path(name)
        yield part
        _on_disk(part)  # before it gets its name: a power cut leaves the old file or the whole new one
        part.chmod(0o644)
        part.replace(target)
        _on_disk(target.parent)
    except OSError as error:
        if error.errno is not None and (error.filename is None or str(error.filename).endswith(".part")):
            error.filename = str(target)  # what the caller asked for, not what stands in for it
        raise
    finally:
        if name is not None:
            Path(name).unlink(missing_ok=True)


def _on_disk(path: Path) -> None:
    """Wait until what was written is on the disk; a system that cannot wait for a folder need not."""
    folder = path.is_dir()
    if folder and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError:
        if not folder:
            raise
    finally:
        os.close(handle)


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a text or bytes whole or not at all, and return where; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part:
        # half of a surrogate pair, which hostile data may hold, has no UTF-8
        part.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    return path
