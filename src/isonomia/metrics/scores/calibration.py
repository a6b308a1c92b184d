"""Does a probability mean what it says: reliability tables, overall and by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.evidence import (
    Column,
    Estimate,
    Format,
    Picture,
    Result,
    Table,
    check_level,
    normal_p,
    wilson,
)
from isonomia.evidence.intervals import SAME, student_interval
from isonomia.evidence.mean_intervals import FEWEST_OF_CLASS, same_p
from isonomia.languages import Message, Name, msg
from isonomia.metrics._measure import measure
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.counts import NO_ROWS
from isonomia.metrics.means import mean
from isonomia.metrics.registry import METRICS, Metric
from isonomia.metrics.row_sets import RowSets
from isonomia.metrics.rows import Rows
from isonomia.metrics.rows_given import rows_given
from isonomia.metrics.scores.bins import BINS, Bins, Strategy, binned, confidence_and_outcome
from isonomia.metrics.scores.calibration_slope import recalibrate
from isonomia.metrics.table_functions import ratio
from isonomia.models import Surface
from isonomia.typing import Floats


@dataclass(frozen=True, repr=False)
class Reliability(Result):
    """How well probabilities keep their word.

    ``tables["bins"]`` has a row per bin that is not empty: `bin`, `n`, `predicted` (mean probability), `observed`
    (share that happened) with `observed_low`, `observed_high`, and `gap` = observed - predicted. With groups,
    ``tables["bins_by_group"]`` has the same for each `group`, and ``tables["by_group"]`` a row per group with the
    figures of `values` and the p-values that the slope is 1 and that the gap is 0.
    """

    @property
    def ece(self) -> Estimate:
        """Expected calibration error."""
        return self._estimate("ece")

    @property
    def mce(self) -> Estimate:
        """Largest gap of a bin."""
        return self._estimate("mce")

    @property
    def brier(self) -> Estimate:
        """Brier score."""
        return self._estimate("brier")

    @property
    def gap(self) -> Estimate:
        """Calibration in the large: observed minus predicted, above 0 where the model says too little."""
        return self._estimate("gap")

    @property
    def slope(self) -> Estimate:
        """Slope of the outcome's log odds on the predicted ones: 1 is right, below 1 the model is too sure."""
        return self._estimate("slope")

    def _estimate(self, name: str) -> Estimate:
        value: Estimate = self.values[name]
        return value


def reliability(
    truth: Any,
    surface: Any = None,
    *,
    groups: Codes | None = None,
    bins: int = BINS,
    strategy: Strategy = "uniform",
    weights: Any = None,
    counts: NDArray[np.int64] | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    overall: Reliability | None = None,
) -> Reliability:
    """Reliability table, calibration errors and Brier score, overall and by group.

    Parameters
    ----------
    truth, surface
        What `evaluate` takes: true labels and a `Surface` with probabilities, a column of true outcomes and one of
        probabilities (or a table of them), data and a model, or `Rows`. Several classes are judged by the most probable
        one (top-label).
    groups : Codes, optional
        The group of each row.
    bins, strategy
        How many bins, of equal width ("uniform") or equal mass ("quantile").
    weights : array, optional
    counts : array of int, optional
        How many identical rows each row stands for.
    positive : optional
        The favourable one of two labels, where columns are given.
    classes : sequence, optional
        The class of each column of a table of probabilities, where these are not the sorted labels.
    level : float
        Of the intervals. Observed rates: Wilson. ECE: the noise of its bins (`CalibrationEnds`). Gap and Brier score:
        Hall's skewness-corrected t. With fewer than five rows of an outcome the gap has Wilson's interval of the
        observed rate, less the mean prediction, and the Brier score none. Slope: Student.
    overall : Reliability, optional
        That of the same rows and options without groups, where it is known.

    Raises
    ------
    NotApplicable
        Where there are no probabilities, or no rows.

    References
    ----------
    B. Van Calster et al. (2019), BMC Medicine 17:230 (calibration in the large, slope).

    Examples
    --------
    >>> predicted = Surface.of_probabilities([0.2] * 10 + [0.8] * 10, classes=("no", "yes"))
    >>> happened = np.array([1] + [0] * 9 + [1] * 7 + [0] * 3)
    >>> found = reliability(happened, predicted)
    >>> [(row["bin"], row["n"], row["observed"]) for row in found.tables["bins"].rows()]
    [('[0.2, 0.3)', 10, 0.1), ('[0.8, 0.9)', 10, 0.7)]
    >>> round(found.ece.value, 6), round(found.gap.value, 6)
    (0.1, -0.1)
    """
    check_level(level)
    rows, kept = rows_given(truth, surface, weights=weights, counts=counts, positive=positive, classes=classes)
    truth, surface, weights, counts = rows.truth, rows.surface, rows.weights, rows.counts
    if groups is not None and kept is not None and len(groups) == kept.size:
        groups = groups.take(kept)
    reason = check_applicable(METRICS["brier_score"], truth, surface, weights, counts)
    if reason is not None:
        raise NotApplicable(reason)
    table = binned(truth, surface, groups=groups, bins=bins, strategy=strategy, weights=weights, counts=counts)
    several = surface.task != "binary"
    if overall is None:
        whole = table.overall()
        summary, unsure = _summary(whole, rows, None, level)
        why = {"slope": _why_missing(summary, several)[0], "brier": unsure[0]}
        figures = {name: _estimate(name, summary, int(whole.n.sum()), level, why.get(name)) for name in _METHODS}
        tables = {"bins": _bin_table(whole, None, level)}
    else:
        figures, tables = dict(overall.values), {"bins": overall.tables["bins"]}
    pictures = [Picture("reliability", "bins", msg("Predicted and observed"), _OPTIONS)]
    if groups is not None:
        by_group, unsure = _summary(table, rows, groups, level)
        no_slope = _why_missing(by_group, several)
        reasons = {"slope": no_slope, "slope_p_value": no_slope, "brier": unsure}
        tables["by_group"] = _group_table(groups, by_group, reasons)
        tables["bins_by_group"] = _bin_table(table, groups, level)
        title = msg("Predicted and observed, by group")
        pictures.append(Picture("reliability", "bins_by_group", title, {**_OPTIONS, "color": "group"}))
    title = msg("Calibration of probabilities")
    return Reliability("calibration", title, tables, figures, pictures=tuple(pictures), notes=_notes(surface))


