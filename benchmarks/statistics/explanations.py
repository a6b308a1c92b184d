"""Coverage of what explanations say about groups: the disparity of an attribute, and the parts of a gap; their tests.

Columns have few values, so that the truth is a sum over all pairs of people: the definition itself, computed from the
model's answers to every combination of values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting
from isonomia.explain.outputs import Output

TOPIC = "explain"
COLUMNS = ("a", "u", "v", "w")
#: Values of the attribute's companions: u goes along with the attribute, v with u, w with nothing.
VALUES = (np.arange(-2.0, 3.1, 0.5), np.arange(-2.0, 3.1, 1.0), np.array([-1.0, 0.0, 1.0]))
#: What is explained.
OUTPUTS: tuple[Output, ...] = ("probability", "decision")
SHARES = {2: (0.6, 0.4), 3: (0.5, 0.3, 0.2)}


@dataclass(frozen=True)
class World:
    """A population of a few hundred kinds of people and a model; `alike` groups differ in nothing."""

    groups: int = 2
    model: str = "logistic regression"
    alike: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """What the model takes: where groups are alike, not the attribute."""
        return COLUMNS[1:] if self.alike else COLUMNS


@cache
def share(world: World) -> Any:
    """P(a, u, v, w)."""
    u, v, w = VALUES
    p = np.empty((world.groups, u.size, v.size, w.size))
    for a, size in enumerate(SHARES[world.groups]):
        near_u = np.exp(-0.5 * (u - (0 if world.alike else 0.6 * a)) ** 2)
        near_v = np.exp(-0.5 * (v[None, :] - 0.5 * u[:, None]) ** 2)
        of_u, of_v = near_u / near_u.sum(), near_v / near_v.sum(axis=1, keepdims=True)
        p[a] = size * (of_u[:, None] * of_v)[:, :, None] * np.array([0.3, 0.4, 0.3])
    return p


@cache
def grid(world: World) -> Any:
    """Every kind of person, in the order of `share`."""
    values = (np.arange(float(world.groups)), *VALUES)
    return np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], axis=1)


@cache
def chance(world: World) -> Any:
    """P(y = 1) of every kind: the attribute works differently for different people."""
    a, u, v, w = grid(world).T
    a = 0 * a if world.alike else a
    return 1 / (1 + np.exp(-(0.5 * a + 0.9 * u + 0.5 * a * v - 0.4 * u * v + 0.5 * w - 0.3)))


@cache
def trained(world: World) -> Any:
    """The model, trained once on people who are not those examined."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    rows, y = drawn(world, 5_000, np.random.default_rng(1))
    forest = RandomForestClassifier(4, max_depth=5, random_state=0)
    made = LogisticRegression() if world.model == "logistic regression" else forest
    return iso.Model.of(made.fit(rows[:, -len(world.columns) :], y), features=list(world.columns))


