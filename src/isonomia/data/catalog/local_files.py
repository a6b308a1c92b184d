"""Public datasets on this machine: in this package, in a folder that the user names, or in the cache."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from isonomia.data.catalog.entry import PublicDataset
from isonomia.errors import DataError

VARIABLE = "ISONOMIA_DATA"
#: Small datasets that their authors let everyone pass on; the README beside them names authors, source and licence.
SHIPPED = Path(__file__).parent / "shipped"
_PACKING: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (lambda raw: gzip.compress(raw, 9, mtime=0), gzip.decompress),
    ".xz": (lzma.compress, lzma.decompress),
}


def cache_folder() -> Path:
    """The folder for downloaded datasets, by the convention of the operating system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "isonomia" / "datasets"


def find(entry: PublicDataset) -> tuple[Path | None, list[str]]:
    """The dataset's file if it is on this machine, and what was tried."""
    if (SHIPPED / entry.file).is_file():
        return SHIPPED / entry.file, []
    failures: list[str] = []
    named = os.environ.get(VARIABLE)
    folders = [(f"${VARIABLE}", Path(named).expanduser() if named else None), ("the cache", cache_folder())]
    for label, folder in folders:
        if folder is None:
            failures.append(f"{label} is not set")
            continue
        for name in (entry.file, *entry.also):
            if (folder / name).is_file():
                return folder / name, failures
        failures.append(f"{label} ('{folder}') has no '{entry.file}'")
    return None, failures


def check(entry: PublicDataset, path: Path) -> None:
    """Refuse a file whose bytes are not those that were published."""
    raw = path.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found in (entry.sha256, entry.content_sha256, entry.also.get(path.name)):
        return
    unpack = _PACKING.get(path.suffix, (None, None))[1]
    try:
        content = unpack(raw) if unpack else raw
    except (OSError, EOFError, lzma.LZMAError):
        content = b""
    if hashlib.sha256(content).hexdigest() != entry.content_sha256:
        raise DataError(
            f"'{path}' is not the published file of the dataset '{entry.id}': its sha256 is {found}, expected "
            f"{entry.sha256}. Delete it and fetch it again, or read it as your own data with isonomia.read."
        )


def keep(entry: PublicDataset, content: bytes) -> Path:
    """Write a table whose digest is right to the cache, atomically."""
    found = hashlib.sha256(content).hexdigest()
    if found != entry.content_sha256:
        raise DataError(f"the table has sha256 {found}, expected {entry.content_sha256}")
    folder = cache_folder()
    target = folder / entry.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{entry.id}-", delete=False) as file:
            file.write(_PACKING[target.suffix][0](content))
        Path(file.name).replace(target)
    except OSError as error:
        raise DataError(f"The cache '{folder}' cannot be written ({error}). Set ${VARIABLE} instead.") from None
    return target
