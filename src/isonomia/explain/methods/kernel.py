"""Kernel values: a weighted regression of v(S) on who is in S, from pairs of a coalition and its complement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from isonomia.errors import BudgetError
from isonomia.explain.error_target import ERROR, missed_error
from isonomia.explain.explainer import EXPLAINERS, Explainer, Problem, Values
from isonomia.explain.mixing import coalition_values
from isonomia.parameters import Integer, Parameter
from isonomia.typing import Bools, Floats

MAX_BACKGROUND = 100
#: Bytes of v(S) that exist at a time.
MEMORY = 1 << 26
#: Pairs per player without which the regression is not worth making.
FEWEST = 2
#: Sizes with so many coalitions are drawn, others listed.
LISTED = 1 << 16


@dataclass(frozen=True, eq=False)
class Pairs:
    """Coalitions, each standing for itself and its complement.

    Attributes
    ----------
    inside : (P, M) array
        Who is in.
    weight : (P,) array
        Weight in the regression.
    sampled : (P,) array
        Share of the pairs of the same size that were not drawn: 0 where all were.
    """

    inside: Bools
    weight: Floats
    sampled: Floats


def all_pairs(players: int) -> int:
    """How many pairs of a coalition and its complement there are, the empty one left out."""
    return (1 << (players - 1)) - 1


def draw_pairs(players: int, count: int, rng: np.random.Generator) -> Pairs:
    """About `count` pairs without replacement: as many of every size, all of the sizes that have fewer.

    Equal numbers per size are what leverage scores ask for: a pair matters to the regression in proportion to one over
    the number of pairs of its size.
    """
    sizes = np.arange(1, players // 2 + 1)
    total = np.array([comb(players, int(s)) // (2 if 2 * s == players else 1) for s in sizes], dtype=float)
    taken = np.zeros(len(sizes))
    for _ in sizes:  # what one size leaves goes to the others
        open_ = taken < total
        if not open_.any() or count - taken.sum() < open_.sum():
            break
        taken[open_] += np.floor((count - taken.sum()) / open_.sum())
        taken = np.minimum(taken, total)
    taken = np.maximum(taken, np.minimum(total, 1))
    kernel = np.where(2 * sizes == players, 0.5, 1.0) / (sizes * (players - sizes))
    parts = [_of_size(players, int(s), int(n), rng) for s, n in zip(sizes, taken, strict=True)]
    repeats = [len(part) for part in parts]
    return Pairs(
        inside=np.concatenate(parts),
        weight=np.repeat(kernel / repeats, repeats),
        sampled=np.repeat(1 - np.array(repeats) / total, repeats),
    )


def _of_size(players: int, size: int, count: int, rng: np.random.Generator) -> Bools:
    """Distinct coalitions of a size; of two that complement each other, the one with the first player."""
    half = 2 * size == players
    total = comb(players, size) // (2 if half else 1)
    if total <= LISTED:
        found = _listed(players, size)
        found = found[found[:, 0]] if half else found
        return found[rng.permutation(total)[:count]] if count < total else found
    seen: dict[bytes, Bools] = {}
    while len(seen) < count:
        order = rng.random((count, players)).argsort(axis=1)
        for one in order < size:
            one = ~one if half and not one[0] else one
            seen.setdefault(np.packbits(one).tobytes(), one)
    return np.array(list(seen.values())[:count])


def _listed(players: int, size: int) -> Bools:
    """All coalitions of a size."""
    members = np.array(list(combinations(range(players), size)), dtype=np.intp)
    inside = np.zeros((len(members), players), dtype=bool)
    np.put_along_axis(inside, members, True, axis=1)
    return inside


def regress(pairs: Pairs, difference: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Values and standard errors (n, M, K) from v(S) - v(rest) of each pair (n, P, K) and v(all) - v(none) (n, K).

    With z = 1 for who is in and -1 for who is not, v(S) - v(rest) = z phi for additive v. phi is the weighted least
    squares solution with sum phi = v(all) - v(none); its error comes from the residuals of the pairs that were drawn
    (leverage-corrected sandwich), since pairs that were all taken cannot turn out differently.
    """
    z = np.where(pairs.inside, 1.0, -1.0)
    players = z.shape[1]
    free = np.linalg.qr(np.eye(players)[:, 1:] - 1 / players)[0] if players > 1 else np.zeros((1, 0))
    inner = z @ free
    solved = np.linalg.pinv(np.sqrt(pairs.weight)[:, None] * inner) * np.sqrt(pairs.weight)
    gain = free @ solved
    mean = z.mean(axis=1)
    wanted = difference - mean[None, :, None] * total[:, None, :]
    values = total[:, None, :] / players + np.einsum("jp,npk->njk", gain, wanted, optimize=True)
    rest = difference - np.einsum("pj,njk->npk", z, values, optimize=True)
    leverage = np.minimum(np.einsum("pj,jp->p", inner, solved), 0.99)
    scale = gain**2 * (pairs.sampled / (1 - leverage) ** 2)
    return values, np.sqrt(np.einsum("jp,npk->njk", scale, rest**2, optimize=True))


