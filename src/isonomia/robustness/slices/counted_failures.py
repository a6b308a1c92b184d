"""Failures of rows that an engine counts: the worst rows are fetched, all else is counted; nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, quantiles, sum_by
from isonomia.counting.cuts import as_floats
from isonomia.data import Dataset, wrap
from isonomia.data.engines.engine import Box, Key, Picked
from isonomia.data.engines.ranked import Figure, Limits, ranked, too_many_passes
from isonomia.data.engines.role_counts import mean_names, too_many
from isonomia.data.engines.spread import spread_of
from isonomia.languages import msg
from isonomia.robustness.slices.counted_slices import CountedSlices
from isonomia.robustness.slices.failures import FailureOptions, Failures, WorstRows
from isonomia.robustness.slices.row_failures import Harm, SliceSums
from isonomia.robustness.slices.score_harm import ScoreHarm
from isonomia.robustness.slices.usual_values import NORMAL, Usual, is_category
from isonomia.subject import Subject
from isonomia.subject.attributes import dataset_attributes
from isonomia.typing import Bools, Floats


def is_counted(subject: Subject) -> bool:
    """Whether the rows stay where they are: those with decisions alone, or with one probability of two classes."""
    surface = subject.surface
    if subject.counts is None or subject.dataset is None or subject.dataset.engine is None or surface.label is None:
        return False
    if surface.probability is None:
        return surface.score is None
    return surface.task == "binary" and len(subject.data.roles.score) == 1


def counted_failures(subject: Subject, names: Sequence[str], options: FailureOptions) -> Failures:
    """The failures of rows that an engine counts, by these features and protected attributes."""
    counted = _Counted(subject, options)
    with subject.progress.stage("features", msg("Slicing features"), total=2) as stage:
        parts = counted.parts(names)
        stage.at(1)
        usual = _usual(subject, [name for name in names if name in parts], parts)
    slices = tuple(counted.sums(part, column) for column, part in parts.values())
    first = slices[0]
    return Failures(
        n=len(subject),
        n_worst=int(first.n_worst.sum()),
        overall=float(first.harm.sum() / first.mass.sum()),
        kinds=counted.kinds(next(iter(parts.values()))[1]),
        slices=slices,
        rows=counted.worst_rows(parts),
        usual=usual,
        notes=(*subject.notes, *counted.notes),
    )


#: The slices of a feature on cells, and the cells.
_Part = tuple[Codes, Subject]


class _Counted:
    """Rows counted by features beside true outcomes, decisions, and scores between the edges that matter."""

    def __init__(self, subject: Subject, options: FailureOptions) -> None:
        self._subject, self._options = subject, options
        self._harm = ScoreHarm(subject, options.confident)
        self._border = self._last = 0.0
        self._beside: dict[str, Any] = {}
        self._cuts: dict[str, Any] = {}
        self.notes: tuple[Any, ...] = ()
        if self._harm.score is not None:
            n = len(subject)
            ranks = [max(1, int(np.ceil(options.share * n))), min(options.top_k, n)]
            self._border, self._last = self._harm.largest(subject, ranks)
            edges = self._harm.edges([self._is_worst])
            self._beside["also"] = [Key(column=self._harm.score, form="bands", edges=edges)]
            self._beside["means"] = [self._harm.score]

    def _is_worst(self, harm: Harm) -> Bools:
        return (harm.size >= self._border) & (harm.size > 0)

    def parts(self, names: Sequence[str]) -> dict[str, _Part]:
        """The slices of every feature, and the cells that they are of."""
        subject, options = self._subject, self._options
        protected = subject.data.protected
        out: dict[str, _Part] = {}
        if plain := [name for name in names if name not in protected]:
            slices = CountedSlices(
                subject, plain, slicing="quantile", bins=options.bins, min_samples=options.min_samples, **self._beside
            )
            self._cuts, self.notes = {cut.name: cut for cut in slices.cuts}, slices.notes
            for name, part in zip(self._cuts, slices.parts([(name,) for name in self._cuts]), strict=True):
                out[name] = self._cuts[name].codes(part.known), part
        if len(plain) < len(names):
            bands = subject.data.roles.bands
            keys = [
                Key(column=name, form="bands", edges=bands[name].edges) if name in bands else Key(column=name)
                for name in protected
            ]
            (found,) = subject.beside([keys], **self._beside)
            if found is None:
                raise too_many(protected)
            attributes = {column.name: column for column in found.attributes}
            out |= {name: (attributes[name], found) for name in names if name in attributes}
        return out

    def sums(self, part: Subject, column: Codes) -> SliceSums:
        """Sums over the slices of a feature, from its cells."""
        found, size, squares = self._of_cells(part)
        return SliceSums.of(column, size, squares, self._is_worst(found), part.weights, part.counts)

    def _of_cells(self, part: Subject) -> tuple[Harm, Floats, Floats]:
        """How the rows of a cell are served; how badly, on average; and the mean of its square.

        The edges leave one kind per cell. The harm is a score, or the opposite, and a constant: its mean is that of the
        mean score, and its variance that of scores.
        """
        data, groups = part.known, self._harm.groups_of(part.known)
        if self._harm.score is None:
            found = self._harm.harm(groups, None)
            return found, found.size, found.size
        lowest, mean, square = (
            data.column(name).to_numpy().astype(float) for name in (self._harm.score, *mean_names(self._harm.score))
        )
        found = self._harm.harm(groups, lowest)
        size = found.size + np.where(self._harm.rises(groups), mean - lowest, lowest - mean)
        return found, size, size * size + np.maximum(square - mean * mean, 0.0)

    def kinds(self, part: Subject) -> dict[str, tuple[int, float]]:
        """Rows of each kind of failure, and how badly they are served on average; weights do not matter."""
        if part.weights is not None:
            (found,) = self._subject.beside([[]], weighted=False, **self._beside)
            assert found is not None  # fewer combinations than before
            part = found
        assert part.counts is not None
        harm, size, _ = self._of_cells(part)
        out = {}
        for kind in np.unique(harm.kind.astype(str)).tolist():
            n = part.counts * (harm.kind == kind)
            out[kind] = (int(n.sum()), float(n @ size / n.sum()))
        return out

    def worst_rows(self, parts: dict[str, _Part]) -> WorstRows:
        """The rows themselves: those served worse than the last one listed, and the first of those served like it."""
        above, equal = ([], self._harm.wrong()) if self._harm.score is None else self._harm.boxes(self._last)
        picked = [self._picked(boxes) for boxes in (above, equal) if boxes]
        picked = [one for one in picked if one.numbers.size]
        if not picked:
            nothing = np.empty(0, dtype=np.int64)
            score = None if self._harm.score is None else np.empty(0)
            outcome, harm = self._harm.outcome(nothing, score), self._harm.harm(nothing, score)
            return WorstRows(numbers=nothing, data=None, outcome=outcome, harm=harm, slices=())
        frame = nw.concat([wrap(one.frame) for one in picked])
        numbers = np.concatenate([one.numbers for one in picked])
        rows = self._subject.data.replace(frame.to_native())
        groups = self._harm.groups_of(rows)
        score = None if self._harm.score is None else rows.column(self._harm.score).to_numpy().astype(float)
        harm = self._harm.harm(groups, score)
        order = np.lexsort((numbers, -harm.size))[: self._options.top_k]
        rows = rows.take(order)
        attributes = {column.name: column for column in dataset_attributes(rows)}
        return WorstRows(
            numbers=numbers[order],
            data=rows,
            outcome=self._harm.outcome(groups, score).take(order),
            harm=Harm(harm.size[order], harm.kind[order], harm.confidence[order]),
            slices=tuple(self._cuts[name].codes(rows) if name in self._cuts else attributes[name] for name in parts),
        )

    def _picked(self, boxes: Sequence[Box]) -> Picked:
        data = self._subject.data
        assert data.engine is not None
        names = [name for name in data.columns if name not in data.left_out]
        return data.engine.picked(names, boxes, self._options.top_k)


def _usual(subject: Subject, names: Sequence[str], parts: dict[str, _Part]) -> dict[str, Usual]:
    """What is usual of every feature, as `usual_in_rows` has it."""
    data = subject.data
    numeric = [name for name in names if data.kinds[name] in ("numeric", "integer")]
    of_numbers = _usual_numbers(subject, numeric)
    out = {}
    for name in names:
        _, part = parts[name]
        assert part.counts is not None
        if is_category(data, name):
            column = Codes.encode(part.known.column(name), name=name)
            out[name] = Usual.of_categories(column, sum_by(column.codes, part.counts, column.size))
        elif name in of_numbers:
            out[name] = of_numbers[name]
        elif name not in numeric:
            out |= _usual_days(part.known, name, part.counts)
    return out


def _usual_days(cells: Dataset, name: str, counts: NDArray[np.int64]) -> dict[str, Usual]:
    days = as_floats(cells, name)
    known = np.isfinite(days)
    if not known.any():
        return {}
    days, counts, half = days[known], counts[known], np.array([0.5])
    middle = float(quantiles(days, half, counts)[0])
    away = NORMAL * float(quantiles(np.abs(days - middle), half, counts)[0])
    mean = float(np.average(days, weights=counts))
    return {name: Usual(middle=middle, spread=away or float(np.sqrt(np.average((days - mean) ** 2, weights=counts))))}


def _usual_numbers(subject: Subject, names: Sequence[str]) -> dict[str, Usual]:
    """Medians, and medians of the distances from them, by counting."""
    engine, target = subject.data.engine, subject.data.target
    assert engine is not None
    if not names:
        return {}
    spreads = {name: own for name, own in spread_of(engine, names, [0.5], known=target).items() if own.n}
    if unclear := [name for name, own in spreads.items() if own.rank_error > 0]:
        raise too_many_passes(unclear)
    middles = {name: float(own.quantiles[0]) for name, own in spreads.items()}
    figures = {
        name: Figure(limits=_distance(middles[name]), ranks=[(own.n + 1) // 2, own.n // 2 + 1])
        for name, own in spreads.items()
    }
    first = {name: own.bins for name, own in spreads.items()}
    away = {
        name: NORMAL * float(own.mean()) for name, own in ranked(engine, figures, known=target, first=first).items()
    }
    narrow = [name for name, spread in away.items() if spread == 0]
    if narrow:
        away |= _deviations(subject, narrow, {name: spreads[name].n for name in narrow})
    return {name: Usual(middle=middles[name], spread=away[name]) for name in spreads}


def _deviations(subject: Subject, names: Sequence[str], known: dict[str, int]) -> dict[str, float]:
    """Standard deviations of columns of numbers."""
    (part,) = subject.beside([[]], means=names, weighted=False)
    assert part is not None
    assert part.counts is not None
    out = {}
    for name in names:
        mean, square = (
            float(part.counts @ np.nan_to_num(part.known.column(own).to_numpy().astype(float))) / known[name]
            for own in mean_names(name)
        )
        out[name] = float(np.sqrt(max(square - mean * mean, 0.0)))
    return out


def _distance(middle: float) -> Limits:
    def limits(_groups: NDArray[np.intp], low: Floats, high: Floats) -> tuple[Floats, Floats]:
        ends = np.abs(low - middle), np.abs(high - middle)
        inside = (low < middle) & (middle < high)
        return np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends)

    return limits
