"""Any metric by group and by intersection, compared, with intervals, tests and what could have been seen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Missing
from isonomia.errors import SpecError
from isonomia.evidence import Column, Estimate, Picture, Result, Table, free_name
from isonomia.evidence.intervals import without_bootstrap
from isonomia.evidence.score_intervals import answered
from isonomia.fairness.groups.comparisons import absence_notes, comparing, strata_of
from isonomia.fairness.groups.detectable import ABOVE, BELOW
from isonomia.fairness.groups.frame_access import FrameAccess
from isonomia.fairness.groups.gaps import asking_ends, disparities_of
from isonomia.fairness.groups.grouping import By, Groups, form_groups, rows_with_attributes
from isonomia.fairness.groups.metric_choice import MetricsGiven, choose_metrics
from isonomia.fairness.groups.tables import by_group_table, comparison_table, disparity_table, group_columns
from isonomia.languages import Message, msg
from isonomia.languages.naming import both
from isonomia.metrics import Measured, Metric, Rows, RowSets, measure
from isonomia.metrics.own_intervals import MAX_SAMPLES
from isonomia.parameters import Choice, validated
from isonomia.subject import Subject, SubjectOptions

#: Groups with fewer rows than this are shown and flagged, and left out of the disparity between groups.
#: What the tables of comparisons, gaps and tests call their own columns; a factor of that name gets another.
OWN_COLUMNS = (
    {"metric", "group", "by", "reference", "difference", "ratio", "lowest", "highest", "n", "small", "note"}
    | {"groups", "statistic", "df", "test", "p_value", "p_adjusted", BELOW, ABOVE}
    | {"margin", "p_equivalence", "p_equivalence_adjusted", "conclusion"}
)


@dataclass(frozen=True, repr=False)
class GroupMetrics(FrameAccess, Result):
    """Metrics by group.

    Attributes
    ----------
    by_group : frame
        A row per group: the attribute columns, ``n``, then ``<metric>``, ``<metric>_low``, ``<metric>_high``, and a
        ``note`` where something has to be known (a small group, a value that is not defined). An attribute that does
        not define a group is empty in its row.
    comparisons : frame
        A row per metric and group: ``metric, group, reference, difference, difference_low, difference_high, ratio,
        ratio_low, ratio_high, p_value, p_adjusted, detectable_below, detectable_above``. Differences are group -
        reference.
    disparities : frame
        A row per metric and way of grouping: the largest less the smallest value over the groups, and their ratio.
    overall : mapping of Estimate
        Each metric over all rows.

    ``metrics["tpr"]`` is one metric of each group; `difference`, `ratio`, `group_min` and `group_max` give
    estimates, as the methods of Fairlearn's ``MetricFrame`` give numbers.
    """

    groups: Groups | None = field(default=None, compare=False)
    rows: NDArray[np.bool_] | None = field(default=None, compare=False)
    measured: Mapping[str, Measured] = field(default_factory=dict, compare=False)
    overall: Mapping[str, Estimate] = field(default_factory=dict)
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False)
    min_per_group: int = 30

    @property
    def by_group(self) -> Any:
        """Metrics of each group, as a frame of the kind the user gave."""
        return self.tables["by_group"].frame()

    @property
    def comparisons(self) -> Any:
        """Groups against their references, as a frame of the kind the user gave."""
        return self.tables["comparisons"].frame()

    @property
    def disparities(self) -> Any:
        """The gap between the extremes of each way of grouping, as a frame of the kind the user gave."""
        return self.tables["disparities"].frame()

    def named_tables(self) -> dict[str, Table]:
        """The tables with columns that name each group and its attributes, and one that flags small groups."""
        assert self.groups is not None
        groups = self.groups.groups
        table, gaps = self.tables["by_group"], self.tables["comparisons"]
        small = Column("small", self.sizes < self.min_per_group, title=msg("small group"))
        named = {group.key: group for group in groups}
        by = group_columns([named[key] for key in gaps["group"].keys or ()])[1]
        attributes = [replace(column, name=free_name(column.name, {"group", "by"})) for column in table.columns]
        return {
            **self.tables,
            "by_group": replace(table, columns=(*group_columns(groups), *attributes, small)),
            "comparisons": gaps.with_columns(by),
        }

    def judged(self, metrics: Collection[str]) -> list[str]:
        """The names under which some metrics were measured, with those of classes.

        Where favourable classes are named, criteria are about these, as they are where there are two classes.
        """
        return [
            name
            for name, part in self.measured.items()
            if name.split("[")[0] in metrics and part.metric.favourable is not False
        ]

    def disparity(self, metric: str, by: Sequence[str] | None = None) -> tuple[Estimate, Estimate]:
        """Largest - smallest and smallest / largest over the groups of one way of grouping."""
        table = self.tables["disparities"]
        for row, (name, way) in enumerate(zip(table["metric"].values, table["by"].keys or (), strict=True)):
            if name == metric and (by is None or tuple(by) == way):
                return _estimate(table, row, "difference"), _estimate(table, row, "ratio")
        wanted = "any attribute" if by is None else " x ".join(by)
        raise SpecError(f"There is no disparity of {metric!r} by {wanted} in this result.")


@validated(verify=Choice(("fairlearn",)).or_none())
def group_metrics(
    data: Any = None,
    model: Any = None,
    *,
    metrics: MetricsGiven | None = None,
    control: Any = None,
    by: By | Sequence[Sequence[str]] = "intersection",
    verify: Literal["fairlearn"] | None = None,
    **given: Unpack[SubjectOptions],
) -> GroupMetrics:
    """Metrics by group, their differences and ratios, with intervals, tests and detectable gaps.

    Parameters
    ----------
    data : Dataset, frame, Subject, or column of true outcomes
        None where only predictions are known; then metrics of predictions alone are available.
    model : model, Surface, or column
        Anything that predicts, or decisions (predicted numbers for a regression).
    metrics : list of str, mapping, or function, optional
        Ids of the registry (``isonomia metrics``), or functions of (y_true, y_pred) as in Fairlearn's ``MetricFrame``:
        ``{"acc": accuracy_score}``. By default selection rate, TPR, FPR, PPV and accuracy for two
        classes; accuracy, macro F1 and each class against the rest for several; mean prediction, mean error, MAE and
        RMSE for a regression.
    control : column, frame, mapping, or names of columns of the data, optional
        Legitimate factors: groups are compared only with groups at the same value of these.
    by : "intersection", "each", "all", or lists of attribute names
        Groups of all attributes together; of each attribute; of every combination; or of the combinations named.
    verify : "fairlearn", optional
        Recompute every value through Fairlearn's ``MetricFrame`` and report the largest disagreement.
    **given
        How to read the data (`sensitive_features`, `y_score`, `weights`, `positive`, `task`, or roles of the columns of
        a frame; see `subject.Reading`), and the settings of comparisons (`reference`, `missing`, `min_per_group`,
        `n_boot`, `level`, `seed`; see `subject.Settings`).

    Notes
    -----
    Rates carry Wilson intervals, their differences and ratios score intervals (Miettinen and Nurminen), the gap between
    the largest and the smallest the simultaneous score intervals of all pairs; none of these is random. Other metrics
    of counts carry percentile intervals of a bootstrap drawn as multinomial counts over cells, so rows are never
    touched again. Where nobody named a reference it is the best-off group, picked by looking: the intervals of the
    comparisons then hold for all pairs of groups together, and p-values allow for every group that could have been the
    reference (Sidak). P-values are those of the score test,
    which rejects at the 5% level exactly where the 95% interval leaves out 0 (Fisher's exact test adds caution in small
    cells, to both), or of a z-test with the standard errors; Functions carry percentile intervals of at most 200
    bootstrap samples of the rows of each group, drawn by `seed`.
    ``p_adjusted`` is after Holm over all rows of the table. ``detectable_below`` and ``detectable_above`` are the
    smallest gaps in each direction that a test at the first step of that correction (5% over the number of tests) finds
    with groups of these sizes in 80% of the cases; missing where no rate within [0, 1] is so far away. The largest gap
    between groups that are alike is never 0: read it with its interval.

    Examples
    --------
    >>> r = group_metrics([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], sensitive_features=["F", "F", "F", "M", "M", "M"],
    ...                   metrics=["selection_rate", "tpr"])
    >>> [round(v, 3) for v in r.by_group["selection_rate"]]
    [0.333, 0.667]
    >>> r.overall["tpr"].value
    0.6666666666666666
    """
    subject = Subject.of(data, model, counted=True, **given)
    columns, factors = subject.needs_attributes(), subject.columns(control, "control")
    factors = tuple(replace(column, name=free_name(column.name, OWN_COLUMNS)) for column in factors)
    settings, used = subject.settings, subject
    rows, n_missing = rows_with_attributes(columns, settings.missing, subject.counts)
    if rows is not None:
        used, factors = subject.take(rows), tuple(column.take(rows).observed() for column in factors)
    result = _measured(used, factors, metrics, by, n_missing)
    result = subject.noted(replace(result, rows=rows))
    if verify is None:
        return result
    from isonomia.fairness.groups.verify import verify_with_fairlearn

    agreement = verify_with_fairlearn(result, used.in_rows().outcome, used.in_rows().weights)
    return replace(
        result, tables={**result.tables, "verified": agreement.table}, values={**result.values, **agreement.values}
    )


def _measured(
    subject: Subject,
    control: Sequence[Codes],
    metrics: MetricsGiven | None,
    by: By | Sequence[Sequence[str]],
    n_missing: int,
) -> GroupMetrics:
    """The metrics of all groups, over rows that all take part."""
    outcome, columns, weights, settings = subject.outcome, subject.attributes, subject.weights, subject.settings
    level, min_per_group, n_boot = settings.level, settings.min_per_group, settings.n_boot
    n = len(subject)
    cells = RowSets.of(Rows.of(subject), [*control, *columns])
    groups = form_groups(columns, control=control, by=by, labels=cells.counts.axes[0].labels)
    of_groups = groups.indicator([group.cells for group in groups.groups])
    sizes = (cells.counts.n.sum(axis=(1, 2)) @ of_groups).astype(np.int64)
    strata, extra = strata_of(groups, sizes, subject.reference)
    everyone = np.ones((len(groups.labels), 1))
    membership = np.hstack([of_groups, groups.indicator(extra), everyone])
    chosen = choose_metrics(metrics, outcome, subject.favourable)
    measured = measure(chosen, cells.of_cells(membership), n_boot=n_boot, seed=settings.seed, level=level)
    gaps = disparities_of(measured, strata, sizes, min_per_group)
    compared, ends = answered(
        comparing(list(measured.values()), strata, groups, level=level),
        asking_ends([one.gap for one in gaps if one.gap is not None], level),
    )
    tables = {
        "by_group": by_group_table(groups, measured, sizes, min_per_group, subject.backend),
        "comparisons": comparison_table(groups, compared, measured, subject.backend),
        "disparities": disparity_table(groups, measured, gaps, ends, subject.backend),
    }
    return GroupMetrics(
        "group_metrics",
        msg("Metrics by group"),
        tables=tables,
        values={"rows": n, "rows_with_missing_attribute": n_missing, "weighted": weights is not None},
        pictures=_pictures(control, len(tables["comparisons"])),
        notes=(
            *_notes(len(groups.labels), n_missing, sizes, min_per_group, settings.missing),
            *_few_cases(measured.values(), sizes, min_per_group),
            *absence_notes(strata),
            *_no_ratios(measured),
            *without_bootstrap(n_boot),
            *_of_functions(chosen, n_boot),
        ),
        groups=groups,
        measured=measured,
        overall={name: estimate_at(part, membership.shape[1] - 1, n, level) for name, part in measured.items()},
        sizes=sizes,
        min_per_group=min_per_group,
    )


def _few_cases(parts: Iterable[Measured], sizes: NDArray[np.int64], least: int) -> tuple[Message, ...]:
    """That rates of groups that are large enough themselves rest on few cases, which the rates are named of."""
    few = [part for part in parts if ((sizes >= least) & (part.n[: len(sizes)] > 0) & ~part.enough(sizes, least)).any()]
    if not few:
        return ()
    return (
        msg(
            "Some groups have fewer than {least:int} cases of {metrics}: shown, but not used for the gap between "
            "groups.",
            least=least,
            metrics=both(Message("{metric:inner}", {"metric": part.metric.title}) for part in few),
        ),
    )


def _pictures(control: Sequence[Any], comparisons: int) -> tuple[Picture, ...]:
    if not comparisons:
        return ()
    options = {
        "labels": [*(column.name for column in control), "group"],
        "value": "difference",
        "facet": "metric",
        "reference": 0.0,
    }
    return (Picture("forest", "comparisons", msg("Gaps to the reference, with intervals"), options),)


def _of_functions(chosen: Sequence[Metric], n_boot: int) -> tuple[Message, ...]:
    """How the intervals of functions of the user's were made."""
    own = [metric for metric in chosen if metric.family == "functions" and n_boot]
    drawn = ", ".join(metric.id for metric in own if metric.interval == "bootstrap")
    asked = ", ".join(metric.id for metric in own if metric.interval != "bootstrap")
    notes = []
    if asked:
        notes.append(
            msg(
                "Intervals of {names} come from how the figure changes with single rows, and take it to be smooth.",
                names=asked,
            )
        )
    if drawn:
        notes.append(
            msg(
                "Intervals of {names} are percentiles of {n:int} bootstrap samples of the rows of each group.",
                names=drawn,
                n=min(n_boot, MAX_SAMPLES),
            )
        )
    return tuple(notes)