_OPTIONS = {"predicted": "predicted", "observed": "observed", "low": "observed_low", "high": "observed_high", "n": "n"}


def _notes(surface: Surface) -> tuple[Message, ...]:
    growing = msg(
        "The expected calibration error cannot be below 0, so in a sample it is above 0 even for a perfect model, and "
        "more so in small groups."
    )
    if surface.task == "binary":
        return (growing,)
    return (
        growing,
        msg("With several classes, the figures are about the most probable class: how often it is correct."),
    )


#: Figures of groups by name: values, and the ends of their intervals where they have some.
Summary = dict[str, tuple[Floats, ...]]


def _summary(table: Bins, rows: Rows, groups: Codes | None, level: float) -> tuple[Summary, list[Message | None]]:
    """The figures of each group with the ends of their intervals, and why a Brier score has none."""
    tail = (1 - level) / 2
    size = table.w.sum(axis=(-2, -1))
    effective = ratio(size * size, table.w2.sum(axis=(-2, -1)))
    observed, predicted = ratio(table.w[..., 1].sum(axis=-1), size), ratio(table.p.sum(axis=(-2, -1)), size)
    ece = table.error()
    out: Summary = {"n": (table.n.sum(axis=(-2, -1)),), "predicted": (predicted,), "observed": (observed,)}
    out["ece"] = (ece, *table.ends().at(tail))
    out["mce"] = (table.largest(),)
    columns = () if groups is None else (groups,)
    out["gap"], p_value = _gap(rows, columns, observed, predicted, effective, level)
    brier = METRICS["brier_score"]
    found = measure([brier], RowSets.of(rows, columns, empty=True), n_boot=0, level=level)[brier.id]
    out["brier"] = (found.value, found.low, found.high)
    reasons = [None if why is None else msg("no interval: {reason}", reason=why) for why in found.unsure]
    slope = error = slope_p = np.full(ece.shape, np.nan)
    if rows.surface.task == "binary":  # a slope of the most probable class has no meaning
        assert rows.truth is not None
        slope, error, slope_p = recalibrate(
            rows.truth, rows.surface, groups=groups, weights=rows.weights, counts=rows.counts
        )
    out["slope"] = (slope, *student_interval(slope, error, effective - 1, level))
    out["slope_p_value"] = (slope_p,)
    out["p_value"] = (p_value,)
    return out, reasons


#: Observed minus predicted: a mean over rows, for `measure`.
GAP = Metric(
    id="calibration_gap",
    purpose="mean of outcome less predicted probability",
    title=msg("Observed minus predicted"),
    tasks=("binary",),
    surface=("probability",),
    family="means",
    higher_is_better=None,
    range=(-1.0, 1.0),
    undefined=NO_ROWS,
    quantities=lambda truth, surface: (truth - surface.probability)[:, None],  # type: ignore[operator]
    from_sums=mean,
)


def _gap(
    rows: Rows, columns: tuple[Codes, ...], observed: Floats, predicted: Floats, size: Floats, level: float
) -> tuple[tuple[Floats, ...], Floats]:
    """Observed less predicted with its interval, and the p-value that it is 0: Hall's t, or the rate's score test."""
    assert rows.truth is not None
    p, outcome = confidence_and_outcome(rows.truth, rows.surface)
    judged = Rows(outcome, Surface("binary", (0, 1), probability=p), rows.weights, rows.counts)
    found = measure([GAP], RowSets.of(judged, columns, empty=True), n_boot=0, level=level)[GAP.id]
    assert found.ends is not None
    n = np.nan_to_num(size)
    few = np.nan_to_num(np.minimum(observed, 1 - observed) * n) < FEWEST_OF_CLASS - SAME
    low, high = (end - predicted for end in wilson(np.nan_to_num(observed) * n, n, level))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = normal_p((observed - predicted) / np.sqrt(predicted * (1 - predicted) / size))
    low, high = np.where(few, low, found.low), np.where(few, high, found.high)
    return (found.value, low, high), np.where(few, score, same_p(found.value, found.ends.at))