def drawn(world: World, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """People and their outcomes."""
    kinds = rng.choice(len(grid(world)), n, p=share(world).ravel())
    return grid(world)[kinds], (rng.random(n) < chance(world)[kinds]).astype(int)


def data_of(world: World, n: int, rng: np.random.Generator) -> iso.Dataset:
    rows, y = drawn(world, n, rng)
    columns = {name: rows[:, at] for at, name in enumerate(COLUMNS)} | {"y": y}
    return iso.Dataset(columns, target="y", positive=1, protected=["a"], privileged={"a": 0})


@cache
def answers(world: World, output: Output) -> Any:
    """What the model says about every kind of person."""
    p = trained(world).estimator.predict_proba(grid(world)[:, -len(world.columns) :])[:, 1]
    said = {"probability": p, "decision": p >= 0.5, "log_odds": np.log(p / (1 - p))}[output]
    return np.asarray(said, dtype=float).reshape(share(world).shape)


def means(world: World, output: Output, of: Any, against: Any) -> Any:
    """The mean Shapley value of each column for people of one distribution against rows of another, by definition."""
    f = answers(world, output)
    x, b = (np.stack(np.nonzero(part)) for part in (of, against))
    weight = of[tuple(x)][:, None] * against[tuple(b)][None, :]
    total = np.zeros(len(COLUMNS))
    for j in range(len(COLUMNS)):
        others = [k for k in range(len(COLUMNS)) if k != j]
        for size in range(len(COLUMNS)):
            for inside in combinations(others, size):
                without = [x[k][:, None] if k in inside else b[k][None, :] for k in range(len(COLUMNS))]
                including = [x[k][:, None] if k == j else part for k, part in enumerate(without)]
                step = f[tuple(including)] - f[tuple(without)]
                total[j] += (weight * step).sum() / (len(COLUMNS) * comb(len(COLUMNS) - 1, size))
    return total


def group_share(world: World, group: int, *, positive: bool = False) -> Any:
    """The distribution of a group, or of its people with the positive outcome."""
    p = share(world) * (chance(world).reshape(share(world).shape) if positive else 1)
    own = np.zeros_like(p)
    own[group] = p[group] / p[group].sum()
    return own


@cache
def true_contributions(world: World, output: Output) -> Any:
    """The mean contribution of the attribute in each group."""
    return np.array([means(world, output, group_share(world, g), share(world))[0] for g in range(world.groups)])


@cache
def true_disparities(world: World, output: Output) -> Any:
    """Of each group but the reference."""
    each = true_contributions(world, output)
    return each[1:] - each[0]


@cache
def true_parts(world: World, output: Output, positive: bool) -> Any:
    """(groups - 1, columns + 1): the parts of each gap, and the gap."""
    first = group_share(world, 0, positive=positive)
    parts = np.stack(
        [means(world, output, group_share(world, g, positive=positive), first) for g in range(1, world.groups)]
    )
    return np.column_stack([parts, parts.sum(axis=1)])


def title(world: World, output: Output, n: int) -> str:
    said = {"probability": "probabilities", "decision": "decisions", "log_odds": "log odds"}[output]
    return f"{said} of a {world.model}, {world.groups} groups, {n:,} people"


def intervals(world: World, output: Output, n: int, rng: np.random.Generator, repetitions: int, **given: Any) -> Any:
    """Ends of intervals (repetitions, 2 groups, 2): the mean contribution of each group, the disparity of each but the
    reference, and the disparity of the whole.
    """
    options = {"importance": False} | given
    ends = np.empty((repetitions, 2 * world.groups, 2))
    for run in range(repetitions):
        data = data_of(world, n, rng)
        found = iso.explain.sensitive(data, trained(world), output=output, n_boot=0, seed=run, **options)
        table = found.tables["groups"]
        every = [table["contribution"].estimate(g) for g in range(world.groups)]
        every += [table["disparity"].estimate(g) for g in range(1, world.groups)]
        ends[run] = [(one.low, one.high) for one in (*every, found.disparity)]
    return ends


GRID = [
    (World(groups, model), output, n)
    for groups in SHARES
    for model in ("logistic regression", "forest")
    for output in OUTPUTS
    for n in ((200, 1_000) if groups == 2 else (200,))
]

for world, output, n in GRID:

    @setting(
        TOPIC,
        f"disparity: {title(world, output, n)}",
        high=0.965,
        repetitions=1_000,
        tested=100 if world == World() and output == "probability" and n == 200 else 0,
    )
    def disparity(
        rng: np.random.Generator, repetitions: int, world: World = world, output: Output = output, n: int = n
    ) -> Trials:
        """Each group against the reference."""
        ends = intervals(world, output, n, rng, repetitions)[:, world.groups : -1]
        return Trials.of_intervals(ends[..., 0], ends[..., 1], true_disparities(world, output))


for groups in SHARES:
    for output in OUTPUTS:

        @setting(
            TOPIC,
            f"contributions of groups: {title(World(groups, 'forest'), output, 200)}",
            high=0.965,
            repetitions=1_000,
            note="from exact values" if output == "probability" else "by draws, as of a black box",
        )
        def of_groups(
            rng: np.random.Generator, repetitions: int, groups: int = groups, output: Output = output
        ) -> Trials:
            """Of a group alone: also the shares of the groups are chance."""
            world = World(groups, "forest")
            ends = intervals(world, output, 200, rng, repetitions)[:, :groups]
            return Trials.of_intervals(ends[..., 0], ends[..., 1], true_contributions(world, output))


@setting(
    TOPIC,
    f"largest disparity: {title(World(3, 'forest'), 'probability', 200)}",
    high=1.0,
    repetitions=1_000,
    note="the largest of several differences that are covered together",
)
def largest(rng: np.random.Generator, repetitions: int) -> Trials:
    world = World(3, "forest")
    ends = intervals(world, "probability", 200, rng, repetitions)[:, -1]
    return Trials.of_intervals(ends[:, 0], ends[:, 1], np.ptp(true_contributions(world, "probability")))


@setting(
    TOPIC,
    f"disparity by few draws: {title(World(2, 'forest'), 'probability', 200)}",
    high=0.965,
    repetitions=1_000,
    note="2,000 model rows",
)
def few_draws(rng: np.random.Generator, repetitions: int) -> Trials:
    world, given = World(2, "forest"), {"method": "direct", "max_model_rows": 2_000}
    ends = intervals(world, "probability", 200, rng, repetitions, **given)[:, 2]
    return Trials.of_intervals(ends[:, 0], ends[:, 1], true_disparities(world, "probability"))


def parts(world: World, output: Output, n: int, rng: np.random.Generator, repetitions: int, **given: Any) -> Any:
    """Ends of intervals (repetitions, groups - 1, columns + 1, 2) of the parts of the gap and of the gap."""
    ends = np.empty((repetitions, world.groups - 1, len(COLUMNS) + 1, 2))
    for run in range(repetitions):
        found = iso.explain.gap(data_of(world, n, rng), trained(world), output=output, n_boot=0, seed=run, **given)
        for at, (name, part) in enumerate(found.parts.items()):
            gap = found.gaps[name]
            ends[run, at, :-1] = np.stack(part.ends(gap.level), axis=1)
            ends[run, at, -1] = gap.low, gap.high
    return ends


for world, output, n in GRID:
    for criterion in ("demographic_parity", "equal_opportunity"):
        if criterion == "equal_opportunity" and (world.groups == 3 or (n > 200 and output == "decision")):
            continue

        @setting(
            TOPIC,
            f"{'parts of a gap' if criterion == 'demographic_parity' else 'equal opportunity'}: "
            f"{title(world, output, n)}",
            high=0.965,
            repetitions=1_000,
            tested=100 if world == World(model="forest") and output == "probability" and n == 200 else 0,
        )
        def contributions(
            rng: np.random.Generator,
            repetitions: int,
            world: World = world,
            output: Output = output,
            n: int = n,
            criterion: str = criterion,
        ) -> Trials:
            """What every column adds, and the gap."""
            ends = parts(world, output, n, rng, repetitions, criterion=criterion)
            truth = true_parts(world, output, criterion == "equal_opportunity")
            return Trials.of_intervals(ends[..., 0], ends[..., 1], truth)


@setting(
    TOPIC,
    "parts of a gap, sampled: probabilities of a logistic regression, 2 groups, 200 people",
    high=0.965,
    repetitions=1_000,
    note="orders of columns are sampled, as of a black box",
)
def sampled(rng: np.random.Generator, repetitions: int) -> Trials:
    world = World(2)
    ends = parts(world, "probability", 200, rng, repetitions, max_model_rows=20_000)
    return Trials.of_intervals(ends[..., 0], ends[..., 1], true_parts(world, "probability", False))


for world, output, n in GRID:
    if world.groups == 2:
        alike = World(2, world.model, alike=True)

        @setting(
            TOPIC,
            f"groups alike: {title(alike, output, n)}",
            "size of the test of a column",
            low=0.0,
            high=0.065,
            repetitions=1_000,
            tested=100 if world == World() and output == "probability" and n == 200 else 0,
        )
        def of_test(
            rng: np.random.Generator, repetitions: int, world: World = alike, output: Output = output, n: int = n
        ) -> Trials:
            """No column adds anything."""
            draws = (data_of(world, n, rng) for _ in range(repetitions))
            found = [iso.explain.gap(data, trained(world), output=output, n_boot=0) for data in draws]
            return Trials.of_p_values([part.p_value for one in found for part in one.parts.values()])
