"""`auto` against every other search on data and models that played no part in making it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark
from benchmarks.pairs import ENDLESS

#: Data and protected attribute. `auto` was made with the census, Adult, German credit and bank data at hand; not these.
FRESH = (("compas", "sex"), ("default", "SEX"), ("law_school", "race"))
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
    target = Codes.encode(data.column(data.target)).codes.astype(np.int64)
    whole = ~frame.isna().any(axis=1).to_numpy()
    return frame[whole].reset_index(drop=True), target[whole]


def _models(quick: bool) -> dict[str, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "boosting": HistGradientBoostingClassifier(max_iter=20 if quick else 100, random_state=0),
        "net": make_pipeline(StandardScaler(), MLPClassifier((64,), max_iter=5 if quick else 30, random_state=0)),
    }


@benchmark("pairs_fresh")
def pairs_fresh(scale: Scale) -> Iterator[Row]:
    """`auto` at an equal budget of model rows, on fresh data and models: distinct pairs x distinct cells.

    The others have their published settings, except that they may go on to the end of the budget.
    """
    from isonomia import Dataset
    from isonomia.discovery import find_pairs

    budget, seeds = (3000, 1) if scale.quick else (30_000, 2)
    won = cells = 0
    for name, attribute in FRESH:
        frame, target = _data(name)
        data = Dataset(frame.assign(target=target), target="target", task="binary", positive=1, protected=[attribute])
        for kind, model in _models(scale.quick).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a net that is stopped early is good enough
                model.fit(frame, target)
            scores = dict.fromkeys(ENDLESS, 0.0)
            natural = []
            for seed in range(seeds):
                for method, options in ENDLESS.items():
                    settings: dict[str, Any] = {"max_tests": None, "max_model_rows": budget, "max_seconds": 60}
                    metrics = find_pairs(data, model, method=method, seed=seed, **settings, **options).metrics
                    scores[method] += metrics["DSN"] * metrics["cells"] / seeds
                    natural.append(metrics.get("naturalness"))
            ours = scores.pop("auto")
            rival = max(scores, key=lambda method: scores[method])
            won, cells = won + (ours > scores[rival]), cells + 1
            told = [value for value in natural if value is not None]
            yield Row(
                f"{name}, {kind}",
                len(frame),
                None,
                rival,
                measure="times the best other score",
                value=ours / scores[rival] if scores[rival] else None,
                target=Target("at least", 1),
                note=f"pairs x cells {ours:,.0f} against {scores[rival]:,.0f}, mean of {seeds} seeds; "
                f"naturalness of auto's {np.mean(told):.2f}"
                if told
                else "",
            )
    yield Row("cells won", cells, None, measure=f"of {cells}", value=won, target=Target("at least", 4))
