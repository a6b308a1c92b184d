"""Labels of a group against those of the most similar people who are not in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, wrap
from isonomia.events import Progress
from isonomia.evidence import Column, Table
from isonomia.fairness.groups.grouping import By, Group, form_groups
from isonomia.fairness.labels.label_values import outcomes_table, worths
from isonomia.fairness.people.encoding import Points, encode_people
from isonomia.fairness.people.neighbours import nearest
from isonomia.fairness.people.shared_neighbours import number_estimate, variance_with_neighbours
from isonomia.languages import msg
from isonomia.typing import Floats

#: Of a larger group this many people, drawn at random, are compared with similar ones, who are found among all.
MAX_COMPARED = 2_000
#: The regression that adjusts for features that still differ has at most one term for so many people outside a group.
ROWS_PER_TERM = 20

_FIGURES = ("own", "similar", "difference", "disagreement", "p_value")


def against_similar(
    data: Dataset,
    label: Codes,
    attributes: Sequence[Codes],
    *,
    by: By | Sequence[Sequence[str]],
    k: int,
    max_rows: int,
    level: float,
    seed: int,
    progress: Progress,
) -> Table:
    """Labels of each group less those of the k most similar people who are not in it, class by class."""
    out: list[dict[str, Any]] = []
    members: list[Group] = []
    weights = data.weights
    rows = np.arange(len(data)) if weights is None else np.flatnonzero(weights > 0)
    if rows.size > max_rows:
        rows = np.sort(np.random.default_rng(seed).choice(rows, max_rows, replace=False))
    w = None if weights is None else weights[rows]
    features = [name for name in data.descriptive if name not in data.protected]
    points = encode_people(wrap(data.frame).select(features)[rows.tolist()].to_native()) if features else None
    kinds = [(name, values[rows]) for name, values in worths(data, label)]
    groups = form_groups([column.take(rows).observed() for column in attributes], by=by)
    rng = np.random.default_rng(seed)
    for group in groups.groups:
        own = np.isin(groups.cells.codes, group.cells)
        reason = None
        if points is None:
            reason = msg("no column is left for comparing people")
        elif own.sum() < 2 or (~own).sum() < k:
            reason = msg("too few rows in the group or outside it")
        found: list[dict[str, Any]] = [dict.fromkeys(_FIGURES) for _ in kinds]
        sampled = np.flatnonzero(own)
        if sampled.size > MAX_COMPARED:
            sampled = np.sort(rng.choice(sampled, MAX_COMPARED, replace=False))
        if reason is None and points is not None:
            found = _figures(points, own, sampled, [values for _, values in kinds], w, k, level, progress)
        for (name, _), figures in zip(kinds, found, strict=True):
            untested = (
                None
                if figures["p_value"] is not None
                else msg("everyone differs by the same amount, so there is nothing to test")
            )
            out.append({"class": name, "n": sampled.size, **figures, "note": reason or untested})
            members.append(group)
    compared = (
        Column("similar", format="num", title=msg("of similar people in other groups")),
        Column("difference", format="num", title=msg("difference")),
        Column("disagreement", format="num", title=msg("labels that disagree with those of similar people")),
    )
    return outcomes_table(out, members, compared, msg("Labels of similar people in other groups"), data.backend)


def _figures(
    points: Points,
    own: NDArray[np.bool_],
    rows: NDArray[np.intp],
    kinds: Sequence[Floats],
    w: Floats | None,
    k: int,
    level: float,
    progress: Progress,
) -> list[dict[str, Any]]:
    """For each kind of label: own mean, that of similar people, the difference and the disagreement with ends, p.

    Similar people are not the same: what a regression of the labels of people outside the group on the features says
    about the features that still differ is taken from the difference. People of the group share similar people outside
    it: errors are those of pairs that share people. The difference has Student's t with one degree of freedom less than
    people on the smaller side.
    """
    from scipy.special import stdtr

    near = nearest(points, k, rows=rows, pool=~own, progress=progress)
    mine = None if w is None else w[rows]
    everything = np.column_stack(kinds)
    left = everything - _regression(points, everything, ~own, w)
    similar, adjusted = near.mean(everything, w), near.mean(left, w)
    apart = np.abs(everything[rows] - similar)  # of labels 0 and 1: the share of similar people with the other one
    fewer = int(min(rows.size, own.size - own.sum()))
    lost = fewer / max(fewer - 1, 1)
    out = []
    for index, values in enumerate(kinds):
        mean = float(np.average(values[rows], weights=mine))
        difference = float(np.average(left[rows, index] - adjusted[:, index], weights=mine))
        variance = variance_with_neighbours(near, rows, left[:, index], weights=w) * lost
        gap = number_estimate(difference, variance, rows.size, level, fewer)
        p = 2 * float(stdtr(max(fewer - 1, 1), -abs(difference) / np.sqrt(variance))) if variance > 0 else None
        sign = np.where(values[rows] >= similar[:, index], 1.0, -1.0)
        variance = variance_with_neighbours(near, rows, values, weights=w, sign=sign)
        disagreement = number_estimate(float(np.average(apart[:, index], weights=mine)), variance, rows.size, level)
        out.append(dict(zip(_FIGURES, (mean, mean - difference, gap, disagreement, p), strict=True)))
    return out


def _regression(points: Points, labels: Floats, pool: NDArray[np.bool_], w: Floats | None) -> Floats:
    """Labels (n, m) that a linear regression on the features and the squares of numbers expects, fitted to the pool.

    Where the pool has fewer than `ROWS_PER_TERM` rows per term, categories are left out, and then everything.
    """
    numbers = points.matrix if points.numbers is None else points.numbers
    for terms in ((points.matrix, numbers**2), (numbers, numbers**2)):
        width = 1 + sum(part.shape[1] for part in terms)
        if width * ROWS_PER_TERM <= pool.sum():
            break
    else:
        return np.zeros_like(labels)
    table = np.column_stack([np.ones(len(labels)), *terms])
    root = np.ones(len(labels)) if w is None else np.sqrt(w)
    fitted = np.linalg.lstsq(table[pool] * root[pool, None], labels[pool] * root[pool, None], rcond=1e-9)[0]
    return np.asarray(table @ fitted)
