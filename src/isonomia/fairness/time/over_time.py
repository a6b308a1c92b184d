"""Does fairness hold over time: every group metric period by period, control limits, change points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import tally
from isonomia.data import to_numpy
from isonomia.errors import DataError, NotApplicable
from isonomia.events import ProgressLike
from isonomia.evidence import Picture, Result
from isonomia.fairness.groups.comparisons import absence_notes, strata_of
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import BY, By
from isonomia.fairness.time.control_limits import (
    PERIOD,
    Series,
    alert_table,
    alerts_of,
    changes_of,
    gaps_of,
    limited,
    series_of,
    table_of,
)
from isonomia.fairness.time.periods import EVERY, Every, order_note, periods_of
from isonomia.languages import msg
from isonomia.metrics import METRIC_NAMES
from isonomia.parameters import Choice, Either, Integer, Number, validated
from isonomia.subject import Subject, SubjectOptions


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
    sigmas=Number(above=0),
)
def over_time(
    data: Any = None,
    model: Any = None,
    *,
    time: Any = None,
    every: Every | int | None = None,
    metrics: Sequence[str] | None = None,
    by: By | Sequence[Sequence[str]] = "each",
    sigmas: float = 3.0,
    progress: ProgressLike = None,
    **given: Unpack[SubjectOptions],
) -> OverTime:
    """Every group metric per period, with control limits, change points and alerts.

    Parameters
    ----------
    data, model, metrics, by, **given
        Options as in `group_metrics`; `n_boot` is 500 by default, and at least 1. A group's periods with fewer rows
        than `min_per_group` are shown, but not compared with limits.
    time : column, or the name of one, optional
        The moment of each row: dates, texts that are dates, numbers, or names of periods. Rows without are left out.
        By default the time column of a `Dataset`.
    every : "day", "week", "month", "quarter", "year" or int, optional
        How long a period is, or how many stretches with equally many rows. By default the finest division of at most
        24 periods.
    sigmas : float
        Control limits lie this many standard errors (of that period) around the mean over all periods.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

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
    if not isinstance(data, Subject):
        given.setdefault("n_boot", 500)
    subject = Subject.of(data, model, progress=progress, counted=True, **given).by_time()
    stage = subject.progress.stage("periods", msg("Measuring periods"), total=3)
    stage.at(0)
    settings = subject.settings
    Integer(1).check("n_boot", settings.n_boot)
    counts = subject.counts
    periods, known = periods_of(_moments(subject, time), every=every, name=PERIOD, counts=counts)
    if any(column.name == PERIOD for column in subject.needs_attributes()):
        raise DataError(f"A protected attribute is called '{PERIOD}', which names the periods here; rename it.")
    used = subject if known.all() and subject.rows.all() else subject.take(known)
    reference = _largest(used) if used.reference == "largest" else used.reference
    measured = group_metrics(used, control=(periods,), metrics=metrics, by=by, reference=reference)
    stage.advance()
    min_per_group, level, kind = settings.min_per_group, settings.level, subject.backend
    order = {text: index for index, text in enumerate(periods.texts)}
    series = limited(series_of(measured, order), ("metric", "group"), "value", min_per_group, sigmas, level)
    gaps = limited(
        gaps_of(measured, order), ("metric", "group", "reference"), "difference", min_per_group, sigmas, level
    )
    stage.advance()
    changes = changes_of(series, gaps, level)
    tables = {
        "gaps": table_of(gaps, "difference", msg("Gaps to the reference, period by period"), kind),
        "series": table_of(series, "value", msg("Metrics of each group, period by period"), kind),
        "changes": table_of(changes, "change", msg("Change points"), kind),
    }
    alerts = alerts_of(series, gaps, changes)
    if alerts:
        tables["alerts"] = alert_table(alerts, kind)
    notes = [msg("Control limits lie {sigmas:num} standard errors around the mean of all periods.", sigmas=sigmas)]
    notes += [note for note in (order_note(periods),) if note is not None]
    assert measured.groups is not None
    notes += absence_notes(strata_of(measured.groups, measured.sizes, reference)[0])
    if not known.all():
        notes.append(msg("{n:# row without a time is|# rows without a time are} left out.", n=_rows(~known, counts)))
    found = OverTime(
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
    return subject.noted(found)


def _moments(subject: Subject, time: Any) -> Any:
    """The moment of each row with a known target: of the column given, or of that of the data."""
    if time is None:
        time = subject.data.roles.time
        if time is None:
            raise NotApplicable(msg("the data have no time column"))
    if isinstance(time, str):
        return subject.known.column(time)
    if len(time) != subject.rows.size:
        raise DataError(f"`time` has {len(time)} rows, but there are {subject.rows.size} predictions.")
    if subject.rows.all():
        return time
    series = nw.from_native(time, series_only=True, allow_series=True, pass_through=True)
    return series.filter(subject.rows.tolist()) if isinstance(series, nw.Series) else to_numpy(time)[subject.rows]


def _rows(which: NDArray[np.bool_], counts: NDArray[np.int64] | None) -> int:
    """How many rows these stand for."""
    return int(which.sum() if counts is None else counts[which].sum())


def _largest(subject: Subject) -> dict[str, Any]:
    """The largest group of each attribute over all periods: a reference that changed would make gaps jump."""
    out = {}
    for column in subject.attributes:
        counts = tally([column], counts=subject.counts).n
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
