"""The features most associated with an attribute that the model does not take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.counting import Codes, cross_sum
from isonomia.data import Dataset


def proxies_of(dataset: Dataset, name: str, features: Sequence[str]) -> list[str]:
    """The three features most associated with an attribute (Cramer's V over categories or tenths), closest first."""
    target = _coded(dataset, name)
    strength = {feature: cramers_v(target, _coded(dataset, feature)) for feature in features if feature != name}
    return sorted(strength, key=lambda feature: -strength[feature])[:3]


def cramers_v(a: Codes, b: Codes) -> float:
    """Cramer's V of two coded columns, 0 (nothing in common) to 1 (one determines the other).

    >>> sex = Codes.encode(["F", "M", "F", "M"])
    >>> round(cramers_v(sex, sex), 6), round(cramers_v(sex, Codes.encode([1, 1, 2, 2])), 6)
    (1.0, 0.0)
    """
    counts = cross_sum(a.codes, b.codes, (a.size, b.size))
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    chi = ((counts - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum()
    smaller = min(a.size, b.size) - 1
    return float(np.sqrt(chi / (counts.sum() * smaller))) if smaller > 0 else 0.0


def _coded(dataset: Dataset, name: str) -> Codes:
    column = dataset.column(name)
    codes = Codes.encode(column, name=name)
    if dataset.kinds[name] in ("numeric", "integer") and codes.size > 10:
        edges = np.unique(np.nanquantile(column.to_numpy().astype(float), np.linspace(0, 1, 11)))
        return Codes.cut(column, edges.tolist(), name=name)
    return codes
