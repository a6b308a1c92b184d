"""Any metric by group and by intersection, compared, with intervals, tests and what could have been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend, Missing, Task, backend_of, to_numpy
from isonomia.errors import DataError, SpecError
from isonomia.evidence import Estimate, Format, Result, Table, check_level, percentile
from isonomia.fairness.compare import Compared, Reference, Stratum, adjust, compare, strata_of
from isonomia.fairness.groups import By, Groups, form_groups, read_attributes, rows_with_attributes
from isonomia.fairness.measure import Measured, Sample, choose_metrics, count_cells, measure
from isonomia.languages import Message, msg
from isonomia.models import Outcome, read_outcome

Floats = NDArray[np.float64]

#: Groups with fewer rows than this are shown and flagged, and left out of the disparity between groups.
MIN_PER_GROUP = 30


@dataclass(frozen=True, repr=False)
class GroupMetrics(Result):
    """Metrics by group.

    Attributes
    ----------
    by_group : frame
        A row per group: the attribute columns, ``n``, then ``<metric>``, ``<metric>_low``, ``<metric>_high``, and a
        ``note`` where something has to be known (a small group, a value that is not defined). An attribute that does
        not define a group is empty in its row.
    comparisons : frame
        A row per metric and group: ``metric, group, reference, difference, difference_low, difference_high, ratio,
        ratio_low, ratio_high, p_value, p_adjusted, detectable``. Differences are group - reference.
    disparities : frame
        A row per metric and way of grouping: the largest less the smallest value over the groups, and their ratio.
    overall : mapping of Estimate
        Each metric over all rows.
    """

    groups: Groups | None = field(default=None, compare=False)
    rows: NDArray[np.bool_] | None = field(default=None, compare=False)
    measured: Mapping[str, Measured] = field(default_factory=dict, compare=False)
    overall: Mapping[str, Estimate] = field(default_factory=dict)
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False)
    min_per_group: int = MIN_PER_GROUP

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

    def disparity(self, metric: str, by: Sequence[str] | None = None) -> tuple[Estimate, Estimate]:
        """Largest - smallest and smallest / largest over the groups of one way of grouping."""
        wanted = " x ".join(by) if by is not None else None
        for row in self.tables["disparities"].rows():
            if row["metric"] == metric and wanted in (None, row["by"]):
                return _estimate(row, "difference"), _estimate(row, "ratio")
        raise SpecError(f"There is no disparity of {metric!r} by {wanted or 'any attribute'} in this result.")


def group_metrics(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    metrics: Sequence[str] | None = None,
    weights: Any = None,
    y_score: Any = None,
    control: Any = None,
    reference: Reference = "largest",
    by: By | Sequence[Sequence[str]] = "intersection",
    missing: Missing = "group",
    task: Task | None = None,
    positive: Any = None,
    min_per_group: int = MIN_PER_GROUP,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    verify: Literal["fairlearn"] | None = None,
) -> GroupMetrics:
    """Metrics by group, their differences and ratios, with intervals, tests and the smallest detectable gap.

    Parameters
    ----------
    y_true : column or None
        True outcomes. None where only predictions are known; then metrics of predictions alone are given.
    y_pred : column
        Decisions, or predicted numbers for a regression.
    sensitive_features : column, frame, mapping or array
        The protected attributes. Several are taken together, as in Fairlearn; see `by`.
    metrics : list of str, optional
        Ids of the registry (``isonomia metrics``). By default selection rate, TPR, FPR, PPV and accuracy for two
        classes; accuracy, macro F1 and each class against the rest for several; mean prediction, mean error, MAE and
        RMSE for a regression.
    weights : column, optional
        One weight a row.
    y_score : column or table, optional
        Probabilities or scores, for metrics that need them.
    control : column, frame or mapping, optional
        Legitimate factors: groups are compared only with groups at the same value of these.
    reference : "largest", "best", "overall", a value, or a mapping from attribute to value(s)
        Whom groups are compared with. Name the privileged group and differences read unprivileged - privileged.
    by : "intersection", "each", "all", or lists of attribute names
        Groups of all attributes together; of each attribute; of every combination; or of the combinations named.
    missing : "group", "exclude" or "error"
        What happens to rows with a missing protected value.
    min_per_group : int
        Smaller groups are flagged, and left out of `disparities`.
    n_boot : int
        Bootstrap replicates behind the intervals of differences and ratios; 0 for none.
    verify : "fairlearn", optional
        Recompute every value through Fairlearn's ``MetricFrame`` and report the largest disagreement.

    Notes
    -----
    Rates carry Wilson intervals; differences, ratios and other metrics carry percentile bootstrap intervals, drawn as
    multinomial counts over cells, so rows are never touched again. P-values are those of the two-proportion z-test
    (Fisher's exact test in small cells), or of a z-test with the bootstrap's standard error; ``p_adjusted`` is after
    Benjamini and Hochberg over all rows of the table. ``detectable`` is the smallest gap that these group sizes would
    show with a power of 80% at the 5% level.

    Examples
    --------
    >>> r = group_metrics([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], sensitive_features=["F", "F", "F", "M", "M", "M"],
    ...                   metrics=["selection_rate", "tpr"])
    >>> [round(v, 3) for v in r.by_group["selection_rate"]]
    [0.333, 0.667]
    >>> r.overall["tpr"].value
    0.6666666666666666
    """
    outcome = read_outcome(y_true, y_pred, y_score=y_score, task=task, positive=positive)
    columns = read_attributes(sensitive_features, length=len(outcome))
    held = () if control is None else read_attributes(control, what="control", length=len(outcome))
    result = measure_groups(
        outcome,
        columns,
        control=held,
        metrics=metrics,
        weights=check_weights(weights, len(outcome)),
        reference=reference,
        by=by,
        missing=missing,
        min_per_group=min_per_group,
        n_boot=n_boot,
        level=level,
        seed=seed,
        backend=backend_of(sensitive_features, y_pred, y_true),
    )
    if verify is None:
        return result
    from isonomia.fairness.verify import verify_with_fairlearn

    if verify != "fairlearn":
        raise SpecError(f"`verify` must be 'fairlearn' or None; got {verify!r}.")
    agreement = verify_with_fairlearn(result, outcome, check_weights(weights, len(outcome)))
    return replace(
        result, tables={**result.tables, "verified": agreement.table}, values={**result.values, **agreement.values}
    )


def measure_groups(
    outcome: Outcome,
    columns: Sequence[Any],
    *,
    control: Sequence[Any] = (),
    metrics: Sequence[str] | None = None,
    weights: Floats | None = None,
    reference: Reference = "largest",
    by: By | Sequence[Sequence[str]] = "intersection",
    missing: Missing = "group",
    min_per_group: int = MIN_PER_GROUP,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    backend: Backend | None = None,
) -> GroupMetrics:
    """`group_metrics` for what is encoded already: an outcome and protected attributes as codes."""
    check_level(level)
    if n_boot < 0 or min_per_group < 1:
        raise SpecError(
            f"`n_boot` must be at least 0 and `min_per_group` at least 1; got {n_boot} and {min_per_group}."
        )
    rows, n_missing = rows_with_attributes(columns, missing)
    if rows is not None:
        columns = [column.take(rows).observed() for column in columns]
        control = [column.take(rows).observed() for column in control]
        outcome, weights = outcome.take(rows), None if weights is None else weights[rows]
    counts = count_cells([*control, *columns], outcome, weights)
    groups = form_groups(columns, control=control, by=by, labels=counts.axes[0].labels)
    of_groups = groups.indicator([group.cells for group in groups.groups])
    sizes = (counts.n.sum(axis=(1, 2)) @ of_groups).astype(np.int64)
    strata, extra = strata_of(groups, sizes, reference)
    everyone = np.ones((len(groups.labels), 1))
    membership = np.hstack([of_groups, groups.indicator(extra), everyone])
    uses = choose_metrics(metrics, outcome)
    sample = Sample(outcome, groups, counts, membership, weights, n_boot, seed, level)
    measured = measure(sample, uses)
    compared = compare(list(measured.values()), strata, groups, level=level, min_per_group=min_per_group, sizes=sizes)
    kind = backend or backend_of()
    tables = {
        "by_group": _by_group(groups, measured, sizes, min_per_group, kind),
        "comparisons": _comparisons(groups, compared, kind),
        "disparities": _disparities(groups, measured, strata, sizes, min_per_group, level, kind),
    }
    return GroupMetrics(
        "group_metrics",
        msg("Metrics by group"),
        tables=tables,
        values={"rows": len(outcome), "rows_with_missing_attribute": n_missing},
        notes=_notes(len(groups.labels), n_missing, sizes, min_per_group, missing),
        groups=groups,
        rows=rows,
        measured=measured,
        overall={
            name: estimate_at(part, membership.shape[1] - 1, len(outcome), level) for name, part in measured.items()
        },
        sizes=sizes,
        min_per_group=min_per_group,
    )


def estimate_at(measured: Measured, index: int, n: int, level: float = 0.95) -> Estimate:
    """One set's value as an `Estimate`."""
    value = float(measured.value[index])
    if np.isnan(value):
        return Estimate.missing(str(measured.reasons[index] or measured.use.metric.undefined), n=n)
    low, high = float(measured.low[index]), float(measured.high[index])
    return Estimate(value, low, high, n=n, method=measured.method, level=level)


def _by_group(
    groups: Groups, measured: Mapping[str, Measured], sizes: NDArray[np.int64], min_per_group: int, backend: Backend
) -> Table:
    m = len(groups.groups)
    columns: dict[str, Any] = {}
    for column in groups.control:
        columns[column.name] = [group.control[column.name] for group in groups.groups]
    for name in groups.names:
        columns[name] = [_value(group.attributes, group.texts, name) for group in groups.groups]
    formats: dict[str, Format] = {"n": "int"}
    titles: dict[str, Message] = {"n": msg("rows"), "note": msg("note")}
    columns["n"] = sizes
    for name, part in measured.items():
        columns |= {name: part.value[:m], f"{name}_low": part.low[:m], f"{name}_high": part.high[:m]}
        formats |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), part.use.metric.format)
        titles |= {name: part.use.title, f"{name}_low": msg("from"), f"{name}_high": msg("to")}
    columns["note"] = _remarks(measured, sizes, min_per_group)
    return Table(columns, formats, titles, msg("Metrics of each group"), backend)


