"""From data and a model to located rows and their backgrounds: what every question of this room starts with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes
from isonomia.data import Dataset, wrap
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.explain.background import distinct, summarised
from isonomia.explain.explainer import Case
from isonomia.explain.outputs import Output, chosen_classes, output_for
from isonomia.explain.players import By
from isonomia.explain.space import Space, make_space
from isonomia.languages import Message, msg
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats, Indices

#: Bytes of rows up to which their coordinates are kept for the next question about the same people.
SHARED = 1 << 26


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """Rows that share a background.

    Attributes
    ----------
    rows : array of int
        Positions of the rows explained.
    background, weights : arrays
        Distinct located rows with their shares.
    notes : tuple of Message
    """

    rows: Indices
    background: Floats
    weights: Floats
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Prepared:
    """Located rows, the rows to explain, and where backgrounds come from.

    Attributes
    ----------
    subject : Subject
    space : Space
    output : str
    classes : list of int
        Codes of the classes explained.
    located : (N, D) array
        Every row with a known target, as coordinates.
    weights : (N,) array
    chosen : (n,) array
        Positions of the rows to explain.
    pool, pool_weights : arrays
        The rows that backgrounds are made of: `located` itself, or the rows given.
    groups : Codes or None
        Of `located`, where every group's background are the other groups.
    """

    subject: Subject
    space: Space
    output: Output
    classes: list[int]
    located: Floats
    weights: Floats
    chosen: Indices
    pool: Floats
    pool_weights: Floats
    groups: Codes | None = None

    @property
    def label(self) -> str | None:
        """The class explained where it is one of several; None where there are not several, or all are explained."""
        if self.subject.task != "multiclass" or len(self.classes) > 1:
            return None
        return str(self.subject.surface.classes[self.classes[0]])

    def needs_one_class(self) -> None:
        """Raise where several classes would be explained at once."""
        if self.space.width > 1:
            known = ", ".join(map(repr, self.subject.surface.classes))
            raise SpecError(f"There are several classes; choose the one to explain with `label`. Available: {known}.")

    def about(self, sentence: Message) -> Message:
        """A sentence or title that names the class explained, where it is one of several."""
        return sentence if self.label is None else msg("Class {label}: {text}", label=self.label, text=sentence)

    def case(self, limit: int | None, max_model_rows: int) -> Case:
        """What an explainer needs to know to say whether it fits."""
        size = len(self.pool) if limit is None else min(limit, len(self.pool))
        return Case(
            space=self.space, output=self.output, rows=len(self.chosen), background=size, max_model_rows=max_model_rows
        )

    def parts(self, *, clusters: int | None, limit: int | None, seed: int) -> Iterator[Part]:
        """The rows to explain, with their background: one part, or one per group."""
        rng = np.random.default_rng(seed)
        if self.groups is None:
            yield self._part(self.chosen, np.ones(len(self.pool), dtype=bool), clusters, limit, rng)
            return
        codes = self.groups.codes
        for group in np.unique(codes[self.chosen]):
            yield self._part(self.chosen[codes[self.chosen] == group], codes != group, clusters, limit, rng)

    def _part(
        self, rows: Indices, allowed: Bools, clusters: int | None, limit: int | None, rng: np.random.Generator
    ) -> Part:
        back, weights = self.pool[allowed], self.pool_weights[allowed]
        if clusters is not None:
            back, weights = summarised(self.space, back, weights, clusters)
            note = msg(
                "The background consists of {n:int} k-means centres of {m:int} rows.", n=clusters, m=int(allowed.sum())
            )
            return Part(rows=rows, background=back, weights=weights, notes=(note,))
        if limit is not None and len(back) > limit:
            drawn = rng.choice(len(back), size=limit, replace=False, p=None)
            note = msg("The background is a random sample of {n:int} of {m:int} rows.", n=limit, m=len(back))
            back, weights = distinct(back[drawn], weights[drawn])
            return Part(rows=rows, background=back, weights=weights, notes=(note,))
        back, weights = distinct(back, weights)
        return Part(rows=rows, background=back, weights=weights)


def prepare(
    subject: Subject,
    *,
    output: Output,
    background: Any = "data",
    rows: Any = None,
    label: Any = None,
    by: By = "columns",
    seed: int = 0,
) -> Prepared:
    """Read rows, background and output; the arguments are those of `shapley`."""
    model, data = subject.needs_model(), subject.data
    table, others = nw.maybe_reset_index(wrap(subject.known.frame)), None
    if not isinstance(background, str):
        others = nw.maybe_reset_index(_frame(background))
    elif background not in ("data", "other_group"):
        raise SpecError(f"`background` must be 'data', 'other_group', a Dataset or a frame; got {background!r}.")
    chosen_output = output_for(output, subject.surface)
    classes = chosen_classes(subject.surface, label)
    everything = table if others is None else _stacked(table, others, tuple(model.features or data.features))

    def made() -> tuple[Space, Floats]:
        surface = subject.surface
        return make_space(model, data, everything, surface=surface, output=chosen_output, classes=classes, by=by)

    if others is None and 8 * len(table) * len(table.columns) <= SHARED:  # several checks ask about the same rows
        space, rows_at_hand = subject.shared(("explain", chosen_output, tuple(classes), by), made)
        space = space.counting_anew()
    else:
        space, rows_at_hand = made()
    located = rows_at_hand[: len(table)]
    weights = np.ones(len(table)) if subject.weights is None else subject.weights
    return Prepared(
        subject=subject,
        space=space,
        output=chosen_output,
        classes=classes,
        located=located,
        weights=weights,
        chosen=_positions(rows, len(table), seed),
        pool=located if others is None else rows_at_hand[len(table) :],
        pool_weights=weights if others is None else np.ones(len(others)),
        groups=_groups(subject) if isinstance(background, str) and background == "other_group" else None,
    )


def _groups(subject: Subject) -> Codes:
    groups = subject.needs_attributes()[0]
    if len(np.unique(groups.codes)) < 2:
        raise NotApplicable(msg("there is only one group of {column}, so there is no other group", column=groups.name))
    return groups


def _frame(background: Any) -> nw.DataFrame[Any]:
    table = wrap(background.frame if isinstance(background, Dataset) else background)
    if len(table) == 0:
        raise DataError("The background has no rows; give at least one.")
    return table


def _stacked(table: nw.DataFrame[Any], others: nw.DataFrame[Any], features: tuple[str, ...]) -> nw.DataFrame[Any]:
    """Rows and background one below the other, the columns that a model takes."""
    missing = [name for name in features if name not in others.columns]
    if missing:
        raise DataError(f"The background lacks the columns {missing[:5]} that the model takes.")
    if table.implementation is not others.implementation:
        raise DataError(
            f"The background is a {others.implementation.name.lower()} frame, the data a "
            f"{table.implementation.name.lower()} frame. Give both in one kind."
        )
    return nw.maybe_reset_index(nw.concat([table.select(features), others.select(features)], how="vertical"))


def _positions(rows: Any, n: int, seed: int) -> Indices:
    """The rows to explain; a number of them is a sample, as on the command line."""
    if rows is None:
        return np.arange(n)
    if isinstance(rows, int | np.integer) and not isinstance(rows, bool) and rows > 0:
        return np.sort(np.random.default_rng(seed).permutation(n)[: int(rows)])
    found = np.asarray(rows)
    if found.dtype == bool and found.shape == (n,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not found.size or found.min() < 0 or found.max() >= n:
        raise SpecError(
            f"`rows` must be a number of rows, positions between 0 and {n - 1}, or a mask of {n} rows; got "
            f"{rows!r:.80}."
        )
    return found.astype(np.intp)
