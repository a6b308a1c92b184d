"""The tables and pictures of a comparison before and after a fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomia.evidence import Column, Estimate, Format, Picture, Table
from isonomia.fairness.criteria.named import CRITERIA
from isonomia.languages import Message, msg
from isonomia.languages.naming import together
from isonomia.mitigation.judging.bands import Band
from isonomia.mitigation.judging.comparison import Comparison, levelled_metrics

#: What levelling verdicts are called.
LEVELLING = {
    "levels_up": msg("levels up"),
    "trades": msg("trades"),
    "levels_down": msg("levels down"),
    "no_change_shown": msg("no change shown"),
}
#: Lines that a panel of slopes shows at most.
MOST_SLOPES = 8
#: What a fix costs by its metric: the figure, its change, and what a point of gap costs.
COSTS = {
    "accuracy": (msg("accuracy"), msg("change of accuracy"), msg("accuracy lost per point")),
    "mae": (msg("mean absolute error"), msg("change of the mean absolute error"), msg("error gained per point")),
}
NO_GAIN = msg("the gap did not get smaller")


def criterion_titles() -> dict[str, Message]:
    """The headings of the criteria."""
    return {name: one.title for name, one in CRITERIA.items()}


def accuracy_of(comparison: Comparison) -> str | None:
    """The metric that stands for accuracy; None where outcomes are not known."""
    known = [metric.id for metric in comparison.measures.metrics]
    return next((name for name in ("accuracy", "mae") if name in known), None)


def cost_of(comparison: Comparison) -> str:
    """The metric that a fix costs; outcomes are known."""
    cost = accuracy_of(comparison)
    assert cost is not None
    return cost


def number_format(comparison: Comparison) -> Format:
    """How figures are written in tables: rates with four decimals, other numbers with three significant digits."""
    return "num" if comparison.subject.task == "regression" else "num4"


def cost_sentence(comparison: Comparison, fix: int) -> Message:
    """How much accuracy, or error, changes over everyone."""
    cost = cost_of(comparison)
    value, _, _ = comparison.overall_of(fix, cost) or (np.nan,) * 3
    if cost == "mae":
        return msg("the mean absolute error changes by {change:num}", change=value)
    if abs(value) < 0.0005:
        return msg("accuracy stays the same")
    if value < 0:
        return msg("accuracy falls by {change:points} points", change=-value)
    return msg("accuracy rises by {change:points} points", change=value)


def tables_of(comparison: Comparison, fix: int) -> dict[str, Table]:
    """All tables of one fix by name."""
    tables = {
        "criteria": criteria_table(comparison, fix),
        "groups": groups_table(comparison, fix),
        "levelling": levelling_table(comparison, fix),
        "price": price_table(comparison, fix),
    }
    if comparison.subject.task != "regression":
        tables["changes"] = changes_table(comparison, fix)
        tables["flows"] = flows_table(comparison, fix)
    return tables


def criteria_table(comparison: Comparison, fix: int) -> Table:
    """Each criterion for each way of grouping."""
    gaps, bands = comparison.gaps, comparison.bands
    rows = [
        {
            "by": " x ".join(by),
            "criterion": name,
            "before": interval_at(bands.before, (number,), 0.0),
            "after": interval_at(bands.after, (fix, number), 0.0),
            "change": interval_at(bands.change, (fix, number)),
        }
        for number, (name, by) in enumerate(gaps.keys[: gaps.plain])
    ]
    columns = (
        Column("by", title=msg("by")),
        Column("criterion", title=msg("criterion"), names=criterion_titles()),
        Column("before", format=number_format(comparison), title=msg("before")),
        Column("after", format=number_format(comparison), title=msg("after")),
        Column("change", format=number_format(comparison), title=msg("change")),
    )
    return _table(rows, columns, msg("Criteria before and after"), comparison)


def groups_table(comparison: Comparison, fix: int) -> Table:
    """Each metric of each group, and of everyone."""
    measures, band = comparison.measures, comparison.bands.groups
    names = [*(group.name for group in comparison.groups.groups), None]
    keys = [*(group.key for group in comparison.groups.groups), ()]
    ways = [*(" x ".join(group.by) for group in comparison.groups.groups), None]
    rows = [
        {
            "by": ways[s],
            "group": name if name is not None else msg("everyone"),
            "metric": metric.id,
            "n": round(float(measures.size[q, s])),
            "before": _number(measures.before[q, s]),
            "after": _number(measures.after[fix, q, s]),
            "change": interval_at(band, (fix, q, s)),
        }
        for s, name in enumerate(names)
        for q, metric in enumerate(measures.metrics)
    ]
    style: Format = "num" if comparison.subject.task == "regression" else "pct"
    change: Format = "num" if comparison.subject.task == "regression" else "points"
    titles = titles_of(comparison)
    columns = (
        Column("by", title=msg("by")),
        Column("group", title=msg("group")),
        Column("metric", title=msg("metric"), names=titles),
        Column("n", format="int", title=msg("rows")),
        Column("before", format=style, title=msg("before")),
        Column("after", format=style, title=msg("after")),
        Column("change", format=change, title=msg("change")),
    )
    table = _table(rows, columns, msg("Groups before and after"), comparison)
    every = [key for key in keys for _ in measures.metrics]
    group = Column("group", list(table["group"].values), title=msg("group"), keys=every)
    return table.with_columns(group)


def changes_table(comparison: Comparison, fix: int) -> Table:
    """Who changes decision, group by group and for everyone; for several classes how many do."""
    now = list(comparison.after.values())[fix]
    was, truth = comparison.was, comparison.subject.outcome.truth
    changed = was != now
    counts = {"n": comparison.by_group(np.ones(was.size, dtype=bool)), "changed": comparison.by_group(changed)}
    if len(comparison.subject.surface.classes) == 2:
        granted, refused = changed & (now == 1), changed & (now == 0)
        counts |= {"granted": comparison.by_group(granted), "refused": comparison.by_group(refused)}
        if truth is not None:
            counts |= {
                "granted_rightly": comparison.by_group(granted & (truth == 1)),
                "granted_wrongly": comparison.by_group(granted & (truth == 0)),
                "refused_rightly": comparison.by_group(refused & (truth == 0)),
                "refused_wrongly": comparison.by_group(refused & (truth == 1)),
            }
    elif truth is not None:
        counts |= {
            "corrected": comparison.by_group(changed & (now == truth)),
            "spoilt": comparison.by_group(changed & (was == truth)),
        }
    names: list[Any] = [*(group.name for group in comparison.groups.groups), msg("everyone")]
    shares = counts["changed"] / np.maximum(counts["n"], 1e-300)
    columns = (
        Column("group", names, title=msg("group"), keys=[*(g.key for g in comparison.groups.groups), ()]),
        *(
            Column(name, [round(float(value)) for value in values], format="int", title=_CHANGES[name])
            for name, values in counts.items()
        ),
        Column("share_changed", shares.tolist(), format="pct", title=msg("share changed")),
    )
    return Table(columns, msg("Who changes decision"), comparison.subject.backend)


_CHANGES: dict[str, Message] = {
    "n": msg("rows"),
    "changed": msg("changed"),
    "granted": msg("newly granted"),
    "refused": msg("newly refused"),
    "granted_rightly": msg("rightly granted"),
    "granted_wrongly": msg("wrongly granted"),
    "refused_rightly": msg("rightly refused"),
    "refused_wrongly": msg("wrongly refused"),
    "corrected": msg("corrected"),
    "spoilt": msg("right before, wrong after"),
}


def flows_table(comparison: Comparison, fix: int) -> Table:
    """How many people of each group go from which decision to which."""
    now, was = list(comparison.after.values())[fix], comparison.was
    classes = comparison.subject.surface.classes
    rows = []
    for a, before in enumerate(classes):
        for b, after in enumerate(classes):
            counts = comparison.by_group((was == a) & (now == b))
            rows += [
                {
                    "by": " x ".join(group.by),
                    "group": group.name,
                    "before": str(before),
                    "after": str(after),
                    "n": round(float(counts[number])),
                }
                for number, group in enumerate(comparison.groups.groups)
            ]
    columns = (
        Column("by", title=msg("by")),
        Column("group", title=msg("group")),
        Column("before", title=msg("before")),
        Column("after", title=msg("after")),
        Column("n", format="int", title=msg("rows")),
    )
    return _table(rows, columns, msg("Decisions before and after"), comparison)


def levelling_table(comparison: Comparison, fix: int) -> Table:
    """Whether each metric levels up, trades or levels down."""
    rows = []
    for by in comparison.ways:
        for metric in levelled_metrics(comparison.measures):
            verdict, raised, lowered = comparison.levelling(fix, by, metric)
            rows.append(
                {
                    "by": " x ".join(by),
                    "metric": comparison.measures.metrics[metric].id,
                    "verdict": verdict,
                    "raised": group_names(comparison, raised),
                    "lowered": group_names(comparison, lowered),
                }
            )
    titles = titles_of(comparison)
    columns = (
        Column("by", title=msg("by")),
        Column("metric", title=msg("metric"), names=titles),
        Column("verdict", title=msg("verdict"), names=LEVELLING),
        Column("raised", title=msg("better off")),
        Column("lowered", title=msg("worse off")),
    )
    return _table(rows, columns, msg("Levelling up or down"), comparison)


def price_table(comparison: Comparison, fix: int) -> Table:
    """What a point (0.01) of each gap cost in accuracy and in changed decisions."""
    rows = []
    for number, (name, by) in enumerate(comparison.gaps.keys[: comparison.gaps.plain]):
        if comparison.gaps.ratio[number]:
            continue
        closed = -float(comparison.bands.change.value[fix, number])
        accuracy, changed = price_of(comparison, fix, number)
        rows.append(
            {
                "by": " x ".join(by),
                "criterion": name,
                "closed": closed,
                "accuracy_per_point": accuracy,
                "changed_per_point": changed,
            }
        )
    columns = (
        Column("by", title=msg("by")),
        Column("criterion", title=msg("criterion"), names=criterion_titles()),
        Column("closed", format=number_format(comparison), title=msg("gap closed")),
        Column(
            "accuracy_per_point",
            format=number_format(comparison),
            title=COSTS[accuracy_of(comparison) or "accuracy"][2],
        ),
        Column("changed_per_point", format="pct", title=msg("decisions changed per point")),
    )
    return _table(rows, columns, msg("What a point of gap costs"), comparison)


def price_of(comparison: Comparison, fix: int, number: int) -> tuple[Estimate, Estimate]:
    """Accuracy lost and decisions changed per 0.01 of gap closed (of ratio gained); missing where there is no gain."""
    closed = float(comparison.bands.change.value[fix, number]) * (1 if comparison.gaps.ratio[number] else -1)
    if not closed > 1e-9:
        return Estimate.missing(NO_GAIN), Estimate.missing(NO_GAIN)
    metric = accuracy_of(comparison)
    points = closed / 0.01
    if comparison.subject.task == "regression":
        changed = Estimate.missing(msg("predicted numbers have no decisions"))
    else:
        changed = Estimate(comparison.share_changed(fix) / points)
    if metric is None:
        return Estimate.missing(msg("the true outcomes are not known")), changed
    change = comparison.overall_of(fix, metric)
    assert change is not None
    return Estimate((change[0] if metric == "mae" else -change[0]) / points), changed


def values_of(comparison: Comparison, fix: int) -> dict[str, Any]:
    """Headline figures."""
    metric = accuracy_of(comparison)
    values: dict[str, Any] = {"critical_value": round(comparison.bands.critical, 4)}
    if comparison.subject.task != "regression":
        values["share_changed"] = comparison.share_changed(fix)
    if metric is not None:
        value, low, high = comparison.overall_of(fix, metric) or (np.nan,) * 3
        values[f"{metric}_change"] = Estimate(value, low, high, n=len(comparison.subject), method="max-t")
    return values


def pictures_of(comparison: Comparison, metrics: Sequence[str] = (), method: str | None = None) -> tuple[Picture, ...]:
    """Each group before and after in one metric, the change of every metric with its interval, the flows of decisions.

    `metrics` are the ones that slopes show (the first by default), `method` the fix where tables hold several.
    """
    known = [metric.id for metric in comparison.measures.metrics]
    one: dict[str, Any] = {} if method is None else {"method": method}
    few = [" x ".join(by) for by in comparison.ways if len(comparison.members(by)) <= MOST_SLOPES]
    pictures = [
        Picture(
            "slopes",
            "groups",
            msg("{metric} of each group before and after", metric=titles_of(comparison)[metric]),
            {
                "labels": ["group"],
                "before": "before",
                "after": "after",
                "change": "change",
                "facet": "by",
                "where": {**one, "metric": metric, "by": few},
            },
        )
        for metric in (metrics or known[:1])
        if few
    ]
    if comparison.subject.task != "regression":
        options: dict[str, Any] = {"labels": ["group"], "before": "before", "after": "after", "where": one}
        pictures.append(Picture("flows", "flows", msg("Decisions of each group before and after"), options))
    options = {"labels": ["group"], "value": "change", "facet": "metric", "reference": 0.0, "where": one}
    pictures.append(Picture("forest", "groups", msg("Change of each group, with simultaneous intervals"), options))
    return tuple(pictures)


def titles_of(comparison: Comparison) -> dict[str, Message]:
    """What the metrics are called."""
    return {metric.id: metric.title for metric in comparison.measures.metrics}


def group_names(comparison: Comparison, groups: list[int]) -> str:
    """Groups as a sentence names them; empty where there are none."""
    return together((comparison.groups.groups[g].name for g in groups), "; ") if groups else ""


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def interval_at(band: Band, at: tuple[int, ...], least: float | None = None) -> Any:
    """A figure and the ends of its interval, the lower not below `least`; None three times where it is undefined."""
    value, low, high = (float(part[at]) for part in (band.value, band.low, band.high))
    if np.isnan(value):
        return (None, None, None)
    return (value, low if least is None else max(low, least), high)


def _table(rows: list[dict[str, Any]], columns: tuple[Column, ...], title: Message, comparison: Comparison) -> Table:
    return Table.from_rows(rows, columns, title=title, backend=comparison.subject.backend)