def _remarks(measured: Mapping[str, Measured], sizes: NDArray[np.int64], min_per_group: int) -> list[Message | None]:
    """What to know about each group: few rows, values that are not defined."""
    remarks: list[Message | None] = [None] * sizes.size

    def add(index: int, remark: Message) -> None:
        before = remarks[index]
        remarks[index] = (
            remark if before is None else Message("{before}; {remark}", {"before": before, "remark": remark})
        )

    for index in np.flatnonzero(sizes < min_per_group).tolist():
        add(index, msg("fewer than {least:int} rows", least=min_per_group))
    for part in measured.values():
        for index in np.flatnonzero(np.isnan(part.value[: sizes.size])).tolist():
            add(index, Message("{metric}: {reason}", {"metric": part.use.title, "reason": part.reasons[index]}))
    return remarks


def _value(attributes: Mapping[str, Any], texts: Mapping[str, str], name: str) -> Any:
    if name not in attributes:
        return None
    value = attributes[name]
    return texts[name] if value is None or (isinstance(value, int) and texts[name] != str(value)) else value


def _comparisons(groups: Groups, compared: Sequence[Compared], backend: Backend) -> Table:
    adjusted = adjust(compared)
    columns: dict[str, Any] = {
        "metric": [part.metric for part in compared for _ in part.group],
    }
    for held in groups.control:
        columns[held.name] = [groups.groups[i].control[held.name] for part in compared for i in part.group]
    columns["group"] = [groups.groups[i].name for part in compared for i in part.group]
    columns["reference"] = [name for part in compared for name in part.reference]
    for name in ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "p_value"):
        columns[name] = np.concatenate([getattr(part, name) for part in compared])
    columns["p_adjusted"] = np.concatenate(adjusted)
    columns["detectable"] = np.concatenate([part.detectable for part in compared])
    formats: dict[str, Format] = {"p_value": "p", "p_adjusted": "p"}
    names = ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "detectable")
    formats |= dict.fromkeys(names, "num")
    titles = {
        "metric": msg("metric"),
        "group": msg("group"),
        "reference": msg("reference"),
        "difference": msg("difference"),
        "ratio": msg("ratio"),
        "difference_low": msg("from"),
        "difference_high": msg("to"),
        "ratio_low": msg("from"),
        "ratio_high": msg("to"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("p adjusted"),
        "detectable": msg("smallest detectable gap"),
    }
    return Table(columns, formats, titles, msg("Groups against their reference"), backend)


def _disparities(
    groups: Groups,
    measured: Mapping[str, Measured],
    strata: Sequence[Stratum],
    sizes: NDArray[np.int64],
    min_per_group: int,
    level: float,
    backend: Backend,
) -> Table:
    rows: list[dict[str, Any]] = []
    drawn: list[tuple[dict[str, Any], Floats, Floats]] = []
    for name, part in measured.items():
        for stratum in strata:
            index = np.array(stratum.members)
            used = index[(sizes[index] >= min_per_group) & ~np.isnan(part.value[index])]
            row: dict[str, Any] = {"metric": name, "by": " x ".join(stratum.by), **stratum.control}
            rows.append(row | _extremes(part, used, groups))
            if used.size > 1 and part.draws is not None:
                # NaN where any group is undefined in a replicate
                drawn.append((rows[-1], part.draws[used].max(axis=0), part.draws[used].min(axis=0)))
    _extreme_intervals(drawn, level)
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    names = ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high")
    return Table(columns, dict.fromkeys(names, "num"), _DISPARITY_TITLES, msg("Disparity between groups"), backend)


_DISPARITY_TITLES = {
    "metric": msg("metric"),
    "by": msg("by"),
    "difference": msg("largest - smallest"),
    "ratio": msg("smallest / largest"),
    "difference_low": msg("from"),
    "difference_high": msg("to"),
    "ratio_low": msg("from"),
    "ratio_high": msg("to"),
    "lowest": msg("smallest in"),
    "highest": msg("largest in"),
    "note": msg("note"),
}


def _extremes(part: Measured, used: NDArray[Any], groups: Groups) -> dict[str, Any]:
    """The largest less the smallest value, and their ratio."""
    names = ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "lowest", "highest")
    out: dict[str, Any] = dict.fromkeys(names)
    out["note"] = None
    if used.size < 2:
        out["note"] = msg("fewer than two groups with enough rows have a value")
        return out
    value = part.value[used]
    low, high = int(np.argmin(value)), int(np.argmax(value))
    out["difference"] = float(value[high] - value[low])
    out["lowest"], out["highest"] = groups.groups[used[low]].name, groups.groups[used[high]].name
    if part.use.metric.range[0] >= 0 and value[high] > 0:
        out["ratio"] = float(value[low] / value[high])
    return out


