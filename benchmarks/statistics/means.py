"""Coverage of the intervals of means, areas under curves and calibration; size of the tests of their differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from benchmarks.statistics.setting import Trials, setting
from isonomia.counting import Codes
from isonomia.evidence.intervals import difference_interval, difference_p, ratio_interval
from isonomia.fairness import generalized_entropy, group_metrics, homogeneity
from isonomia.metrics import METRICS, Measured, Rows, RowSets, measure, reliability
from isonomia.models import Surface

TOPIC = "means, areas and calibration"
#: Log odds of the outcomes are these plus 1.2 x with x normal, by base rate (-3.7: 0.044).
SHIFT = {0.5: 0.0, 0.15: -2.17, 0.1: -2.71, 0.05: -3.7}
#: Steepness of what is predicted: 1 is calibrated, above 1 too sure.
STEEP = {"calibrated": 1.0, "too sure": 1.7}


#: An expected calibration error has ten bins.
THIN = "fewer than 5 expected cases in most bins"


def consecutive(name: str, sets: int, size: int) -> Codes:
    """Codes of consecutive sets of `size` rows."""
    return Codes(name, np.repeat(np.arange(sets, dtype=np.uint32), size), tuple(range(sets)))


def measured(metric: str, rows: Rows, size: int) -> Measured:
    """A metric of consecutive sets of `size` rows: a set is a repetition."""
    sets = consecutive("repetition", len(rows) // size, size)
    return measure([METRICS[metric]], RowSets.of(rows, [sets], empty=True), n_boot=0)[metric]


def numbers(rng: np.random.Generator, errors: str, rows: int, *, weighted: bool = False) -> Rows:
    """Predictions of 0 with normal or Student-5 errors; exponential weights leave half of the rows effective."""
    truth = rng.normal(size=rows) if errors == "normal" else rng.standard_t(5, size=rows)
    return Rows(truth, Surface.of_numbers(np.zeros(rows)), rng.exponential(1.0, rows) if weighted else None)


def chances(rng: np.random.Generator, base: float, steep: float, rows: int) -> tuple[Rows, Any]:
    """Outcomes with their predicted probabilities, and the true ones."""
    odds = SHIFT[base] + 1.2 * rng.normal(size=rows)
    true = expit(odds)
    truth = (rng.random(rows) < true).astype(np.uint8)
    return Rows(truth, Surface.of_probabilities(expit(steep * odds), classes=(0, 1))), true


@cache
def truth_of(metric: str, base: float, kind: str) -> float:
    """The true value, from a million rows whose chances are known."""
    rows, true = chances(np.random.default_rng(0), base, STEEP[kind], 1_000_000)
    p = rows.surface.probability
    assert p is not None
    if metric == "logloss":
        return float(-(true * np.log(p) + (1 - true) * np.log1p(-p)).mean())
    if metric == "brier_score":
        return float((true * (1 - p) ** 2 + (1 - true) * p**2).mean())
    if metric == "ece":
        bins = np.minimum((p * 10).astype(int), 9)
        return float(np.abs(np.bincount(bins, weights=true - p)).sum() / p.size)
    return float(METRICS[metric].from_rows(rows.truth, rows.surface, None)[0])  # type: ignore[misc]


TRUE_NUMBERS = {
    ("mae", "normal"): np.sqrt(2 / np.pi),
    ("rmse", "normal"): 1.0,
    ("mae", "Student 5"): 8 * np.sqrt(5) / (6 * np.pi),  # 2 sqrt(df) G((df + 1) / 2) / (sqrt(pi) (df - 1) G(df / 2))
    ("rmse", "Student 5"): np.sqrt(5 / 3),
}

for (metric, errors), value in TRUE_NUMBERS.items():
    for size in (30, 100, 1000):
        for weighted in (False, True):
            name = f"{metric.upper()}, {errors} errors, {size:,} rows" + (", weighted" if weighted else "")

            @setting(
                TOPIC,
                name,
                low=0.93 if size < 100 else 0.935,
                high=0.98 if size < 100 else 0.975,
                repetitions=4000,
                tested=1000 if size == 100 else 0,
            )
            def of_numbers(
                rng: np.random.Generator,
                repetitions: int,
                metric: str = metric,
                errors: str = errors,
                size: int = size,
                value: float = value,
                weighted: bool = weighted,
            ) -> Trials:
                found = measured(metric, numbers(rng, errors, size * repetitions, weighted=weighted), size)
                return Trials.of_intervals(found.low, found.high, value)


for metric in ("logloss", "brier_score", "auc", "pr_auc", "ece"):
    for base, size in ((0.5, 30), (0.5, 100), (0.5, 1000), (0.05, 30), (0.05, 100), (0.05, 1000)):
        for kind in ("calibrated", "too sure") if metric in ("logloss", "ece") else ("calibrated",):
            few = base * size < 10 or size < 100
            thin = metric == "ece" and size < 1000
            top = 0.975 if not few and not thin else 1.0 if metric in ("ece", "pr_auc") else 0.99

            @setting(
                TOPIC,
                f"{METRICS[metric].title.text()}, {kind}, base rate {base:g}, {size:,} rows",
                low=0.93 if few else 0.935,
                high=top,
                repetitions=3000,
                tested=300 if size == 100 and base == 0.5 else 0,
                note=THIN
                if thin
                else "none with fewer than five rows of a class"
                if metric in ("auc", "pr_auc") and few
                else "",
            )
            def of_chances(
                rng: np.random.Generator,
                repetitions: int,
                metric: str = metric,
                base: float = base,
                size: int = size,
                kind: str = kind,
            ) -> Trials:
                found = measured(metric, chances(rng, base, STEEP[kind], size * repetitions)[0], size)
                return Trials.of_intervals(found.low, found.high, truth_of(metric, base, kind))


def two_samples(
    rng: np.random.Generator, metric: str, kind: str, base: float, sizes: tuple[int, int], repetitions: int
) -> tuple[Any, Any]:
    """The figures of two groups that do not differ."""
    parts = []
    for size in sizes:
        total = size * repetitions
        rows = numbers(rng, kind, total) if metric == "rmse" else chances(rng, base, STEEP[kind], total)[0]
        parts.append(measured(metric, rows, size).figures)
    return parts[0], parts[1]


#: Metric, kind of predictions, base rate, and the rows of two groups that do not differ.
SMALL, LARGE = ((30, 30), (60, 1000), (100, 100)), ((150, 150), (150, 1500))
PAIRS = (
    ("rmse", "normal", 0.5, SMALL),
    ("rmse", "Student 5", 0.5, SMALL),
    ("logloss", "too sure", 0.5, SMALL),
    ("logloss", "too sure", 0.15, ((100, 100),)),
    ("logloss", "too sure", 0.1, LARGE),
    ("logloss", "too sure", 0.05, ((300, 300),)),
    ("brier_score", "too sure", 0.1, LARGE),
    ("auc", "calibrated", 0.5, SMALL),
    ("ece", "too sure", 0.5, SMALL),
)
for metric, kind, base, of_sizes in PAIRS:
    for sizes in of_sizes:
        rate = "" if base == 0.5 else f", base rate {base:g}"
        label = f"{METRICS[metric].title.text()}, {kind}{rate}, {sizes[0]} and {sizes[1]:,} rows"
        top = 1.0 if metric == "ece" else 0.975 if min(sizes) >= 100 else 1.0 if metric == "auc" else 0.99
        note = THIN if metric == "ece" else ""

        @setting(
            TOPIC,
            f"Difference of {label}",
            low=0.93,
            high=top,
            repetitions=3000,
            tested=200 if sizes == (30, 30) else 0,
            note=note,
        )
        def of_difference(
            rng: np.random.Generator,
            repetitions: int,
            metric: str = metric,
            kind: str = kind,
            base: float = base,
            sizes: tuple[int, int] = sizes,
        ) -> Trials:
            figures = two_samples(rng, metric, kind, base, sizes, repetitions)
            return Trials.of_intervals(*difference_interval(*figures), 0.0)

        @setting(TOPIC, f"Ratio of {label}", low=0.93, high=top, repetitions=3000, note=note)
        def of_ratio(
            rng: np.random.Generator,
            repetitions: int,
            metric: str = metric,
            kind: str = kind,
            base: float = base,
            sizes: tuple[int, int] = sizes,
        ) -> Trials:
            return Trials.of_intervals(*ratio_interval(*two_samples(rng, metric, kind, base, sizes, repetitions)), 1.0)

        for alpha, most in ((0.05, 0.06), (0.005, 0.008)):

            @setting(TOPIC, f"Test of {label}, level {alpha:g}", "size", low=0.0, high=most, repetitions=2000, tested=0)
            def of_test(
                rng: np.random.Generator,
                repetitions: int,
                metric: str = metric,
                kind: str = kind,
                base: float = base,
                sizes: tuple[int, int] = sizes,
                alpha: float = alpha,
            ) -> Trials:
                return Trials.of_p_values(
                    difference_p(*two_samples(rng, metric, kind, base, sizes, repetitions)), alpha
                )


for figure in ("gap", "slope", "brier", "ece"):
    for size in (30, 100, 1000):

        @setting(
            TOPIC,
            f"Calibration by group: {figure}, {size:,} rows",
            low=0.93 if size < 100 else 0.935,
            high=1.0 if figure == "ece" and size < 1000 else 0.975 if size >= 100 else 0.985,
            repetitions=1000,
            tested=300 if size == 100 else 0,
            note=THIN if figure == "ece" and size < 1000 else "",
        )
        def of_groups(rng: np.random.Generator, repetitions: int, figure: str = figure, size: int = size) -> Trials:
            rows, true = chances(rng, 0.5, 1.0, size * repetitions)
            off = expit(np.log(true / (1 - true)) - 0.7)  # too low by 0.7 log odds in every group
            surface = Surface.of_probabilities(off, classes=(0, 1))
            groups = consecutive("group", repetitions, size)
            table = reliability(rows.truth, surface, groups=groups).tables["by_group"]
            low, high = (np.asarray(end, dtype=float) for end in (table[figure].low, table[figure].high))
            bins = np.minimum((off * 10).astype(int), 9)
            value = {
                "gap": float((true - off).mean()),
                "slope": 1.0,
                "brier": float((true * (1 - off) ** 2 + (1 - true) * off**2).mean()),
                "ece": float(np.abs(np.bincount(bins, weights=true - off)).sum() / off.size),
            }[figure]
            return Trials.of_intervals(low, high, value)


for differ in (False, True):
    for size in (100, 1000):

        @setting(
            TOPIC,
            f"Inequality between two groups that {'differ' if differ else 'are alike'}, {size:,} rows each",
            high=0.975 if differ else 1.0,
            repetitions=1000,
            tested=0,
            note="" if differ else "0 is the least there can be: only the lower end can miss it",
        )
        def of_inequality(
            rng: np.random.Generator, repetitions: int, differ: bool = differ, size: int = size
        ) -> Trials:
            shares = [[0.12, 0.76, 0.12], [0.25, 0.7, 0.05] if differ else [0.12, 0.76, 0.12]]
            means = np.array(shares) @ [0, 1, 2]
            truth = float(((means / means.mean()) ** 2).mean() - 1) / 2
            ends = []
            for seed in range(repetitions):
                benefit = np.concatenate([rng.choice(3, size, p=share) for share in shares])
                groups = np.repeat(["a", "b"], size)
                found = generalized_entropy(
                    (benefit == 0).astype(int),
                    (benefit == 2).astype(int),
                    sensitive_features=groups,
                    n_boot=200,
                    seed=seed,
                )
                ends.append((found.estimates["between"].low, found.estimates["between"].high))
            low, high = np.array(ends, dtype=float).T
            return Trials.of_intervals(low, high, truth)


#: The area under the ROC curve of two normal distributions a distance apart has this value.
def area_of(distance: float) -> float:
    """P(N(distance, 1) > N(0, 1))."""
    return float(ndtr(distance / np.sqrt(2)))


for distance in (1.2, 2.0):
    for positives, negatives in ((6, 94), (15, 15), (15, 285), (50, 50)):

        @setting(
            TOPIC,
            f"Area {area_of(distance):.2f}, {positives} positives and {negatives} negatives",
            low=0.93,
            high=0.985 if positives < 30 else 0.975,
            repetitions=3000,
            tested=300 if negatives < 100 else 0,
        )
        def of_area(
            rng: np.random.Generator,
            repetitions: int,
            distance: float = distance,
            positives: int = positives,
            negatives: int = negatives,
        ) -> Trials:
            size = positives + negatives
            truth = np.tile(np.repeat([1, 0], [positives, negatives]), repetitions).astype(np.uint8)
            score = rng.normal(size=truth.size) + distance * truth
            found = measured("auc", Rows(truth, Surface.of_scores(score, classes=(0, 1))), size)
            return Trials.of_intervals(found.low, found.high, area_of(distance))


#: Labels and predictions whose R2 is known: labels are predictions plus errors.
EXPLAINED = ("normal errors", "Student-5 errors", "exponential labels and errors", "lognormal labels")


def explained(rng: np.random.Generator, kind: str, rows: int, *, weighted: bool = False) -> Rows:
    """Predictions and labels of one kind; exponential weights leave half of the rows effective."""
    said = rng.normal(size=rows)
    if kind == "exponential labels and errors":
        said = rng.exponential(1.0, rows)
        truth = said * rng.gamma(4.0, 0.25, rows)
    else:
        said = np.exp(said) if kind == "lognormal labels" else said
        truth = said + (0.6 * rng.standard_t(5, rows) if kind == "Student-5 errors" else 0.7 * rng.normal(size=rows))
    return Rows(truth, Surface.of_numbers(said), rng.exponential(1.0, rows) if weighted else None)


#: Variances of errors and of labels.
_VARIANCES = {
    "normal errors": (0.49, 1.49),
    "Student-5 errors": (0.36 * 5 / 3, 1 + 0.36 * 5 / 3),
    "exponential labels and errors": (0.5, 1.5),
    "lognormal labels": (0.49, np.e**2 - np.e + 0.49),
}

for kind in EXPLAINED:
    for size in (30, 100, 1000):
        for weighted in (False, True):

            @setting(
                TOPIC,
                f"R2, {kind}, {size:,} rows" + (", weighted" if weighted else ""),
                low=0.93 if size < 100 or (weighted and size == 100) else 0.935,
                high=1.0 if size < 100 or "labels" in kind else 0.975,
                repetitions=3000,
                tested=1000 if size == 100 and kind in ("normal errors", "lognormal labels") else 0,
                note="wide: a few labels carry most of the variance" if "labels" in kind else "",
            )
            def of_explained(
                rng: np.random.Generator,
                repetitions: int,
                kind: str = kind,
                size: int = size,
                weighted: bool = weighted,
            ) -> Trials:
                found = measured("r2", explained(rng, kind, size * repetitions, weighted=weighted), size)
                error, label = _VARIANCES[kind]
                return Trials.of_intervals(found.low, found.high, 1 - error / label)


#: Rows of groups that are alike.
ALIKE: dict[str, tuple[int, ...]] = {
    "2 groups of 30": (30, 30),
    "5 groups of 200": (200,) * 5,
    "10 groups of 50": (50,) * 10,
    "5 groups of 30 to 200": (200, 60, 40, 30, 30),
}
for alike, alike_sizes in ALIKE.items():
    for kind in ("exponential", "squared Student 5"):
        for alpha in (0.05, 0.005):

            @setting(
                TOPIC,
                f"means of {alike} alike, {kind}, level {alpha:g}",
                "size",
                low=0.0,
                high=1.3 * alpha,
                repetitions=2000,
                tested=200 if alike == "10 groups of 50" and alpha == 0.05 else 0,
            )
            def of_homogeneity(
                rng: np.random.Generator,
                repetitions: int,
                sizes: tuple[int, ...] = alike_sizes,
                kind: str = kind,
                alpha: float = alpha,
            ) -> Trials:
                group = np.repeat(np.arange(len(sizes)), sizes)
                p = []
                for _ in range(repetitions):
                    n = group.size
                    values = rng.exponential(1.0, n) if kind == "exponential" else rng.standard_t(5, n) ** 2
                    table = group_metrics(
                        None, values, sensitive_features=group, metrics=["mean_prediction"], task="regression", n_boot=0
                    )
                    p.append(next(homogeneity(table).rows())["p_value"])
                return Trials.of_p_values(p, alpha)
