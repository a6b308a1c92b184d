"""`auto` against every other search at an equal budget of model rows: distinct pairs x distinct cells."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark
from benchmarks.pairs import ENDLESS, coded, dataset, forest, target_codes

#: Data and protected attribute. `auto` was made with the census, Adult, German credit and bank data at hand; not these.
FRESH = (("compas", "sex"), ("default", "SEX"), ("law_school", "race"))
#: A number of the survey; a column that tells the protected attribute, which cannot be altered alone beside it.
LEFT_OUT = {"adult": ("fnlwgt",), "german": ("personal_status_sex",)}
#: A column worked out from another one, which no two people can differ in alone.
DERIVED = ("age_cat",)


def _data(name: str) -> tuple[Any, Any]:
    """Features (categories as whole numbers, numbers as they are; rows with missing values left out) and target."""
    import pandas as pd

    from isonomia.counting import Codes
    from isonomia.data.catalog import load

    data = load(name)
    columns = {}
    for feature in data.features:
        values = data.column(feature)
        codes = data.kinds[feature] == "category"
        if feature not in DERIVED:
            columns[feature] = Codes.encode(values).codes.astype(np.int64) if codes else values.to_numpy()
    frame = pd.DataFrame(columns)
    target = target_codes(data)
    whole = ~frame.isna().any(axis=1).to_numpy()
    return frame[whole].reset_index(drop=True), target[whole]


def _net(layers: tuple[int, ...], **options: Any) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), MLPClassifier(layers, random_state=0, **options))


def _fitted(model: Any, frame: Any, target: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a net that is stopped early is good enough
        return model.fit(frame, target)


class Contest:
    """`auto` against the others, data and model by data and model; each may go on to the end of the budget."""

    def __init__(self, budget: int, seeds: int) -> None:
        self.budget, self.seeds = budget, seeds
        self.won = self.cells = 0

    def row(self, name: str, data: Any, model: Any) -> Row:
        """One cell."""
        from isonomia.discovery import find_pairs

        limits: dict[str, Any] = {"max_tests": None, "max_model_rows": self.budget, "max_seconds": 120}
        scores = dict.fromkeys(ENDLESS, 0.0)
        natural = []
        for seed in range(self.seeds):
            for method, options in ENDLESS.items():
                metrics = find_pairs(data, model, method=method, seed=seed, **limits, **options).metrics
                scores[method] += metrics["DSN"] * metrics["cells"] / self.seeds
                natural.append(metrics.get("naturalness"))
        ours = scores.pop("auto")
        rival = max(scores, key=lambda method: scores[method])
        self.won, self.cells = self.won + (ours > scores[rival]), self.cells + 1
        told = [value for value in natural if value is not None]
        return Row(
            name,
            len(data),
            None,
            rival,
            measure="times the best other score",
            value=ours / scores[rival] if scores[rival] else None,
            note=f"pairs x cells {ours:,.0f} against {scores[rival]:,.0f}, mean of {self.seeds} seeds"
            + (f"; naturalness of auto's {np.mean(told):.2f}" if told else ""),
        )

    def verdict(self) -> Row:
        """How many were won."""
        return Row(
            "cells won", self.cells, None, measure=f"of {self.cells}", value=self.won, target=Target("at least", 4)
        )


@benchmark("pairs_equal_budget")
def pairs_equal_budget(scale: Scale) -> Iterator[Row]:
    """`auto` against every other search at an equal budget of model rows: distinct pairs x distinct cells.

    `auto` was made with these data at hand; `pairs_fresh` is the same on data that it never saw.
    """
    contest = Contest(*((4000, 1) if scale.quick else (60_000, 2)))
    for name, attribute in (("adult", "sex"), ("german", "sex"), ("bank", "marital")):
        frame, target, _ = coded(name, leave_out=LEFT_OUT.get(name, ()))
        data = dataset(frame, target, [attribute])
        yield contest.row(f"{name}, forest", data, forest(frame, target, 10 if scale.quick else 100))
        yield contest.row(f"{name}, net", data, net(frame, target))
    yield contest.verdict()


def net(frame: Any, target: Any) -> Any:
    """A small net, stopped early."""
    return _fitted(_net((32, 16), activation="tanh", max_iter=12), frame, target)


@benchmark("pairs_fresh")
def pairs_fresh(scale: Scale) -> Iterator[Row]:
    """`auto` at an equal budget of model rows, on fresh data and models: distinct pairs x distinct cells.

    The others have their published settings, except that they may go on to the end of the budget.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    contest = Contest(*((3000, 1) if scale.quick else (30_000, 2)))
    for name, attribute in FRESH:
        frame, target = _data(name)
        data = dataset(frame, target, [attribute])
        boosting = HistGradientBoostingClassifier(max_iter=20 if scale.quick else 100, random_state=0)
        yield contest.row(f"{name}, boosting", data, boosting.fit(frame, target))
        wide = _fitted(_net((64,), max_iter=5 if scale.quick else 30), frame, target)
        yield contest.row(f"{name}, net", data, wide)
    yield contest.verdict()
