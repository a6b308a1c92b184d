"""Coverage of differences, ratios and gaps of rates, of criteria and of the suite's score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.statistics.setting import Trials, setting
from isonomia import fairness

#: Strata of one call: as many repetitions.
AT_ONCE = 250
#: Rows of the group, rows of the reference.
SIZES = ((30, 30), (100, 100), (1000, 1000), (30, 1000), (100, 1000))
RATES = ((0.01, 0.0125), (0.05, 0.0625), (0.05, 0.05), (0.5, 0.625))


def _rows(
    rng: np.random.Generator, rates: tuple[float, ...], sizes: tuple[int, ...], strata: int
) -> tuple[NDArray[Any], ...]:
    """Decisions, groups and strata of people whose groups are selected at these rates."""
    group = np.tile(np.repeat(np.arange(len(sizes)), sizes), strata)
    stratum = np.repeat(np.arange(strata), sum(sizes))
    selected = (rng.uniform(size=group.size) < np.asarray(rates)[group]).astype(int)
    return selected, group, stratum


def _table(
    rng: np.random.Generator, repetitions: int, rates: tuple[float, ...], sizes: tuple[int, ...], table: str, what: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Low and high ends of one column of `group_metrics`, and p-values; each stratum is a repetition."""
    parts = []
    for _ in range(-(-repetitions // AT_ONCE)):
        selected, group, stratum = _rows(rng, rates, sizes, AT_ONCE)
        found = fairness.group_metrics(
            None,
            selected,
            sensitive_features={"g": group},
            control={"s": stratum},
            reference=len(sizes) - 1,
            min_per_group=1,
        )
        frame = getattr(found, table)
        p = frame["p_value"] if "p_value" in frame else np.full(len(frame), np.nan)
        parts.append(np.array([frame[f"{what}_low"], frame[f"{what}_high"], p], dtype=float))
    low, high, p = np.concatenate(parts, axis=1)[:, :repetitions]
    return low, high, p


def _low(sizes: tuple[int, ...]) -> float:
    return 0.935 if min(sizes) >= 100 else 0.93


for sizes in SIZES:
    for rates in RATES:
        name = f"{rates[0]:g} and {rates[1]:g}, {sizes[0]:,} and {sizes[1]:,} rows"
        few = min(sizes[0] * rates[0], sizes[1] * rates[1]) < 5
        options: dict[str, Any] = {
            "low": _low(sizes),
            "high": 1.0 if few else 0.975,
            "note": "fewer than 5 expected cases" if few else "",
        }
        tested = AT_ONCE if sizes == (30, 1000) else 0

        @setting("differences and ratios of rates", f"difference, {name}", repetitions=2000, tested=tested, **options)
        def difference(rng: np.random.Generator, repetitions: int, rates: Any = rates, sizes: Any = sizes) -> Trials:
            low, high, _ = _table(rng, repetitions, rates, sizes, "comparisons", "difference")
            return Trials.of_intervals(low, high, rates[0] - rates[1])

        @setting("differences and ratios of rates", f"ratio, {name}", repetitions=2000, tested=tested, **options)
        def ratio(rng: np.random.Generator, repetitions: int, rates: Any = rates, sizes: Any = sizes) -> Trials:
            low, high, _ = _table(rng, repetitions, rates, sizes, "comparisons", "ratio")
            return Trials.of_intervals(low, high, rates[0] / rates[1])


for sizes in SIZES:
    for rate in (0.01, 0.05, 0.5):
        for alpha in (0.05, 0.005):

            @setting(
                "differences and ratios of rates",
                f"test at {alpha:g}, both {rate:g}, {sizes[0]:,} and {sizes[1]:,} rows",
                "size",
                low=0.0,
                high=1.25 * alpha,
                repetitions=4000 if alpha > 0.01 else 40_000,
            )
            def size(
                rng: np.random.Generator, repetitions: int, rate: float = rate, sizes: Any = sizes, alpha: float = alpha
            ) -> Trials:
                p = _table(rng, repetitions, (rate, rate), sizes, "comparisons", "difference")[2]
                return Trials.of_p_values(p, alpha)


#: True rates of the groups, each of as many rows.
GAPS: dict[str, tuple[float, ...]] = {
    "2 equal groups": (0.4, 0.4),
    "5 equal groups": (0.4,) * 5,
    "5 equal groups, rare": (0.05,) * 5,
    "5 groups, one worse": (0.3, 0.4, 0.4, 0.4, 0.4),
    "3 groups, one much worse": (0.1, 0.4, 0.45),
}
for name, group_rates in GAPS.items():
    for n in (30, 100, 1000):
        for what in ("difference", "ratio"):

            @setting(
                "gaps between groups",
                f"{what}, {name}, {n:,} rows each",
                low=0.935,
                high=1.0,
                repetitions=2000,
                tested=250 if n == 100 else 0,
                note="simultaneous over all pairs of groups",
            )
            def gap(
                rng: np.random.Generator, repetitions: int, rates: Any = group_rates, n: int = n, what: str = what
            ) -> Trials:
                low, high, _ = _table(rng, repetitions, rates, (n,) * len(rates), "disparities", what)
                truth = max(rates) - min(rates) if what == "difference" else min(rates) / max(rates)
                return Trials.of_intervals(low, high, truth)


def _people(
    rng: np.random.Generator, found: tuple[float, ...], alarms: tuple[float, ...], n: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """True outcomes (half favourable), decisions and groups, from each group's true and false positive rate."""
    group = np.repeat(np.arange(len(found)), n)
    truth = rng.integers(0, 2, group.size)
    rate = np.where(truth == 1, np.asarray(found)[group], np.asarray(alarms)[group])
    return truth, (rng.uniform(size=group.size) < rate).astype(int), group


CASES = {
    "2 equal groups": ((0.7,) * 2, (0.2,) * 2),
    "5 equal groups": ((0.7,) * 5, (0.2,) * 5),
    "5 groups, one worse": ((0.6, 0.7, 0.7, 0.7, 0.7), (0.1, 0.2, 0.2, 0.2, 0.2)),
}
for name, (found, alarms) in CASES.items():
    for n in (200, 1000):

        @setting(
            "criteria and score", f"equalized odds, {name}, {n:,} rows each", low=0.935, high=1.0, repetitions=1000
        )
        def odds(
            rng: np.random.Generator, repetitions: int, found: Any = found, alarms: Any = alarms, n: int = n
        ) -> Trials:
            estimates = [
                fairness.equalized_odds(truth, said, sensitive_features=group).difference
                for truth, said, group in (_people(rng, found, alarms, n) for _ in range(repetitions))
            ]
            gap = max(max(part) - min(part) for part in (found, alarms))
            return Trials.of_estimates(estimates, gap)

        @setting("criteria and score", f"overall score, {name}, {n:,} rows each", low=0.935, high=1.0, repetitions=1000)
        def score(
            rng: np.random.Generator, repetitions: int, found: Any = found, alarms: Any = alarms, n: int = n
        ) -> Trials:
            estimates = [
                fairness.suite(truth, said, sensitive_features=group, config="quick").score
                for truth, said, group in (_people(rng, found, alarms, n) for _ in range(repetitions))
            ]
            selected = np.add(found, alarms) / 2
            truth = 0.7 * selected.min() / selected.max() + 0.3 * (1 - (max(found) - min(found)))
            return Trials.of_estimates(estimates, truth)
