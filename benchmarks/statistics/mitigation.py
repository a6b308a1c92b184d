"""What before_after and mitigate claim about fixes: coverage of simultaneous intervals, false alarms, false help."""

from __future__ import annotations

from typing import Any

import numpy as np

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting

TOPIC = "mitigation"


def population(groups: int, *, same: bool) -> Any:
    """P(group, label, before, after); with `same` nobody's rates change."""
    p = np.zeros((groups, 2, 2, 2))
    for g in range(groups):
        for y in (0, 1):
            rate = (0.6 if y else 0.2) + (0 if same else 0.1 * g / groups)
            down = 0.05 if same else 0.1 * g / groups + 0.02
            up = rate * down / (1 - rate) if same else 0.12 * (1 - g / groups) + 0.02
            cell = np.array([[(1 - rate) * (1 - up), (1 - rate) * up], [rate * down, rate * (1 - down)]])
            p[g, y] = cell * (0.3 + 0.2 * g / groups if y else 0.7 - 0.2 * g / groups) / groups
    return p


def changes(p: Any) -> Any:
    """True changes of selection rate, TPR, FPR, PPV and accuracy: (metric, group)."""
    out = []
    for axis in (3, 2):
        C = p.sum(axis=axis)
        tops = (C[:, :, 1].sum(1), C[:, 1, 1], C[:, 0, 1], C[:, 1, 1], C[:, 1, 1] + C[:, 0, 0])
        sizes = (C.sum((1, 2)), C[:, 1].sum(1), C[:, 0].sum(1), C[:, :, 1].sum(1), C.sum((1, 2)))
        out.append(np.array([top / size for top, size in zip(tops, sizes, strict=True)]))
    return out[1] - out[0]


def compared(rng: np.random.Generator, p: Any, n: int) -> Any:
    """One sample of people before and after."""
    g, y, before, after = np.unravel_index(rng.choice(p.size, n, p=p.ravel()), p.shape)
    return iso.mitigation.before_after(
        y, before, after, sensitive_features={"g": g}, n_boot=500, seed=int(rng.integers(1 << 30))
    )


for groups, size in ((2, 1_000), (4, 3_000)):

    @setting(
        TOPIC,
        f"{groups} groups, {size:,} people",
        "all changes of all groups and metrics inside their intervals",
        low=0.935,
        high=1.0,
        repetitions=400,
        tested=0,
    )
    def cover(rng: np.random.Generator, repetitions: int, groups: int = groups, size: int = size) -> Trials:
        """The family also has the gaps before and after, so that this part of it covers a little more often."""
        p = population(groups, same=False)
        truth = changes(p)
        hits = []
        for _ in range(repetitions):
            column = compared(rng, p, size).tables["groups"]["change"]
            low, high = (
                np.array(end, dtype=float)[: truth.size].reshape(groups, -1).T for end in (column.low, column.high)
            )
            hits.append(bool(((low <= truth) & (truth <= high)).all()))
        return Trials(np.array(hits))


@setting(
    TOPIC,
    "nobody's rates change, 3 groups",
    "runs that claim levelling down",
    low=0,
    high=0.05,
    repetitions=400,
    tested=0,
)
def levelling_down(rng: np.random.Generator, repetitions: int) -> Trials:
    """A one-sided test with a common critical value over groups and metrics."""
    p = population(3, same=True)
    verdicts = (compared(rng, p, 1_500).tables["levelling"]["verdict"].values for _ in range(repetitions))
    return Trials(np.array([bool({"levels_down", "trades"} & set(run)) for run in verdicts]))


@setting(
    TOPIC,
    "scores without bias, 500 people",
    "runs in which a fix seems to help",
    low=0,
    high=0.05,
    repetitions=200,
    tested=0,
)
def help_without_bias(rng: np.random.Generator, repetitions: int) -> Trials:
    """The interval of the change of the gap lies below 0 for any of three fixes."""
    helped = []
    for _ in range(repetitions):
        skill, sex = rng.normal(size=500), rng.choice(["F", "M"], 500)
        frame = {"sex": sex, "skill": skill, "hired": (skill + rng.normal(size=500) > 0.5).astype(int)}
        frame["score"] = 1 / (1 + np.exp(-skill - rng.normal(size=500)))
        found = iso.mitigate(
            iso.Dataset(frame, target="hired", positive=1, protected="sex", score="score"),
            attribute_at_decision=True,
            methods=["thresholds", "match", "level_up"],
            folds=2,
            seed=int(rng.integers(1 << 30)),
        )
        ends = [end for end in found.tables["methods"]["gap_change"].high or () if end is not None]
        helped.append(any(end < 0 for end in ends))
    return Trials(np.array(helped))
