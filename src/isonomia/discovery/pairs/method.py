"""How a search for discriminating pairs is registered."""

from __future__ import annotations

from collections.abc import Callable

from isonomia.discovery.method import METHODS, Method
from isonomia.parameters import parameters_of
from isonomia.probing import Search


def pair_method(
    method_id: str, purpose: str, *, reference: str, complete: bool = False, alters: bool = True
) -> Callable[[Callable[..., Search]], Callable[..., Search]]:
    """Put a search ``search(space, *, option=default, ...)``, a generator of rows to test, into the registry."""

    def add(search: Callable[..., Search]) -> Callable[..., Search]:
        METHODS.add(
            Method(
                id=method_id,
                purpose=purpose,
                finds="pairs",
                run=search,
                needs=("model", "protected"),
                parameters=parameters_of(search),
                reference=reference,
                complete=complete,
                alters=alters,
            )
        )
        return search

    return add
