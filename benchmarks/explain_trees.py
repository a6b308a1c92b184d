"""Shapley values of trees and the gap between groups, beside shap and woodelf."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference
from benchmarks.peer import PeerError, ask

#: Rows that models are fitted on, people explained, background rows.
TRAIN, PEOPLE, BACKGROUND, LARGE = 10_000, 1_000, 100, 40_000
#: The groups of the gap.
GROUP, OTHERS = 8_842, 2_000
#: Peers explain so many of the people where all would take hours; their time grows in proportion.
SOME = {"forest": 50, "full forest": 50}
TARGETS: dict[tuple[str, str], float | None] = {
    ("boosting", "shap"): 12.0,
    ("forest", "shap"): 12.0,
    ("full forest", "shap"): 5.0,
    ("boosting", "woodelf"): 4.0,
    ("forest", "woodelf"): 6.0,
}
#: Both sides are measured in seconds of the processor, one thread each: other work on the machine changes nothing.
CLOCK, CPU = time.process_time, "CPU seconds, one thread on both sides"
#: Both libraries keep leaves in 64 bits, but shap adds them up in another order, and rounds cuts to 32 bits.
ROUNDING = 1e-7


def people(train: int, explained: int, background: int) -> Any:
    """Thirteen columns like Adult's, with what each row is for."""
    import pandas as pd

    rng, n = np.random.default_rng(0), train + explained + background
    columns = {
        "age": rng.integers(17, 90, n),
        "work": rng.integers(0, 9, n),
        "weight": rng.lognormal(12, 0.5, n).astype(int),
        "school": rng.integers(1, 17, n),
        "marital": rng.integers(0, 7, n),
        "job": rng.integers(0, 15, n),
        "relation": rng.integers(0, 6, n),
        "race": rng.integers(0, 5, n),
        "sex": rng.integers(0, 2, n),
        "gain": np.where(rng.random(n) < 0.9, 0, rng.integers(100, 99_999, n)),
        "loss": np.where(rng.random(n) < 0.95, 0, rng.integers(100, 4_000, n)),
        "hours": rng.integers(1, 99, n),
        "country": rng.integers(0, 42, n),
    }
    frame = pd.DataFrame(columns).astype(float)
    points = frame["age"] / 30 + frame["school"] / 3 + frame["sex"] + frame["hours"] / 40 - frame["marital"] / 4
    points += 2 * (frame["gain"] > 5_000) + rng.normal(0, 1.5, n)
    part = np.repeat(["train", "people", "background"], [train, explained, background])
    return frame.assign(y=(points > points.quantile(0.75)).astype(int), part=part)