def _extreme_intervals(drawn: Sequence[tuple[dict[str, Any], Floats, Floats]], level: float) -> None:
    """Percentile intervals of all gaps and ratios at once, written into their rows."""
    if not drawn:
        return
    top, bottom = np.stack([item[1] for item in drawn]), np.stack([item[2] for item in drawn])
    low, high = percentile((top - bottom).T, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_low, r_high = percentile(np.where(top > 0, bottom / top, np.nan).T, level)
    for index, (row, _, _) in enumerate(drawn):
        row["difference_low"], row["difference_high"] = float(low[index]), float(high[index])
        if row["ratio"] is not None:
            row["ratio_low"], row["ratio_high"] = float(r_low[index]), float(r_high[index])


def _estimate(row: Mapping[str, Any], name: str) -> Estimate:
    if row[name] is None:
        return Estimate.missing(str(row["note"] or "the largest value is 0, or the metric can be negative"))
    return Estimate(row[name], row[f"{name}_low"], row[f"{name}_high"], method="bootstrap")


def _notes(
    n_cells: int, n_missing: int, sizes: NDArray[np.int64], min_per_group: int, missing: Missing
) -> tuple[Message, ...]:
    notes = []
    if n_missing and missing == "exclude":
        notes.append(msg("{n:int} rows with a missing protected value are left out.", n=n_missing))
    elif n_missing:
        notes.append(msg("{n:int} rows have a missing protected value; they are a group of their own.", n=n_missing))
    small = int((sizes < min_per_group).sum())
    if small:
        notes.append(
            msg("{n:int} groups have fewer than {least:int} rows: shown, but not used for the gap between groups.",
                n=small, least=min_per_group)
        )  # fmt: skip
    if n_cells == 1:
        notes.append(msg("There is only one group; nothing can be compared."))
    return tuple(notes)


def check_weights(weights: Any, length: int) -> Floats | None:
    """One finite weight of at least 0 a row, or None."""
    if weights is None:
        return None
    array = np.asarray(to_numpy(weights), dtype=float)
    if array.shape != (length,):
        raise DataError(f"`weights` needs one number a row: {length}; got an array of shape {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise DataError("`weights` must be finite numbers of at least 0, not all of them 0.")
    return array
