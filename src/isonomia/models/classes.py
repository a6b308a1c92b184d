"""Classes: which there are, in which order, and which label of one list is which of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.counting import Codes
from isonomia.errors import DataError


def distinct(values: Any) -> tuple[Any, ...]:
    """The different values of a column, sorted, missing ones left out."""
    return tuple(label for label in Codes.encode(values).labels if label is not None)


def ordered(labels: Sequence[Any]) -> tuple[Any, ...]:
    """Labels once each, numbers before texts, each in their order.

    >>> ordered(["b", 2, "a", 1, "b"])
    (1, 2, 'a', 'b')
    """
    unique: list[Any] = []
    for label in labels:
        if place_of(label, unique) is None:
            unique.append(label)
    return tuple(sorted(unique, key=_rank))


def place_of(label: Any, labels: Sequence[Any]) -> int | None:
    """Where a label stands in a list: equal, or written the same way; None where it does not.

    >>> place_of("1", (0, 1)), place_of(True, (0, 1)), place_of("yes", (0, 1))
    (1, 1, None)
    """
    for place, other in enumerate(labels):
        if other == label:
            return place
    for place, other in enumerate(labels):
        if str(other) == str(label):
            return place
    return None


def binary_classes(values: Sequence[Any], positive: Any, *, what: str) -> tuple[Any, Any]:
    """(negative, positive) of a target of two values.

    Where the data shows the positive value alone, the negative is 0, False, or named "not <positive>".

    >>> binary_classes(["yes", "no"], "yes", what="target"), binary_classes(["yes"], "yes", what="target")
    (('no', 'yes'), ('not yes', 'yes'))
    """
    labels = ordered(values)
    if positive is None:
        if not all(label in (0, 1) for label in labels):
            raise DataError(f"`positive` must say which of {', '.join(map(repr, labels[:5]))} is the favourable value.")
        positive = 1
    others = [label for label in labels if place_of(label, (positive,)) is None]
    mine = next((label for label in labels if place_of(label, (positive,)) is not None), positive)
    if len(others) > 1:
        raise DataError(
            f"The {what} must hold two values; got {len(labels)}: {', '.join(map(repr, labels[:6]))}"
            f"{', ...' if len(labels) > 6 else ''}. {_looks_like_scores(others)}Write both with the same two values."
        )
    if others:
        return others[0], mine
    if isinstance(mine, bool | np.bool_):
        return not mine, mine
    return (1 - mine, mine) if mine in (0, 1) else (f"not {mine}", mine)


def refuse_foreign_labels(said: Sequence[Any], truth: Sequence[Any], *, said_in: str, target: str) -> None:
    """Predictions none of which is a value of the target are written differently, or are no decisions at all."""
    if not said or not truth or any(place_of(label, truth) is not None for label in said):
        return
    if len(said) == 1 and len(truth) == 1:
        return  # one class in the data and the other one predicted
    shown = ", ".join(map(repr, said[:5])) + (", ..." if len(said) > 5 else "")
    raise DataError(
        f"{said_in} holds {shown}, but the target '{target}' holds {', '.join(map(repr, truth[:5]))}. "
        f"{_looks_like_scores(said)}Write the predictions with the values of the target."
    )


def refuse_near_misses(said: Sequence[Any], truth: Sequence[Any], *, said_in: str, target: str) -> None:
    """A prediction that differs from a value of the target by case or spaces alone is a slip, not another class."""
    plain = {str(label).strip().casefold(): label for label in truth}
    for label in said:
        near = plain.get(str(label).strip().casefold())
        if near is not None and place_of(label, truth) is None:
            raise DataError(
                f"{said_in} holds {label!r} where the target '{target}' holds {near!r}. Write both the same way."
            )


def _looks_like_scores(labels: Sequence[Any]) -> str:
    if len(labels) > 2 and all(isinstance(label, float) for label in labels):
        return "These look like scores, not decisions: give them as scores (score=...), or cut them at a threshold. "
    return ""


def _rank(label: Any) -> tuple[int, Any]:
    if isinstance(label, bool | int | float | np.number):
        return (0, label)
    return (1, label) if isinstance(label, str) else (2, str(label))
