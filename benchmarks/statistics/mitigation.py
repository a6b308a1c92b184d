"""What before_after and mitigate claim about fixes: coverage of simultaneous intervals, false alarms, false help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import erf

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting
from isonomia.mitigation.judging.bands import criteria_of
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
    return _read(rng, g, y, before, [after])


def _read(rng: np.random.Generator, g: Any, y: Any, before: Any, after: Sequence[Any], **given: Any) -> Comparison:
    options = {"sensitive_features": {"g": g}, "n_boot": 1_000, "seed": int(rng.integers(1 << 30))} | given
    return read_comparison(y, before, {str(number): one for number, one in enumerate(after)}, "each", options)


def rates(*tables: Any) -> Any:
    """True metrics of P(group, label, decision), one table before and one after each fix: (1 + M, metric, group).

    Of two classes the metrics are those of the second; of more each metric is that of every class in turn.
    """
    out = []
    for C in tables:
        size, right = C.sum((1, 2)), np.trace(C, axis1=1, axis2=2)
        each: list[list[Any]] = [[], [], [], []]
        for k in range(C.shape[1]) if C.shape[1] > 2 else (1,):
            named, true, both = C[:, :, k].sum(1), C[:, k].sum(1), C[:, k, k]
            for metric, value in zip(
                each, (named / size, both / true, (named - both) / (size - true), both / named), strict=True
            ):
                metric.append(value)
        out.append([*(value for metric in each for value in metric), right / size])
    return np.array(out)


def family_covered(found: Comparison, truth: Any) -> bool:
    """Whether every figure that the critical value is made for lies inside its interval.

    Those are the changes of all groups and metrics of all fixes, and the differences between groups (of ratios: of
    logarithms) before, after and their changes. `truth` is (1 + M, metric, group).
    """
    own, change = found.bands.groups, truth[1:] - truth[:1]
    inside = bool(((own.low[..., :-1] <= change) & (change <= own.high[..., :-1])).all())
    one, other = np.triu_indices(truth.shape[-1], 1)
    criteria = criteria_of(found.measures)
    for (name, _), pairs in zip(found.gaps.keys, found.gaps.pairs, strict=True):
        metrics, how = criteria[name]
        values = np.log(truth[:, metrics]) if how == "ratio" else truth[:, metrics]
        true = (values[..., one] - values[..., other]).reshape(len(truth), -1)
        triples = zip(
            (pairs.before[None], pairs.after, pairs.after - pairs.before),
            (true[:1], true[1:], true[1:] - true[:1]),
            pairs.errors,
            strict=True,
        )
        for value, right, error in triples:
            inside &= bool((np.abs(value - right) <= found.bands.critical * error + 1e-12).all())
    return inside


FAMILY = "all figures of all groups, gaps and metrics inside their intervals"

for groups, size in ((2, 1_000), (3, 2_000), (4, 3_000)):

    @setting(
        TOPIC,
        f"{groups} groups, {size:,} people",
        FAMILY,
        low=0.935,
        high=0.965,
        repetitions=2_000,
        tested=400 if groups == 3 else 0,
        errors=2.0,
    )
    def cover(rng: np.random.Generator, repetitions: int, groups: int = groups, size: int = size) -> Trials:
        """The whole family of one critical value: changes, and differences before, after and their changes."""
        p = population(groups, same=False)
        truth = rates(p.sum(3), p.sum(2))
        return Trials(np.array([family_covered(compared(rng, p, size), truth) for _ in range(repetitions)]))


@setting(
    TOPIC,
    "3 groups, 3,000 people, 12 fixes",
    FAMILY,
    low=0.935,
    high=0.965,
    repetitions=2_000,
    tested=100,
    errors=2.0,
    note="more combinations of decisions than are drawn one by one: their margins are drawn instead",
)
def several_fixes(rng: np.random.Generator, repetitions: int) -> Trials:
    """Twelve fixes that grant and refuse at random, each with shares of its own."""
    p = population(3, same=False).sum(3)
    up = np.linspace(0.05, 0.25, 12)[:, None] * np.array([1.0, 0.6, 0.3])
    down = np.linspace(0.20, 0.02, 12)[:, None] * np.array([0.2, 0.6, 1.0])
    granted = np.stack([up, 1 - down], axis=-1)  # P(after = 1 | fix, group, before)
    share = p[None] * granted[:, :, None]
    tables = [p, *np.stack([(p[None] - share).sum(-1), share.sum(-1)], axis=-1)]
    truth = rates(*tables)
    hits = []
    for _ in range(repetitions):
        g, y, before = np.unravel_index(rng.choice(p.size, 3_000, p=p.ravel()), p.shape)
        after = (rng.random((12, 3_000)) < granted[:, g, before]).astype(int)
        hits.append(family_covered(_read(rng, g, y, before, list(after)), truth))
    return Trials(np.array(hits))


@setting(TOPIC, "3 groups, 3,000 people with weights", FAMILY, low=0.935, high=0.965, repetitions=2_000)
def weighted(rng: np.random.Generator, repetitions: int) -> Trials:
    """Weights that differ by outcome and by chance: the truth is that of the people they stand for."""
    p = population(3, same=False)
    stands_for = p * np.array([1.0, 2.0])[:, None, None]
    truth = rates(stands_for.sum(3), stands_for.sum(2))
    hits = []
    for _ in range(repetitions):
        g, y, before, after = np.unravel_index(rng.choice(p.size, 3_000, p=p.ravel()), p.shape)
        found = _read(rng, g, y, before, [after], weights=(1 + y) * rng.exponential(size=y.size))
        hits.append(family_covered(found, truth))
    return Trials(np.array(hits))


@setting(TOPIC, "3 groups, 3,000 people, 3 classes", FAMILY, low=0.935, high=0.965, repetitions=2_000)
def several_classes(rng: np.random.Generator, repetitions: int) -> Trials:
    """Metrics of each class in turn, of two fixes."""
    label = np.array([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.3, 0.4, 0.3]]) / 3
    moved = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    p = label[:, :, None] * moved  # P(group, label, before)
    fixes = [np.full((3, 3), share / 3) + (1 - share) * np.eye(3) for share in (0.1, 0.3)]
    truth = rates(p, *(p @ fix for fix in fixes))
    hits = []
    for _ in range(repetitions):
        g, y, before = np.unravel_index(rng.choice(p.size, 3_000, p=p.ravel()), p.shape)
        after = [(rng.random((3_000, 1)) > fix.cumsum(axis=1)[before]).sum(axis=1) for fix in fixes]
        hits.append(family_covered(_read(rng, g, y, before, after), truth))
    return Trials(np.array(hits))


@setting(TOPIC, "3 groups, 2,000 people, numbers", FAMILY, low=0.935, high=0.965, repetitions=2_000)
def numbers(rng: np.random.Generator, repetitions: int) -> Trials:
    """Skewed outcomes; errors before and after that are normal, so that their absolute means are known."""
    shift, g_of = 0.1, np.arange(3)
    sds = (0.5, np.hypot(0.5, 0.3))
    centres = (shift * g_of, np.zeros(3))  # the mean error of each group before and after
    truth = np.stack([_numbers(1 + 0.2 * g_of, centre, sd) for centre, sd in zip(centres, sds, strict=True)])
    hits = []
    for _ in range(repetitions):
        g = rng.integers(3, size=2_000)
        y = rng.exponential(size=g.size) + 0.2 * g
        before = y + shift * g + 0.5 * rng.normal(size=g.size)
        after = before - shift * g + 0.3 * rng.normal(size=g.size)
        hits.append(family_covered(_read(rng, g, y, before, [after], task="regression"), truth))
    return Trials(np.array(hits))


def _numbers(mean: Any, centre: Any, sd: float) -> Any:
    """Mean prediction, mean absolute error and mean error where errors are normal."""
    folded = sd * np.sqrt(2 / np.pi) * np.exp(-(centre**2) / (2 * sd**2)) + centre * erf(centre / sd / np.sqrt(2))
    return np.stack([mean + centre, folded, centre])


@setting(
    TOPIC,
    "3 groups, 2,000 people, gaps",
    "all gaps before, after and their changes inside their intervals",
    low=0.935,
    high=1.0,
    repetitions=400,
    tested=100,
    errors=2.0,
)
def gaps(rng: np.random.Generator, repetitions: int) -> Trials:
    """A gap is the largest of several differences that are covered together: it is covered more often than they."""
    p = population(3, same=False)
    truth = rates(p.sum(3), p.sum(2))
    hits = []
    for _ in range(repetitions):
        found = compared(rng, p, 2_000)
        inside = True
        for number, (name, _) in enumerate(found.gaps.keys):
            metrics, how = criteria_of(found.measures)[name]
            values = truth[:, metrics]
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
    tested=200,
    errors=2.0,
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
    errors=2.0,
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
    errors=2.0,
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
