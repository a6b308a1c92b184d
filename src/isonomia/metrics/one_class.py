"""Metrics of two classes about one class of several, against the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.languages import msg
from isonomia.metrics.registry import Metric
from isonomia.metrics.table_functions import Margins, Table, total

#: Shares of people who get the decision: what is better for them follows from the class.
_OF_DECISION = ("selection_rate", "recall", "tpr")


def of_class(metric: Metric, code: int, label: Any, *, favourable: bool | None = None) -> Metric:
    """A metric of two classes about one class of several, against the rest.

    Where `favourable` says whether the class is a favourable one, shares of people who get it have a direction: more
    is better of a favourable class, and worse of any other.

    >>> from isonomia.metrics import METRICS
    >>> of_class(METRICS["tpr"], 2, "high").id
    'tpr[high]'
    >>> of_class(METRICS["selection_rate"], 0, "denied", favourable=False).direction
    'lower'
    """
    compute, rate = metric.from_counts, metric.rate
    assert compute is not None
    return replace(
        metric,
        id=f"{metric.id}[{label}]",
        title=msg('{metric} of "{label}"', metric=metric.title, label=str(label)),
        base=metric.id,
        favourable=favourable,
        higher_is_better=metric.higher_is_better if metric.id not in _OF_DECISION or favourable is None else favourable,
        aliases={},
        tasks=("multiclass",),
        of_margins=True,
        from_counts=lambda C: compute(one_vs_rest(C, code)),
        rate=None if rate is None else lambda C: rate(one_vs_rest(C, code)),
    )


def one_vs_rest(counts: Table, code: int) -> NDArray[Any]:
    """A table of K classes, or its margins, as one of two: the class as the positive one, and all others.

    Keeps R = 1 where there are no labels.

    >>> one_vs_rest(np.array([[5, 1, 0], [2, 6, 1], [0, 0, 7]]), 1).tolist()
    [[12, 1], [3, 6]]
    """
    if isinstance(counts, Margins):
        true, predicted, right = (part[..., code] for part in (counts.true, counts.predicted, counts.right))
        rest = np.stack([total(counts) - true - predicted + right, predicted - right], axis=-1)
        return np.stack([rest, np.stack([true - right, right], axis=-1)], axis=-2)
    columns = np.stack([counts.sum(axis=-1) - counts[..., code], counts[..., code]], axis=-1)
    if columns.shape[-2] == 1:
        return columns
    return np.stack([columns.sum(axis=-2) - columns[..., code, :], columns[..., code, :]], axis=-2)
