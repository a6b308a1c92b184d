"""How often chance alone gives a score as high: the whole search, repeated on outcomes drawn from what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isonomia.discovery.subgroups.scan.ascent import Ascent
from isonomia.typing import Floats

#: Replicates searched together.
_WAVE = 20
#: After so many replicates that score as high, the p-value is known well enough (Besag & Clifford 1991).
ENOUGH = 10


class Null(NamedTuple):
    """Highest scores of searches on random outcomes, and whether all requested searches were run."""

    scores: Floats
    complete: bool

    def p_value(self, score: float) -> float | None:
        """The share of searches that score at least as high, this one counted among them.

        Once `ENOUGH` of them do, the share among those made until then.
        """
        if not self.scores.size:
            return None
        above = np.flatnonzero(self.scores >= score - 1e-9)
        if above.size >= ENOUGH:
            return float(ENOUGH / (above[ENOUGH - 1] + 1))
        return float((1 + above.size) / (1 + self.scores.size))


def scan_p_value(
    ascent: Ascent,
    draw: Callable[[np.random.Generator], Floats],
    score: float,
    *,
    replicates: int,
    starts: int,
    seed: int,
) -> Null:
    """Search `replicates` sets of outcomes of chance, each from `starts` starts.

    The statistic that a p-value is computed of must come from the same number of starts.

    Parameters
    ----------
    draw : callable
        Gives observed outcomes by cell, drawn from what was expected.
    score : float
        The score in question; the search stops once enough replicates reach it.

    References
    ----------
    J. Besag, P. Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78:301.
    """
    rng = np.random.default_rng(seed)
    found: list[Floats] = []
    done = above = 0
    while done < replicates and above < ENOUGH and not ascent.clock.over:
        wave = min(_WAVE, replicates - done)
        observed = np.repeat([draw(rng) for _ in range(wave)], starts, axis=0)
        chosen = np.concatenate([ascent.starts(starts, rng) for _ in range(wave)])
        scores, _ = ascent.climb(chosen, observed, rng)
        if not ascent.complete:
            break
        best = np.maximum(scores.reshape(wave, starts).max(axis=1), 0.0)
        found.append(best)
        done += wave
        above += int((best >= score - 1e-9).sum())
    return Null(np.concatenate(found) if found else np.zeros(0), done >= replicates or above >= ENOUGH)
