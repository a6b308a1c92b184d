"""ExpGA: seeds whose explanation rests on a protected attribute, then a genetic search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.method import at_least, pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Search
from isonomia.probing.features import Floats


@pair_method(
    "expga",
    "seeds whose local explanation rests on a protected attribute, then crossover and mutation",
    reference="Fan, Wei, Jin, Yang & Liu, Explanation-guided fairness testing through genetic algorithm, ICSE 2022",
)
def expga(
    space: Space,
    *,
    max_global: int = 2000,
    threshold_rank: float = 0.5,
    population: int = 300,
    generations: int | None = None,
    cross_rate: float = 0.9,
    mutation_rate: float = 0.1,
    explain_samples: int = 1000,
) -> Search:
    """Search by explanation and evolution.

    A linear explanation (LIME: a weighted regression of the model's score on "same value as this person") is made for
    `max_global` people; those whose protected attributes rank among the top `threshold_rank` of all attributes
    become seeds, the higher their rank the more likely. Then generations: parents drawn by fitness (the widest
    difference in score between two variants), one-point crossover at `cross_rate`, and a mutation by one unit or to a
    random value at `mutation_rate` an attribute. The best of parents and children stay, found or not.

    The neighbourhood of LIME on tables does not depend on the person it explains, so one sample of `explain_samples`
    rows is scored once and serves all explanations; only the weights differ.
    """
    for name, value in (("max_global", max_global), ("population", population), ("explain_samples", explain_samples)):
        at_least(name, value, 2)
    pool = space.seeds(max_global)
    if len(pool) < max_global:
        pool = np.concatenate([pool, space.domain.sample(max_global - len(pool), space.rng)])
    ranks = _ranks(space, pool, explain_samples)
    seeds = pool[np.argsort(ranks, kind="stable")][: max(2, int((ranks <= threshold_rank).sum()))][:population]
    answer = yield seeds
    people, fitness = seeds[answer.tested], np.nan_to_num(answer.gap[answer.tested])
    born = 0
    idle = 0
    while len(people) >= 2 and (generations is None or born < generations) and idle < 50:
        children = _children(space, people, fitness, population, cross_rate, mutation_rate)
        answer = yield children
        born += 1
        idle = 0 if answer.fresh.any() else idle + 1
        new = answer.fresh & answer.tested
        everyone = np.concatenate([people, children[new]])
        worth = np.concatenate([fitness, answer.gap[new]])
        # the fittest stay, equal ones at random, so that a plateau does not freeze
        best = np.lexsort((space.rng.random(len(worth)), -worth))[:population]
        people, fitness = everyone[best], worth[best]
    space.facts["generations"] = born


def _ranks(space: Space, rows: Floats, samples: int) -> Floats:
    """For each row the best rank of a protected attribute in its explanation, as a share of all attributes."""
    base = space.people if len(space.people) else space.domain.sample(10 * samples, space.rng)
    columns = [base[space.rng.integers(len(base), size=samples), place] for place in range(base.shape[1])]
    sample = np.stack(columns, axis=1)  # attribute by attribute from the data, as LIME draws
    score = space.scores(sample)
    score = score - score.mean()
    d = sample.shape[1]
    near = np.where(space.domain.whole, 0.5, 5 * space.domain.step)
    width = (0.75 * np.sqrt(d)) ** 2
    ranks = np.empty(len(rows))
    for start in range(0, len(rows), 200):
        part = rows[start : start + 200]
        same = (np.abs(sample[None] - part[:, None]) < near).astype(np.float32)
        weight = np.sqrt(np.exp(-(d - same.sum(axis=2)) / width))
        centred = (same - (weight[..., None] * same).sum(1, keepdims=True) / weight.sum(1)[:, None, None]) * np.sqrt(
            weight
        )[..., None]
        turned = centred.transpose(0, 2, 1)
        gram = turned @ centred + np.eye(d)
        right = (turned @ (np.sqrt(weight) * score)[..., None])[..., 0]
        effect = np.abs(np.linalg.solve(gram, right[..., None])[..., 0])
        better = (effect[:, None, :] > effect[:, space.protected][:, :, None]).sum(axis=2)
        ranks[start : start + 200] = (better.min(axis=1) + 1) / d
    return ranks


def _children(space: Space, people: Floats, fitness: Floats, n: int, cross_rate: float, mutation_rate: float) -> Floats:
    """One generation: roulette, one-point crossover, mutation."""
    rng = space.rng
    odds = fitness + max(1e-3, 0.1 * float(fitness.mean()))
    parents = people[rng.choice(len(people), size=(n, 2), p=odds / odds.sum())]
    cut = rng.integers(1, people.shape[1], size=n)
    crossed = rng.random(n) < cross_rate
    after = (np.arange(people.shape[1]) >= cut[:, None]) & crossed[:, None]
    children = np.where(after, parents[:, 1], parents[:, 0])
    mutate: NDArray[np.bool_] = np.zeros(children.shape, dtype=bool)
    mutate[:, space.movable] = rng.random((n, len(space.movable))) < mutation_rate
    step = children + rng.choice(np.array([-1.0, 1.0]), size=children.shape) * space.domain.step
    jump = space.domain.sample(n, rng)
    changed = np.where(rng.random(children.shape) < 0.5, step, jump)
    return space.domain.snap(np.where(mutate, changed, children))
