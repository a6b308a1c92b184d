"""Answers outside the known labels, such as "I cannot answer that.": counted as unfavourable, or as their own outcome.

The known labels are those of the target. An empty answer is one of the others, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.data.labels import index_of, listed, two_classes
from isonomia.errors import DataError
from isonomia.parameters import Choice
from isonomia.typing import Bools

OtherAnswers = Literal["error", "unfavourable", "apart"]
#: How answers outside the known labels are counted; "error" refuses them.
OTHER_ANSWERS = Choice(get_args(OtherAnswers))
#: What the outcome is called that they are, where they are counted apart.
OTHER = "other answer"


def recoded(
    answers: Sequence[Any], known: Sequence[Any], positive: Any, how: OtherAnswers, *, what: str
) -> tuple[NDArray[Any], Bools]:
    """The answers in known labels, and which of them were others.

    >>> recoded(["yes", "I cannot say", None], ["no", "yes"], "yes", "unfavourable", what="answers")[0].tolist()
    ['yes', 'no', 'no']
    """
    if not known:
        raise DataError(
            "`other_answers` needs the column of true outcomes (target), whose values are the known labels: without "
            "them nobody can tell an answer of another kind from an unfavourable one."
        )
    labels, codes = np.unique([_key(answer) for answer in answers], return_inverse=True)
    by_key = {_key(answer): answer for answer in answers}
    place = [None if by_key[key] is None else index_of(by_key[key], known) for key in labels.tolist()]
    others = np.array([index is None for index in place])
    if others.all() and len(labels):
        raise DataError(
            f"No {what} is one of the known labels {listed(known)}; got {listed([by_key[key] for key in labels[:5]])}. "
            "Write them with the values of the target."
        )
    instead: Any = OTHER if how == "apart" else _unfavourable(known, positive)
    names = np.empty(len(labels), dtype=object)
    names[:] = [instead if index is None else known[index] for index in place]
    return names[codes], others[codes]


def look_like_answers(labels: Sequence[Any]) -> str:
    """A hint, where labels are texts: what may be done about refusals."""
    if any(isinstance(label, str) for label in labels):
        return (
            "Are these answers of another kind, such as refusals? Count them: other_answers='unfavourable', or 'apart' "
            "as an outcome of their own. "
        )
    return ""


def _unfavourable(known: Sequence[Any], positive: Any) -> Any:
    """The label that other answers count as: the other one of two."""
    if len(known) > 2:
        raise DataError(
            f"other_answers='unfavourable' is for outcomes of two values; the target has {listed(known)}. Use "
            "other_answers='apart'."
        )
    return two_classes(known, positive, what="the target")[0]


def _key(answer: Any) -> str:
    """A text that is the same for the same answer."""
    return "" if answer is None else f"{type(answer).__name__}:{answer}"
