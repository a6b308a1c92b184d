"""Sampled orders: a person's columns replace those of a background row one by one, in random order and in reverse."""

from __future__ import annotations

import numpy as np

from isonomia.errors import BudgetError
from isonomia.explain.error_target import ERROR, missed_error
from isonomia.explain.explainer import EXPLAINERS, Explainer, Problem, Values
from isonomia.languages import msg
from isonomia.parameters import Integer, Parameter
from isonomia.typing import Floats, Indices

#: Pairs of orders without which there is no standard error.
FEWEST = 2


class _Sums:
    """Running sums of the pairs' values and their squares."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n = 0
        self.first, self.second = np.zeros(shape), np.zeros(shape)

    def add(self, at: slice, pairs: Floats) -> None:
        """Pairs (rows, pairs, M, K) of the rows `at`."""
        self.first[at] += pairs.sum(axis=1)
        self.second[at] += (pairs**2).sum(axis=1)

    @property
    def mean(self) -> Floats:
        """The mean over pairs."""
        return self.first / self.n

    @property
    def error(self) -> Floats:
        """Its standard error."""
        spread = np.maximum(self.second / self.n - self.mean**2, 0.0) / (self.n - 1)
        return np.asarray(np.sqrt(spread))


def _stratified(answer: Floats, weights: Floats, rows: int, pairs: int, rng: np.random.Generator) -> Indices:
    """Background rows (rows, pairs) by their weights, spread evenly over their outputs: a row's draws hardly miss the
    base."""
    order = np.argsort(answer[:, 0], kind="stable")
    steps = (rng.permuted(np.tile(np.arange(pairs), (rows, 1)), axis=1) + rng.random((rows, pairs))) / pairs
    found = np.searchsorted(np.cumsum(weights[order]), steps, side="right")
    return np.asarray(order[np.minimum(found, len(order) - 1)])


def _walk(problem: Problem, x: Floats, b: Floats, ends: tuple[Floats, Floats], order: Indices) -> Floats:
    """What each player adds (r, M, K) when players join in an order (r, M), from b (r, D) to x (r, D)."""
    r, players = order.shape
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(players), order.shape), axis=1)
    joined = rank[:, None, :] < np.arange(1, players)[None, :, None]  # (r, M - 1, M): who is in after each step
    mask = joined[:, :, problem.players.owner]
    mixed = np.where(mask, x[:, None, :], b[:, None, :]).reshape(-1, x.shape[1])
    inner = problem.space.ask(mixed).reshape(r, players - 1, -1)
    path = np.concatenate([ends[0][:, None], inner, ends[1][:, None]], axis=1)
    return np.take_along_axis(np.diff(path, axis=1), rank[:, :, None], axis=1)


def _round(problem: Problem, pairs: int, sums: _Sums, answers: tuple[Floats, Floats], seed: int) -> None:
    """Add so many pairs of orders for every row."""
    space, players = problem.space, len(problem.players)
    of_rows, of_back = answers
    step = max(1, space.batch // (2 * max(1, players - 1) * pairs))
    rng = np.random.default_rng([problem.seed, seed])
    with problem.progress.stage("orders", msg("Querying the model about altered rows"), len(problem.rows)) as stage:
        for start in range(0, len(problem.rows), step):
            at = slice(start, min(start + step, len(problem.rows)))
            drawn = _stratified(of_back, problem.weights, at.stop - start, pairs, rng).ravel()
            x, fx = (np.repeat(values[at], pairs, axis=0) for values in (problem.rows, of_rows))
            b, ends = problem.background[drawn], (of_back[drawn], fx)
            order = rng.random((len(x), players)).argsort(axis=1)
            both = np.concatenate([order, order[:, ::-1]])
            twice = (np.concatenate([x, x]), np.concatenate([b, b]))
            walked = _walk(problem, *twice, (np.tile(ends[0], (2, 1)), np.tile(ends[1], (2, 1))), both)
            mean = 0.5 * (walked[: len(x)] + walked[len(x) :])
            sums.add(at, mean.reshape(at.stop - start, pairs, players, -1))
            stage.at(at.stop)
    sums.n += pairs


def _run(problem: Problem) -> Values:
    players, n = len(problem.players), len(problem.rows)
    each = 2 * max(1, players - 1) * n
    budget = (problem.max_model_rows - n - len(problem.background)) // each
    if budget < FEWEST:
        raise BudgetError(
            f"Sampled orders of {n:,} rows need at least {FEWEST * each + n + len(problem.background):,} model rows; "
            f"`max_model_rows` allows {problem.max_model_rows:,}. Explain fewer rows, or allow more."
        )
    of_rows, of_back = problem.space.ask(problem.rows), problem.space.ask(problem.background)
    base = problem.weights @ of_back
    target, sums = problem.options["error"], _Sums((n, players, problem.width))
    n_pairs = min(budget, problem.options["pairs"])
    rounds = 0
    while True:
        _round(problem, n_pairs, sums, (of_rows, of_back), rounds)
        rounds += 1
        done = target is None or sums.error.max() <= target
        left = budget - sums.n
        if done or left < 1:
            break
        n_pairs = int(min(left, sums.n))
    values, error = sums.mean, sums.error
    off = (of_rows - base)[:, None, :] - values.sum(axis=1, keepdims=True)
    share = np.maximum(error**2, 1e-300)
    values = values + off * share / share.sum(axis=1, keepdims=True)  # what is left goes where it is least certain
    notes = () if done else (missed_error(float(error.max()), float(target)),)
    return Values(values=values[:, problem.wanted], base=base, error=error[:, problem.wanted], notes=notes)


EXPLAINERS.add(
    Explainer(
        id="sampling",
        purpose="any model: random orders and their reverse, each from a fresh background row",
        outputs=("probability", "log_odds", "decision", "score", "number"),
        run=_run,
        refuses=lambda case: None,
        cost=lambda case: case.rows * (1 + 4 * len(case.space.players)) + case.background,
        order=50,
        parameters=(Parameter("pairs", Integer(FEWEST), 32, "pairs of orders per row"), ERROR),
        reference="Castro et al. (2009); Mitchell et al. (2022)",
    )
)
