"""How group metrics changed between two datasets, and whether by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from isonomia.evidence import Estimate, Picture, Result, Table, benjamini_hochberg, normal_p
from isonomia.evidence.intervals import error_within, normal_interval
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import By
from isonomia.fairness.time.control_limits import COLUMNS
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.subject import Subject, SubjectOptions


def change_between(
    before: Any,
    after: Any,
    model: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[SubjectOptions],
) -> Result:
    """How group metrics and gaps changed between two datasets, and whether by more than chance.

    Both are Datasets, or frames with their roles as keywords (see `subject.Reading`), and have the same roles.
    Changes are after - before; the tests are z-tests of two independent samples, with
    ``p_adjusted`` after Benjamini and Hochberg. Groups that only one of them has are listed without a change.
    """
    first = Subject.of(before, model, **given)
    sides = (first, first.like(after))
    parts = [group_metrics(side, metrics=metrics, by=by, reference=first.reference) for side in sides]
    level = first.settings.level
    names = ("kind", "metric", "group", "before", "after", "change", "p_value")
    out: dict[str, list[Any]] = {name: [] for name in names}
    for kind, figures in (
        (msg("metric of the group"), [_figures(part, level) for part in parts]),
        (msg("gap to the reference"), [_gap_figures(part, level) for part in parts]),
    ):
        for key in dict.fromkeys([*figures[0], *figures[1]]):
            row = _difference(figures[0].get(key), figures[1].get(key), level)
            for name, value in zip(names, (kind, *key, *row), strict=True):
                out[name].append(value)
    shown: dict[str, Any] = {**out, "p_adjusted": benjamini_hochberg(np.array(out["p_value"], dtype=float))}
    table = Table.of(shown, COLUMNS, title=msg("Change between two datasets"), backend=first.backend)
    picture = Picture(
        "forest",
        "changes",
        msg("Change of each group, with intervals"),
        {"labels": ["metric", "group"], "value": "change", "facet": "kind", "reference": 0.0},
    )
    notes = tuple(note for side in sides for note in side.notes)
    return Result("change_between", msg("Change between two datasets"), {"changes": table}, {}, (), (picture,), notes)


Figure = tuple[float, float]


def _figures(part: GroupMetrics, level: float) -> dict[tuple[str, str], Figure]:
    assert part.groups is not None
    return {
        (name, group.name): (float(one.value[i]), float(error_within(one.low[i], one.high[i], level)))
        for name, one in part.measured.items()
        for i, group in enumerate(part.groups.groups)
    }


def _gap_figures(part: GroupMetrics, level: float) -> dict[tuple[str, str], Figure]:
    out = {}
    table = part.tables["comparisons"]
    for row, (metric, group, reference) in enumerate(
        zip(*(table[name].values for name in ("metric", "group", "reference")), strict=True)
    ):
        gap = table["difference"].estimate(row)
        error = math.nan if gap.low is None or gap.high is None else error_within(gap.low, gap.high, level)
        out[metric, f"{group} - {reference}"] = (math.nan if gap.value is None else gap.value, error)
    return out


def _difference(before: Figure | None, after: Figure | None, level: float) -> tuple[Any, ...]:
    if before is None or after is None:
        only = msg("only before") if after is None else msg("only after")
        return before and before[0], after and after[0], Estimate.missing(only), None
    change, error = after[0] - before[0], float(np.hypot(before[1], after[1]))
    if not np.isfinite(change) or not np.isfinite(error):
        return before[0], after[0], Estimate(change, note=as_text(msg("no interval"))), None
    low, high = (float(end) for end in normal_interval(change, error, level))
    p = float(normal_p(change / error)) if error > 0 else None
    return before[0], after[0], Estimate(change, low, high, method="normal", level=level), p
