"""Does fairness hold over time: every group metric period by period, control limits, change points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Backend, Dataset, Missing, Task, backend_of
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.evidence import Picture, Result, Table, benjamini_hochberg, check_level, normal_p, normal_quantile
from isonomia.fairness.compare import Reference
from isonomia.fairness.group_metrics import MIN_PER_GROUP, GroupMetrics, check_weights, measure_groups
from isonomia.fairness.groups import By, dataset_attributes, read_attributes
from isonomia.fairness.periods import Every, periods_of
from isonomia.languages import Message, msg
from isonomia.models import Model, Outcome, read_outcome, surface_of, truth_codes

Floats = NDArray[np.float64]
Series = dict[str, list[Any]]

PERIOD = "period"


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
    >>> rng = np.random.default_rng(0)
    >>> when, sex = np.repeat(np.arange(10), 400), np.tile(["F", "M"], 2000)
    >>> hired = rng.random(4000) < 0.5 - 0.3 * ((sex == "F") & (when >= 6))
    >>> found = over_time(None, hired, time=when, sensitive_features={"sex": sex}, reference="M",
    ...                   n_boot=200)
    >>> [(a["group"], a["period"]) for a in found.alerts if a["kind"] == "change of the gap"]
    [('sex=F', '6')]
    """
    outcome = read_outcome(y_true, y_pred, y_score=y_score, task=task, positive=positive)
    columns = read_attributes(sensitive_features, length=len(outcome))
    return follow(
        outcome, columns, time, every=every, metrics=metrics, weights=check_weights(weights, len(outcome)),
        reference=reference, by=by, missing=missing, min_per_group=min_per_group, sigmas=sigmas, n_boot=n_boot,
        level=level, seed=seed, backend=backend_of(sensitive_features, y_pred, y_true),
    )  # fmt: skip


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
    if not (np.isfinite(sigmas) and sigmas > 0) or n_boot < 1:
        raise SpecError("`sigmas` must be a number above 0 and `n_boot` an int of at least 1.")
    periods, known = periods_of(time, every=every, name=PERIOD)
    if known.size != len(outcome):
        raise DataError(f"`time` has {known.size} rows, but there are {len(outcome)} predictions.")
    if any(column.name == PERIOD for column in columns):
        raise DataError(f"A protected attribute is called '{PERIOD}', which names the periods here; rename it.")
    if not known.all():
        outcome, columns = outcome.take(known), [column.take(known).observed() for column in columns]
        weights = None if weights is None else weights[known]
    measured = measure_groups(
        outcome, columns, control=(periods,), metrics=metrics, weights=weights, by=by,
        reference=_largest(columns) if reference == "largest" else reference,
        missing=missing, min_per_group=min_per_group, n_boot=n_boot, level=level, seed=seed, backend=backend,
    )  # fmt: skip
    kind = backend or backend_of()
    order = {text: place for place, text in enumerate(periods.texts)}
    series = _limited(_series(measured, order), ("metric", "group"), "value", min_per_group, sigmas, level)
    gaps = _limited(
        _gaps(measured, order), ("metric", "group", "reference"), "difference", min_per_group, sigmas, level
    )
    changes = _changes(series, gaps, level)
    tables = {
        "gaps": Table(gaps, _FORMATS, _TITLES, msg("Gaps to the reference, period by period"), kind),
        "series": Table(series, _FORMATS, _TITLES, msg("Metrics of each group, period by period"), kind),
        "changes": Table(changes, _FORMATS, _TITLES, msg("Change points"), kind),
    }
    notes = [msg("Control limits lie {sigmas:num} standard errors around the mean of all periods.", sigmas=sigmas)]
    if not known.all():
        notes.append(msg("{n:int} rows without a moment are left out.", n=int((~known).sum())))
    return OverTime(
        "over_time", msg("Fairness over time"), tables,
        {"periods": periods.size, "outside_limits": int(sum(gaps["outside"]) + sum(series["outside"]))}, (),
        _pictures(gaps), tuple(notes), _alerts(series, gaps, changes),
        titles={"periods": msg("periods"), "outside_limits": msg("points outside their limits")},
    )  # fmt: skip


