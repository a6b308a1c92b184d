"""Disagreement of metrics as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.counting import count_by, sum_by
from isonomia.data import Backend
from isonomia.evidence import Estimate, Finding, Format, Picture, Result, Table
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import METRICS
from isonomia.robustness.missing_reasons import of_value
from isonomia.robustness.row_tables import table_of_rows
from isonomia.robustness.stress.rankings import Swaps, find_swaps, kendall, ranks, spearman

if TYPE_CHECKING:
    from isonomia.robustness.stress.metric_disagreement import Ranked

#: Maximum number of swaps listed, and of findings.
SWAPS, FINDINGS = 200, 3

_HEADINGS = {
    "metric_1": msg("First metric"),
    "metric_2": msg("Second metric"),
    "tau": msg("Kendall's tau"),
    "rho": msg("Spearman's rho"),
    "swaps": msg("Swapped pairs"),
    "clear_swaps": msg("Clear swaps"),
    "item_1": msg("Better by the first"),
    "item_2": msg("Better by the second"),
    "value_11": msg("First metric of the former"),
    "value_21": msg("First metric of the latter"),
    "value_12": msg("Second metric of the former"),
    "value_22": msg("Second metric of the latter"),
    "clear": msg("Clear"),
    "metric": msg("metric"),
    "item": msg("Item"),
    "value": msg("Value"),
    "low": msg("from"),
    "high": msg("to"),
    "rank": msg("Rank"),
    "note": msg("note"),
}
_FORMATS: dict[str, Format] = {
    "tau": "num",
    "rho": "num",
    "swaps": "int",
    "clear_swaps": "int",
    "rank": "num",
    "value": "num4",
    "low": "num4",
    "high": "num4",
    "value_11": "num4",
    "value_21": "num4",
    "value_12": "num4",
    "value_22": "num4",
}
_SWAP = ("metric_1", "metric_2", "item_1", "item_2", "value_11", "value_21", "value_12", "value_22", "clear")


def show(ranked: Ranked, backend: Backend, level: float) -> Result:
    """The result that a user sees."""
    swaps = find_swaps(ranked.better, ranked.noise)
    agreement = _agreement(ranked, swaps)
    listed = swaps.strongest(SWAPS)
    records = [_swap_row(ranked, swaps, int(index)) for index in listed]

    def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: Message) -> Table:
        return table_of_rows(rows, names, title, backend, formats=_FORMATS, headings=_HEADINGS, intervals=("value",))

    tables = {
        "agreement": table(
            agreement,
            ("metric_1", "metric_2", "tau", "rho", "swaps", "clear_swaps", "note"),
            msg("Agreement of metrics on the ranking"),
        ),
        "swaps": table(records, _SWAP, msg("Pairs that two metrics put in opposite order")),
        "rankings": table(
            _rankings(ranked),
            ("metric", "item", "value", "low", "high", "rank", "note"),
            msg("Every item by every metric"),
        ),
    }
    known = [row["tau"] for row in agreement if not np.isnan(row["tau"])]
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
    if all(np.isnan(row["tau"]) for row in agreement):
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
    rows: list[dict[str, Any]] = [
        {
            "metric_1": ranked.metrics[a].id,
            "metric_2": ranked.metrics[b].id,
            "tau": float(tau[a, b]),
            "rho": spearman(ranked.better[:, a], ranked.better[:, b]),
            "swaps": int(number[a * m + b]),
            "clear_swaps": int(clear[a * m + b]),
            "note": msg("one of the metrics ranks all items equally") if np.isnan(tau[a, b]) else None,
        }
        for a, b in combinations(range(m), 2)
    ]
    return sorted(rows, key=lambda row: 2.0 if np.isnan(row["tau"]) else row["tau"])


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


def _rankings(ranked: Ranked) -> list[dict[str, Any]]:
    rows = []
    for m, metric in enumerate(ranked.metrics):
        order = ranks(-ranked.better[:, m])
        rows += [
            {
                "metric": metric.id,
                "item": item,
                "value": float(ranked.value[i, m]),
                "low": float(ranked.low[i, m]),
                "high": float(ranked.high[i, m]),
                "rank": float(order[i]),
                "note": of_value(metric, float(ranked.value[i, m]), float(ranked.low[i, m])),
            }
            for i, item in enumerate(ranked.items)
        ]
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
                    "{one} is better than {two} by {first} ({a:num4} and {b:num4}), and worse by {second} "
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
