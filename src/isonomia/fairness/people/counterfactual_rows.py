"""Rows with other values of protected attributes, and what the model says about them: one batch for all values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, wrap
from isonomia.errors import NotApplicable
from isonomia.events import Progress
from isonomia.evidence import Estimate, wilson
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.fairness.people.causal_graph import Mechanisms
from isonomia.languages import msg
from isonomia.languages.naming import together
from isonomia.models import Model, Surface
from isonomia.probing.features import Feature
from isonomia.subject import Subject, dataset_attributes
from isonomia.typing import Floats

Route = Literal["flip", "graph", "proxies"]

#: More values than this of an attribute (or of several together) make every question a small study.
MAX_VALUES = 64
#: Rows per call of the model.
BATCH = 50_000
#: A number that moves by less than this share of the predictions' range has not moved.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class People:
    """The rows, the model, and the values each protected attribute may take.

    Attributes
    ----------
    own : for each attribute the value every row has, as codes of its values (bands where it has any)
    levels : for each attribute and value, the code in the column itself that stands for it
    """

    data: Dataset
    model: Model
    names: tuple[str, ...]
    own: dict[str, Codes]
    features: dict[str, Feature]
    levels: dict[str, Floats]
    predicted: Surface
    progress: Progress

    @classmethod
    def of(cls, subject: Subject, names: tuple[str, ...], progress: Progress) -> People:
        data, model = subject.data, subject.needs_model()  # outcomes are not needed: every row counts
        own = {column.name: column for column in dataset_attributes(data) if column.name in names}
        features, levels = {}, {}
        for name in names:
            features[name] = Feature.from_column(data.column(name), as_category=True)
            raw = features[name].encode(data.column(name))
            levels[name] = _representatives(own[name], raw)
        return cls(data, model, names, own, features, levels, subject.predictions, progress)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns the model reads."""
        return self.model.features if self.model.features is not None else self.data.features

    def values(self, name: str) -> list[int]:
        """The values of an attribute, a missing one apart."""
        return [code for code in range(self.own[name].size) if code != self.own[name].missing]


