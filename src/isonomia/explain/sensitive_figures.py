"""The figures behind `sensitive`: means of groups, differences, importance and rank, from values or from draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isonomia.counting import sum_by
from isonomia.evidence import Estimate, normal_quantile, percentile
from isonomia.evidence.intervals import student_interval
from isonomia.explain.contributions import PARTS, Contributions, Runner, contrast, contributions
from isonomia.explain.direct import direct
from isonomia.explain.explainer import EXPLAINERS, Explainer
from isonomia.explain.prepare import Prepared
from isonomia.languages import Message, msg
from isonomia.typing import Floats, Indices

#: People whose values are sampled for importance and rank where there are no exact ones.
SAMPLED_PEOPLE = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class SensitiveRequest:
    """A player, the group of each person explained (0 is the reference), and how to explain them.

    Other fields are the options of `sensitive`.
    """

    player: int
    groups: Indices
    count: int
    level: float
    n_boot: int
    error: float | None
    importance: bool
    max_background: int | None
    max_model_rows: int
    seed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupFigures:
    """Mean contributions of groups and their differences from the reference, with standard errors; headline figures."""

    mean: Floats
    mean_error: Floats
    difference: Floats
    difference_error: Floats
    importance: Estimate
    bound: Estimate
    rank: Estimate
    method: str
    sampling_error: float | None = None
    notes: tuple[Message, ...] = ()


def by_values(prepared: Prepared, request: SensitiveRequest, explainer: Explainer) -> GroupFigures:
    """From values of every person, against the background and the background against them."""
    limit = request.max_background or explainer.max_background
    run = Runner(prepared, explainer, max_model_rows=request.max_model_rows // 4, seed=request.seed)
    found = contributions(
        run, request.player, request.groups, limit=limit, seed=request.seed, both_ways=explainer.pairwise
    )
    own = _shares(prepared.weights[found.rows], request)
    figures = [contrast(prepared, found, request.player, one, request.groups) for one in own]
    gaps = [contrast(prepared, found, request.player, one - own[0], request.groups) for one in own]
    notes = found.notes
    if found.back.size < len(prepared.pool):
        notes = (
            *notes,
            msg(
                "The background is a random sample of {n:int} of {m:int} rows.", n=found.back.size, m=len(prepared.pool)
            ),
        )
    if not explainer.pairwise:
        notes = (*notes, msg("Intervals cover the choice of people only, not that of background rows."))
    return GroupFigures(
        mean=np.array([value for value, _ in figures]),
        mean_error=np.array([error for _, error in figures]),
        difference=np.array([value for value, _ in gaps]),
        difference_error=np.array([error for _, error in gaps]),
        importance=_importance(prepared, request, found),
        bound=_bound(prepared, request, found),
        rank=rank_of(prepared, request, found),
        method=explainer.id,
        notes=notes,
    )


def by_sampling(prepared: Prepared, request: SensitiveRequest) -> GroupFigures:
    """From draws of a person, another row and a coalition; importance and rank from values of some people."""
    budget = request.max_model_rows // 2 if request.importance else request.max_model_rows
    found = direct(
        prepared,
        request.player,
        request.groups,
        error=request.error,
        max_model_rows=budget,
        level=request.level,
        seed=request.seed,
    )
    each = np.eye(request.count)
    figures = [found.contrast(one) for one in each]
    gaps = [found.contrast(one - each[0]) for one in each]
    reached = normal_quantile(request.level) * max(error for _, _, error in gaps[1:])
    notes: tuple[Message, ...] = ()
    if request.error is not None and reached > request.error:
        notes = (
            msg(
                "Sampling leaves the disparity uncertain by {reached:num}, more than the {asked:num} "
                "requested: allow more model rows.",
                reached=reached,
                asked=request.error,
            ),
        )
    left = Estimate.missing(msg("not requested"))
    importance = bound = rank = left
    if request.importance:
        importance, bound, rank, more = _sampled_importance(prepared, request, request.max_model_rows - budget)
        notes = (*notes, *more)
    return GroupFigures(
        mean=np.array([value for value, _, _ in figures]),
        mean_error=np.array([error for _, error, _ in figures]),
        difference=np.array([value for value, _, _ in gaps]),
        difference_error=np.array([error for _, error, _ in gaps]),
        importance=importance,
        bound=bound,
        rank=rank,
        method="direct",
        sampling_error=float(reached),
        notes=notes,
    )


def _sampled_importance(
    prepared: Prepared, request: SensitiveRequest, budget: int
) -> tuple[Estimate, Estimate, Estimate, tuple[Message, ...]]:
    """Importance, its bound and the rank from sampled values of some people."""
    size = min(SAMPLED_PEOPLE, len(prepared.chosen))
    cost = PARTS * (4 * len(prepared.space.players) + 1)
    size = min(size, (budget - PARTS * len(prepared.pool)) // max(1, cost))
    if size < 2:
        reason = msg("`max_model_rows` leaves too few model rows to sample values of single people")
        return (*(Estimate.missing(reason) for _ in range(3)), ())  # type: ignore[return-value]
    some = np.sort(np.random.default_rng(request.seed).choice(len(prepared.chosen), size, replace=False))
    part, smaller = replace(prepared, chosen=prepared.chosen[some]), replace(request, groups=request.groups[some])
    run = Runner(part, EXPLAINERS["sampling"], max_model_rows=budget // PARTS, seed=request.seed)
    found = contributions(run, request.player, smaller.groups, limit=None, seed=request.seed, both_ways=False)
    notes = (
        msg(
            "Importance and rank come from sampled values of {n:int} people; noise makes the importance larger.", n=size
        ),
    )
    return (_importance(part, smaller, found), _bound(part, smaller, found), rank_of(part, smaller, found), notes)


def _shares(weights: Floats, request: SensitiveRequest) -> list[Floats]:
    """For every group: weights of its people that sum to 1."""
    total = sum_by(request.groups, weights, request.count)
    return [np.where(request.groups == group, weights / total[group], 0.0) for group in range(request.count)]


def _importance(prepared: Prepared, request: SensitiveRequest, found: Contributions) -> Estimate:
    weight = prepared.weights[found.rows] / prepared.weights[found.rows].sum()
    sign = np.where(found.values[:, request.player] > 0, 1.0, -1.0)
    one = np.zeros(len(weight), dtype=np.intp)
    value, error = contrast(prepared, found, request.player, weight, one, sign)
    low, high = student_interval(value, error, len(weight), request.level)
    return Estimate(value, max(0.0, float(low)), float(high), n=len(weight), method="normal", level=request.level)


def _bound(prepared: Prepared, request: SensitiveRequest, found: Contributions) -> Estimate:
    """The mean of one half's values with the signs of the other half's, both ways."""
    weight = prepared.weights[found.rows] / prepared.weights[found.rows].sum()
    one, other = found.halves
    figure = 0.5 * (np.sign(one) * other + np.sign(other) * one)
    value = float(weight @ figure)
    error = float(np.sqrt((weight**2 * (figure - value) ** 2).sum()))
    low, high = student_interval(value, error, len(weight), request.level)
    return Estimate(value, float(low), float(high), n=len(weight), method="normal", level=request.level)


def rank_of(prepared: Prepared, request: SensitiveRequest, found: Contributions) -> Estimate:
    """1 + the number of columns with a larger mean |phi|; percentiles over people and backgrounds.

    People are resampled. Of the background, to first order a part moves mean |phi_j| by the mean of sign(phi_j) times
    what column j adds against that part alone: the deviations of p parts are drawn from a multivariate t distribution
    with p - 1 degrees of freedom.
    """
    size = np.abs(found.values)
    weight = prepared.weights[found.rows]
    mean = weight @ size / weight.sum()
    rank = 1 + int((mean > mean[request.player]).sum())
    if not request.n_boot:
        return Estimate(rank, n=len(weight), level=request.level)
    rng, draws = np.random.default_rng(request.seed), min(request.n_boot, 1000)
    counts = rng.multinomial(len(weight), np.full(len(weight), 1 / len(weight)), size=draws) * weight
    means = (counts @ size) / counts.sum(axis=1, keepdims=True)
    if (parts := len(found.shares)) > 1:
        off = found.shares[:, None] * (found.sizes - found.shares @ found.sizes) * np.sqrt(parts / (parts - 1))
        spread = np.sqrt(rng.chisquare(parts - 1, size=(draws, 1)) / (parts - 1))
        means = means + rng.normal(size=(draws, parts)) @ off / spread
    ranks = 1 + (means > means[:, [request.player]]).sum(axis=1)
    low, high = percentile(ranks, request.level)
    ends = min(float(np.floor(low)), rank), max(float(np.ceil(high)), rank)
    return Estimate(rank, *ends, n=len(weight), method="bootstrap", level=request.level)
