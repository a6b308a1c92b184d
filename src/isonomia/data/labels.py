"""Labels: which label of one list is which of another, which of two is the positive one, which of several are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from isonomia.errors import DataError, close_to

_WORDS = {"true": True, "false": False, "1": True, "0": False}


def index_of(label: Any, labels: Sequence[Any]) -> int | None:
    """The index of a label in a list: equal, written the same way, or the same number or truth value; else None.

    This is the only rule by which labels of different sources are matched. An equal label wins over one that is
    written the same way, and that one over a text that stands for a number or for True and False. A missing value
    matches a missing value only.

    >>> index_of("1", (0, 1)), index_of(True, (0, 1)), index_of("1", (0.0, 1.0)), index_of("yes", (0, 1))
    (1, 1, 1, None)
    """
    known = tuple(labels)
    if label in known:
        return known.index(label)
    if label is None:
        return None
    for same in (_written_alike, _stands_for):
        for index, other in enumerate(known):
            if other is not None and same(other, label):
                return index
    return None


def ordered(labels: Sequence[Any]) -> tuple[Any, ...]:
    """Labels once each, numbers before texts, each in their order.

    >>> ordered(["b", 2, "a", 1, "b"])
    (1, 2, 'a', 'b')
    """
    unique: list[Any] = []
    for label in labels:
        if index_of(label, unique) is None:
            unique.append(label)
    return tuple(sorted(unique, key=_rank))


def two_classes(labels: Sequence[Any], positive: Any, *, what: str) -> tuple[Any, Any]:
    """(negative, positive) of an outcome with two values.

    Without `positive`, 1 (or True) is the positive value of 0/1, False/True and -1/1. Where only one value occurs, the
    other is 0, False, or named "not <positive>".

    >>> two_classes(["yes", "no"], "yes", what="the target"), two_classes(["yes"], "yes", what="the target")
    (('no', 'yes'), ('not yes', 'yes'))
    """
    known = ordered(labels)
    if len(known) > 2:
        raise DataError(
            f"{what[:1].upper()}{what[1:]} must have two values (the task is binary); got {len(known)}: "
            f"{listed(known)}. {look_like_scores(known)}Write both with the same two values."
        )
    if positive is None:
        positive = _conventional(known, what)
    index = index_of(positive, known)
    mine = positive if index is None else known[index]
    others = [label for other, label in enumerate(known) if other != index]
    if index is None and len(known) == 2:
        raise DataError(f"`positive` must be a value of {what}; got {positive!r}.{close_to(positive, known)}")
    if others:
        return others[0], mine
    if isinstance(mine, bool | np.bool_):
        return not mine, mine
    return (1 - mine, mine) if mine in (0, 1) else (f"not {mine}", mine)


def favourable_classes(labels: Sequence[Any], positive: Any, *, what: str) -> tuple[Any, ...]:
    """The favourable ones of several classes, in the order of the classes.

    `positive` names one of them or several: a list, or one text with commas between them. A class whose own name
    contains a comma is found by that name.

    >>> favourable_classes(["denied", "approved", "review"], "approved", what="'decision'")
    ('approved',)
    >>> favourable_classes([1, 2, 3, 4], ["4", "3"], what="'grade'"), favourable_classes("abc", "a,c", what="'grade'")
    ((3, 4), ('a', 'c'))
    """
    known = ordered(labels)
    named = named_classes(positive, known)
    if not named:
        raise DataError(f"`positive` must name at least one class of {what}; got none. There are {listed(known)}.")
    found: list[int] = []
    for label in named:
        index = index_of(label, known)
        if index is None:
            raise DataError(f"`positive` must name classes of {what}; got {label!r}.{close_to(label, known)}")
        if index in found:
            raise DataError(f"`positive` names {known[index]!r} more than once.")
        found.append(index)
    if len(known) > 1 and len(found) == len(known):
        raise DataError(f"`positive` names every class of {what}; leave at least one that is not favourable.")
    return tuple(known[index] for index in sorted(found))


def named_classes(positive: Any, known: Sequence[Any]) -> list[Any]:
    """The classes that are named one by one; a text that is no class is read as names with commas between them.

    >>> named_classes("a,c", "abc"), named_classes(["a, b"], ["a, b", "c"]), named_classes(2, (1, 2, 3))
    (['a', 'c'], ['a, b'], [2])
    """
    if isinstance(positive, str):
        parts = [part.strip() for part in positive.split(",")]
        several = index_of(positive, known) is None and any(index_of(part, known) is not None for part in parts)
        return list(parts) if several else [positive]
    if isinstance(positive, Collection) and not isinstance(positive, Mapping | bytes):
        return [label for one in positive for label in (named_classes(one, known) if isinstance(one, str) else [one])]
    return [positive]


def listed(labels: Sequence[Any], most: int = 6) -> str:
    """The first labels, as a sentence shows them."""
    return ", ".join(map(repr, labels[:most])) + (", ..." if len(labels) > most else "")


def look_like_scores(labels: Sequence[Any]) -> str:
    """A hint, where labels are many fractions."""
    if len(labels) > 1 and all(isinstance(label, float) for label in labels):
        return "These look like scores, not decisions: give them as scores (score=...), or cut them at a threshold. "
    return ""


def _conventional(known: Sequence[Any], what: str) -> Any:
    if all(label in (0, 1) for label in known):
        return type(known[-1])(1) if known else 1
    if set(known) == {-1, 1}:
        return known[1]
    raise DataError(f"`positive` must say which value of {what} is the favourable one: {listed(known, 5)}.")


def _written_alike(value: Any, label: Any) -> bool:
    return str(value) == str(label)


def _stands_for(value: Any, label: Any) -> bool:
    if isinstance(value, str) == isinstance(label, str):
        return False
    text, other = (value, label) if isinstance(value, str) else (label, value)
    if isinstance(other, bool | np.bool_):
        return _WORDS.get(text.strip().lower()) is bool(other)
    try:
        return float(text) == float(other)
    except (TypeError, ValueError):
        return False


def _rank(label: Any) -> tuple[int, Any]:
    if isinstance(label, bool | int | float | np.number):
        return (0, label)
    return (1, label) if isinstance(label, str) else (2, str(label))
