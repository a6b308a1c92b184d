"""What before_after and mitigate claim about fixes: coverage of simultaneous intervals, false alarms, false help."""

from __future__ import annotations

from typing import Any

import numpy as np

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting
from isonomia.mitigation.judging.bands import CRITERIA
from isonomia.mitigation.judging.before_after import read_comparison
from isonomia.mitigation.judging.comparison import Comparison

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


def compared(rng: np.random.Generator, p: Any, n: int) -> Comparison:
    """One sample of people before and after."""
    g, y, before, after = np.unravel_index(rng.choice(p.size, n, p=p.ravel()), p.shape)
    options = {"sensitive_features": {"g": g}, "n_boot": 1_000, "seed": int(rng.integers(1 << 30))}
    return read_comparison(y, before, {"after": after}, "each", options)


def rates(p: Any) -> Any:
    """True metrics before and after: (2, metric, group)."""
    out = []
    for axis in (3, 2):
        C = p.sum(axis=axis)
        tops = (C[:, :, 1].sum(1), C[:, 1, 1], C[:, 0, 1], C[:, 1, 1], C[:, 1, 1] + C[:, 0, 0])
        sizes = (C.sum((1, 2)), C[:, 1].sum(1), C[:, 0].sum(1), C[:, :, 1].sum(1), C.sum((1, 2)))
        out.append([top / size for top, size in zip(tops, sizes, strict=True)])
    return np.array(out)


def family_covered(found: Comparison, truth: Any) -> bool:
    """Whether every figure that the critical value is made for lies inside its interval.

    Those are the changes of all groups and metrics, and the differences between groups (of ratios: of logarithms)
    before, after and their changes.
    """
    own, change = found.bands.groups, truth[1] - truth[0]
    inside = bool(((own.low[0, :, :-1] <= change) & (change <= own.high[0, :, :-1])).all())
    one, other = np.triu_indices(truth.shape[-1], 1)
    for (name, _), pairs in zip(found.gaps.keys, found.gaps.pairs, strict=True):
        metrics, how = CRITERIA[name]
        values = np.concatenate([truth[:, found.measures.index(metric)][:, None] for metric in metrics], axis=1)
        values = np.log(values) if how == "ratio" else values
        before, after = (values[..., one] - values[..., other]).reshape(2, -1)
        triples = zip(
            (pairs.before, pairs.after[0], pairs.after[0] - pairs.before),
            (before, after, after - before),
            pairs.errors,
            strict=True,
        )
        for value, true, error in triples:
            inside &= bool((np.abs(value - true) <= found.bands.critical * error + 1e-12).all())
    return inside


for groups, size in ((2, 1_000), (3, 2_000), (4, 3_000)):

    @setting(
        TOPIC,
        f"{groups} groups, {size:,} people",
        "all figures of all groups, gaps and metrics inside their intervals",
        low=0.935,
        high=0.965,
        repetitions=2_000,
        tested=600 if groups == 3 else 0,
    )
    def cover(rng: np.random.Generator, repetitions: int, groups: int = groups, size: int = size) -> Trials:
        """The whole family of one critical value: changes, and differences before, after and their changes."""
        p = population(groups, same=False)
        truth = rates(p)
        return Trials(np.array([family_covered(compared(rng, p, size), truth) for _ in range(repetitions)]))


@setting(
    TOPIC,
    "3 groups, 2,000 people, gaps",
    "all gaps before, after and their changes inside their intervals",
    low=0.935,
    high=1.0,
    repetitions=400,
    tested=100,
)
def gaps(rng: np.random.Generator, repetitions: int) -> Trials:
    """A gap is the largest of several differences that are covered together: it is covered more often than they."""
    p = population(3, same=False)
    truth = rates(p)
    hits = []
    for _ in range(repetitions):
        found = compared(rng, p, 2_000)
        inside = True
        for number, (name, _) in enumerate(found.gaps.keys):
            metrics, how = CRITERIA[name]
            values = truth[:, [found.measures.index(metric) for metric in metrics]]
            ends = values.min(axis=-1), values.max(axis=-1)
            before, after = (ends[0] / ends[1]).min(axis=-1) if how == "ratio" else (ends[1] - ends[0]).max(axis=-1)
            first = found.bands.before
            inside &= bool(first.low[number] <= before <= first.high[number])
            for band, true in ((found.bands.after, after), (found.bands.change, after - before)):
                inside &= bool(band.low[0, number] <= true <= band.high[0, number])
        hits.append(inside)
    return Trials(np.array(hits))


@setting(
    TOPIC,
    "nobody's rates change, 3 groups",
    "runs that claim levelling down",
    low=0,
    high=0.05,
    repetitions=1_000,
    tested=400,
)
def levelling_down(rng: np.random.Generator, repetitions: int) -> Trials:
    """A one-sided test with a common critical value over groups and metrics."""
    p = population(3, same=True)
    return Trials(np.array([bool(compared(rng, p, 1_500).bands.lowered.any()) for _ in range(repetitions)]))


@setting(
    TOPIC,
    "scores without bias, 500 people",
    "runs in which a fix seems to help",
    low=0,
    high=0.05,
    repetitions=200,
    tested=60,
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


@setting(
    TOPIC,
    "shuffled labels, 500 people",
    "runs in which a fix seems to raise accuracy",
    low=0,
    high=0.05,
    repetitions=200,
    tested=60,
)
def gain_of_shuffled_labels(rng: np.random.Generator, repetitions: int) -> Trials:
    """Fixes are tuned for labels that nothing predicts: what they gain on their own people does not last."""
    gained = []
    for _ in range(repetitions):
        frame = {"sex": rng.choice(["F", "M"], 500), "score": rng.random(500)}
        frame["hired"] = rng.permutation(np.arange(500) % 2)
        found = iso.mitigate(
            iso.Dataset(frame, target="hired", positive=1, protected="sex", score="score"),
            goal="equal_opportunity",
            attribute_at_decision=True,
            methods=["thresholds", "match", "reject_option"],
            folds=2,
            seed=int(rng.integers(1 << 30)),
        )
        ends = [end for end in found.tables["methods"]["accuracy_change"].low or () if end is not None]
        gained.append(any(end > 0 for end in ends))
    return Trials(np.array(gained))
