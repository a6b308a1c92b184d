"""Classes: which there are, and predictions whose labels are not those of the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isonomia.counting import Codes
from isonomia.data import index_of, look_like_scores
from isonomia.errors import DataError


def distinct(values: Any) -> tuple[Any, ...]:
    """The different values of a column, sorted, missing ones left out."""
    return tuple(label for label in Codes.encode(values).labels if label is not None)


def refuse_foreign_labels(predicted: Sequence[Any], truth: Sequence[Any], *, found_in: str, target: str) -> None:
    """Predictions none of which is a value of the target are written differently, or are not decisions at all."""
    if not predicted or not truth or any(index_of(label, truth) is not None for label in predicted):
        return
    if len(predicted) == 1 and len(truth) == 1:
        return  # one class in the data and the other one predicted
    shown = ", ".join(map(repr, predicted[:5])) + (", ..." if len(predicted) > 5 else "")
    raise DataError(
        f"{found_in} has {shown}, but the target '{target}' has {', '.join(map(repr, truth[:5]))}. "
        f"{look_like_scores(predicted)}Write the predictions with the values of the target."
    )


def refuse_near_misses(predicted: Sequence[Any], truth: Sequence[Any], *, found_in: str, target: str) -> None:
    """A prediction that differs from a value of the target by case or spaces alone is a slip, not another class."""
    plain = {str(label).strip().casefold(): label for label in truth}
    for label in predicted:
        near = plain.get(str(label).strip().casefold())
        if near is not None and index_of(label, truth) is None:
            raise DataError(
                f"{found_in} has {label!r} where the target '{target}' has {near!r}. Write both the same way."
            )
