"""Are people treated like those most like them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from isonomia.counting import Codes
from isonomia.data import Backend
from isonomia.errors import NotApplicable
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Estimate, Picture, Result, Table
from isonomia.fairness.groups.grouping import form_groups
from isonomia.fairness.groups.tables import group_columns
from isonomia.fairness.people.encoding import METRICS, STANDARDISE, Metric, Standardise, points_of
from isonomia.fairness.people.neighbours import Neighbours, nearest
from isonomia.fairness.people.shared_neighbours import number_estimate, share_estimate, variance_with_neighbours
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.models import Surface
from isonomia.parameters import Choice, Integer, Number, validated
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Bools, Floats, Indices

#: How many of the rows that stand out most are listed.
WORST_ROWS = 20


@dataclass(frozen=True, repr=False)
class Consistency(Result):
    """How alike people are treated to their nearest neighbours: 1 where every one is treated as they are.

    ``rows`` has each row's own figure (NaN for rows that were not looked at); ``tables["by_group"]`` the mean of each
    group, ``tables["rows"]`` the rows that are treated least like their neighbours.
    """

    value: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    rows: Floats = field(default_factory=lambda: np.zeros(0), compare=False)


@validated(
    k=Integer(1),
    metric=Choice(METRICS),
    standardise=Choice(STANDARDISE),
    unit=Number(above=0).or_none(),
    max_rows=Integer(1).or_none("for all"),
)
def consistency(
    data: Any,
    model: Any = None,
    *,
    k: int = 5,
    metric: Metric = "euclidean",
    standardise: Standardise = "std",
    unit: float | None = None,
    max_rows: int | None = None,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> Consistency:
    r"""Consistency: 1 - mean over rows of |prediction - mean prediction of the k nearest rows|.

    Parameters
    ----------
    data : Dataset, frame, matrix or Subject
        What people are compared by: the features, without the columns that are `protected`. See `encode_people` for how
        numbers and categories become distances.
    model : model, Surface, or column
        Anything that predicts, decisions (two classes or more) or numbers. With several classes a row's figure is the
        share of its neighbours that are given the same class, which for two classes is the formula above.
    k : int
        How many neighbours, the row itself among them.
    metric, standardise
        How distances are measured. ``standardise="none"`` on one-hot columns is AIF360's.
    unit : float, optional
        Difference of numbers that counts as 1; the range of the predictions unless given.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`). `protected` or
        `sensitive_features` give the figure by group. A weight is the number of people that a row stands for: the k
        neighbours are k rows whatever their weights (rows of weight 0 are
        nobody's neighbours); their mean prediction, and the mean over rows, are weighted.
    max_rows : int, optional
        Where there are more rows, this many of them, drawn at random, are compared with their neighbours among all.
    progress : callable or Progress, optional
        Receives the events of the search; a `Progress` can cancel it.

    Notes
    -----
    Rows at the distance of the k-th neighbour share the remaining weight, so the order of the rows does not matter; a
    library that takes the ones it meets first (AIF360) gives the same value where there are no such ties. Rows share
    neighbours, so their figures are not independent: the variance adds the covariance of every two pairs (a row and one
    of its neighbours) with a person in common, as in `awareness`. Intervals of decisions are Wilson's at the number of
    independent pairs with that variance, those of numbers normal.

    References
    ----------
    R. Zemel et al. (2013), ICML: Learning fair representations.
    P. Aronow, C. Samii, V. Assenova (2015), Political Analysis 23:564 (variance over pairs).

    Examples
    --------
    >>> consistency({"x": [0.0, 0.1, 5.0, 5.1]}, [1, 1, 0, 1], k=2).value.value
    0.75
    """
    subject = Subject.of(data, model, progress=progress, **given)
    surface, columns, weights, level = subject.surface, subject.attributes, subject.weights, subject.settings.level
    points = points_of(subject, metric, standardise)
    n = len(points.matrix)
    if surface.continuous is None and surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions"))
    w = np.ones(n) if weights is None else weights
    sampled = np.arange(n)
    if max_rows is not None and n > max_rows:
        sampled = np.sort(np.random.default_rng(subject.settings.seed).choice(n, max_rows, replace=False))
    found = nearest(points, k, rows=sampled, pool=w > 0, progress=subject.progress)
    rows = np.full(n, np.nan)
    averages = _Averages(surface, sampled, found, weights, unit, level)
    rows[sampled] = averages.agreement
    kind, position = subject.backend, np.flatnonzero(subject.rows)
    worst = sampled[np.argsort(rows[sampled], kind="stable")[:WORST_ROWS]]
    tables = {
        "by_group": _by_group(averages, [column.take(sampled) for column in columns], kind),
        "rows": Table(
            (
                Column("row", position[worst], format="int", title=msg("row")),
                Column("consistency", rows[worst], format="pct", title=msg("consistency")),
            ),
            msg("Rows with the lowest consistency"),
            kind,
        ),
    }
    pictures = (
        (
            Picture(
                "forest",
                "by_group",
                msg("Consistency of each group, with intervals"),
                {"labels": "group", "value": "consistency"},
            ),
        )
        if columns
        else ()
    )
    figure = averages.over(np.ones(sampled.size, dtype=bool))
    notes = [msg("People are compared by {n:int} columns; the protected ones are left out.", n=len(points.columns))]
    if points.left_out:
        names = ", ".join(f"{name} ({reason})" for name, reason in points.left_out[:5])
        notes.append(msg("Columns that cannot be used to compare people: {names}.", names=names))
    if sampled.size < n:
        notes.append(
            msg(
                "{n:int} rows, sampled at random, were compared with their neighbours among all {all:int}.",
                n=sampled.size,
                all=n,
            )
        )
    result = Consistency(
        "consistency",
        msg("Consistency"),
        tables,
        {"consistency": figure, "neighbours": int(k)},
        (),
        pictures,
        tuple(notes),
        figure,
        rows,
        titles={"consistency": msg("consistency"), "neighbours": msg("neighbours")},
    )
    return subject.noted(result)


class _Averages:
    """Agreement of each of some rows with its neighbours, and its average over sets of them."""

    def __init__(
        self,
        surface: Surface,
        rows: Indices,
        near: Neighbours,
        weights: Floats | None,
        unit: float | None,
        level: float,
    ) -> None:
        self.rows, self.near, self.weights, self.level = rows, near, weights, level
        self.decisions = surface.continuous is None
        self.values = _predicted(surface, unit)
        own, others = self.values[rows], near.mean(self.values, weights)
        if self.values.ndim == 2:
            self.sign = np.where(own > 0, 0.5, -0.5)  # classes differ in two indicators
        else:
            self.sign = np.where(own >= others, 1.0, -1.0)
        apart = self.sign * (own - others)
        self.agreement: Floats = 1.0 - (apart.sum(axis=1) if apart.ndim == 2 else apart)

    def over(self, inside: Bools) -> Estimate:
        """The average over some of the rows."""
        w = np.ones(self.rows.size) if self.weights is None else self.weights[self.rows]
        share = np.where(inside, w, 0.0)
        if not share.any():
            return Estimate.missing(msg("its rows have no weight"))
        value, rows = float(share @ self.agreement / share.sum()), int(inside.sum())
        if rows < 2:
            return Estimate(value, n=rows, note=as_text(msg("one row: no interval")))
        variance = variance_with_neighbours(
            self.near, self.rows, self.values, weights=self.weights, sign=self.sign, share=share
        )
        if self.decisions:
            return share_estimate(value, variance, rows, rows, self.level)
        return number_estimate(value, variance, rows, self.level)


def _predicted(surface: Surface, unit: float | None) -> Floats:
    """Predictions on the scale where a difference of 1 is the largest: numbers, decisions, indicators of classes."""
    if surface.continuous is not None:
        spread = float(np.ptp(surface.continuous)) if unit is None else float(unit)
        return np.asarray(surface.continuous / (spread or 1.0), dtype=float)
    assert surface.label is not None  # the caller has looked
    if len(surface.classes) == 2:
        return surface.label.astype(float)
    return np.asarray(surface.label[:, None] == np.arange(len(surface.classes)), dtype=float)


def _by_group(averages: _Averages, columns: Sequence[Codes], backend: Backend | None) -> Table:
    groups = form_groups(columns, by="all").groups if columns else ()
    cells = form_groups(columns).cells.codes if columns else np.zeros(averages.rows.size, np.uint8)
    sets = [np.isin(cells, group.cells) for group in groups]
    table = Table.from_rows(
        [{"n": int(inside.sum()), "consistency": averages.over(inside)} for inside in sets],
        (
            Column("n", format="int", title=msg("rows")),
            Column("consistency", format="pct", title=msg("consistency")),
        ),
        title=msg("Consistency by group"),
        backend=backend,
    )
    named, by = group_columns(groups)
    return replace(table, columns=(by, named, *table.columns))