_METHODS = {"ece": "folded normal", "mce": "", "brier": "hall", "gap": "hall", "slope": "student"}
#: Why there is no slope.
SEVERAL_CLASSES = msg("no slope: with several classes, only the most probable one is examined")
ONE_OUTCOME = msg("no slope: all outcomes are the same")
NO_SLOPE = msg("no slope can be fitted: the probabilities are all equal, or they separate the outcomes perfectly")


def _why_missing(summary: Summary, several: bool) -> list[Message | None]:
    """Group by group: why there are no figures, or no slope."""
    n, observed, slope = (summary[name][0].tolist() for name in ("n", "observed", "slope"))
    return [
        NO_ROWS
        if not rows or np.isnan(rate)
        else None
        if not np.isnan(fitted)
        else SEVERAL_CLASSES
        if several
        else ONE_OUTCOME
        if rate in (0.0, 1.0)
        else NO_SLOPE
        for rows, rate, fitted in zip(n, observed, slope, strict=True)
    ]


def _estimate(name: str, summary: Summary, n: int, level: float, why: Message | None) -> Estimate:
    value, *ends = (float(part[0]) for part in summary[name])
    if np.isnan(value):
        return Estimate.missing(why or NO_ROWS, n=n)
    low, high = ends or (np.nan, np.nan)
    if np.isnan(low):
        return Estimate(value, n=n, level=level, note=None if why is None else Name(why))
    return Estimate(value, low, high, n, _METHODS[name], level=level)


_TITLES = {
    "bin": msg("Predicted probability"),
    "n": msg("Rows"),
    "predicted": msg("Mean predicted"),
    "observed": msg("Observed"),
    "gap": msg("Observed minus predicted"),
    "ece": msg("Expected calibration error"),
    "mce": msg("Largest gap in a bin"),
    "brier": msg("Brier score"),
    "slope": msg("Calibration slope"),
    "slope_p_value": msg("p-value of a slope of 1"),
    "p_value": msg("p-value"),
}


def _group_column(groups: Codes, names: list[str]) -> Column:
    return Column("group", names, title=msg("{name}", name=groups.name or "group"))


def _names(groups: Codes) -> list[str]:
    """Group labels as texts; those of several attributes joined."""
    return [
        " · ".join(map(str, label)) if isinstance(label, tuple) else text
        for label, text in zip(groups.labels, groups.texts, strict=True)
    ]


def _bin_table(table: Bins, groups: Codes | None, level: float) -> Table:
    w, used = table.w.sum(axis=-1), np.nonzero(table.n.sum(axis=-1))
    size, hits = w[used], table.w[..., 1][used]
    predicted, observed = ratio(table.p.sum(axis=-1)[used], size), ratio(hits, size)
    effective = ratio(size * size, table.w2.sum(axis=-1)[used])
    low, high = wilson(np.nan_to_num(observed * effective), np.nan_to_num(effective), level)
    texts = Codes("bin", np.empty(0, np.uint8), tuple(range(len(table.edges) - 1)), tuple(table.edges.tolist())).texts
    called = () if groups is None else _names(groups)
    names = () if groups is None else (_group_column(groups, [called[index] for index in used[0]]),)
    n = table.n.sum(axis=-1)[used]
    return Table(
        (
            *names,
            Column("bin", [texts[index] for index in used[1]], title=_TITLES["bin"]),
            Column("n", n, format="int", title=_TITLES["n"]),
            Column("predicted", predicted, format="pct", title=_TITLES["predicted"]),
            Column("observed", observed, low, high, format="pct", title=_TITLES["observed"]),
            Column("gap", observed - predicted, format="points", title=_TITLES["gap"]),
        ),
        msg("Predicted probability and observed rate, bin by bin"),
    )


_FORMATS: Mapping[str, Format] = {
    "n": "int",
    "predicted": "pct",
    "observed": "pct",
    "gap": "points",
    "slope_p_value": "p",
    "p_value": "p",
}


def _group_table(groups: Codes, summary: Summary, reasons: Mapping[str, list[Message | None]]) -> Table:
    columns = [_group_column(groups, _names(groups))]
    for name, (value, *ends) in summary.items():
        low, high = ends or (None, None)
        style = _FORMATS.get(name, "num4")
        columns.append(Column(name, value, low, high, reasons.get(name), format=style, title=_TITLES[name]))
    return Table(tuple(columns), msg("Calibration by group"))
