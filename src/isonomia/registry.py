"""Registries: metrics, checks, methods, scenarios and perturbers by id, one registry per kind.

An entry is a frozen description with an `id` and a one-line `purpose`. Another package adds its own through an entry
point in the group ``isonomia.<kind>s``, which is loaded on first use; one that is broken is left out with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Any, Generic, Protocol, TypeVar

from isonomia.errors import FAULTS, SpecError, close_to, kind_of, place_of


class Entry(Protocol):
    """An entry of a registry."""

    @property
    def id(self) -> str: ...

    @property
    def purpose(self) -> str: ...


T = TypeVar("T", bound=Entry)


class Registry(Generic[T]):
    """Named entries of one kind, in the order they were added.

    Parameters
    ----------
    kind : str
        What one entry is ("metric"); entry points are read from ``isonomia.<kind>s``.
    word : str, optional
        The word for an entry in messages: the option a user sets. Defaults to `kind`.
    package : str or tuple of str, optional
        Packages whose modules add the entries; they are imported the first time the registry is asked.
    order : callable, optional
        The key that entries are listed by; by default they are listed as they were added.
    """

    def __init__(
        self,
        kind: str,
        *,
        word: str | None = None,
        package: str | tuple[str, ...] = (),
        order: Callable[[T], Any] | None = None,
    ) -> None:
        self.kind = kind
        self.word = word or kind
        self.packages = (package,) if isinstance(package, str) else package
        self.order = order
        self._entries: dict[str, T] = {}
        self._imported = self._loaded = False

    def add(self, entry: T, *others: T) -> T:
        """Add an entry, and others, and return it; ids must be new."""
        for one in (entry, *others):
            self._put(one)
        return entry

    def _put(self, entry: T) -> None:
        if entry.id in self._entries:
            raise SpecError(f"The {self.word} '{entry.id}' is already registered. Choose another id.")
        self._entries[entry.id] = entry

    def __getitem__(self, entry_id: str | T) -> T:
        """The entry of an id; an entry of this registry stands for itself."""
        key = entry_id if isinstance(entry_id, str) else getattr(entry_id, "id", None)
        self._load_own()
        if key not in self._entries:
            self._load()
        try:
            return self._entries[key]  # type: ignore[index]
        except KeyError:
            raise SpecError(f"Unknown {self.word} {entry_id!r}.{close_to(entry_id, self._entries)}") from None

    def __contains__(self, entry_id: object) -> bool:
        key = getattr(entry_id, "id", entry_id)
        self._load_own()
        if key not in self._entries:
            self._load()
        return key in self._entries

    def __iter__(self) -> Iterator[T]:
        self._load()
        entries = tuple(self._entries.values())
        return iter(entries if self.order is None else sorted(entries, key=self.order))

    def __len__(self) -> int:
        self._load()
        return len(self._entries)

    def __repr__(self) -> str:
        """The entries, one per line: id and purpose.

        >>> from isonomia.discovery import METHODS
        >>> print(repr(METHODS.where(finds="pairs")).splitlines()[-1])
        themis    uniform random people until the discriminating share is known within an error
        """
        width = max((len(entry.id) for entry in self), default=0)
        return "\n".join(f"{entry.id:<{width}}  {entry.purpose}" for entry in self) or f"(no {self.word})"

    def ids(self) -> tuple[str, ...]:
        """The ids of all entries."""
        return tuple(entry.id for entry in self)

    def added(self) -> tuple[T, ...]:
        """The entries added so far; unlike everything else it loads nothing, so modules of entries may ask while they
        are loaded."""
        return tuple(self._entries.values())

    def names(self) -> tuple[str, ...]:
        """Every name that an entry answers to."""
        return self.ids()

    def where(self, **facts: Any) -> Registry[T]:
        """The entries with these attributes, as a registry that sees what is added later.

        >>> from isonomia.discovery import METHODS
        >>> METHODS.where(finds="pairs").ids()[:3]
        ('adf', 'aequitas', 'auto')
        """
        return _Part(self, facts)

    def _load_own(self) -> None:
        """The entries of this package. One of them is found without those of others: rooms ask while they are
        imported, and the module of another package imports rooms."""
        if self._imported:
            return
        self._imported = True
        for package in self.packages:
            for module in iter_modules(import_module(package).__path__):
                if not module.name.startswith("_"):
                    import_module(f"{package}.{module.name}")

    def _load(self) -> None:
        """All entries, those of other packages too."""
        self._load_own()
        if self._loaded:
            return
        self._loaded = True
        problems = []
        for point in entry_points(group=f"isonomia.{self.kind}s"):
            before = dict(self._entries)
            try:
                self._plug_in(point)
            except FAULTS as error:  # the code of another package may raise anything
                self._entries = before
                problems.append((point, error))
        for point, problem in problems:  # once all are loaded: a warning may be an error to whoever asked for that
            package = "?" if point.dist is None else point.dist.name
            why = (
                problem
                if isinstance(problem, SpecError)
                else f"{kind_of(problem)} (at {place_of(problem, point.value)})"
            )
            warnings.warn(
                f"The package '{package}' brings the {self.word} '{point.name}', which is left out: {why}", stacklevel=3
            )

    def _plug_in(self, point: EntryPoint) -> None:
        """Add the entry of another package."""
        before = dict(self._entries)
        entry: Any = point.load()
        kinds = tuple({type(one) for one in before.values()})
        fits = isinstance(entry, kinds) if kinds else True
        if not (fits and isinstance(getattr(entry, "id", None), str)):
            if self._entries != before:
                return  # its module added what it has
            raise SpecError(f"'{point.value}' is of type {type(entry).__name__}, which is not an entry of this kind.")
        if before.get(entry.id, entry) is not entry:
            raise SpecError(f"The {self.word} '{entry.id}' is already registered. Choose another id.")
        if entry.id not in self._entries:
            self.add(entry)


class _Part(Registry[T]):
    """The entries of a registry that have some attributes."""

    def __init__(self, whole: Registry[T], facts: Mapping[str, Any]) -> None:
        super().__init__(whole.kind, word=whole.word, order=whole.order)
        self._whole, self._facts = whole, facts

    def add(self, entry: T, *others: T) -> T:
        return self._whole.add(entry, *others)

    def _load_own(self) -> None:
        self._load()

    def _load(self) -> None:
        fits = (entry for entry in self._whole if all(getattr(entry, name) == v for name, v in self._facts.items()))
        self._entries = {entry.id: entry for entry in fits}
