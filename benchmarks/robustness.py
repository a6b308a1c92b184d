"""Weak spots and drift: how long, how much memory, and against a plain loop of SciPy's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference, peak_megabytes

ADULT, MILLION = 48_842, 1_000_000
#: Seconds and megabytes for all pairs of 13 features of a million rows.
SECONDS, MEGABYTES = 5.0, 1_500.0
#: Times a plain loop of `ks_2samp` and chi-square.
FASTER = 3.0
#: p-values of a limit law and of the exact one agree to this; what is compared is the verdict.
ALPHA = 0.05


@benchmark("weak_spots")
def weak_spots(scale: Scale) -> Iterator[Row]:
    """All slices of 13 features and all cells of their 78 pairs; the planted slice must come first."""
    import isonomia as iso

    rows = scale.rows(MILLION)
    data = iso.Dataset(scored(rows), target="y", score="p")
    for metric in ("error_rate", "log_loss"):

        def work(metric: str = metric) -> Any:
            return iso.robustness.weak_spots(data, pairs=True, metric=metric)

        seconds, result = best_of(work, scale.repeats(3))
        first = next(result.tables["weak_spots"].rows())
        note = f"first: {first['slice']}"
        case = f"13 features, 78 pairs, {metric}"
        found = 0.0 if "x2" in first["feature"] else float("inf")
        yield Row(
            case,
            rows,
            seconds,
            measure="seconds",
            value=seconds,
            target=Target("at most", SECONDS),
            difference=found,
            compared=1,
            note=note,
        )
        peak = peak_megabytes(work)
        yield Row(case, rows, None, measure="MB", value=peak, target=Target("at most", MEGABYTES))


@benchmark("drift")
def drift(scale: Scale) -> Iterator[Row]:
    """KS, Wasserstein, chi-square, PSI and Jensen-Shannon of 13 columns, against SciPy's two tests in a loop."""
    for rows, one, two, seconds, result in drifts(scale):

        def theirs(one: Any = one, two: Any = two) -> dict[str, float]:
            return scipy_loop(one, two)

        peer, p_values = best_of(theirs, scale.repeats(3))
        table = {row["variable"]: row["p_value"] for row in result.tables["variables"].rows()}
        verdicts = [{name: float(p < ALPHA) for name, p in side.items()} for side in (table, p_values)]
        difference, compared = largest_difference(verdicts[0], verdicts[1])
        yield faster(
            "6 columns of numbers, 7 of categories; one shifted",
            rows,
            seconds,
            "scipy",
            peer,
            target=FASTER,
            difference=difference,
            compared=compared,
            note="scipy: KS and chi-square only; verdicts compared",
        )


def drifts(scale: Scale) -> Iterator[tuple[int, Any, Any, float, Any]]:
    """Two frames of either size, the second with one column shifted; our seconds and what we found."""
    import isonomia as iso

    for size in (ADULT, MILLION):
        rows = scale.rows(size)
        one, two = people(rows, 0), people(rows, 1, shift=True)
        reference, current = iso.Dataset(one), iso.Dataset(two)

        def ours(reference: Any = reference, current: Any = current) -> Any:
            return iso.robustness.drift(reference, current, joint=False)

        seconds, result = best_of(ours, scale.repeats(7))
        yield rows, one, two, seconds, result


def scipy_loop(one: Any, two: Any) -> dict[str, float]:
    """The plain loop: a test a column."""
    from scipy import stats

    out = {}
    for name in one:
        if one[name].dtype.kind in "if":
            out[name] = float(stats.ks_2samp(one[name], two[name], method="asymp").pvalue)
            continue
        counts = [side[name].value_counts() for side in (one, two)]
        every = counts[0].index.union(counts[1].index)
        table = np.stack([side.reindex(every, fill_value=0) for side in counts])
        out[name] = float(stats.chi2_contingency(table, correction=False).pvalue)
    return out


def scored(rows: int, seed: int = 0) -> Any:
    """13 features and the probabilities of a model that is turned round where x2 lies between 0.5 and 1."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"x{i}": rng.normal(size=rows) for i in range(6)}
    columns |= {f"k{i}": rng.integers(0, 80, rows) for i in range(2)}
    levels = pd.Index(list("abcdefgh"))
    columns |= {f"c{i}": pd.Categorical.from_codes(rng.integers(0, 8, rows), levels) for i in range(5)}
    p = 1 / (1 + np.exp(-columns["x0"] - columns["x1"]))
    broken = (columns["x2"] > 0.5) & (columns["x2"] < 1.0)
    label = (rng.random(rows) < p).astype(int)
    return pd.DataFrame({**columns, "y": label, "p": np.where(broken, 1 - p, p)})


def people(rows: int, seed: int, *, shift: bool = False) -> Any:
    """Columns like those of the census extract called Adult; hours shifted by half a standard deviation if wanted."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    some = {"gain": (0.08, 99_999), "loss": (0.05, 4_356)}
    columns: dict[str, Any] = {
        "age": rng.integers(17, 91, rows),
        "weight": rng.integers(12_285, 1_490_400, rows),
        "education": rng.integers(1, 17, rows),
        **{name: np.where(rng.random(rows) < p, rng.integers(100, most, rows), 0) for name, (p, most) in some.items()},
        "hours": rng.normal(40 + 6 * shift, 12, rows).round().astype(int),
    }
    for place, size in enumerate((8, 16, 7, 14, 6, 5, 2)):
        names = pd.Index([f"v{i}" for i in range(size)])
        columns[f"c{place}"] = pd.Categorical.from_codes(rng.integers(0, size, rows), names)
    return pd.DataFrame(columns)
