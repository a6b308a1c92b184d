"""ExpGA: seeds whose explanation rests on a protected attribute, then a genetic search."""

from __future__ import annotations

import numpy as np

from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.parameters import Integer, Number, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: Generations without anyone new before it ends.
PATIENCE = 50


@pair_method(
    "expga",
    "seeds whose local explanation rests on a protected attribute, then crossover and mutation",
    reference="Fan, Wei, Jin, Yang & Liu, Explanation-guided fairness testing through genetic algorithm, ICSE 2022",
)
@validated(
    max_global=Integer(2),
    population=Integer(2),
    explain_samples=Integer(2),
    generations=Integer(0).or_none(),
    threshold_rank=Number(above=0, at_most=1),
    cross_rate=Number(at_least=0, at_most=1),
    mutation_rate=Number(at_least=0, at_most=1),
)
def expga(
    space: Space,
    *,
    max_global: int = 1000,
    threshold_rank: float = 7 / 13,
    population: int = 100,
    generations: int | None = None,
    cross_rate: float = 0.9,
    mutation_rate: float = 0.05,
    explain_samples: int = 5000,
) -> Search:
    """Search by explanation and evolution, as in the authors' code.

    `max_global` people are drawn uniformly. A linear explanation (LIME: a weighted regression of the model's score on
    the standardised attributes) is made for each; the first `population` of those whose protected attribute is among
    the strongest `threshold_rank` of all attributes are the first generation (7 of 13 attributes on the census).
    Then generations: parents are drawn by fitness (3 for those treated differently, 1 for others) and take the place
    of the generation before; at `cross_rate` a piece of a random other one's attributes is taken over, at
    `mutation_rate` an attribute gets a random value. A larger `population` is asked about in larger batches.

    LIME's neighbourhood on tables does not depend on the person it explains, so one sample of `explain_samples` rows
    is scored once and serves all explanations; only the weights differ.

    Parameters
    ----------
    max_global
        People drawn for the first generation.
    threshold_rank
        A seed's protected attribute must be among this share of the strongest attributes.
    population
        People of a generation.
    generations
        How many generations; None goes on to the budget.
    cross_rate
        Share of children that take a piece of another one's attributes.
    mutation_rate
        Share of attributes that get a random value.
    explain_samples
        Rows scored for all explanations.
    """
    pool = space.domain.sample(max_global, space.rng)
    ranks = _ranks(space, pool, explain_samples)
    chosen = np.flatnonzero(ranks <= threshold_rank)
    space.facts["explained_seeds"] = len(chosen)
    if len(chosen) < 2:  # none rests on a protected attribute: those that come nearest to it
        chosen = np.argsort(ranks, kind="stable")
    people = pool[chosen[:population]]
    if len(people) < population:  # every seed as often as the others
        people = people[np.arange(population) % len(people)]
    born = idle = 0
    while (generations is None or born <= generations) and idle < PATIENCE:
        answer = yield people
        idle = 0 if answer.fresh.any() else idle + 1
        fitness = np.where(answer.found, 3.0, 1.0)
        people = _children(space, people, fitness, cross_rate, mutation_rate)
        space.facts["generations"] = born
        born += 1


def _ranks(space: Space, rows: Floats, samples: int) -> Floats:
    """For each row the best rank of a protected attribute in its explanation, as a share of all attributes."""
    base = space.people if len(space.people) else space.domain.sample(samples, space.rng)
    centre, spread = np.nanmean(base, axis=0), np.nanstd(base, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    d = rows.shape[1]
    sample = space.domain.snap(centre + spread * space.rng.standard_normal((samples, d)))
    score = space.scores(sample)
    near, points = (sample - centre) / spread, (np.where(np.isnan(rows), centre, rows) - centre) / spread
    squares = (near[:, :, None] * near[:, None, :]).reshape(samples, d * d)
    ranks = np.empty(len(rows))
    for start in range(0, len(rows), 500):
        part = points[start : start + 500]
        distance = (part**2).sum(axis=1)[:, None] + (near**2).sum(axis=1) - 2 * part @ near.T
        distance -= distance.min(axis=1, keepdims=True)  # of someone far from everyone, still the nearest count most
        weight = np.exp(-0.5 * distance / (0.75**2 * d))
        total, sums = weight.sum(axis=1)[:, None], weight @ near
        gram = (weight @ squares).reshape(-1, d, d) - sums[:, :, None] * sums[:, None, :] / total[:, :, None]
        right = weight @ (near * score[:, None]) - sums * (weight @ score)[:, None] / total
        effect = np.abs(np.linalg.solve(gram + np.eye(d), right[..., None])[..., 0])
        better = (effect[:, None, :] > effect[:, space.protected][:, :, None]).sum(axis=2)
        ranks[start : start + 500] = (better.min(axis=1) + 1) / d
    return ranks


def _children(space: Space, people: Floats, fitness: Floats, cross_rate: float, mutation_rate: float) -> Floats:
    """One generation: roulette, a piece taken over from another one, mutation."""
    rng, (n, d) = space.rng, people.shape
    wheel = np.cumsum(fitness)
    chance = rng.random((5, n))
    parents = np.searchsorted(wheel, chance[0] * wheel[-1], side="right")
    mates = parents[np.floor(chance[1] * n).astype(np.intp)]
    begin = np.floor(chance[2] * d)
    end = np.where(chance[3] < cross_rate, np.floor(chance[4] * (d - begin)), 0.0)
    index = np.arange(d)
    crossed = (index >= begin[:, None]) & (index < end[:, None])
    children: Floats = np.where(crossed, people.take(mates, axis=0), people.take(parents, axis=0))
    mutated = np.flatnonzero(rng.random(n * d) < mutation_rate)
    children.ravel()[mutated] = space.domain.values(mutated % d, rng)
    return children
