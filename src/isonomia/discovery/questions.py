"""Questions that were asked before: what a search is about, in values that mean the same in another process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Protocol, TypeVar

import numpy as np

from isonomia._version import __version__
from isonomia.data import Dataset, to_numpy
from isonomia.errors import SpecError
from isonomia.keeping import Keeper, opened
from isonomia.languages import encode
from isonomia.models import Model, Surface
from isonomia.subject import Subject
from isonomia.subject.fingerprint import fingerprint_of

R = TypeVar("R")
#: Kinds of values whose text says all about them.
_VALUES = (bool, int, float, str, date, Decimal)


class UnknownIdentity(SpecError):  # noqa: N818  what is unknown
    """A part of a question has no identity that outlives the process."""


@dataclass(frozen=True)
class KeptQuestion:
    """Where a search is kept, and what it asks.

    Attributes
    ----------
    store : Keeper
    analysis : str
    question : mapping or None
        None where some part of it cannot be recognised again.
    """

    store: Keeper
    analysis: str
    question: Mapping[str, Any] | None

    def answer(self) -> Mapping[str, Any] | None:
        """The record of the last answer to the same question."""
        return None if self.question is None else self.store.answer_to(self.question)

    def keep(self, result: Any, record: Mapping[str, Any]) -> None:
        """Keep an answer."""
        if self.question is None:
            self.store.keep(result, analysis=self.analysis)
        else:
            self.store.keep_answer(result, analysis=self.analysis, question=self.question, record=record)


class Question(Protocol[R]):
    """A search that can be asked again."""

    def identity(self) -> Mapping[str, Any]:
        """What makes two questions the same: `data`, `model`, and everything else that the answer depends on."""

    def search(self) -> R:
        """The answer, searched for."""

    def again(self, answer: Mapping[str, Any]) -> R:
        """The answer that a store kept."""

    def record(self, result: R) -> Mapping[str, Any]:
        """What a store has to keep so that the answer can be given again."""


def answered(
    question: Question[R], store: Keeper | str | os.PathLike[str] | None, analysis: str | None, *, reuse: bool
) -> R:
    """The answer to a question: with `reuse` the one that the store has; otherwise searched for, and kept there."""
    if store is None and not reuse:
        return question.search()
    kept = ask(question.identity(), store, analysis, reuse=reuse)
    if reuse and (answer := kept.answer()) is not None:
        return question.again(answer)
    result = question.search()
    kept.keep(result, question.record(result))
    return result


def ask(
    identity: Mapping[str, Any],
    store: Keeper | str | os.PathLike[str] | None,
    analysis: str | None,
    *,
    reuse: bool,
) -> KeptQuestion:
    """A question to a store. With `reuse` every part of it must be recognisable; without, the result is kept anyway."""
    if store is None:
        raise SpecError("`reuse` looks for an earlier answer in a store; give store= and analysis=.")
    if analysis is None:
        raise SpecError("Keeping a search needs both store= and analysis= (a name such as 'loans').")
    parts = dict(identity)
    try:
        question = {
            **marks_of_data(parts.pop("data")),
            "model": mark_of_model(parts.pop("model")),
            "seed": parts.pop("seed"),
            "isonomia": __version__,
            **{name: mark_of(value) for name, value in parts.items()},
        }
    except UnknownIdentity as error:
        if reuse:
            raise SpecError(f"{error} Leave out reuse=True to search again.") from None
        return KeptQuestion(opened(store), analysis, None)
    return KeptQuestion(opened(store), analysis, question)


def mark_of(value: Any) -> Any:
    """A value of a question: JSON as it is, columns as their hash; code is refused."""
    if value is None or isinstance(value, bool | int | float | str | date):
        return encode(value)
    if isinstance(value, Mapping):
        return encode({str(name): mark_of(item) for name, item in value.items()})
    if isinstance(value, Sequence) and len(value) <= 1000:
        return [mark_of(item) for item in value]
    if callable(value):
        raise UnknownIdentity(f"A function ({value!r}) may change, so the answer cannot be recognised again.")
    try:
        column = to_numpy(value)
    except Exception:
        raise UnknownIdentity(f"A value of the kind {type(value).__name__} cannot be recognised again.") from None
    return _hash_of_column(np.asarray(column))


def _hash_of_column(column: np.ndarray[Any, Any]) -> str:
    digest = hashlib.sha256(f"{column.dtype} {column.shape} ".encode())
    if column.dtype.kind in "OUS":
        values = column.ravel().tolist()
        if not all(value is None or isinstance(value, _VALUES) for value in values):
            raise UnknownIdentity("A column of objects cannot be recognised again.")
        digest.update("\x1f".join(map(repr, values)).encode("utf-8", "surrogatepass"))
    else:
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def marks_of_data(data: Any) -> dict[str, str | None]:
    """The fingerprint of a dataset and a hash of its roles, of a subject also that of its predictions."""
    if data is None:
        return {"data": None, "roles": None}
    if isinstance(data, Subject):
        own = fingerprint_of(data.outcome.truth, data.outcome.surface, (data.weights, data.counts), data.attributes)
        table = {"data": None} if data.dataset is None else marks_of_data(data.dataset)
        return {"data": data.fingerprint, "roles": _hash(f"{own} {table}")}
    if not isinstance(data, Dataset):
        raise UnknownIdentity(f"Data of the kind {type(data).__name__} cannot be recognised again.")
    roles = sorted((name, repr(value)) for name, value in data.options().items())
    return {"data": data.fingerprint, "roles": _hash(repr(roles))}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def mark_of_model(model: Any) -> str | None:
    """The identity of a model, or a hash of predictions that were given instead of one."""
    if model is None:
        return None
    if isinstance(model, Surface):
        return fingerprint_of(None, model, (), ())
    if not isinstance(model, Model) and not hasattr(model, "predict") and not callable(model):
        return str(mark_of(model))
    identity = Model.of(model).identity
    if identity is None:
        raise UnknownIdentity(
            "The model is a function or holds code of your own, so it cannot be recognised again. Load it from a file "
            "(isonomia.load_model)."
        )
    return identity
