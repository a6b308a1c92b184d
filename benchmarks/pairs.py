"""Discriminating pairs: time inside the model, against one-by-one loops, FlipTest, exact answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, peak_megabytes
from benchmarks.one_by_one import OneByOne, aequitas, kosei

#: What lets a search go on to its budget instead of ending of itself.
ENDLESS: dict[str, dict[str, Any]] = {
    "themis": {"error": None},
    "aequitas": {"max_global": 2000, "max_local": 10**6},
    "kosei": {"num_samples": 2000, "local_search_limit": 10**6},
    "adf": {"max_global": 1000, "max_local": 10**6},
    "sg": {},
    "expga": {},
    "limi": {"n_test_samples": 10**7, "n_approx_samples": 10_000},
    "auto": {},
}


def target_codes(data: Any) -> Any:
    """The target of a dataset as whole numbers."""
    from isonomia.counting import Codes

    return Codes.encode(data.column(data.target)).codes.astype(np.int64)


@cache
def coded(name: str, *, leave_out: tuple[str, ...] = ()) -> tuple[Any, Any, list[str]]:
    """A public dataset with every feature as whole numbers: a frame for the model, the target, the feature names."""
    import pandas as pd

    from isonomia.counting import Codes
    from isonomia.data.catalog import load

    data = load(name)
    names = [feature for feature in data.features if feature not in leave_out]
    frame = pd.DataFrame({feature: Codes.encode(data.column(feature)).codes.astype(np.int64) for feature in names})
    target = target_codes(data)
    return frame, target, names


def dataset(frame: Any, target: Any, protected: Sequence[str]) -> Any:
    from isonomia import Dataset

    return Dataset(frame.assign(target=target), target="target", task="binary", positive=1, protected=list(protected))


def forest(frame: Any, target: Any, trees: int, depth: int | None = None) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(frame, target)


@benchmark("pairs_in_the_model")
def pairs_in_the_model(scale: Scale) -> Iterator[Row]:
    """The share of a call's wall time that is spent inside a forest of 100 trees on Adult, 100,000 tests.

    All of `find_pairs` counts: reading the data, building frames for the model, tables of the result. Only the calls
    of the model itself are inside. The forest is used as it comes (n_jobs=None: one core). Calls of a few seconds are
    made five times, and the one in the middle is told.
    """
    from isonomia.discovery import find_pairs

    frame, target, _ = coded("adult", leave_out=("fnlwgt",))
    model = forest(frame, target, 10 if scale.quick else 100)
    tests = 500 if scale.quick else 100_000
    for protected in (["sex"], ["sex", "race"]):
        data = dataset(frame, target, protected)
        for method, options in ENDLESS.items():
            runs: list[tuple[float, float, Any]] = []
            while not runs or (not scale.quick and len(runs) < 5 and sum(wall for _, wall, _ in runs) < 10):
                began = time.perf_counter()
                result = find_pairs(data, model, method=method, max_tests=tests, max_seconds=300, **options)
                wall = time.perf_counter() - began
                runs.append((result.metrics["model_seconds"] / wall, wall, result.metrics))
                del result  # not within the next call
            share, wall, metrics = sorted(runs, key=lambda run: run[0])[len(runs) // 2]
            yield Row(
                f"{method}, {' x '.join(protected)}",
                metrics["TSN"],
                wall,
                measure="share of the time inside predict",
                value=share,
                target=Target("at least", 0.9),
                note=f"{metrics['DSN']:,} found, {metrics['n_model_rows']:,} rows; of the search alone "
                f"{metrics['model_seconds'] / metrics['total_time']:.2f}",
            )


@benchmark("pairs_one_by_one")
def pairs_one_by_one(scale: Scale) -> Iterator[Row]:
    """Pairs found a second at the same number of tests, against AEQUITAS and KOSEI one row at a time."""
    from isonomia.discovery import find_pairs

    frame, target, names = coded("adult", leave_out=("fnlwgt",))
    model = forest(frame, target, 10)
    plain = forest(frame.to_numpy(), target, 10)
    tests = 200 if scale.quick else 3000
    data = dataset(frame, target, ["sex"])
    low, high = frame.min().to_numpy(), frame.max().to_numpy()
    loops: dict[str, Any] = {
        "aequitas": lambda world, seed: aequitas(world, tests, n_global=tests // 3, n_local=2000, seed=seed),
        "kosei": lambda world, seed: kosei(world, tests, n_global=tests // 3, seed=seed),
    }
    options: dict[str, dict[str, Any]] = {
        "aequitas": {"max_global": tests // 3, "max_local": 10**6},
        "kosei": {"num_samples": tests // 3, "local_search_limit": 10**6},
    }
    for method, loop in loops.items():
        theirs = ours = 0.0
        found: list[tuple[int, int]] = []
        for seed in range(3):
            world = OneByOne(plain, low, high, names.index("sex"))
            began = time.perf_counter()
            loop(world, seed)
            theirs += time.perf_counter() - began
            began = time.perf_counter()
            limits: dict[str, Any] = {"max_tests": len(world.seen), "seed": seed, "dependencies": False}
            result = find_pairs(data, model, method=method, **limits, **options[method])
            ours += time.perf_counter() - began
            found.append((result.metrics["DSN"], world.found))
        mine, other = (sum(side) for side in zip(*found, strict=True))
        yield Row(
            f"{method}, pairs a second",
            tests,
            ours,
            "one by one",
            theirs,
            value=(mine / ours) / (other / theirs) if other else None,
            target=Target("at least", 50),
            note=f"3 seeds, found in as many tests: {'; '.join(f'{a:,} against {b:,}' for a, b in found)}",
        )
        yield Row(
            f"{method}, distinct pairs",
            tests,
            None,
            "one by one",
            measure="times as many",
            value=mine / other if other else None,
            target=Target("at least", 1),
        )


@benchmark("fliptest")
def fliptest(scale: Scale) -> Iterator[Row]:
    """FlipTest: 4,000 against 4,000 people exactly, 20,000 against 20,000 in batches."""
    from isonomia import Dataset
    from isonomia.discovery import find_pairs

    def world(n: int) -> Any:
        rng = np.random.default_rng(0)
        sex = np.repeat(["F", "M"], n)
        columns = {f"x{place}": rng.normal(0.2 * place * (sex == "F"), 1) for place in range(6)}
        return Dataset({"sex": sex, **columns}, protected=["sex"])

    def decide(frame: Any) -> Any:
        return (frame["x0"].to_numpy() + frame["x5"].to_numpy() > 0.5).astype(int)

    n = 300 if scale.quick else 4000
    exact = find_pairs(world(n), decide, method="fliptest", max_exact=n)
    seconds = exact.metrics["total_time"]
    yield Row(f"{n:,} x {n:,} exact", 2 * n, seconds, measure="seconds", value=seconds, target=Target("at most", 10))
    n = 1000 if scale.quick else 20_000
    peak = peak_megabytes(lambda: find_pairs(world(n), decide, method="fliptest"))
    yield Row(f"{n:,} x {n:,}", 2 * n, None, measure="MB at peak", value=peak, target=Target("at most", 4000))


@benchmark("pairs_exact")
def pairs_exact(scale: Scale) -> Iterator[Row]:
    """Exact answers: a tree of thousands of leaves completely, forests of 50 trees of depth 6 decided."""
    from sklearn.tree import DecisionTreeClassifier

    from isonomia.discovery import find_pairs

    frame, target, _ = coded("adult", leave_out=("fnlwgt",))
    tree = DecisionTreeClassifier(random_state=0).fit(frame, target)
    metrics = find_pairs(dataset(frame, target, ["sex"]), tree, method="exact", dependencies=False).metrics
    whole = metrics["share_low"] == metrics["share_high"]
    yield Row(
        f"tree of {tree.get_n_leaves():,} leaves",
        len(frame),
        metrics["total_time"],
        measure="seconds",
        value=metrics["total_time"] if whole else None,
        target=Target("at most", 1),
        note=f"status {metrics['status']}, share {metrics['share_low']:.5f}",
    )
    for name in ("german", "adult"):
        frame, target, names = coded(name, leave_out=("fnlwgt",) if name == "adult" else ())
        model = forest(frame, target, 10 if scale.quick else 50, 6)
        protected = [one for one in ("sex", "age") if one in names][:1]
        metrics = find_pairs(dataset(frame, target, protected), model, **_exact(scale)).metrics
        decided = metrics["status"] != "undecided"
        yield Row(
            f"forest of {model.n_estimators} trees of depth 6, {name}",
            len(frame),
            metrics["total_time"],
            measure="seconds",
            value=metrics["total_time"] if decided else None,
            target=Target("at most", 60),
            note=f"{metrics['status']}; {_shares(metrics)}",
        )


def _exact(scale: Scale) -> dict[str, Any]:
    """The options of a search for exact answers."""
    boxes, seconds = (500, 1) if scale.quick else (50_000, 60)
    return {"method": "exact", "max_boxes": boxes, "max_seconds": seconds, "dependencies": False}


def _shares(metrics: Mapping[str, Any]) -> str:
    """The certified bounds of the discriminating share, and what is estimated beside."""
    proved = f"share {metrics['share_low']:.4f} to {metrics['share_high']:.4f}"
    ends = [metrics.get(f"share_estimate{end}") for end in ("", "_low", "_high")]
    return proved if None in ends else f"{proved}, estimated {ends[0]:.4f} ({ends[1]:.4f} to {ends[2]:.4f})"


def _raw(name: str, *, leave_out: tuple[str, ...] = ()) -> tuple[Any, Any, list[str]]:
    """A public dataset as it is read: texts and numbers, without rows that lack something."""
    import pandas as pd

    from isonomia.data.catalog import load

    data = load(name)
    names = [feature for feature in data.features if feature not in leave_out]
    frame = pd.DataFrame({feature: data.column(feature).to_list() for feature in names})
    target = target_codes(data)
    whole = frame.notna().all(axis=1).to_numpy()
    return frame[whole].reset_index(drop=True), target[whole], names


def _exact_models(scale: Scale) -> Iterator[tuple[str, Any, Any]]:
    """Boosted models of moderate size on Adult's codes, and a forest behind one-hot columns on Adult as it is."""
    import lightgbm
    import xgboost
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    trees = 10 if scale.quick else 50
    frame, target, _ = coded("adult", leave_out=("fnlwgt",))
    data = dataset(frame, target, ["sex"])
    makers = {
        f"HistGradientBoosting, {trees} trees": HistGradientBoostingClassifier(max_iter=trees, random_state=0),
        f"LightGBM, {trees} trees": lightgbm.LGBMClassifier(n_estimators=trees, verbose=-1, random_state=0),
        f"XGBoost, {trees} trees of depth 4": xgboost.XGBClassifier(n_estimators=trees, max_depth=4, random_state=0),
    }
    for name, model in makers.items():
        yield name, data, model.fit(frame, target)
    frame, target, names = _raw("adult", leave_out=("fnlwgt",))
    texts = [name for name in names if frame[name].dtype.kind not in "if"]
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), texts), remainder=StandardScaler())
    grown = RandomForestClassifier(trees // 2, max_depth=6, random_state=0)
    pipeline = make_pipeline(encoder, grown).fit(frame, target)
    yield f"forest of {trees // 2} trees behind one-hot columns", dataset(frame, target, ["sex"]), pipeline


@benchmark("pairs_exact_families")
def pairs_exact_families(scale: Scale) -> Iterator[Row]:
    """Exact answers for boosted models and pipelines of moderate size: decided, and how wide the bounds are left."""
    from isonomia.discovery import find_pairs

    for name, data, model in _exact_models(scale):
        metrics = find_pairs(data, model, **_exact(scale)).metrics
        decided = metrics["status"] != "undecided"
        yield Row(
            name,
            len(data),
            metrics["total_time"],
            measure="seconds",
            value=metrics["total_time"] if decided else None,
            target=Target("at most", 60),
            note=f"{metrics['status']}; {_shares(metrics)}, "
            f"widest gap {metrics['max_gap']:.3f} to {metrics['max_gap_bound']:.3f}",
        )
