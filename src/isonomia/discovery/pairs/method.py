"""The registry of searches for discriminating pairs."""

from __future__ import annotations

from collections.abc import Callable

from isonomia.discovery.method import Method
from isonomia.parameters import parameters_of
from isonomia.probing import Search
from isonomia.registry import Registry

#: All searches for pairs; another package adds its own through the entry point group ``isonomia.pair_methods``.
PAIR_METHODS: Registry[Method] = Registry(
    "pair_method", word="method", package="isonomia.discovery.pairs.searches", order=lambda entry: entry.id
)


def pair_method(
    method_id: str, purpose: str, *, reference: str, complete: bool = False
) -> Callable[[Callable[..., Search]], Callable[..., Search]]:
    """Put a search ``search(space, *, option=default, ...)``, a generator of rows to test, into the registry."""

    def add(search: Callable[..., Search]) -> Callable[..., Search]:
        PAIR_METHODS.add(
            Method(
                id=method_id,
                purpose=purpose,
                finds="pairs",
                run=search,
                needs=("model", "protected"),
                parameters=parameters_of(search),
                reference=reference,
                complete=complete,
            )
        )
        return search

    return add
