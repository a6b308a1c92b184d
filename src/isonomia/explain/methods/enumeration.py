"""Every coalition: exact values of any model with few columns."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from isonomia.errors import BudgetError
from isonomia.explain.explainer import EXPLAINERS, Case, Explainer, Problem, Values
from isonomia.explain.mixing import coalition_values, model_rows
from isonomia.typing import Bools, Floats

#: More players have more coalitions than can be listed.
MAX_PLAYERS = 20
#: Bytes of v(S) that exist at a time.
MEMORY = 1 << 26
MAX_BACKGROUND = 200


def all_coalitions(players: int) -> Bools:
    """Every subset of the players (2^M, M); the bits of its position say who is in."""
    return np.asarray((np.arange(1 << players)[:, None] >> np.arange(players)) & 1, dtype=bool)


def shapley_matrix(players: int) -> Floats:
    """The matrix (2^M, M) that turns v(S) of all coalitions into Shapley values.

    phi_j = sum over S without j of |S|! (M - |S| - 1)! / M! (v(S + j) - v(S)).

    >>> shapley_matrix(2).tolist()
    [[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]
    """
    inside = all_coalitions(players)
    size = inside.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        joins = np.exp(gammaln(size) + gammaln(players - size + 1) - gammaln(players + 1))
        stays = np.exp(gammaln(size + 1) + gammaln(players - size) - gammaln(players + 1))
    return np.asarray(np.where(inside, joins[:, None], -stays[:, None]))


def _refuses(case: Case) -> str | None:
    players = len(case.space.players)
    return None if players <= MAX_PLAYERS else f"{players} columns have too many coalitions; at most {MAX_PLAYERS}"


def _cost(case: Case) -> int:
    return case.rows * case.background << len(case.space.players)


def _run(problem: Problem) -> Values:
    coalitions = all_coalitions(len(problem.players))
    matrix = shapley_matrix(len(problem.players))[:, problem.wanted]
    space, back, weights = problem.space, problem.background, problem.weights
    step = max(1, MEMORY // (8 * len(coalitions) * problem.width))
    parts = [problem.rows[start : start + step] for start in range(0, len(problem.rows), step)]
    if (most := len(problem.rows) * len(back) * len(coalitions)) > problem.max_model_rows:
        most = sum(model_rows(space, part, back, coalitions) for part in parts)
    if most > problem.max_model_rows:
        raise BudgetError(
            f"Every coalition of {len(problem.players)} columns needs {most:,} model rows; `max_model_rows` allows "
            f"{problem.max_model_rows:,}. Explain fewer rows, use a smaller background, or method='kernel'."
        )
    values, base = [], np.zeros(problem.width)
    for part in parts:
        worth = coalition_values(space, part, back, weights, coalitions, problem.progress)
        values.append(np.einsum("nck,cj->njk", worth, matrix, optimize=True))
        base = worth[0, 0]
    return Values(values=np.concatenate(values), base=base)


EXPLAINERS.add(
    Explainer(
        id="enumeration",
        purpose="any model with few columns: every coalition of columns is tried",
        exact_for="every output of any model",
        outputs=("probability", "log_odds", "decision", "score", "number"),
        run=_run,
        refuses=_refuses,
        cost=_cost,
        order=30,
        max_background=MAX_BACKGROUND,
        reference="Shapley (1953); Lundberg and Lee (2017)",
    )
)
