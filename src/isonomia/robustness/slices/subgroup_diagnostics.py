"""Every metric of every subgroup, however small: a value with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from isonomia.counting import Codes
from isonomia.errors import SpecError
from isonomia.events import ProgressLike
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table, finite
from isonomia.fairness import group_metrics
from isonomia.languages import Message, People, msg
from isonomia.metrics import METRIC_NAME, METRIC_NAMES, METRICS, check_applicable
from isonomia.parameters import LEVEL, MIN_PER_GROUP, N_BOOT, NAMES, SEED, Integer, Number, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.missing_reasons import of_value
from isonomia.robustness.perturbation.degradation import scale_of, worse_by
from isonomia.robustness.slices.slicing import learn_cuts
from isonomia.robustness.stress.scenarios import main_metric
from isonomia.subject import Reading, Subject

FINDINGS = 5


@validated(
    features=NAMES.or_none(),
    metrics=METRIC_NAMES.or_none(),
    metric=METRIC_NAME.or_none(),
    bins=Integer(2),
    min_per_group=MIN_PER_GROUP,
    tolerance=Number(at_least=0),
    n_boot=N_BOOT,
    level=LEVEL,
    seed=SEED,
)
def subgroup_diagnostics(
    data: Any,
    model: Any = None,
    *,
    features: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    metric: str | None = None,
    bins: int = 4,
    min_per_group: int = 30,
    tolerance: float = 0.05,
    n_boot: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Measure every subgroup by every metric; tiny and one-class subgroups get a reason, never a crash.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; with predictions where no model is given.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : optional
        Anything that predicts; called once.
    features : sequence of str, optional
        Whose values are the subgroups: the protected attributes, or all features where there are none, by default.
        Numbers are cut into `bins` slices with as many rows each.
    bins : int
        Slices of a numeric feature.
    metrics : sequence of str, optional
        Metrics to measure; by default all that apply.
    metric : str, optional
        The metric that findings are about; as in `scenarios` by default.
    min_per_group : int
        Smaller subgroups are shown and flagged, and make no findings.
    tolerance : float
        How much worse than overall makes a finding, on the common scale of `scenarios`.
    n_boot, level, seed
        Of the intervals.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``subgroups`` (a row for each subgroup and metric: value, interval, how much worse than overall, the
        reason where there is no value) and ``worst`` (the worst subgroup of each metric).

    Examples
    --------
    >>> from isonomia import Dataset
    >>> data = Dataset({"g": ["a"] * 60 + ["b"] * 3, "y": [0, 1] * 30 + [1] * 3, "p": [0, 1] * 30 + [1, 0, 1]},
    ...                target="y", prediction="p", protected=["g"])
    >>> found = subgroup_diagnostics(data, metrics=["accuracy", "specificity"])
    >>> row = list(found.tables["subgroups"].rows())[3]
    >>> row["group"], row["metric"], row["value"], str(row["note"])
    ('b', 'specificity', None, 'there are no negative labels')
    """
    metrics = (metrics,) if isinstance(metrics, str) else metrics
    subject = Subject.of(data, model, progress=progress, **given).needs_outcomes()
    outcome = subject.outcome
    wanted = (
        [METRICS[name] for name in metrics] if metrics is not None else [m for m in METRICS if outcome.task in m.tasks]
    )
    chosen = [m for m in wanted if check_applicable(m, outcome.truth, outcome.surface, subject.weights) is None]
    reasons = {m.id: check_applicable(m, outcome.truth, outcome.surface, subject.weights) for m in wanted}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    if not chosen:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise SpecError(f"None of the metrics can be measured here. {why}")
    main = main_metric(chosen, metric, outcome.task)
    rows: list[dict[str, Any]] = []
    columns = _columns(subject, features, bins)
    stage = subject.progress.stage("attributes", msg("Measuring subgroups"), total=len(columns))
    for column in stage.over(columns):
        by_group = group_metrics(
            subject.with_attributes([column]),
            metrics=[m.id for m in chosen],
            min_per_group=min_per_group,
            n_boot=n_boot,
            level=level,
            seed=seed,
            reference="largest",
        )
        assert by_group.groups is not None
        for index, group in enumerate(by_group.groups.groups):
            for one in chosen:
                part, overall = by_group.measured[one.id], by_group.overall[one.id]
                n = int(by_group.sizes[index])
                base = float("nan") if overall.value is None else overall.value
                value, low, high = (float(end[index]) for end in (part.value, part.low, part.high))
                harm = float(worse_by(one, value, base))
                note = of_value(one, value, low, part.reasons[index] if part.reasons else None)
                rows.append(
                    {
                        "attribute": column.name,
                        "group": group.texts[column.name],
                        "n": n,
                        "metric": one.id,
                        "value": Estimate(value, low, high, n=n, method="group", note=note, level=level),
                        "overall": overall.value,
                        "worse_by": finite(harm),
                        "relative": finite(harm / scale_of(one, base)),
                        "small": n < min_per_group,
                    }
                )
    return subject.noted(_show(rows, main, subject, left_out, tolerance))