def _largest(columns: Sequence[Codes]) -> dict[str, Any]:
    """The largest group of each attribute over all periods: a reference that changed would make gaps jump."""
    out = {}
    for column in columns:
        counts = column.counts()
        if column.missing is not None and column.size > 1:
            counts[column.missing] = 0
        out[column.name] = column.labels[int(counts.argmax())]
    return out


_TITLES = {
    "metric": msg("metric"), "group": msg("group"), "reference": msg("reference"), "period": msg("period"),
    "n": msg("rows"), "value": msg("value"), "value_low": msg("from"), "value_high": msg("to"),
    "difference": msg("difference"), "difference_low": msg("from"), "difference_high": msg("to"),
    "centre": msg("mean of all periods"), "limit_low": msg("lower limit"), "limit_high": msg("upper limit"),
    "outside": msg("outside the limits"), "kind": msg("what"), "before": msg("before"), "after": msg("after"),
    "change": msg("change"), "change_low": msg("from"), "change_high": msg("to"), "p_value": msg("p-value"),
    "p_adjusted": msg("p adjusted"),
}  # fmt: skip
_FORMATS: dict[str, Any] = dict.fromkeys(
    ("value", "value_low", "value_high", "difference", "difference_low", "difference_high", "centre", "limit_low",
     "limit_high", "before", "after", "change", "change_low", "change_high"), "num4",
) | {"n": "int", "p_value": "p", "p_adjusted": "p"}  # fmt: skip


def _series(measured: GroupMetrics, order: Mapping[str, int]) -> Series:
    assert measured.groups is not None
    out: Series = {name: [] for name in ("metric", "group", "period", "n", "value", "value_low", "value_high")}
    groups = measured.groups.groups
    places = sorted(range(len(groups)), key=lambda i: (groups[i].name, order[groups[i].control[PERIOD]]))
    for name, part in measured.measured.items():
        out["metric"] += [name] * len(places)
        out["group"] += [groups[i].name for i in places]
        out["period"] += [groups[i].control[PERIOD] for i in places]
        out["n"] += measured.sizes[places].tolist()
        for key, values in (("value", part.value), ("value_low", part.low), ("value_high", part.high)):
            out[key] += values[places].tolist()
    return out


def _gaps(measured: GroupMetrics, order: Mapping[str, int]) -> Series:
    assert measured.groups is not None
    names = ("metric", "group", "reference", "period", "n", "difference", "difference_low", "difference_high")
    sizes = {(group.name, group.control[PERIOD]): int(n)
             for group, n in zip(measured.groups.groups, measured.sizes, strict=True)}  # fmt: skip
    rows = list(measured.tables["comparisons"].rows())
    rows.sort(key=lambda row: (row["metric"], row["group"], row["reference"], order[row[PERIOD]]))
    out: Series = {name: [row.get(name) for row in rows] for name in names if name != "n"}
    out["n"] = [sizes[row["group"], row[PERIOD]] for row in rows]
    return {name: out[name] for name in names}


def _limited(rows: Series, keys: Sequence[str], value: str, least: int, sigmas: float, level: float) -> Series:
    """The series with their centres and control limits."""
    x, low, high = (np.array(rows[name], dtype=float) for name in (value, f"{value}_low", f"{value}_high"))
    error = (high - low) / (2 * normal_quantile(level))
    usable = np.isfinite(x) & np.isfinite(error) & (error > 0) & (np.array(rows["n"]) >= least)
    centre = np.full(x.size, np.nan)
    for place in _places(rows, keys):
        used = place[usable[place]]
        if used.size >= 2:
            w = 1 / error[used] ** 2
            centre[place] = float(w @ x[used] / w.sum())
    half = np.where(usable, sigmas * error, np.nan)
    with np.errstate(invalid="ignore"):
        outside = np.abs(x - centre) > half
    return {**rows, "centre": centre.tolist(), "limit_low": (centre - half).tolist(),
            "limit_high": (centre + half).tolist(), "outside": outside.tolist(), "_error": error.tolist(),
            "_usable": usable.tolist()}  # fmt: skip


