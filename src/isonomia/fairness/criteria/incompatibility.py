"""Which criteria cannot hold together, with the user's own base rates: what one forces upon another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.errors import NotApplicable
from isonomia.evidence import Result, chi_square, normal_quantile, pair_level, two_proportions, wilson
from isonomia.fairness.criteria.conflict_report import (
    ALPHA,
    base_rates_table,
    conflicts_table,
    findings_of,
    formulas_table,
    picture,
    story_of,
)
from isonomia.fairness.criteria.conflicts import BALANCE, CONFLICTS, Conflict
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import By
from isonomia.languages import Message, msg
from isonomia.metrics import Measured
from isonomia.metrics.applicable import TASKS
from isonomia.subject import Subject, SubjectOptions
from isonomia.typing import Floats


@dataclass(frozen=True, repr=False)
class Incompatibility(Result):
    """Which criteria cannot hold together on these data, and by how much.

    ``table`` has a row for each conflict and way of grouping: what is kept equal, what is then forced apart, the
    lowest and highest forced value and between which groups, the forced gap with its interval, and the gap there is
    now. ``tables["base_rates"]`` has the base rates behind it.

    Attributes
    ----------
    compatible : bool or None
        Whether the base rates may be equal in all ways of grouping (no difference is shown), so that nothing is
        forced; None where they could not be compared.
    """

    compatible: bool | None = None
    story: tuple[Message, ...] = field(default_factory=tuple)

    def explain(self, language: str = "en") -> str:
        """The result in sentences, with the user's numbers."""
        return " ".join(sentence.text(language) for sentence in self.story)


def incompatibility(
    data: Any = None,
    model: Any = None,
    *,
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[SubjectOptions],
) -> Incompatibility:
    """Which criteria cannot hold together, given the base rates of these groups, and by how much?

    Where base rates p differ and the model errs, equal true and false positive rates and equal predictive values
    exclude each other: FPR = p / (1 - p) x (1 - PPV) / PPV x TPR (Chouldechova). Each conflict keeps some rates
    equal for all groups, at the values they have over all rows, and works out what another rate would have to be in
    each group. With scores: a score that is calibrated in every group cannot have equal means among those with a
    favourable outcome and equal means among the others (Kleinberg), which is worked out likewise.

    Intervals of the forced gaps hold for all pairs of groups together; they come from the Wilson intervals of rates.

    Parameters
    ----------
    data, model, by, **given
        As in `group_metrics`, for two classes; with probabilities (`y_score`) the theorem about scores too. Groups
        smaller than `min_per_group` are left out.

    References
    ----------
    A. Chouldechova (2017), Fair prediction with disparate impact, Big Data 5:153. J. Kleinberg, S. Mullainathan, M.
    Raghavan (2017), Inherent trade-offs in the fair determination of risk scores, ITCS.

    Examples
    --------
    >>> y = [1] * 60 + [0] * 40 + [1] * 30 + [0] * 70
    >>> predicted = [1] * 45 + [0] * 15 + [1] * 10 + [0] * 30 + [1] * 20 + [0] * 10 + [1] * 15 + [0] * 55
    >>> r = incompatibility(y, predicted, sensitive_features={"group": ["a"] * 100 + ["b"] * 100})
    >>> row = next(r.tables["conflicts"].rows())
    >>> row["forced"].text(), round(row["lowest_value"], 3), round(row["highest_value"], 3)
    ('False positive rate', 0.119, 0.417)
    """
    subject = Subject.of(data, model, counted=True, **given)
    if subject.task != "binary":
        raise NotApplicable(msg("the theorems apply to two classes, and the task is {task}", task=TASKS[subject.task]))
    if subject.outcome.truth is None:
        raise NotApplicable(msg("the data have no target, so there are no base rates"))
    if subject.surface.label is None:
        raise NotApplicable(msg("there are no decisions, only scores; pass a threshold"))
    measured = group_metrics(
        subject, metrics=["base_rate", "selection_rate", "tpr", "fpr", "ppv", "npv", "accuracy"], by=by
    )
    rows = _rows(measured, subject.settings.level) + _balance(subject, measured)
    ways = list(_ways(measured))
    rows.sort(key=lambda row: ways.index(row["by"]))
    tests = _base_rate_tests(measured)
    found = Incompatibility(
        "incompatibility",
        msg("Incompatible criteria"),
        {
            "conflicts": conflicts_table(rows, measured),
            "base_rates": base_rates_table(measured),
            "formulas": formulas_table(rows, measured),
        },
        {"rows": measured.values["rows"]},
        findings_of(rows, tests),
        (picture(),),
        (*measured.notes, _NOTE),
        compatible=None if not tests else all(test["p"] >= ALPHA for test in tests.values()),
        story=story_of(rows, tests),
    )
    return subject.noted(found)


