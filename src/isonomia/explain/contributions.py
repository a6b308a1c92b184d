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
    """Values of the people against either half of the background, then of the background against the people.

    phi(x; b) = -phi(b; x): explaining background rows against people shows what every background row adds to a mean
    over people, which is what the background's sampling error is made of.
    """
    prepared = run.prepared
    rng = np.random.default_rng(seed)
    pool, weights = prepared.pool, prepared.pool_weights
    back = np.arange(len(pool)) if limit is None or len(pool) <= limit else rng.choice(len(pool), limit, replace=False)
    rows, everyone = prepared.chosen, np.arange(len(prepared.space.players))
    people = prepared.located[rows]
    parts, errors, shares = [], [], []
    for number, half in enumerate(np.array_split(rng.permutation(back), 2)):
        found, error = run(people, pool[half], weights[half], everyone, number)
        parts.append(found)
        errors.append(error)
        shares.append(float(weights[half].sum()))
    share = np.array(shares) / sum(shares)
    values = share[0] * parts[0] + share[1] * parts[1]
    noise = None
    if errors[0] is not None and errors[1] is not None:
        noise = np.hypot(share[0] * errors[0][:, player], share[1] * errors[1][:, player])
    names, cells = np.unique(2 * groups + (values[:, player] > 0), return_inverse=True)
    against = np.empty((len(back), len(names))) if both_ways else None
    own = prepared.weights[rows]
    for cell in range(len(names) if against is not None else 0):
        assert against is not None
        inside = cells == cell
        against[:, cell] = run(pool[back], people[inside], own[inside], np.array([player]), 2 + cell)[0][:, 0]
    return Contributions(
        rows=rows,
        values=values,
        halves=np.stack([part[:, player] for part in parts]),
        error=noise,
        back=back,
        cells=cells.astype(np.intp),
        against=against,
        shares_draws=run.explainer.shares_draws,
        notes=run.notes,
    )


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