def _places(rows: Series, keys: Sequence[str]) -> list[NDArray[np.intp]]:
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(zip(*(rows[name] for name in keys), strict=True)):
        found.setdefault(key, []).append(place)
    return [np.array(place) for place in found.values()]


def _changes(series: Series, gaps: Series, level: float) -> dict[str, Any]:
    out: dict[str, Any] = {name: [] for name in ("kind", "metric", "group", "reference", "period", "before", "after",
                                                 "change", "change_low", "change_high", "p_value")}  # fmt: skip
    for kind, rows, value, keys in (
        (msg("change of the gap"), gaps, "difference", ("metric", "group", "reference")),
        (msg("change of the metric"), series, "value", ("metric", "group")),
    ):
        x, error = np.array(rows[value], dtype=float), np.array(rows["_error"], dtype=float)
        usable = np.array(rows["_usable"], dtype=bool)
        for place in _places(rows, keys):
            used = place[usable[place]]
            if used.size < 2:
                continue
            split, before, after, spread = change_point(x[used], error[used])
            change, half = after - before, normal_quantile(level) * spread
            p = min(1.0, float(normal_p(change / spread)) * (used.size - 1))
            first = int(used[0])
            row = (kind, rows["metric"][first], rows["group"][first], rows.get("reference", [None] * len(x))[first],
                   rows["period"][int(used[split])], before, after, change, change - half, change + half,
                   p)  # fmt: skip
            for name, item in zip(out, row, strict=True):
                out[name].append(item)
    for rows in (series, gaps):
        rows.pop("_error")
        rows.pop("_usable")
    out["p_adjusted"] = benjamini_hochberg(np.array(out["p_value"], dtype=float))
    return out


def change_point(x: Floats, error: Floats) -> tuple[int, float, float, float]:
    """The split of a series with the largest |z|: where the second part begins, both means, the error of their gap.

    Means are weighted by 1 / variance.

    >>> change_point(np.array([1.0, 1.0, 3.0, 3.0]), np.full(4, 0.1))[0]
    2
    """
    w = 1 / error**2
    weight, total = np.cumsum(w), np.cumsum(w * x)
    left, right = weight[:-1], weight[-1] - weight[:-1]
    before, after = total[:-1] / left, (total[-1] - total[:-1]) / right
    spread = np.sqrt(1 / left + 1 / right)
    best = int(np.argmax(np.abs(after - before) / spread))
    return best + 1, float(before[best]), float(after[best]), float(spread[best])