_NOTE = msg("Required values keep the named rates equal for all groups, at their values over all rows.")


def _ways(measured: GroupMetrics) -> dict[tuple[str, ...], NDArray[Any]]:
    """The groups with enough rows and a base rate strictly between 0 and 1, by way of grouping."""
    assert measured.groups is not None
    base = measured.measured["base_rate"].value
    found: dict[tuple[str, ...], list[int]] = {}
    for index, group in enumerate(measured.groups.groups):
        if measured.sizes[index] >= measured.min_per_group and 0 < base[index] < 1:
            found.setdefault(group.by, []).append(index)
    return {by: np.array(indices) for by, indices in found.items() if len(indices) > 1}


def _rows(measured: GroupMetrics, level: float) -> list[dict[str, Any]]:
    assert measured.groups is not None
    base = measured.measured["base_rate"]
    rows: list[dict[str, Any]] = []
    last = base.value.size - 1  # all rows together are the last set
    for conflict in CONFLICTS:
        kept = {name: measured.measured[name] for name in conflict.kept}
        whole = {name: part.value[last] for name, part in kept.items()}
        if any(np.isnan(value) for value in whole.values()):
            continue
        now = measured.measured[conflict.forced].value
        for by, indices in _ways(measured).items():
            forced = conflict.value(whole, base.value[indices])
            if np.isnan(forced).any():
                continue
            spread = {name: (part.low[last], part.high[last]) for name, part in kept.items()}
            ends = _forced_ends(conflict, whole, spread, base, indices, level)
            rows.append(conflict_row(conflict, by, indices, forced, ends, now[indices], measured))
    return rows


def conflict_row(
    conflict: Conflict,
    by: tuple[str, ...],
    indices: NDArray[Any],
    forced: Floats,
    ends: tuple[float, float],
    now: Floats,
    measured: GroupMetrics,
) -> dict[str, Any]:
    """One conflict for one way of grouping."""
    assert measured.groups is not None
    low, high = int(np.argmin(forced)), int(np.argmax(forced))
    gap = float(forced[high] - forced[low])
    known = now[~np.isnan(now)]
    return {
        "conflict": conflict,
        "by": by,
        "lowest": measured.groups.groups[indices[low]],
        "highest": measured.groups.groups[indices[high]],
        "lowest_value": float(forced[low]),
        "highest_value": float(forced[high]),
        "gap": gap,
        "gap_low": ends[0],
        "gap_high": ends[1],
        "gap_now": float(known.max() - known.min()) if known.size > 1 else None,
        "n": int(measured.sizes[indices].sum()),
    }


def _forced_ends(
    conflict: Conflict,
    whole: Mapping[str, Any],
    spread: Mapping[str, tuple[float, float]],
    base: Measured,
    indices: NDArray[Any],
    level: float,
) -> tuple[float, float]:
    """The interval of the forced gap, whichever groups are its extremes.

    From the ends of each forced value over the Wilson interval of its base rate, at the level of all pairs, and of the
    gap over the intervals of what is kept equal, by the method of variance estimates recovery: the distances to the
    ends are added in squares.
    """
    rate, size = base.value[indices], base.size[indices]
    at = conflict.value(whole, rate)
    reached = np.stack(
        [conflict.value(whole, end) for end in wilson(rate * size, size, pair_level(level, indices.size))]
    )
    low, high = np.minimum(reached.min(axis=0), at), np.maximum(reached.max(axis=0), at)
    gap = at[:, None] - at[None, :]
    kept = [
        (
            conflict.value({**whole, name: end}, rate)[:, None]
            - conflict.value({**whole, name: end}, rate)[None, :]
            - gap
        )
        for name, ends in spread.items()
        for end in ends
    ]
    moved = np.stack([np.nan_to_num(part) for part in kept]) if kept else np.zeros((1, *gap.shape))
    down, up = (np.square(side).sum(axis=0) for side in (np.minimum(moved, 0.0), np.maximum(moved, 0.0)))
    below = gap - np.sqrt((at - low)[:, None] ** 2 + (high - at)[None, :] ** 2 + down)
    above = gap + np.sqrt((high - at)[:, None] ** 2 + (at - low)[None, :] ** 2 + up)
    return float(max(below.max(), 0.0)), float(above.max())