def _representatives(column: Codes, raw: Floats) -> Floats:
    """For each value (or band) the index in the column of a value that stands for it: the median of its rows."""
    out = np.empty(column.size)
    for code in range(column.size):
        inside = np.sort(raw[column.codes == code])
        out[code] = inside[inside.size // 2]
    return out


@dataclass(frozen=True, eq=False)
class Altered:
    """What the model says under every other value.

    Attributes
    ----------
    route, names : how, and which attributes were changed
    combos : tuple of tuples of codes, the values set
    texts : how each combination is written
    own : (n,) the combination each row has itself; -1 where a value is missing
    before : (n,) the predictions; (n, K) probabilities for several classes
    after : (V, n) or (V, n, K)
    label_before, label_after : decisions, or None
    """

    route: Route
    names: tuple[str, ...]
    texts: tuple[str, ...]
    own: NDArray[np.intp]
    before: Floats
    after: Floats
    label_before: NDArray[Any] | None
    label_after: NDArray[Any] | None

    @property
    def signed(self) -> bool:
        """Whether a change has a direction: not for several classes."""
        return self.before.ndim == 1

    def change(self, index: int) -> Floats:
        """Each row's change under one combination: signed, or the total variation for several classes."""
        if self.signed:
            return np.asarray(self.after[index] - self.before)
        return np.asarray(0.5 * np.abs(self.after[index] - self.before).sum(axis=1))

    def changed(self, index: int, tolerance: float) -> NDArray[np.bool_]:
        """Whose decision (or number) changes."""
        if self.label_before is not None and self.label_after is not None:
            return np.asarray(self.label_after[index] != self.label_before)
        minimum = max(tolerance, ROUNDING * float(np.ptp(self.before) or 1.0))
        return np.asarray(np.abs(self.change(index)) > minimum)

    @property
    def changes_anything(self) -> bool:
        """Whether any answer about anyone differs."""
        minimum = ROUNDING * float(np.ptp(self.before) or 1.0)
        indices = range(len(self.texts))
        return any(bool((np.abs(self.change(v)) > minimum).any() or self.changed(v, 0.0).any()) for v in indices)

    def overall(self, weights: Floats | None, tolerance: float, level: float) -> tuple[Estimate, Estimate]:
        """Who would be decided differently under some other value; the mean change over all other values."""
        others = list(range(len(self.texts)))
        any_changed = np.logical_or.reduce([self.changed(v, tolerance) & (self.own != v) for v in others])
        known = self.own >= 0
        w = None if weights is None else weights[known]
        n = effective_rows(int(known.sum()), w)
        value = mean_interval(any_changed[known].astype(float), w, level)[0]
        low, high = wilson(value * n, n, level)
        rate = Estimate(value, float(low), float(high), n=int(known.sum()), method="wilson", level=level)
        if len(others) < 2:
            return rate, Estimate.missing(msg("there is no other value to change to"))
        size = np.mean([np.abs(self.change(v)) * (self.own != v) for v in others], axis=0) * len(others)
        mean = mean_interval((size / (len(others) - 1))[known], w, level)
        return rate, Estimate(*mean, n=int(known.sum()), method="normal", level=level)


def ask(
    people: People,
    names: tuple[str, ...],
    route: Route,
    *,
    mechanisms: Mechanisms | None = None,
    keep_valid: bool = True,
) -> Altered:
    """Every combination of the attributes' values, set for everyone; effects follow where mechanisms are given."""
    combos = list(product(*(people.values(name) for name in names)))
    if len(combos) > MAX_VALUES:
        raise NotApplicable(
            msg(
                "{names} has {n:int} values, too many to ask about each (at most {most:int}); cut numbers into bands, "
                "or take fewer attributes together",
                names=" x ".join(names),
                n=len(combos),
                most=MAX_VALUES,
            )
        )
    if len(combos) < 2:
        raise NotApplicable(
            msg("{names} has only one value, so there is no other to compare with", names=" x ".join(names))
        )
    own = np.full(len(people.data), -1, dtype=np.intp)
    for index, combo in enumerate(combos):
        match = [people.own[name].codes == code for name, code in zip(names, combo, strict=True)]
        own[np.logical_and.reduce(match)] = index
    if mechanisms is None and not set(names) & set(people.inputs):
        surfaces = [people.predicted] * len(combos)  # the model never sees them: it would predict the same
    else:
        table = nw.maybe_reset_index(wrap(people.data.frame))
        frames = [_frame(people, table, names, combo, mechanisms, keep_valid) for combo in combos]
        surfaces = _predicted(people, frames)
    texts = tuple(together(people.own[n].texts[c] for n, c in zip(names, combo, strict=True)) for combo in combos)
    labels = [surface.label for surface in surfaces]
    before = _worth(people.predicted)
    decided = people.predicted.label is not None
    return Altered(
        route,
        names,
        texts,
        own,
        before,
        np.stack([_worth(surface) for surface in surfaces]),
        people.predicted.label,
        np.stack([label for label in labels if label is not None]) if decided else None,
    )


def _frame(
    people: People,
    table: nw.DataFrame[Any],
    names: Sequence[str],
    combo: Sequence[int],
    mechanisms: Mechanisms | None,
    keep_valid: bool,
) -> nw.DataFrame[Any]:
    n, backend = len(table), people.data.backend
    assigned = {name: np.full(n, people.levels[name][code]) for name, code in zip(names, combo, strict=True)}
    series = [people.features[name].decode(codes, backend) for name, codes in assigned.items()]
    if mechanisms is not None:
        for name, values in mechanisms.answer(assigned).items():
            series.append(_effect(people.data, name, mechanisms, values, keep_valid))
    return table.with_columns(*[one.alias(name) for one, name in zip(series, _named(assigned, series), strict=True)])


def _named(assigned: dict[str, Any], series: Sequence[nw.Series[Any]]) -> list[str]:
    given = list(assigned)
    return given + [one.name for one in series[len(given) :]]


def _effect(data: Dataset, name: str, mechanisms: Mechanisms, values: Floats, keep_valid: bool) -> nw.Series[Any]:
    """A counterfactual column in the frame's own kind."""
    node, column = mechanisms.nodes[name], data.column(name)
    if node.labels:
        return Feature.from_column(column, as_category=True).decode(values, data.backend)
    if keep_valid:
        known = node.values[np.isfinite(node.values)]
        values = np.clip(values, known.min(), known.max())
        if column.dtype.is_integer():
            values = np.rint(values)
            if np.isfinite(values).all():
                return nw.new_series(name, values.astype(np.int64), backend=data.backend).cast(column.dtype)
    return nw.new_series(name, values, backend=data.backend)


def _predicted(people: People, frames: Sequence[nw.DataFrame[Any]]) -> list[Surface]:
    """What the model says about each frame, as many as fit in one call."""
    n = len(people.data)
    step = max(1, BATCH // n)
    out: list[Surface] = []
    for begin in range(0, len(frames), step):
        part = frames[begin : begin + step]
        whole = part[0] if len(part) == 1 else nw.maybe_reset_index(nw.concat(part, how="vertical"))
        people.progress.check()
        surface = people.model.surface(people.data, frame=whole.to_native())
        out += [surface.take(np.arange(i * n, (i + 1) * n)) for i in range(len(part))]
    return out


def _worth(surface: Surface) -> Floats:
    for values in (surface.continuous, surface.probability, surface.score):
        if values is not None:
            return values
    assert surface.label is not None
    if len(surface.classes) == 2:
        return surface.label.astype(float)
    table = np.zeros((len(surface), len(surface.classes)))
    table[np.arange(len(surface)), surface.label] = 1.0
    return table
