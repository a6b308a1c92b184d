"""Metrics of groups that several rooms ask for, measured once per subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.metrics import METRICS
from isonomia.subject import Subject

Ways = Literal["each", "all"]


def measured_groups(subject: Subject, metrics: Sequence[str], by: Ways) -> GroupMetrics:
    """Metrics of the groups of each attribute ("all": of intersections too); what was measured before is used again."""
    known: dict[tuple[frozenset[str], Ways], GroupMetrics] = subject.shared("groups", dict)
    ids = frozenset(METRICS[name].id for name in metrics)
    for (had, ways), result in known.items():
        if ids <= had and ways in (by, "all"):
            return result
    result = group_metrics(subject, metrics=metrics, by=by)
    known[ids, by] = result
    return result
