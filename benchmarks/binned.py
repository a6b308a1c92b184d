"""People in binned features: the census extract called Adult where it is on this machine, made up like it elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Values of 13 binned features and the share of the most frequent one, as in the census extract called Adult.
FEATURES = {
    "age": (10, 0.20),
    "workclass": (9, 0.69),
    "education": (16, 0.32),
    "education-num": (10, 0.48),
    "marital-status": (7, 0.46),
    "occupation": (15, 0.13),
    "relationship": (6, 0.40),
    "race": (5, 0.85),
    "sex": (2, 0.67),
    "capital-gain": (6, 0.95),
    "capital-loss": (10, 0.95),
    "hours-per-week": (10, 0.54),
    "native-country": (42, 0.90),
}


def people_in_bins(rows: int, *, seed: int = 0) -> Any:
    """A pandas frame of 13 columns of whole numbers, with label, prediction (0 or 1) and error (0.0 or 1.0).

    More rows than there are, or fewer, are drawn at random.
    """
    from isonomia.data import catalog
    from isonomia.errors import DataError

    try:
        frame = _adult(catalog.load("adult", backend="pandas").frame)
    except DataError:
        return made_up(rows, seed=seed)
    if rows == len(frame):
        return frame
    chosen = np.random.default_rng(seed).integers(0, len(frame), rows)
    return frame.iloc[chosen].reset_index(drop=True)


def _adult(table: Any) -> Any:
    """Numbers in ten bins of equal width, texts as codes, and the decisions of a logistic regression."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    frame = pd.DataFrame(index=table.index)
    for name in FEATURES:
        column = table[name]
        numeric = pd.api.types.is_numeric_dtype(column)
        codes = pd.cut(column, 10, labels=False) if numeric else pd.factorize(column, use_na_sentinel=False)[0]
        frame[name] = np.asarray(codes, dtype=np.int64)
    encoded = OneHotEncoder().fit_transform(frame)
    frame["label"] = (table["income"] == ">50K").to_numpy().astype(np.int64)
    frame["prediction"] = LogisticRegression(max_iter=300).fit(encoded, frame["label"]).predict(encoded)
    frame["error"] = (frame["label"] != frame["prediction"]).astype(float)
    return frame


def made_up(rows: int, *, seed: int = 0) -> Any:
    """The same columns with similar shares of values, hanging together through one hidden trait."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    latent = rng.normal(size=rows)
    columns: dict[str, Any] = {}
    for name, (size, top) in FEATURES.items():
        rest = (1 - top) * 0.6 ** np.arange(size - 1) * 0.4 / (1 - 0.6 ** (size - 1)) if size > 1 else np.empty(0)
        cuts = np.cumsum([top, *rest])[:-1]
        rank = (0.6 * latent + 0.8 * rng.normal(size=rows)).argsort().argsort() / rows
        columns[name] = np.searchsorted(cuts, rank).astype(np.int64)
    label = (latent + rng.normal(size=rows) > 0.9).astype(np.int64)
    wrong = rng.random(rows) < 0.10 + 0.15 * (columns["marital-status"] == 0) * (columns["education-num"] == 0)
    frame = pd.DataFrame(columns)
    frame["label"], frame["prediction"] = label, np.where(wrong, 1 - label, label)
    frame["error"] = wrong.astype(float)
    return frame
