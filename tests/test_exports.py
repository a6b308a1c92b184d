"""The public names of the package and of every room, against a checked-in list.

`make exports` (or ``python tests/test_exports.py``) writes the list again; its diff shows what a change gives to users
or takes from them.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import isonomia

LIST = Path(__file__).with_name("exports.txt")


def rooms() -> list[str]:
    """The package and its rooms: directories directly below it that Python can import."""
    found = (info.name for info in pkgutil.iter_modules(isonomia.__path__) if info.ispkg)
    return ["isonomia", *(f"isonomia.{name}" for name in sorted(found))]


def exported() -> list[str]:
    """Every public name, as ``room.name``, in order."""
    return sorted(f"{room}.{name}" for room in rooms() for name in importlib.import_module(room).__all__)


def test_exported_names_are_the_listed_ones() -> None:
    listed, found = set(LIST.read_text(encoding="utf-8").split()), set(exported())
    assert found == listed, (
        f"new: {sorted(found - listed)}; gone: {sorted(listed - found)}. "
        "If this is meant, run: python tests/test_exports.py"
    )


def test_every_exported_name_is_there() -> None:
    missing = [
        f"{room}.{name}"
        for room in rooms()
        for name in importlib.import_module(room).__all__
        if not hasattr(importlib.import_module(room), name)
    ]
    assert not missing


if __name__ == "__main__":
    LIST.write_text("\n".join(exported()) + "\n", encoding="utf-8")
    sys.stdout.write(f"{LIST.name}: {len(exported())} names\n")
