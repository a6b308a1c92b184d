"""Random people until the share that is treated differently is known well enough."""

from __future__ import annotations

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.evidence import wilson
from isonomia.parameters import Integer, Number, validated
from isonomia.probing import Search


@pair_method(
    "themis",
    "uniform random people until the discriminating share is known within an error",
    reference="Galhotra, Brun & Meliou, Fairness testing, FSE 2017",
)
@validated(
    error=Number(above=0).or_none("to go on to the budget"),
    confidence=Number(above=0, below=1),
    batch=Integer(1),
    min_tests=Integer(0),
)
def themis(
    space: Space, *, error: float | None = 0.005, confidence: float = 0.95, batch: int = 5000, min_tests: int = 1000
) -> Search:
    """Draw people uniformly from the domain; the base line of every other method.

    Parameters
    ----------
    error : float, optional
        Stop when the half width of the interval of the share is at most this; None goes on to the budget.
    confidence : float
        Level of that interval (Wilson).
    batch : int
        People per round; the stop is looked at between rounds.
    min_tests : int
        Never stop before so many tests.
    """
    space.facts["uniform"] = True  # all who are tested, those of the last round too
    tested = found = 0
    empty_rounds = 0
    while True:
        answer = yield space.drawn(batch)
        tested += int(answer.fresh.sum())
        found += int((answer.found & answer.fresh).sum())
        low, high = wilson(found, max(tested, 1), confidence)
        if error is not None and tested >= min_tests and float(high - low) / 2 <= error:
            return
        empty_rounds = 0 if answer.fresh.any() else empty_rounds + 1
        if empty_rounds >= 20:  # a small domain, all of it seen
            return