def _alerts(series: Series, gaps: Series, changes: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    out: list[dict[str, Any]] = []
    for place, p in enumerate(changes["p_adjusted"]):
        if p < 0.05:
            row = {name: changes[name][place] for name in ("metric", "group", "reference", "period", "change")}
            low, high = changes["change_low"][place], changes["change_high"][place]
            out.append({"kind": changes["kind"][place].text(), **row, "change_low": low, "change_high": high,
                        "p_value": changes["p_value"][place]})  # fmt: skip
    for kind, rows, value in (
        ("gap outside its limits", gaps, "difference"),
        ("metric outside its limits", series, "value"),
    ):
        for place in np.flatnonzero(rows["outside"]).tolist():
            row = {name: rows[name][place] for name in ("metric", "group", "period")}
            out.append({"kind": kind, **row, "reference": rows.get("reference", [None] * (place + 1))[place],
                        "change": rows[value][place] - rows["centre"][place]})  # fmt: skip
    return tuple(sorted(out, key=lambda row: (row.get("p_value", 1.0), -abs(row["change"]))))


def _pictures(gaps: Series) -> tuple[Picture, ...]:
    return tuple(
        Picture("lines", "gaps", msg("Gap of {metric} to the reference over time", metric=metric),
                {"x": "period", "value": "difference", "color": "group", "where": {"metric": [metric]},
                 "reference": 0.0})
        for metric in list(dict.fromkeys(gaps["metric"]))[:3]
    )  # fmt: skip


def change_between(
    before: Dataset,
    after: Dataset,
    model: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    reference: Reference | None = None,
    by: By | Sequence[Sequence[str]] = "each",
    min_per_group: int = MIN_PER_GROUP,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Result:
    """How group metrics and gaps changed between two datasets, and whether by more than chance.

    Both have the same roles. Changes are after - before; the tests are z-tests of two independent samples, with
    ``p_adjusted`` after Benjamini and Hochberg. Groups that only one of them has are listed without a change.
    """
    asked = model if model is None or isinstance(model, Model) else Model.of(model)
    whom = reference or {name: list(values) for name, values in before.privileged.items()} or "largest"
    parts = []
    for data in (before, after):
        outcome, columns, weights = _read(data, asked)
        parts.append(
            measure_groups(outcome, columns, metrics=metrics, weights=weights, reference=whom, by=by,
                           min_per_group=min_per_group, n_boot=n_boot, level=level, seed=seed, backend=before.backend)
        )  # fmt: skip
    names = ("kind", "metric", "group", "before", "after", "change", "change_low", "change_high", "p_value", "note")
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
    table = Table(shown, _FORMATS, {**_TITLES, "note": msg("note")}, msg("Change between two datasets"), before.backend)
    picture = Picture("forest", "changes", msg("Change of each group, with intervals"),
                      {"labels": ["metric", "group"], "value": "change", "facet": "kind",
                       "reference": 0.0})  # fmt: skip
    return Result("change_between", msg("Change between two datasets"), {"changes": table}, {}, (), (picture,))


def _read(data: Dataset, model: Model | None) -> tuple[Outcome, Sequence[Codes], Floats | None]:
    if not data.protected:
        raise NotApplicable("the data name no protected attribute")
    surface = surface_of(data) if model is None else model.surface(data)
    columns, weights = dataset_attributes(data), data.weights
    if data.target is None:
        return Outcome(None, surface), columns, weights
    truth, rows = truth_codes(data, surface)
    if rows.all():
        return Outcome(truth, surface), columns, weights
    return (
        Outcome(truth[rows], surface.take(rows)),
        [column.take(rows).observed() for column in columns],
        None if weights is None else weights[rows],
    )


Figure = tuple[float, float]


def _figures(part: GroupMetrics, level: float) -> dict[tuple[str, str], Figure]:
    assert part.groups is not None
    z = 2 * normal_quantile(level)
    return {
        (name, group.name): (float(one.value[i]), float(one.high[i] - one.low[i]) / z)
        for name, one in part.measured.items()
        for i, group in enumerate(part.groups.groups)
    }


def _gap_figures(part: GroupMetrics, level: float) -> dict[tuple[str, str], Figure]:
    z = 2 * normal_quantile(level)
    out = {}
    for row in part.tables["comparisons"].rows():
        ends = (row["difference_low"], row["difference_high"])
        error = float("nan") if None in ends else (ends[1] - ends[0]) / z
        value = float("nan") if row["difference"] is None else row["difference"]
        out[row["metric"], f"{row['group']} - {row['reference']}"] = (value, error)
    return out


def _difference(before: Figure | None, after: Figure | None, level: float) -> tuple[Any, ...]:
    if before is None or after is None:
        note: Message = msg("only before") if after is None else msg("only after")
        return (
            None if before is None else before[0],
            None if after is None else after[0],
            None,
            None,
            None,
            None,
            note,
        )
    change, error = after[0] - before[0], float(np.hypot(before[1], after[1]))
    if not np.isfinite(change) or not np.isfinite(error):
        return before[0], after[0], change, None, None, None, msg("no interval")
    half = normal_quantile(level) * error
    p = float(normal_p(change / error)) if error > 0 else None
    return before[0], after[0], change, change - half, change + half, p, None
