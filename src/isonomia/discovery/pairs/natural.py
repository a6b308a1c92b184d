"""How natural the people found are, and which subgroups of the data they make up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by
from isonomia.data.synthetic import Copula
from isonomia.discovery.pairs.space import Space
from isonomia.discovery.subgroups import find_subgroups
from isonomia.errors import Cancelled, IsonomiaError
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.typing import Floats

#: Rows of data the generator is fitted to, and people it judges.
FITTED, EVALUATED = 2000, 200
#: Numbers with more values than this are binned, into so many bins.
MAX_VALUES, BINS = 60, 30


def naturalness(space: Space, rows: Floats) -> float | None:
    """How likely the people found are under a Gaussian copula of the data.

    The mean share of the data's own rows that are less likely than a person found: about 0.5 for people like those of
    the data, near 0 for people unlike any of them. None without findings or with too little data.
    """
    if len(rows) == 0 or len(space.people) < 50:
        return None
    rng = np.random.default_rng(0)
    fitted = space.people[_some(len(space.people), FITTED, rng)]
    copula = Copula.fit(space.domain.decode(fitted))
    own = space.people[_some(len(space.people), EVALUATED, rng)]
    found = rows[_some(len(rows), EVALUATED, rng)]
    both = copula.log_density(space.domain.decode(np.concatenate([own, found])))
    density, found_density = np.sort(both[: len(own)]), both[len(own) :]
    return float((np.searchsorted(density, found_density) / len(density)).mean())


def _some(n: int, limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Up to `limit` of `n` indices, at random."""
    return rng.choice(n, size=min(n, limit), replace=False, shuffle=False)


class Plausible:
    """Whether people have values that occur: a fast substitute for `naturalness` during a search.

    The sum over free columns of the log share of the data in the same value (numbers with many values: in the same
    thirtieth of the range), each by itself. Plausible are those above the quantile `share` of the data's own rows.
    """

    def __init__(self, space: Space, share: float) -> None:
        domain = space.domain
        self.columns = space.movable
        self.low = domain.low[self.columns]
        span = domain.high[self.columns] - self.low
        exact = domain.whole[self.columns] & (span < MAX_VALUES)
        self.width = np.where(exact, 1.0, span / BINS)
        self.bins = np.where(exact, span + 1, BINS).astype(np.intp)
        bins_of = self._bins(space.people)
        self.tables = []
        for index, bins in enumerate(self.bins):
            counts = count_by(bins_of[:, index], int(bins)) + 0.5
            self.tables.append(np.log(counts / counts.sum()))
        self.threshold = float(np.quantile(self._sum(bins_of), share))

    def _bins(self, rows: Floats) -> NDArray[np.intp]:
        values = np.nan_to_num((rows[:, self.columns] - self.low) / self.width)
        return np.asarray(np.clip(values, 0, self.bins - 1), dtype=np.intp)

    def _sum(self, bins_of: NDArray[np.intp]) -> Floats:
        return np.asarray(sum(table[bins_of[:, index]] for index, table in enumerate(self.tables)), dtype=float)

    def __call__(self, rows: Floats) -> NDArray[np.bool_]:
        return np.asarray(self._sum(self._bins(rows)) >= self.threshold)


def add_subgroups(space: Space, found: NDArray[np.bool_]) -> None:
    """The people treated differently as subgroups of the data: slices where they are most frequent (SliceLine)."""
    if not found.any() or found.all():
        return
    frame = space.domain.decode(space.people)
    names = [space.domain.names[int(column)] for column in space.movable]
    try:
        result = find_subgroups(
            frame,
            method="sliceline",
            errors=found.astype(float),
            features=names,
            k=5,
            max_l=2,
            progress=space.loop.ledger.progress,
        )
    except Cancelled:
        raise
    except IsonomiaError as reason:  # slices are an addition: pairs are valid without them, and a note gives the reason
        space.notes.append(msg("The findings could not be summarised as subgroups: {reason}", reason=str(reason)))
        return
    rows: list[dict[str, Any]] = list(next(iter(result.tables.values())).rows())
    space.tables["subgroups"] = Table(
        (
            Column("slice", [row["slice"] for row in rows]),
            Column("size", [row["size"] for row in rows]),
            Column("share", [row["outcome"] for row in rows]),
        ),
        msg("Subgroups of the data where people are treated differently most often"),
        space.domain.backend,
    )
