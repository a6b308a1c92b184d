"""Disturbed inputs and local robustness: how much of the time the model itself takes, and against a loop over rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference

ROWS, COPIES, LEVEL = 10_000, 10, 0.1
#: The loop asks about one row at a time; so many rows are enough to see how long it takes.
LOOP_ROWS = 100
#: Share of the wall time that has to be spent inside `predict`, and how many times faster than the loop.
INSIDE, FASTER = 0.9, 20.0


@benchmark("perturbation")
def perturbation(scale: Scale) -> Iterator[Row]:
    """A random forest asked about disturbed rows: share of the time inside it, and against a loop row by row."""
    from isonomia import robustness
    from isonomia.models import Model

    copies = 2 if scale.quick else COPIES
    forest, frame, data = _forest(scale.rows(ROWS))
    model = Model.of(forest)
    cases: dict[str, Callable[[], Any]] = {
        f"noise, {copies} trials, all metrics": lambda: robustness.perturb(
            data, model, levels=LEVEL, n_trials=copies, perturbers="raw", by_feature=False
        ),
        f"noise that keeps correlations, {copies} trials": lambda: robustness.perturb(
            data, model, levels=LEVEL, n_trials=copies, perturbers="correlated", by_feature=False
        ),
        "three levels and each of 10 features alone": lambda: robustness.perturb(
            data, model, levels=[0.1, 0.2, 0.3], n_trials=copies, perturbers="raw"
        ),
        f"local robustness, {copies} copies": lambda: robustness.local_robustness(
            data, model, nearest=False, n_iterations=copies
        ),
        "local robustness with the nearest flips": lambda: robustness.local_robustness(
            data, model, n_iterations=copies
        ),
    }
    for case, work in cases.items():
        seconds, inside = _inside(work, model, scale.repeats(3))
        target = Target("at least", INSIDE)
        note = f"{model.n_rows:,} rows asked about"
        yield Row(case, len(frame), seconds, measure="of the time in predict", value=inside, target=target, note=note)
    few = frame.iloc[: copies if scale.quick else LOOP_ROWS].reset_index(drop=True)
    yield _against_local_loop(forest, few, copies)
    yield _against_metric_loop(forest, few, copies)


def _forest(rows: int) -> tuple[Any, Any, Any]:
    """Ten numbers, an outcome with a product in it, and scikit-learn's forest as it comes."""
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier

    from isonomia import Dataset

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(10)})
    chance = 1 / (1 + np.exp(-2 * frame["x0"] - 2 * frame["x1"] * frame["x2"]))
    frame["y"] = (rng.random(rows) < chance).astype(int)
    forest = RandomForestClassifier(random_state=0).fit(frame.drop(columns="y"), frame["y"])
    return forest, frame, Dataset(frame, target="y")


def _inside(work: Callable[[], Any], model: Any, repeats: int) -> tuple[float, float]:
    """Seconds of the quickest run, and the largest share of a run's time that the model's own clock saw."""
    work()
    best, share = float("inf"), 0.0
    for _ in range(repeats):
        model.reset_clocks()
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        best, share = min(best, seconds), max(share, model.seconds / seconds)
    return best, share


def _against_local_loop(forest: Any, frame: Any, copies: int) -> Row:
    from isonomia import Dataset, robustness

    features = frame.drop(columns="y")
    data = Dataset(features)
    ours, result = best_of(lambda: robustness.local_robustness(data, forest, nearest=False, n_iterations=copies), 3)
    start = time.perf_counter()
    scores = local_loop(features, forest, copies, LEVEL, seed=0)
    peer = time.perf_counter() - start
    names = [f"row {i}" for i in range(len(frame))]
    difference, compared = largest_difference(
        dict(zip(names, result.scores.tolist(), strict=True)), dict(zip(names, scores.tolist(), strict=True))
    )
    return faster(
        f"local robustness, {copies} copies",
        len(frame),
        ours,
        "row by row",
        peer,
        target=FASTER,
        difference=difference,
        compared=compared,
    )


def _against_metric_loop(forest: Any, frame: Any, copies: int) -> Row:
    from isonomia import Dataset, robustness

    data = Dataset(frame, target="y")
    options: dict[str, Any] = {"levels": LEVEL, "n_trials": copies, "perturbers": "raw", "by_feature": False}
    ours, result = best_of(lambda: robustness.perturb(data, forest, **options), 3)
    start = time.perf_counter()
    theirs = metric_loop(frame, forest, copies, LEVEL, seed=0)
    peer = time.perf_counter() - start
    row = next(result.tables["levels"].rows())
    difference, compared = largest_difference({name: row[name] for name in theirs}, theirs)
    return faster(
        f"noise, {copies} trials",
        len(frame),
        ours,
        "row by row",
        peer,
        target=FASTER,
        difference=difference,
        compared=compared,
        note="ours: every metric; the loop: accuracy and flips",
    )


def local_loop(frame: Any, model: Any, copies: int, level: float, *, seed: int) -> Any:
    """The plain way: every row, every copy, one `predict`."""
    drawn = [_noisy(frame, level, np.random.default_rng([seed, 3, copy])) for copy in range(copies)]
    scores = []
    for i in range(len(frame)):
        before = model.predict(frame.iloc[i : i + 1])[0]
        same = [model.predict(copy.iloc[i : i + 1])[0] == before for copy in drawn]
        scores.append(np.mean(same))
    return np.array(scores)


def metric_loop(frame: Any, model: Any, trials: int, level: float, *, seed: int) -> dict[str, float]:
    """The plain way: every trial, every row, one `predict`; then accuracy, and the share of decisions that changed."""
    features, truth = frame.drop(columns="y"), frame["y"].to_numpy()
    before = np.array([model.predict(features.iloc[i : i + 1])[0] for i in range(len(frame))])
    accuracy, flips = [], []
    for trial in range(trials):
        noisy = _noisy(features, level, np.random.default_rng([seed, crc32(b"raw"), trial]))
        said = np.array([model.predict(noisy.iloc[i : i + 1])[0] for i in range(len(frame))])
        accuracy.append((said == truth).mean())
        flips.append((said != before).mean())
    return {"base": float((before == truth).mean()), "value": float(np.mean(accuracy)), "flips": float(np.mean(flips))}


def _noisy(frame: Any, level: float, rng: np.random.Generator) -> Any:
    """Noise of `level` standard deviations, within what was seen."""
    noise = rng.standard_normal(frame.shape) * (level * frame.std(ddof=0).to_numpy())
    return (frame + noise).clip(frame.min(), frame.max(), axis=1)
