"""The registry of searches for discriminating pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from isonomia.discovery.pairs.space import Space
from isonomia.parameters import Parameter, parameters_of, read_options
from isonomia.probing import Search
from isonomia.registry import Registry


@dataclass(frozen=True)
class PairMethod:
    """One search.

    Attributes
    ----------
    id, purpose : str
    search : function
        ``search(space, *, option=default, ...)``: a generator of rows to test.
    reference : str
        Where it was published.
    complete : bool
        Whether it answers for everyone it looks at, so that it has no limit unless one is given.
    """

    id: str
    purpose: str
    search: Callable[..., Search]
    reference: str
    complete: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What can be set, as the search declares it."""
        return parameters_of(self.search)

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options as plain values, or everything that is wrong with them."""
        return read_options(self.parameters, options, owner=f"The method '{self.id}'")

    def start(self, space: Space, options: Mapping[str, Any]) -> Search:
        """Begin the search, or say what is wrong with an option."""
        return self.search(space, **self.check(options))


PAIR_METHODS: Registry[PairMethod] = Registry("pair_method", word="method")


def pair_method(
    method_id: str, purpose: str, *, reference: str, complete: bool = False
) -> Callable[[Callable[..., Search]], Callable[..., Search]]:
    """Put a search into the registry."""

    def add(search: Callable[..., Search]) -> Callable[..., Search]:
        PAIR_METHODS.add(
            PairMethod(id=method_id, purpose=purpose, search=search, reference=reference, complete=complete)
        )
        return search

    return add
