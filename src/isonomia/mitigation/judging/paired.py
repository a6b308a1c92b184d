"""The paired table: what people were given before and after one or several fixes, counted and resampled once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from isonomia.counting import Codes, Tally, composite, count_by, resample, resample_sums, sum_by, tally
from isonomia.evidence.intervals import quotient
from isonomia.fairness import Groups
from isonomia.metrics import METRICS, Metric, of_class
from isonomia.typing import Floats

#: The metrics of a group that a fix is judged by.
BINARY = ("selection_rate", "tpr", "fpr", "ppv", "accuracy")
#: The same where the true outcomes are not known.
WITHOUT_TRUTH = ("selection_rate",)
NUMBERS = ("mean_prediction", "mae", "mean_error")
#: Combinations of the joint table times replicates, beyond which its margins are drawn instead.
MAX_DRAWS = 300_000


@dataclass(frozen=True, eq=False)
class Measures:
    """Q metrics of S sets of rows (the groups, then everyone), before and after each of M fixes.

    Attributes
    ----------
    metrics : tuple of Metric
    size : (Q, S) array
        Rows behind each value: the denominator of a rate.
    before, after : (Q, S) and (M, Q, S) arrays
    before_draws, after_draws : (Q, S, B) and (M, Q, S, B) arrays
        Bootstrap replicates of the same people, so that differences are paired.
    """

    metrics: tuple[Metric, ...]
    size: Floats
    before: Floats
    after: Floats
    before_draws: Floats
    after_draws: Floats

    def index(self, name: str) -> int:
        """Where a metric stands."""
        return next(number for number, metric in enumerate(self.metrics) if metric.id == name)


def metrics_of(
    task: str, classes: Sequence[Any], with_truth: bool, favourable: Collection[Any] = ()
) -> tuple[Metric, ...]:
    """What is measured for a task; of several classes some may be `favourable`."""
    if task == "regression":
        return tuple(METRICS[name] for name in (NUMBERS if with_truth else NUMBERS[:1]))
    if len(classes) == 2:
        return tuple(METRICS[name] for name in (BINARY if with_truth else WITHOUT_TRUTH))
    names = BINARY[:-1] if with_truth else WITHOUT_TRUTH
    each = [
        of_class(METRICS[name], code, label, favourable=label in favourable if favourable else None)
        for name in names
        for code, label in enumerate(classes)
    ]
    return (*each, *((METRICS["accuracy"],) if with_truth else ()))


def count_decisions(
    groups: Groups,
    truth: NDArray[Any] | None,
    before: NDArray[Any],
    after: Sequence[NDArray[Any]],
    classes: Sequence[Any],
    *,
    favourable: Collection[Any] = (),
    weights: Floats | None,
    n_boot: int,
    seed: int,
) -> Measures:
    """Measures of decisions: the joint table of (cell, label, before, after 1, ..., after M) is drawn once."""
    K, C = len(classes), len(groups.labels)
    R = 1 if truth is None else K
    label = np.zeros(before.size, dtype=np.uint8) if truth is None else truth
    columns = [("cell", groups.cells.codes, C), ("label", label, R), ("before", before, K)]
    columns += [(f"after {number}", one, K) for number, one in enumerate(after)]
    joint = composite([Codes(name, codes, tuple(range(size))) for name, codes, size in columns])
    used = np.array(joint.labels, dtype=np.intp)
    table = tally([joint], weights=weights)
    cells = [(used[:, 0] * R + used[:, 1]) * K + used[:, 2 + number] for number in range(1 + len(after))]
    both = _resampled(table, cells, C * R * K, n_boot, seed)
    sets = np.column_stack([groups.indicator([group.cells for group in groups.groups]), np.ones(C)])
    metrics = metrics_of("binary" if K == 2 else "multiclass", classes, truth is not None, favourable)
    values, sizes = [], []
    for tables in both:
        per_set = np.einsum("bcx,cs->bsx", tables.reshape(-1, C, R * K), sets, optimize=True)
        per_set = per_set.reshape(n_boot + 1, -1, R, K)
        values.append(np.stack([_compute(metric, per_set) for metric in metrics]))
        sizes.append(np.stack([_size(metric, per_set[0]) for metric in metrics]))
    stacked = np.stack(values)  # (1 + M, Q, 1 + B, S)
    draws_of = np.moveaxis(stacked[:, :, 1:], 2, -1)
    return Measures(metrics, np.minimum.reduce(sizes), stacked[0, :, 0], stacked[1:, :, 0], draws_of[0], draws_of[1:])


def _resampled(table: Tally, cells: Sequence[NDArray[Any]], size: int, n_boot: int, seed: int) -> list[Floats]:
    """For before and each fix the counts and their replicates by cell: (1 + B, size).

    A joint table with many combinations is not drawn itself: its margins are drawn from the normal with their exact
    means and covariances (and never below 0).
    """
    w = np.asarray(table.w, dtype=float)
    if w.size * n_boot <= MAX_DRAWS:
        both = np.vstack([w[None, :], np.asarray(resample(table, n_boot, seed), dtype=float)])
        return [_gather(both, cell, size) for cell in cells]
    kinds, number = np.unique(np.concatenate([cell + size * m for m, cell in enumerate(cells)]), return_inverse=True)
    rows = np.tile(np.arange(w.size), len(cells))
    square = np.asarray(table.w2, dtype=float) if table.weighted else w
    member, spread = (
        csr_array((each, (rows, number)), shape=(w.size, kinds.size)) for each in (np.ones(rows.size), square[rows])
    )
    mean = w @ member
    covariance = (member.T @ spread).toarray() - np.outer(mean, mean) / float(table.n.sum())
    # margins add up, so that their covariance is singular; it is zero where everybody is in one cell
    least = max(1e-9 * float(np.diag(covariance).mean()), 1e-200)
    root = np.linalg.cholesky(covariance + least * np.eye(kinds.size))
    noise = np.random.default_rng(seed).standard_normal((n_boot, kinds.size)) @ root.T
    out = np.zeros((n_boot + 1, len(cells) * size))
    out[:, kinds] = np.vstack([mean[None, :], np.maximum(mean + noise, 0.0)])
    return [out[:, m * size : (m + 1) * size] for m in range(len(cells))]


def _gather(draws: Floats, cell: NDArray[Any], size: int) -> Floats:
    """Columns of the same cell added up: (B, J) to (B, size)."""
    order = np.argsort(cell, kind="stable")
    kinds, starts = np.unique(cell[order], return_index=True)
    out = np.zeros((len(draws), size))
    out[:, kinds] = np.add.reduceat(draws[:, order], starts, axis=1)
    return out


def _compute(metric: Metric, tables: Floats) -> Floats:
    assert metric.from_counts is not None
    return metric.from_counts(tables)


def _size(metric: Metric, tables: Floats) -> Floats:
    if metric.rate is None:
        return tables.sum(axis=(-2, -1))  # type: ignore[no-any-return]
    return np.asarray(metric.rate(tables)[1], dtype=float)


def add_numbers(
    groups: Groups,
    truth: Floats | None,
    before: Floats,
    after: Sequence[Floats],
    *,
    weights: Floats | None,
    n_boot: int,
    seed: int,
) -> Measures:
    """Measures of predicted numbers (mean, mean absolute error, mean error) from sums over cells and their covariances.

    The mean error is the mean prediction less the mean outcome, so that outcomes are one more column.
    """
    metrics = metrics_of("regression", (), truth is not None)
    each = [before, *after]
    w = np.ones(before.size) if weights is None else weights
    parts = each if truth is None else [*each, *(np.abs(one - truth) for one in each), truth]
    rows = np.column_stack([w, *(w * part for part in parts)])
    C, codes = len(groups.labels), groups.cells.codes.astype(np.intp)
    n = count_by(codes, C)
    sums = np.stack([sum_by(codes, column, C) for column in rows.T], axis=1)
    by_cell = np.split(rows[np.argsort(codes, kind="stable")], np.cumsum(n)[:-1].astype(np.intp))
    products = np.stack([part.T @ part for part in by_cell])
    drawn = resample_sums(n, sums, products, n_boot, seed)[1]
    sets = np.column_stack([groups.indicator([group.cells for group in groups.groups]), np.ones(C)])
    total = np.einsum("bcq,cs->bsq", np.concatenate([sums[None], drawn]), sets)
    means = np.moveaxis(quotient(total[..., 1:], total[..., :1]), -1, 0)
    if truth is not None:
        means = np.concatenate([means[:-1], means[: len(each)] - means[-1]])
    means = means.reshape(len(metrics), len(each), n_boot + 1, -1)
    draws = np.moveaxis(means[:, :, 1:], 2, -1)
    size = np.tile((n @ sets).astype(float), (len(metrics), 1))
    point = means[:, :, 0]
    return Measures(
        metrics,
        size,
        point[:, 0],
        np.moveaxis(point[:, 1:], 0, 1),
        draws[:, 0],
        np.moveaxis(draws[:, 1:], 0, 1),
    )
