"""How natural the people found are, and which subgroups of the data they make up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from isonomia.counting import count_by
from isonomia.discovery.pairs.people_copula import PeopleCopula
from isonomia.discovery.pairs.space import Space
from isonomia.discovery.subgroups import find_subgroups
from isonomia.errors import Cancelled, IsonomiaError
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.probing import BinnedColumns
from isonomia.typing import Floats

#: Rows of data the generator is fitted to, and people it judges.
FITTED, EVALUATED = 2000, 200
#: Rows of data that densities are learned from, and the share of independence in a correlation.
MAX_LEARNED, RIDGE = 50_000, 0.01


def naturalness(space: Space, rows: Floats) -> float | None:
    """How likely the people found are under a Gaussian copula of the data.

    The mean share of the data's own rows that are less likely than a person found: about 0.5 for people like those of
    the data, near 0 for people unlike any of them. None without findings or with too little data.
    """
    if len(rows) == 0 or len(space.people) < 50:
        return None
    rng = np.random.default_rng(0)
    fitted = space.people[_some(len(space.people), FITTED, rng)]
    copula = PeopleCopula.of(space.domain, fitted)
    own = space.people[_some(len(space.people), EVALUATED, rng)]
    found = rows[_some(len(rows), EVALUATED, rng)]
    both = copula.log_density(np.concatenate([own, found]))
    density, found_density = np.sort(both[: len(own)]), both[len(own) :]
    return float((np.searchsorted(density, found_density) / len(density)).mean())


def _some(n: int, limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Up to `limit` of `n` indices, at random."""
    return rng.choice(n, size=min(n, limit), replace=False, shuffle=False)


class Plausible:
    """Tells who resembles the people of the data: a fast substitute for `naturalness` during a search.

    The density of the free columns is that of a Gaussian copula over bins, each bin at the middle of its ranks:
    log p(x) = sum_j log f_j(x_j) - z' (R^-1 - I) z / 2, with z_j the normal score of the bin and R the correlation of
    the scores. The rank of a person is the share of the data's own rows that are less likely.
    """

    def __init__(self, space: Space) -> None:
        people = space.people[:: -(-len(space.people) // MAX_LEARNED)]
        self.bins, self.columns = BinnedColumns(space.domain, people), space.movable
        codes = self.bins.matrix(people, self.columns)
        density, normal = [], []
        for column, code in zip(self.columns.tolist(), codes, strict=True):
            counts = count_by(code, int(self.bins.sizes[column])) + 0.5
            shares = counts / counts.sum()
            density.append(np.log(shares / self.bins.widths(column)))
            normal.append(ndtri(np.cumsum(shares) - shares / 2))
        self.start = np.cumsum([0, *(len(part) for part in density[:-1])])[:, None]
        self.density, self.normal = np.concatenate(density), np.concatenate(normal)
        identity = np.eye(len(self.columns))
        correlation = np.atleast_2d(np.corrcoef(self.normal.take(codes + self.start)))
        self.precision = np.linalg.inv((1 - RIDGE) * np.nan_to_num(correlation) + RIDGE * identity) - identity
        self.own = np.sort(self._log(people))

    def likely(self, rows: Floats, level: float) -> NDArray[np.bool_]:
        """Which rows are at least as likely as this share of the data's own."""
        if level <= 0:
            return np.ones(len(rows), dtype=bool)
        return np.asarray(self._log(rows) > self.own[int(np.ceil(level * len(self.own))) - 1])

    def _log(self, rows: Floats) -> Floats:
        cells = self.bins.matrix(rows, self.columns) + self.start
        scores = self.normal.take(cells)
        return np.asarray(self.density.take(cells).sum(axis=0) - 0.5 * (scores * (self.precision @ scores)).sum(axis=0))


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
            Column("slice", [row["slice"] for row in rows], title=msg("Subgroup")),
            Column("size", [row["size"] for row in rows], format="int", title=msg("Rows")),
            Column("share", [row["outcome"] for row in rows], format="pct", title=msg("Treated differently")),
        ),
        msg("Subgroups of the data where people are treated differently most often"),
        space.domain.backend,
    )
