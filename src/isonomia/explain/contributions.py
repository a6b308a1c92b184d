"""What one column adds for groups, from exact values: disparity, importance, and both sampling errors of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.counting import count_by, mean_by, sum_by
from isonomia.explain.background import distinct
from isonomia.explain.explainer import Explainer, Problem
from isonomia.explain.prepare import Prepared
from isonomia.languages import Message
from isonomia.parameters import defaults_of
from isonomia.typing import Floats, Indices

#: Parts of the background that people are explained against one by one: how much the parts differ shows how much the
#: choice of the background matters to every column.
PARTS = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Contributions:
    """Values of all columns of some people, and what one of the columns adds against every background row.

    Attributes
    ----------
    rows : (n,) array
        Positions of the people.
    values : (n, M) array
        What each column adds.
    halves : (2, n) array
        What the column adds, by either half of the background (and of the draws).
    sizes : (parts, M) array
        The mean size of every column's contribution by each part of the background alone, with the signs of `values`.
    shares : (parts,) array
        The shares of the parts in the background.
    error : (n,) array or None
        Standard errors of the column's sampled values.
    back : (m,) array
        Positions of the background rows in the pool.
    cells : (n,) array
        Cell of each person: those of one group for whom the column works in one direction.
    shares_draws : bool
        Whether errors of different people go together.
    against : (m, cells) array or None
        What the column adds for each background row against the people of each cell; None where it is not known.
    """

    rows: Indices
    values: Floats
    halves: Floats
    sizes: Floats
    shares: Floats
    error: Floats | None
    back: Indices
    cells: Indices
    against: Floats | None
    shares_draws: bool
    notes: tuple[Message, ...] = ()


class Runner:
    """Runs one explainer on rows and backgrounds given by position."""

    def __init__(self, prepared: Prepared, explainer: Explainer, *, max_model_rows: int, seed: int) -> None:
        self.prepared, self.explainer = prepared, explainer
        self.max_model_rows, self.seed = max_model_rows, seed
        self.notes: tuple[Message, ...] = ()

    def __call__(
        self, rows: Floats, back: Floats, weights: Floats, wanted: Indices, seed: int
    ) -> tuple[Floats, Floats | None]:
        """Values (n, wanted) and their errors."""
        people, of_person = np.unique(rows, axis=0, return_inverse=True)
        background, shares = distinct(back, weights)
        found = self.explainer.run(
            Problem(
                space=self.prepared.space,
                rows=people,
                background=background,
                weights=shares,
                wanted=wanted,
                output=self.prepared.output,
                max_model_rows=self.max_model_rows,
                seed=self.seed + seed,
                progress=self.prepared.subject.progress,
                options=defaults_of(self.explainer.parameters),
            )
        )
        self.notes = found.notes
        at = of_person.ravel()
        return found.values[at, :, 0], None if found.error is None else found.error[at, :, 0]


def contributions(
    run: Runner, player: int, groups: Indices, *, limit: int | None, seed: int, both_ways: bool = True
) -> Contributions:
    """Values of the people against each part of the background, then of the background against the people.

    phi(x; b) = -phi(b; x): explaining background rows against people shows what every background row adds to a mean
    over people, which is what the background's sampling error is made of.
    """
    prepared = run.prepared
    rng = np.random.default_rng(seed)
    pool, weights = prepared.pool, prepared.pool_weights
    back = np.arange(len(pool)) if limit is None or len(pool) <= limit else rng.choice(len(pool), limit, replace=False)
    rows, everyone = prepared.chosen, np.arange(len(prepared.space.players))
    people, own = prepared.located[rows], prepared.weights[rows]
    split = np.array_split(rng.permutation(back), min(PARTS, len(back)))
    parts, errors = zip(
        *(run(people, pool[part], weights[part], everyone, number) for number, part in enumerate(split)), strict=True
    )
    share = np.array([weights[part].sum() for part in split]) / weights[back].sum()
    values = np.einsum("p,pnm->nm", share, np.stack(parts))
    noise = None
    if all(error is not None for error in errors):
        noise = np.sqrt(sum((one * error[:, player]) ** 2 for one, error in zip(share, errors, strict=True)))
    sign = np.sign(values)
    names, cells = np.unique(2 * groups + (values[:, player] > 0), return_inverse=True)
    against = np.empty((len(back), len(names))) if both_ways else None
    for cell in range(len(names) if against is not None else 0):
        assert against is not None
        inside = cells == cell
        against[:, cell] = run(pool[back], people[inside], own[inside], np.array([player]), 2 + cell)[0][:, 0]
    return Contributions(
        rows=rows,
        values=values,
        halves=_halves(share, np.stack([part[:, player] for part in parts])),
        sizes=np.stack([own @ (sign * part) for part in parts]) / own.sum(),
        shares=share,
        error=noise,
        back=back,
        cells=cells.astype(np.intp),
        against=against,
        shares_draws=run.explainer.shares_draws,
        notes=run.notes,
    )


def _halves(share: Floats, parts: Floats) -> Floats:
    """Means (2, n) over the first and over the second half of the parts (parts, n)."""
    cut = max(1, len(parts) // 2)
    sides = [slice(None, cut), slice(cut, None) if len(parts) > 1 else slice(None)]
    return np.stack([np.average(parts[side], axis=0, weights=share[side]) for side in sides])


def contrast(
    prepared: Prepared, found: Contributions, player: int, weight: Floats, groups: Indices, sign: Floats | None = None
) -> tuple[float, float]:
    """sum_i weight_i sign_i phi_i over people, and its standard error: of the choice of people and of background rows.

    Weights are proportional to sample weights within each group, signs constant within cells. People's part: the
    spread of signed values within their groups. The background's part: the spread of
    psi(b) = sum_i weight_i sign_i phi(x_i; b). Where the background is the data, both parts of a row are added before
    they are squared.
    """
    sign = np.ones(len(weight)) if sign is None else sign
    figure = sign * found.values[:, player]
    size = np.maximum(count_by(groups, int(groups.max()) + 1), 2).astype(float)
    mean = mean_by(groups, figure, len(size), prepared.weights[found.rows])
    people = weight * (figure - mean[groups]) * np.sqrt(size / (size - 1))[groups]
    noise = 0.0
    if found.error is not None:
        each = np.abs(weight) * found.error
        noise = float(each.sum() ** 2 if found.shares_draws else (each**2).sum())
    if found.against is None:
        return float(weight @ figure), float(np.sqrt((people**2).sum() + noise))
    psi = -found.against @ sum_by(found.cells, weight * sign, found.against.shape[1])
    share = prepared.pool_weights[found.back] / prepared.pool_weights[found.back].sum()
    back = share * (psi - share @ psi) * np.sqrt(len(share) / max(1, len(share) - 1))
    if prepared.pool is prepared.located:
        influence = np.zeros(len(prepared.located))
        influence[found.rows] += people
        influence[found.back] += back
        variance = float((influence**2).sum())
    else:
        variance = float((people**2).sum() + (back**2).sum())
    return float(weight @ figure), float(np.sqrt(variance + noise))
