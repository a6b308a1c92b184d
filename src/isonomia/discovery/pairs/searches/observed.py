"""Every person in the data, in every protected variant: the complete answer for the people who are there."""

from __future__ import annotations

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.probing import Search


@pair_method(
    "observed", "every row of the data in every protected variant, in one batch", reference="Isonomia", complete=True
)
def observed(space: Space) -> Search:
    """Flip every row of the data over all protected combinations.

    No sampling and no search: what it does not find is not there among these people.
    """
    if len(space.people) == 0:
        raise NotApplicable("the method 'observed' needs rows of data; only a domain was given")
    allowed = min(space.loop.ledger.tests_left, space.loop.ledger.rows_left(space.probe.n_variants))
    if allowed >= len(space.people):
        yield space.people
        return
    space.notes.append(
        msg(
            "The budget allows {n:int} of {all:int} rows, which were sampled at random.",
            n=allowed,
            all=len(space.people),
        )
    )
    yield space.people[space.rng.permutation(len(space.people))]
