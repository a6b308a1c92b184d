"""Tests of fair data far into their tails: what a correction for hundreds of tests relies on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from benchmarks.statistics.null_runs import fair
from benchmarks.statistics.setting import Trials, setting
from isonomia.counting import Codes
from isonomia.evidence import two_proportions
from isonomia.evidence.intervals import Figures, difference_p
from isonomia.evidence.mean_intervals import MeanEnds
from isonomia.fairness import label_bias
from isonomia.fairness.groups.averages import mean_of_losses
from isonomia.metrics import reliability
from isonomia.models import Surface
from isonomia.robustness import failure_modes, local_robustness
from isonomia.typing import Floats

TOPIC = "tails of tests"
#: Groups that are drawn and tested together.
TOGETHER = 500
#: Data sets whose decisions are perturbed, and how often people are put in groups for each repetition.
DATASETS, GROUPINGS = 8, 50

#: Draws p-values of one repetition, all of true hypotheses.
PValues = Callable[[np.random.Generator], Floats]


def known(values: object) -> Floats:
    """P-values as numbers, without those of tests that were not made."""
    p: Floats = np.asarray(values, dtype=float)
    return p[~np.isnan(p)]


def of_rates(n: int, m: int, rate: float) -> PValues:
    """A group of n against m others at the same rate."""

    def draw(rng: np.random.Generator) -> Floats:
        k, others = rng.binomial(n, rate, TOGETHER), rng.binomial(m, rate, TOGETHER)
        return two_proportions(k, np.full(TOGETHER, n), others, np.full(TOGETHER, m))

    return draw


def of_calibration(column: str, n: int, *, weighted: bool = False) -> PValues:
    """Groups of n rows with the right probabilities."""

    def draw(rng: np.random.Generator) -> Floats:
        p = 1 / (1 + np.exp(-rng.normal(0, 2.2, TOGETHER * n)))
        happened = (rng.random(p.size) < p).astype(np.uint8)
        groups = Codes("group", np.repeat(np.arange(TOGETHER), n), tuple(range(TOGETHER)))
        weights = rng.exponential(size=p.size) if weighted else None
        surface = Surface.of_probabilities(p, classes=(0, 1))
        table = reliability(happened, surface, groups=groups, weights=weights).tables["by_group"]
        return known(table[column].values)

    return draw


def of_labels(task: str) -> PValues:
    """Labels of two and five groups against those of similar people."""

    def draw(rng: np.random.Generator) -> Floats:
        data, _ = fair(rng, task, 1500)
        return known(label_bias(data, n_boot=2).tables["neighbours"]["p_value"].values)

    return draw


def of_worst_rows(task: str) -> PValues:
    """Two and five groups among the rows served worst."""

    def draw(rng: np.random.Generator) -> Floats:
        data, model = fair(rng, task)
        table = failure_modes(data, model).tables["slices"]
        about = np.isin(np.asarray(table["feature"].values, dtype=str), data.protected)
        return known(table["p_value"].values)[about]

    return draw


@cache
def flips(task: str, which: int) -> Floats:
    """How often the decision about each of 3,000 people flips under noise."""
    data, model = fair(np.random.default_rng([7, which]), task)
    return np.asarray(1 - local_robustness(data, model, nearest=False).scores)


def of_flips(task: str) -> PValues:
    """Two and five groups that have nothing to do with whose decisions flip, tested as `local_robustness` does."""

    def draw(rng: np.random.Generator) -> Floats:
        values = flips(task, int(rng.integers(DATASETS)))
        own: list[Figures] = []
        base: list[Figures] = []
        for _ in range(GROUPINGS):
            for shares in ([0.5, 0.5], [0.4, 0.25, 0.15, 0.12, 0.08]):
                group = rng.choice(len(shares), values.size, p=shares)
                figures = [mean_of_losses(values[group == code], None) for code in range(len(shares))]
                largest = int(np.argmax(np.bincount(group)))
                others = [figure for code, figure in enumerate(figures) if code != largest]
                own += others
                base += [figures[largest]] * len(others)
        return known(difference_p(_joined(own), _joined(base)))

    return draw


def _joined(figures: list[Figures]) -> Figures:
    ends = MeanEnds.joined([figure.ends for figure in figures])
    return Figures(np.concatenate([figure.value for figure in figures]), ends=ends)


def settings() -> Iterator[tuple[str, PValues, int, int]]:
    """Name, p-values, repetitions at size and in the tests."""
    for n, m, rate in ((240, 2760, 0.05), (120, 2880, 0.1), (240, 2760, 0.3), (1000, 1000, 0.02)):
        yield f"rates of {n:,} and {m:,} rows at {rate}", of_rates(n, m, rate), 400, 60
    for n in (40, 120, 600):
        yield f"calibration slope, {n} rows", of_calibration("slope_p_value", n), 100, 6 if n == 120 else 0
        yield f"calibration in the large, {n} rows", of_calibration("p_value", n), 100, 0
    yield "calibration slope, 120 rows, weighted", of_calibration("slope_p_value", 120, weighted=True), 100, 0
    for task in ("binary", "multiclass", "regression"):
        yield f"labels of similar people, {task}, 1,500 rows", of_labels(task), 900, 0
        yield f"groups among the worst rows, {task}, 3,000 rows", of_worst_rows(task), 500, 0
        yield f"groups whose decisions flip, {task}, 3,000 rows", of_flips(task), 100, 0


DRAWS = {name: draw for name, draw, _, _ in settings()}


@cache
def drawn(name: str, repetitions: int) -> Floats:
    """P-values of a setting: its levels share them."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return np.concatenate([DRAWS[name](rng) for _ in range(repetitions)])


for name, _, size, tested in settings():
    for alpha, most in ((0.01, 0.012), (0.001, 0.0015)):

        @setting(
            TOPIC,
            f"{name}: below {alpha}",
            "p-values of true hypotheses",
            low=0.0,
            high=most,
            repetitions=size,
            tested=tested,
        )
        def in_the_tail(_: np.random.Generator, repetitions: int, name: str = name, alpha: float = alpha) -> Trials:
            return Trials.of_p_values(drawn(name, repetitions), alpha)