def fitted(frame: Any, kind: str, trees: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

    model = {
        "boosting": GradientBoostingClassifier(n_estimators=trees, random_state=0),
        "forest": RandomForestClassifier(trees, max_depth=8, random_state=0),
        "full forest": RandomForestClassifier(trees, random_state=0),
    }[kind]
    train = frame[frame["part"] == "train"]
    return model.fit(train.drop(columns=["y", "part"]).to_numpy(), train["y"])


def part_of(frame: Any, name: str) -> Any:
    return frame[frame["part"] == name].drop(columns=["y", "part"]).to_numpy()


def named(found: Any) -> dict[str, float]:
    """The numbers that ``peers/shap_trees.py`` names."""
    some = found[:: max(1, len(found) // 20)]
    means = {f"mean{index}": float(value) for index, value in enumerate(found.mean(axis=0))}
    return means | {f"{i},{j}": float(some[i, j]) for i in range(len(some)) for j in range(some.shape[1])}


@benchmark("explain_trees")
def explain_trees(scale: Scale) -> Iterator[Row]:
    """Exact interventional Shapley values of 100 trees: 1,000 people against 100 and against 40,000 background rows."""
    from isonomia.models import read_trees

    trees = 10 if scale.quick else 100
    frame = people(TRAIN, PEOPLE, LARGE)
    explained, background = part_of(frame, "people"), part_of(frame, "background")
    for kind in ("boosting", "forest", "full forest"):
        ensemble = read_trees(fitted(frame, kind, trees))
        for size in (BACKGROUND, LARGE) if kind == "boosting" else (BACKGROUND,):
            given = background[:size]
            seconds, found = best_of(
                partial(_values, ensemble, explained, given),
                scale.repeats(3),
                CLOCK,
            )
            for library in ("shap", "woodelf"):
                if (kind, library) in TARGETS and (size == BACKGROUND or library == "shap"):
                    rows = 2 if size == LARGE else SOME.get(kind, PEOPLE) if library == "shap" else PEOPLE
                    target = 1000.0 if size == LARGE else TARGETS[kind, library]
                    yield _beside(library, kind, trees, rows, size, (seconds, found), frame, target)


def _values(ensemble: Any, explained: Any, background: Any) -> Any:
    from isonomia.explain.trees.values import tree_values

    return tree_values(ensemble, explained, background, np.arange(13))[:, :, 0]


def _beside(
    library: str,
    kind: str,
    trees: int,
    rows: int,
    size: int,
    ours: tuple[float, Any],
    frame: Any,
    target: float | None,
) -> Row:
    case = f"{kind}, {trees} trees, {PEOPLE:,} x {size:,}"
    seconds, found = ours
    options: dict[str, Any] = {"model": kind, "trees": trees, "rows": rows, "background": size, "library": library}
    try:
        peer = ask("shap_trees", frame, repeats=2, environment="shap", clock="cpu", **options)
    except PeerError as error:
        return Row(case, PEOPLE, seconds, library, None, target=Target("at least", target or 1.0), note=str(error))
    off, compared = largest_difference(named(found[:rows]), peer.values)
    note = f"{CPU}; values differ by at most {off:.0e}"
    if rows < PEOPLE:
        note += f"; {library} explained {rows} of the people, its time is scaled up"
    return faster(
        case,
        PEOPLE,
        seconds,
        library,
        peer.seconds * PEOPLE / rows,
        target=target,
        difference=0.0 if off <= ROUNDING else off,
        compared=compared,
        note=note,
    )


@benchmark("explain_gap")
def explain_gap(scale: Scale) -> Iterator[Row]:
    """The gap between 8,842 and 2,000 people decomposed into columns with intervals, forest of depth 8."""
    import isonomia as iso

    trees, group = (10, 884) if scale.quick else (100, GROUP)
    frame = people(TRAIN, group, OTHERS)
    forest = fitted(frame, "forest", trees)
    both = frame[frame["part"] != "train"].drop(columns="y")
    names = [name for name in both if name != "part"]
    data = iso.Dataset(
        both.assign(y=0.0), target="y", protected=["part"], privileged={"part": "background"}, features=names
    )
    model = iso.Model.of(forest, features=names)
    seconds, found = best_of(lambda: iso.explain.gap(data, model), scale.repeats(2), CLOCK)
    case = f"forest of depth 8, {trees} trees, {group:,} x {OTHERS:,}"
    yield Row(case, group, seconds, measure="seconds", value=seconds, target=Target("at most", 5.0), note=CPU)
    yield Row(
        f"{case}: sum less gap",
        group,
        seconds,
        measure="difference",
        value=found.additivity,
        target=Target("at most", 1e-12),
    )
    options: dict[str, Any] = {"model": "forest", "trees": trees, "rows": 2, "background": OTHERS, "library": "shap"}
    try:
        peer = ask("shap_trees", frame, repeats=2, environment="shap", clock="cpu", **options)
    except PeerError as error:
        yield Row(case, group, seconds, "shap", None, target=Target("at least", 300), note=str(error))
        return
    from isonomia.explain.trees.values import tree_values
    from isonomia.models import read_trees

    ours = tree_values(read_trees(forest), part_of(frame, "people")[:2], part_of(frame, "background"), np.arange(13))
    off, compared = largest_difference(named(ours[:, :, 0]), peer.values)
    yield faster(
        case,
        group,
        seconds,
        "shap",
        peer.seconds * group / 2,
        target=300.0,
        difference=0.0 if off <= ROUNDING else off,
        compared=compared,
        note=f"{CPU}; shap's values of the larger group only, without intervals; 2 people explained, its time is "
        "scaled up",
    )