def _pairs_for(problem: Problem) -> tuple[int, int]:
    """(how many pairs to draw, how many the budget allows)."""
    players, per_coalition = len(problem.players), len(problem.rows) * len(problem.background)
    allowed = int((problem.max_model_rows - len(problem.background)) // (2 * per_coalition))
    fewest = min(all_pairs(players), FEWEST * players)
    if allowed < fewest:
        needed = 2 * fewest * per_coalition + len(problem.background)
        raise BudgetError(
            f"Kernel values of {len(problem.rows):,} rows over {len(problem.background):,} background rows need at "
            f"least {needed:,} model rows; `max_model_rows` allows {problem.max_model_rows:,}. Explain fewer rows, use "
            "a smaller background (`max_background`), or method='sampling'."
        )
    wanted = max(fewest, min(all_pairs(players), problem.options["coalitions"] // 2))
    return min(wanted, allowed), min(allowed, all_pairs(players))


def _solved(problem: Problem, pairs: Pairs, total: Floats) -> tuple[Floats, Floats]:
    """Values and standard errors of all rows, so many rows at a time that v(S) fits into memory."""
    both = np.concatenate([pairs.inside, ~pairs.inside])
    half, step = len(pairs.inside), max(1, MEMORY // (8 * len(both) * problem.width))
    found = []
    for start in range(0, len(problem.rows), step):
        at = slice(start, start + step)
        worth = coalition_values(
            problem.space, problem.rows[at], problem.background, problem.weights, both, problem.progress
        )
        found.append(regress(pairs, worth[:, :half] - worth[:, half:], total[at]))
    values, error = (np.concatenate(part) for part in zip(*found, strict=True))
    return values, error


def _run(problem: Problem) -> Values:
    space, players = problem.space, len(problem.players)
    base = problem.weights @ space.ask(problem.background)
    total = space.ask(problem.rows) - base
    if players == 1:
        return Values(values=total[:, None, :][:, problem.wanted], base=base)
    count, most = _pairs_for(problem)
    target = problem.options["error"]
    while True:
        pairs = draw_pairs(players, count, np.random.default_rng(problem.seed))
        values, error = _solved(problem, pairs, total)
        done = target is None or error.max() <= target
        if done or 5 * count > most:  # what was asked before counts too
            break
        count *= 3
    notes = () if done else (missed_error(float(error.max()), float(target)),)
    values, error = values[:, problem.wanted], error[:, problem.wanted]
    return Values(values=values, base=base, error=None if not pairs.sampled.any() else error, notes=notes)


EXPLAINERS.add(
    Explainer(
        id="kernel",
        purpose="any model: a regression over pairs of a coalition and its complement, shared by all rows",
        outputs=("probability", "log_odds", "decision", "score", "number"),
        run=_run,
        refuses=lambda case: None,
        cost=lambda case: 8 * len(case.space.players) * case.rows * case.background,
        order=40,
        max_background=MAX_BACKGROUND,
        shares_draws=True,
        parameters=(Parameter("coalitions", Integer(2), 512, "coalitions tried, complements included"), ERROR),
        reference="Lundberg and Lee (2017); Covert and Lee (2021); Musco and Witter (2025)",
    )
)