def _base_rate_tests(measured: GroupMetrics) -> dict[tuple[str, ...], dict[str, Any]]:
    """For each way of grouping the extremes of the base rates, and whether they differ by more than chance."""
    assert measured.groups is not None
    part = measured.measured["base_rate"]
    out = {}
    for by, indices in _ways(measured).items():
        value, size = part.value[indices], part.size[indices]
        low, high = int(np.argmin(value)), value.size - 1 - int(np.argmax(value[::-1]))  # two groups, also where equal
        table = np.stack([value * size, (1 - value) * size], axis=1)
        p = (
            float(chi_square(table)[2])
            if indices.size > 2
            else float(two_proportions(value[low] * size[low], size[low], value[high] * size[high], size[high]))
        )
        out[by] = {
            "p": p,
            "low": float(value[low]),
            "high": float(value[high]),
            "lowest": measured.groups.groups[indices[low]].name,
            "highest": measured.groups.groups[indices[high]].name,
        }
    return out


def _balance(subject: Subject, measured: GroupMetrics) -> list[dict[str, Any]]:
    """Kept: calibration in every group (the mean score is the base rate) and one mean score of positives.

    Then p = p m1 + (1 - p) m0 gives m0 = p (1 - m1) / (1 - p), which differs between groups unless their base rates are
    equal or the score is perfect (m1 = 1).
    """
    p, truth, weights = subject.surface.probability, subject.truth, subject.weights
    if p is None or p.ndim != 1:
        return []
    rows = measured.rows if measured.rows is not None else np.ones(len(truth), dtype=bool)
    positive = (truth == 1) & rows
    if not positive.any():
        return []
    w = np.ones(len(truth)) if weights is None else weights
    total = w if subject.counts is None else w * subject.counts
    m1 = float(np.average(p[positive], weights=total[positive]))
    spread = float(np.sqrt(np.average((p[positive] - m1) ** 2, weights=total[positive])))
    size = float(total[positive].sum() ** 2 / (total[positive] @ w[positive]))
    base = measured.measured["base_rate"]
    error, reach = spread / np.sqrt(size), normal_quantile(subject.settings.level)
    around = {"mean_score_of_positives": (max(m1 - reach * error, 0.0), min(m1 + reach * error, 1.0))}
    out = []
    for by, indices in _ways(measured).items():
        whole = {"mean_score_of_positives": m1}
        forced = BALANCE.value(whole, base.value[indices])
        ends = _forced_ends(BALANCE, whole, around, base, indices, subject.settings.level)
        now = _mean_score_of_negatives(truth, measured, p, total, rows)[indices]
        out.append(conflict_row(BALANCE, by, indices, forced, ends, now, measured))
    return out


def _mean_score_of_negatives(truth: NDArray[Any], measured: GroupMetrics, p: Any, w: Any, rows: Any) -> Any:
    """What it is now, group by group."""
    assert measured.groups is not None
    cells = measured.groups.cells.codes
    negative = (truth == 0)[rows]
    weight = np.where(negative, w[rows], 0.0)
    size = len(measured.groups.labels)
    of_groups = measured.groups.indicator([group.cells for group in measured.groups.groups])
    total = sum_by(cells, weight, size) @ of_groups
    sums = sum_by(cells, weight * p[rows], size) @ of_groups
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, sums / total, np.nan)
