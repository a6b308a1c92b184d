"""ADF: follow the gradient to the boundary, then walk along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.languages import msg
from isonomia.models import Gradients
from isonomia.parameters import Integer, Number, validated
from isonomia.probing import Answer, Search
from isonomia.typing import Floats

#: Steps (of all walks together) tested in one batch, about: each walk tries so many from where it stands.
BATCH = 2048


@pair_method(
    "adf",
    "gradients lead seeds to where protected values decide, then walks keep to attributes that matter least",
    reference="Zhang et al., White-box fairness testing through adversarial sampling, ICSE 2020 "
    "(Adversarial Discrimination Finder)",
)
@validated(
    max_global=Integer(1),
    max_local=Integer(0),
    cluster_num=Integer(1),
    max_iter=Integer(1),
    weights_every=Integer(1).or_none(),
    step_size=Number(above=0),
)
def adf(
    space: Space,
    *,
    max_global: int = 2000,
    max_local: int = 2000,
    cluster_num: int = 10,
    max_iter: int = 10,
    step_size: float = 1.0,
    weights_every: int | None = None,
) -> Search:
    """Search by gradients, all seeds in step.

    Global phase: seeds from `cluster_num` clusters of the data in rotation. As long as a seed is not treated
    differently, at most `max_iter` times, it moves one unit in every attribute in which its loss and that of the
    variant whose score is farthest from its own rise in the same direction; where there is none, in one attribute at
    random. Local phase: from each one found, `max_local` steps of one unit in one attribute, up or down at equal odds,
    attributes with small gradients preferred; a step that leaves the discriminating set is taken back. With few walks
    each tries several steps from where it stands at a time (no more than there are attributes).

    Gradients are exact for scikit-learn's linear classifiers and two-class `MLPClassifier` (also behind a scaler), and
    by automatic differentiation for PyTorch modules. For other models scores are measured one unit up and down in every
    attribute (zero-order, as in MAFT), and the result says so; local weights are then computed once per seed instead
    of every step (`weights_every`, as EIDIG-INF does).

    Parameters
    ----------
    max_global
        Seeds of the global phase.
    max_local
        Steps from each person found.
    cluster_num
        Clusters of the data that seeds are drawn from in rotation.
    max_iter
        Maximum number of moves of a seed.
    step_size
        How many units one step is.
    weights_every
        Steps after which the weights of a walk are computed again; None chooses by the model.
    """
    gradients = space.probe.oracle.gradients(space.loop.consult)
    if gradients.kind == "differences":
        space.notes.append(
            msg("The model provides no gradients; they were estimated by differences of one unit up and down.")
        )
    space.facts["gradients"] = gradients.kind
    every = weights_every if weights_every is not None else (0 if gradients.kind == "differences" else 1)
    active = space.clusters(cluster_num, max_global)
    space.facts["global_seeds"] = len(active)
    stored: list[Floats] = []
    pairs: list[NDArray[np.intp]] = []
    taken = 0
    for turn in range(max_iter + 1):
        answer = yield active
        hit, going = answer.found, answer.tested & ~answer.found
        stored.append(active[hit])
        pairs.append(answer.extremes[hit])
        taken += int(hit.sum()) * turn
        active = _ascend(space, gradients, active[going], answer.extremes[going], step_size)
        if len(active) == 0 or turn == max_iter:
            break
    seeds = np.concatenate(stored)
    space.facts.update(global_found=len(seeds), steps_to_found=taken / len(seeds) if len(seeds) else None)
    yield from _local(space, gradients, seeds, np.concatenate(pairs), max_local, step_size, every)


def _loss_gradients(space: Space, gradients: Gradients, people: Floats) -> Floats:
    """Gradient of the loss -log p(own label) of people."""
    gradient = gradients(people, space.movable)
    predicted = space.loop.consult(people)
    if predicted.label is None or predicted.score is None or predicted.score.ndim == 2:
        return -gradient  # a regression, or the gradient of the decided class: less of it is a higher loss
    p = (
        predicted.score
        if space.probe.oracle.threshold != 0.0
        else 1.0 / (1.0 + np.exp(-np.clip(predicted.score, -500, 500)))
    )
    own = np.where(predicted.label == 1, p, 1.0 - p)
    side = np.where(predicted.label == 1, -1.0, 1.0)
    return np.asarray(gradient * (side / np.maximum(own, 1e-12))[:, None])


def _ascend(space: Space, gradients: Gradients, rows: Floats, extremes: NDArray[np.intp], step_size: float) -> Floats:
    """Move each row one unit where its own loss and that of its farthest variant rise together.

    Where they do so nowhere (a flat part of a net), one attribute moves at random, as in the authors' code. Where all
    of these moves together lead to someone who could not exist, those are made that do not. Rows that cannot move
    within the bounds are dropped.
    """
    if len(rows) == 0:
        return rows
    both = np.concatenate([rows, _farthest(space, rows, extremes)])
    first, second = np.split(np.sign(_loss_gradients(space, gradients, both)), 2)
    direction = np.zeros_like(rows)
    columns = space.movable
    direction[:, columns] = np.where(first == second, first, 0.0)[:, columns]
    flat = ~direction.any(axis=1)
    if len(columns) and flat.any():
        one = space.rng.choice(columns, size=int(flat.sum()))
        direction[np.flatnonzero(flat), one] = space.rng.choice(np.array([-1.0, 1.0]), size=len(one))
    unit = space.domain.step * np.where(space.domain.whole, max(1.0, round(step_size)), step_size)
    moved = space.domain.snap(rows + unit * direction)
    good = space.probe.valid(moved)
    moved[~good] = _one_by_one(space, rows[~good], moved[~good])
    return np.asarray(moved[(moved != rows).any(axis=1) | flat])


def _one_by_one(space: Space, rows: Floats, wanted: Floats) -> Floats:
    """Rows with as many of the wanted values as they can have, attribute by attribute in a random order."""
    rows, everyone = rows.copy(), np.arange(len(rows))
    for column in space.rng.permutation(space.movable):
        value = np.where(np.isnan(wanted[:, column]), rows[:, column], wanted[:, column])
        changes = np.flatnonzero(value != rows[:, column])
        there = np.full(len(changes), column)
        changes = changes[space.allowed(rows, everyone[changes], there, value[changes])]
        rows[changes, column] = value[changes]
    return space.domain.complete(rows, copy=False)


def _farthest(space: Space, rows: Floats, extremes: NDArray[np.intp]) -> Floats:
    """Each person as the variant whose score is farthest from their own: the lowest or the highest one."""
    low, high = (space.probe.as_variant(rows, extremes[:, side]) for side in (0, 1))
    if space.probe.n_variants == 2:
        own = (rows[:, space.protected] == low[:, space.protected]).all(axis=1)
        return np.where(own[:, None], high, low)
    score = np.split(space.scores(np.concatenate([rows, low, high])), 3)
    return np.where((score[0] - score[1] > score[2] - score[0])[:, None], low, high)


def _local(
    space: Space,
    gradients: Gradients,
    seeds: Floats,
    extremes: NDArray[np.intp],
    max_local: int,
    step_size: float,
    every: int,
) -> Search:
    """Walks from all seeds in step, inside the discriminating set.

    From where it stands each walk tries several steps at once, and goes on from the first that stays in the set: steps
    that leave it would be taken back one after another.
    """
    columns = space.movable
    if len(seeds) == 0 or len(columns) == 0:
        return
    walkers, everyone = seeds.copy(), np.arange(len(seeds))
    tries = min(len(columns), max(1, BATCH // len(walkers)))
    ladder: Floats | None = None
    weighted_at = 0
    for turn in range(0, max_local, tries):
        if ladder is None or (every and turn - weighted_at >= every):
            ladder, weighted_at = _ladder(space, gradients, walkers, extremes), turn
        shape = (min(tries, max_local - turn), len(walkers))
        pick = (space.rng.random(shape)[..., None] > ladder).sum(axis=2)
        direction = space.rng.choice(np.array([-1.0, 1.0]), size=shape)
        step = space.steps(columns[pick], direction, size=step_size)
        moved = np.stack([step(walkers, index) for index in range(shape[0])])
        answer: Answer = yield moved.reshape(-1, walkers.shape[1])
        found = answer.found.reshape(shape)
        first, going = found.argmax(axis=0), found.any(axis=0)
        at = (first * len(walkers) + everyone)[going]
        walkers[going], extremes[going] = answer.rows[at], answer.extremes[at]


def _ladder(space: Space, gradients: Gradients, rows: Floats, extremes: NDArray[np.intp]) -> Floats:
    """Cumulated odds of the attributes of each row: 1 / (|g| + |g'|), so that what matters least moves most.

    An attribute without any effect counts as the one with the smallest effect: the steps of a forest hide what lies
    beyond one unit, and walks that move in such attributes alone come back to people tested before.
    """
    both = np.concatenate([space.probe.as_variant(rows, extremes[:, side]) for side in (0, 1)])
    first, second = np.split(np.abs(_loss_gradients(space, gradients, both)), 2)
    effect = (first + second)[:, space.movable]
    smallest = np.where(effect > 0, effect, np.inf).min(axis=1, keepdims=True)
    weight = 1.0 / np.maximum(effect, np.where(np.isfinite(smallest), smallest, 1.0))
    ladder = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    return np.asarray(ladder[:, :-1])