def _no_ratios(measured: Mapping[str, Measured]) -> tuple[Message, ...]:
    if all(part.metric.range[0] >= 0 for part in measured.values()):
        return ()
    return (msg("Metrics that can be negative have differences, but no ratios."),)


def estimate_at(measured: Measured, index: int, n: int, level: float = 0.95) -> Estimate:
    """One set's value as an `Estimate`."""
    value = float(measured.value[index])
    if np.isnan(value):
        return Estimate.missing(measured.reasons[index] or measured.metric.undefined, n=n)
    low, high = float(measured.low[index]), float(measured.high[index])
    return Estimate(value, low, high, n=n, method=measured.method, level=level)


def _estimate(table: Table, row: int, name: str) -> Estimate:
    if np.isnan(table[name].values[row]):
        return Estimate.missing(table.notes()[row] or msg("the largest value is 0, or the metric can be negative"))
    return table[name].estimate(row, method="simultaneous")


def _notes(
    n_cells: int, n_missing: int, sizes: NDArray[np.int64], min_per_group: int, missing: Missing
) -> tuple[Message, ...]:
    notes = []
    if n_missing and missing == "exclude":
        notes.append(
            msg(
                "{n:# row with a missing protected value is|# rows with a missing protected value are} left out.",
                n=n_missing,
            )
        )
    elif n_missing:
        notes.append(
            msg(
                "{n:# row with a missing protected value forms a group of its own|# rows with a missing "
                "protected value form a group of their own}.",
                n=n_missing,
            )
        )
    small = int((sizes < min_per_group).sum())
    if small:
        notes.append(
            msg(
                "{n:# group has|# groups have} fewer than {least:int} rows: shown, but not used for the gap between "
                "groups.",
                n=small,
                least=min_per_group,
            )
        )
    if n_cells == 1:
        notes.append(msg("There is only one group, so nothing can be compared."))
    return tuple(notes)