def _columns(subject: Subject, features: Sequence[str] | None, bins: int) -> list[Codes]:
    attributes = {column.name: column for column in subject.attributes}
    names = check_features(subject.known, features, tuple(attributes) or subject.known.searchable)
    plain = [name for name in names if name not in attributes]
    cuts = learn_cuts(subject.known, plain, slicing="quantile", bins=bins, min_samples=1) if plain else ()
    sliced = {cut.name: cut.codes(subject.known).observed() for cut in cuts}
    return [attributes[name] if name in attributes else sliced[name] for name in names]


_COLUMNS = (
    Column("attribute", title=msg("attribute")),
    Column("group", title=msg("group")),
    Column("n", format="int", title=msg("Rows")),
    Column("metric", title=msg("metric")),
    Column("value", format="num4", title=msg("Value")),
    Column("overall", format="num4", title=msg("overall")),
    Column("worse_by", format="num4", title=msg("Worse than overall by")),
    Column("relative", format="pct", title=msg("Degradation on a common scale")),
    Column("small", title=msg("small group")),
)


def _show(
    rows: list[dict[str, Any]],
    main: str,
    subject: Subject,
    left_out: Mapping[str, str],
    tolerance: float,
) -> Result:
    backend = subject.known.backend
    worst: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["small"] or row["worse_by"] is None:
            continue
        if row["metric"] not in worst or row["worse_by"] > worst[row["metric"]]["worse_by"]:
            worst[row["metric"]] = row

    def table(part: list[dict[str, Any]], title: Message) -> Table:
        return Table.from_rows(part, _COLUMNS, title=title, backend=backend)

    tables = {
        "subgroups": table(rows, msg("Every metric of every subgroup")),
        "worst": table(list(worst.values()), msg("The worst subgroup of each metric")),
    }
    found = [row for row in rows if _tells(row, main, tolerance)]
    found.sort(key=lambda row: -row["relative"])
    notes = [msg("Do not rely on values without an interval or on subgroups marked as small.")]
    if left_out:
        notes.append(msg("Metrics that do not apply here: {metrics}.", metrics=", ".join(list(left_out)[:12])))
    pictures: tuple[Picture, ...] = ()
    if any(row["metric"] == main and row["value"].value is not None for row in rows):
        pictures = (
            Picture(
                "forest",
                "subgroups",
                msg("{metric} of each subgroup", metric=METRICS[main].title),
                {
                    "labels": ["attribute", "group"],
                    "value": "value",
                    "low": "low",
                    "high": "high",
                    "flag": "small",
                    "where": {"metric": main},
                },
            ),
        )
    undefined = sum(row["value"].value is None for row in rows)
    values = {"subgroups": len({(row["attribute"], row["group"]) for row in rows}), "without_value": undefined}
    titles = {"subgroups": msg("Subgroups"), "without_value": msg("Values that are not defined")}
    return Result(
        "subgroup_diagnostics",
        msg("Subgroup diagnostics"),
        tables,
        values,
        tuple(_finding(row, tolerance) for row in found[:FINDINGS]),
        pictures,
        tuple(notes),
        titles=titles,
    )


def _tells(row: dict[str, Any], main: str, tolerance: float) -> bool:
    """Whether a subgroup is worse by enough, and its interval leaves the overall value out."""
    if row["metric"] != main or row["small"] or row["relative"] is None or row["relative"] <= tolerance:
        return False
    if METRICS[main].higher_is_better:
        return row["value"].high is not None and row["value"].high < row["overall"]
    return row["value"].low is not None and row["value"].low > row["overall"]


def _finding(row: dict[str, Any], tolerance: float) -> Finding:
    metric = METRICS[row["metric"]]
    return Finding(
        "subgroup_diagnostics.worse",
        "notice",
        msg(
            "{metric} is {value:num4} for {group} ({n:int} in all) and {overall:num4} overall.",
            metric=metric.title,
            value=row["value"].value,
            group=People(((row["attribute"], row["group"]),)),
            overall=row["overall"],
            n=row["n"],
        ),
        row["value"],
        who={row["attribute"]: row["group"]},
        n=row["n"],
        magnitude=row["relative"] / tolerance if tolerance else 1.0 + row["relative"],
        threshold=row["overall"]
        + (-1 if metric.higher_is_better else 1) * tolerance * scale_of(metric, row["overall"]),
        evidence="subgroup_diagnostics/subgroups",
        format="num4",
    )
