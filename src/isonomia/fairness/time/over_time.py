"""Does fairness hold over time: every group metric period by period, control limits, change points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from isonomia.counting import Codes
from isonomia.data import Backend, Missing, Task, backend_of
from isonomia.errors import DataError
from isonomia.evidence import Picture, Result, Table, check_level
from isonomia.fairness.groups.comparisons import Reference
from isonomia.fairness.groups.group_metrics import MIN_PER_GROUP, GroupMetrics, measure_groups
from isonomia.fairness.groups.grouping import BY, By
from isonomia.fairness.time.control_limits import (
    FORMATS,
    PERIOD,
    TITLES,
    Series,
    alert_table,
    alerts_of,
    changes_of,
    gaps_of,
    limited,
    series_of,
)
from isonomia.fairness.time.periods import EVERY, Every, periods_of
from isonomia.languages import msg
from isonomia.metrics import METRIC_NAMES
from isonomia.parameters import LEVEL, MISSING, SEED, Choice, Either, Integer, Number, validated
from isonomia.subject import Outcome, Subject
from isonomia.typing import Floats


@dataclass(frozen=True, repr=False)
class OverTime(Result):
    """Group metrics over time.

    Attributes
    ----------
    series : frame
        A row per metric, group and period: value with its interval, centre and control limits over all periods, and
        whether it lies outside of them.
    gaps : frame
        The same for differences to the reference group.
    changes : frame
        The most likely change point of each series: the period it begins with, the means before and after, its p-value.
    alerts : tuple of mappings
        The points outside their limits and the change points that stand after adjusting, worst first.
    """

    alerts: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def series(self) -> Any:
        """Group metrics by period, as a frame of the kind the user gave."""
        return self.tables["series"].frame()

    @property
    def gaps(self) -> Any:
        """Gaps to the reference by period, as a frame of the kind the user gave."""
        return self.tables["gaps"].frame()

    @property
    def changes(self) -> Any:
        """Change points, as a frame of the kind the user gave."""
        return self.tables["changes"].frame()


@validated(
    every=Either(Choice(EVERY), Integer(2, hint=" (how many periods)")).or_none(),
    metrics=METRIC_NAMES.or_none(),
    by=BY,
    missing=MISSING,
    min_per_group=Integer(1),
    sigmas=Number(above=0),
    n_boot=Integer(1),
    level=LEVEL,
    seed=SEED,
)
def over_time(
    y_true: Any,
    y_pred: Any,
    *,
    time: Any,
    sensitive_features: Any,
    every: Every | int | None = None,
    metrics: Sequence[str] | None = None,
    weights: Any = None,
    y_score: Any = None,
    reference: Reference = "largest",
    by: By | Sequence[Sequence[str]] = "each",
    missing: Missing = "group",
    task: Task | None = None,
    positive: Any = None,
    min_per_group: int = MIN_PER_GROUP,
    sigmas: float = 3.0,
    n_boot: int = 500,
    level: float = 0.95,
    seed: int = 0,
) -> OverTime:
    """Every group metric per period, with control limits, change points and alerts.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, metrics, weights, y_score, reference, by, missing, task, positive
        As in `group_metrics`; `y_true` may be None for metrics of predictions alone.
    time : column
        The moment of each row: dates, texts that are dates, numbers, or names of periods. Rows without are left out.
    every : "day", "week", "month", "quarter", "year" or int, optional
        How long a period is, or how many stretches with equally many rows. By default the finest division of at most
        24 periods.
    min_per_group : int
        A group's periods with fewer rows are shown, but not held against limits.
    sigmas : float
        Control limits lie this many standard errors (of that period) around the mean over all periods.

    Notes
    -----
    Centre: mean of the periods weighted by 1 / variance. Change point: the split with the largest |z| between the means
    before and after it; its p-value is Bonferroni-adjusted over the possible splits, ``p_adjusted`` then after
    Benjamini and Hochberg over all series.

    Raises
    ------
    NotApplicable
        Where all rows fall into one period.

    References
    ----------
    W. A. Shewhart (1931), Economic control of quality; D. M. Hawkins (1977), JASA 72:180 (change point).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> when, sex = np.repeat(np.arange(10), 400), np.tile(["F", "M"], 2000)
    >>> hired = rng.random(4000) < 0.5 - 0.3 * ((sex == "F") & (when >= 6))
    >>> found = over_time(None, hired, time=when, sensitive_features={"sex": sex}, reference="M",
    ...                   n_boot=200)
    >>> [(a["group"], a["period"]) for a in found.alerts if a["kind"] == "change of the gap"]
    [('sex=F', '6')]
    """
    subject = Subject.of(
        y_true,
        y_pred,
        y_score=y_score,
        task=task,
        positive=positive,
        sensitive_features=sensitive_features,
        weights=weights,
    )
    return follow(
        subject.outcome,
        subject.attributes,
        time,
        every=every,
        metrics=metrics,
        weights=subject.weights,
        reference=reference,
        by=by,
        missing=missing,
        min_per_group=min_per_group,
        sigmas=sigmas,
        n_boot=n_boot,
        level=level,
        seed=seed,
        backend=subject.backend,
    )


@validated(sigmas=Number(above=0), n_boot=Integer(1), min_per_group=Integer(1), seed=SEED)
def follow(
    outcome: Outcome,
    columns: Sequence[Codes],
    time: Any,
    *,
    every: Every | int | None = None,
    metrics: Sequence[str] | None = None,
    weights: Floats | None = None,
    reference: Reference = "largest",
    by: By | Sequence[Sequence[str]] = "each",
    missing: Missing = "group",
    min_per_group: int = MIN_PER_GROUP,
    sigmas: float = 3.0,
    n_boot: int = 500,
    level: float = 0.95,
    seed: int = 0,
    backend: Backend | None = None,
) -> OverTime:
    """`over_time` for what is encoded already."""
    check_level(level)
    periods, known = periods_of(time, every=every, name=PERIOD)
    if known.size != len(outcome):
        raise DataError(f"`time` has {known.size} rows, but there are {len(outcome)} predictions.")
    if any(column.name == PERIOD for column in columns):
        raise DataError(f"A protected attribute is called '{PERIOD}', which names the periods here; rename it.")
    if not known.all():
        outcome, columns = outcome.take(known), [column.take(known).observed() for column in columns]
        weights = None if weights is None else weights[known]
    measured = measure_groups(
        outcome,
        columns,
        control=(periods,),
        metrics=metrics,
        weights=weights,
        by=by,
        reference=_largest(columns) if reference == "largest" else reference,
        missing=missing,
        min_per_group=min_per_group,
        n_boot=n_boot,
        level=level,
        seed=seed,
        backend=backend,
    )
    kind = backend or backend_of()
    order = {text: place for place, text in enumerate(periods.texts)}
    series = limited(series_of(measured, order), ("metric", "group"), "value", min_per_group, sigmas, level)
    gaps = limited(
        gaps_of(measured, order), ("metric", "group", "reference"), "difference", min_per_group, sigmas, level
    )
    changes = changes_of(series, gaps, level)
    tables = {
        "gaps": Table.of(
            gaps, FORMATS, TITLES, msg("Gaps to the reference, period by period"), kind, intervals=("difference",)
        ),
        "series": Table.of(series, FORMATS, TITLES, msg("Metrics of each group, period by period"), kind),
        "changes": Table.of(changes, FORMATS, TITLES, msg("Change points"), kind, intervals=("change",)),
    }
    alerts = alerts_of(series, gaps, changes)
    if alerts:
        tables["alerts"] = alert_table(alerts, kind)
    notes = [msg("Control limits lie {sigmas:num} standard errors around the mean of all periods.", sigmas=sigmas)]
    if not known.all():
        notes.append(msg("{n:int} rows without a moment are left out.", n=int((~known).sum())))
    return OverTime(
        "over_time",
        msg("Fairness over time"),
        tables,
        {"periods": periods.size, "outside_limits": int(sum(gaps["outside"]) + sum(series["outside"]))},
        (),
        _pictures(gaps, measured),
        tuple(notes),
        alerts,
        titles={"periods": msg("periods"), "outside_limits": msg("points outside their limits")},
    )


def _largest(columns: Sequence[Codes]) -> dict[str, Any]:
    """The largest group of each attribute over all periods: a reference that changed would make gaps jump."""
    out = {}
    for column in columns:
        counts = column.counts()
        if column.missing is not None and column.size > 1:
            counts[column.missing] = 0
        out[column.name] = column.labels[int(counts.argmax())]
    return out


def _pictures(gaps: Series, measured: GroupMetrics) -> tuple[Picture, ...]:
    return tuple(
        Picture(
            "lines",
            "gaps",
            msg("Gap of {metric} to the reference over time", metric=measured.measured[metric].metric.title),
            {"x": "period", "value": "difference", "color": "group", "where": {"metric": [metric]}, "reference": 0.0},
        )
        for metric in list(dict.fromkeys(gaps["metric"]))[:3]
    )
