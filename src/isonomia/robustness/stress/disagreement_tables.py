"""Disagreement of metrics as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.counting import count_by, sum_by
from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table, finite
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import METRICS
from isonomia.robustness.missing_reasons import of_value
from isonomia.robustness.stress.rankings import Swaps, find_swaps, kendall, ranks, spearman

if TYPE_CHECKING:
    from isonomia.robustness.stress.metric_disagreement import Ranked

#: Maximum number of swaps listed, and of findings.
SWAPS, FINDINGS = 200, 3

_AGREEMENT = (
    Column("metric_1", title=msg("First metric")),
    Column("metric_2", title=msg("Second metric")),
    Column("tau", format="num", title=msg("Kendall's tau")),
    Column("rho", format="num", title=msg("Spearman's rho")),
    Column("swaps", format="int", title=msg("Swapped pairs")),
    Column("clear_swaps", format="int", title=msg("Clear swaps")),
)
_SWAPS = (
    *_AGREEMENT[:2],
    Column("item_1", title=msg("Better by the first")),
    Column("item_2", title=msg("Better by the second")),
    Column("value_11", format="num4", title=msg("First metric of the former")),
    Column("value_21", format="num4", title=msg("First metric of the latter")),
    Column("value_12", format="num4", title=msg("Second metric of the former")),
    Column("value_22", format="num4", title=msg("Second metric of the latter")),
    Column("clear", title=msg("Clear")),
)
_RANKINGS = (
    Column("metric", title=msg("metric")),
    Column("item", title=msg("Item")),
    Column("value", format="num4", title=msg("Value")),
    Column("rank", format="num", title=msg("Rank")),
)


def show(ranked: Ranked, backend: Backend | None, level: float) -> Result:
    """The result that a user sees."""
    swaps = find_swaps(ranked.better, ranked.noise)
    agreement = _agreement(ranked, swaps)
    listed = swaps.strongest(SWAPS)
    records = [_swap_row(ranked, swaps, int(index)) for index in listed]

    def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column], title: Message) -> Table:
        return Table.from_rows(rows, columns, title=title, backend=backend)

    tables = {
        "agreement": table(agreement, _AGREEMENT, msg("Agreement of metrics on the ranking")),
        "swaps": table(records, _SWAPS, msg("Pairs that two metrics put in opposite order")),
        "rankings": table(_rankings(ranked, level), _RANKINGS, msg("Every item by every metric")),
    }
    known = [row["tau"] for row in agreement if not isinstance(row["tau"], Message)]
    winners = {ranked.items[int(np.nanargmax(ranked.better[:, i]))] for i in range(len(ranked.metrics))}
    values: dict[str, Any] = {
        "items": len(ranked.items),
        "metrics": len(ranked.metrics),
        "mean_tau": float(np.mean(known)) if known else Estimate.missing(msg("every ranking is constant")),
        "clear_swaps": int(swaps.clear.sum()),
        "different_winners": len(winners),
    }
    items = {"models": msg("Models"), "slices": msg("Slices"), "scenarios": msg("Scenarios")}
    titles = {
        "items": items[ranked.across],
        "metrics": msg("Metrics evaluated"),
        "mean_tau": msg("Mean Kendall's tau"),
        "clear_swaps": msg("Clear swaps"),
        "different_winners": msg("Different winners"),
    }
    notes = (
        msg("Metrics are oriented so that higher is better. A swap is clear where it is unlikely to be due to chance."),
    )
    return Result(
        "metric_disagreement",
        msg("Disagreement of metrics"),
        tables,
        values,
        _findings(ranked, swaps, listed, level),
        _pictures(agreement),
        notes,
        titles=titles,
    )


def _pictures(agreement: Sequence[Mapping[str, Any]]) -> tuple[Picture, ...]:
    if all(isinstance(row["tau"], Message) for row in agreement):
        return ()
    return (
        Picture(
            "heatmap",
            "agreement",
            msg("Kendall's tau between the rankings of metrics"),
            {
                "x": "metric_2",
                "y": "metric_1",
                "value": "tau",
                "names": METRICS.titles(),
                "middle": 0.0,
            },
        ),
    )


def _agreement(ranked: Ranked, swaps: Swaps) -> list[dict[str, Any]]:
    tau = kendall(ranked.better)
    m = len(ranked.metrics)
    pair = swaps.first * m + swaps.second
    number, clear = count_by(pair, m * m), sum_by(pair, swaps.clear, m * m)
    constant = msg("one of the metrics ranks all items equally")
    rows: list[dict[str, Any]] = [
        {
            "metric_1": ranked.metrics[a].id,
            "metric_2": ranked.metrics[b].id,
            "tau": constant if np.isnan(tau[a, b]) else float(tau[a, b]),
            "rho": finite(spearman(ranked.better[:, a], ranked.better[:, b])),
            "swaps": int(number[a * m + b]),
            "clear_swaps": int(clear[a * m + b]),
        }
        for a, b in combinations(range(m), 2)
    ]
    return sorted(rows, key=lambda row: 2.0 if isinstance(row["tau"], Message) else row["tau"])


def _swap_row(ranked: Ranked, swaps: Swaps, index: int) -> dict[str, Any]:
    """A swap with the item that the first metric prefers first."""
    a, b, i, j = (int(part[index]) for part in (swaps.first, swaps.second, swaps.one, swaps.two))
    if ranked.better[i, a] < ranked.better[j, a]:
        i, j = j, i
    return {
        "metric_1": ranked.metrics[a].id,
        "metric_2": ranked.metrics[b].id,
        "item_1": ranked.items[i],
        "item_2": ranked.items[j],
        "value_11": float(ranked.value[i, a]),
        "value_21": float(ranked.value[j, a]),
        "value_12": float(ranked.value[i, b]),
        "value_22": float(ranked.value[j, b]),
        "clear": bool(swaps.clear[index]),
    }


def _rankings(ranked: Ranked, level: float) -> list[dict[str, Any]]:
    rows = []
    for m, metric in enumerate(ranked.metrics):
        order = ranks(-ranked.better[:, m])
        for i, item in enumerate(ranked.items):
            value, low, high = (float(part[i, m]) for part in (ranked.value, ranked.low, ranked.high))
            figure = Estimate(value, low, high, note=of_value(metric, value, low), level=level)
            rows.append({"metric": metric.id, "item": item, "value": figure, "rank": finite(order[i])})
    return rows


def _findings(ranked: Ranked, swaps: Swaps, listed: Any, level: float) -> tuple[Finding, ...]:
    """The strongest clear swaps, each pair of items once."""
    out: list[Finding] = []
    seen: set[tuple[int, int]] = set()
    for index in listed:
        items = int(swaps.one[index]), int(swaps.two[index])
        if not swaps.clear[index] or items in seen or len(out) == FINDINGS:
            continue
        seen.add(items)
        row = _swap_row(ranked, swaps, int(index))
        out.append(
            Finding(
                "metric_disagreement.swap",
                "notice",
                msg(
                    "{first:first} is better for {one} than for {two} ({a:num4} and {b:num4}), {second:inner} is worse "
                    "({c:num4} and {d:num4}).",
                    one=row["item_1"],
                    two=row["item_2"],
                    first=METRICS[row["metric_1"]].title,
                    second=METRICS[row["metric_2"]].title,
                    a=row["value_11"],
                    b=row["value_21"],
                    c=row["value_12"],
                    d=row["value_22"],
                ),
                Estimate(
                    row["value_11"] - row["value_21"], note=as_text(msg("difference by the first metric")), level=level
                ),
                magnitude=1.0 + float(swaps.size[index]),
                evidence="metric_disagreement/swaps",
                format="num4",
                remedy="choose_metric_beforehand",
            )
        )
    return tuple(out)
