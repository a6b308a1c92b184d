"""What DivExplorer shows besides its subgroups: contributions of items, here and everywhere, and corrective ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isonomia.discovery.subgroups.conditions import condition_text, slice_text
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.searches.divergence import Divergence, Patterns
from isonomia.evidence import Column, Picture, Table
from isonomia.languages import msg
from isonomia.languages.naming import together

#: Items drawn in a picture of contributions.
_DRAWN = 20


METRIC, SUBGROUP, ITEM = (
    Column("metric", title=msg("Metric")),
    Column("slice", title=msg("Subgroup")),
    Column("item", title=msg("Item")),
)
CONTRIBUTION = Column("contribution", format="num4", title=msg("Contribution"))
DIVERGENCE = Column("divergence", format="num4", title=msg("Divergence"))
UNDEFINED = msg("no row with it is used by this metric")


class Found(NamedTuple):
    """A subgroup, where it stands among all patterns, and the metric it was found by."""

    subgroup: Subgroup
    position: int
    part: Divergence


def divergence_tables(problem: Problem, patterns: Patterns, found: list[Found]) -> dict[str, Table]:
    local: list[dict[str, Any]] = []
    for subgroup, position, part in found:
        shares = patterns.contributions(position, part.divergence)
        items = patterns.items(position)
        local += [
            {
                "metric": part.quantity.id,
                "slice": slice_text(subgroup, problem.by_name),
                "item": _item(problem, patterns, item),
                "contribution": float(share),
            }
            for item, share in zip(items, shares, strict=True)
        ]
    overall: list[dict[str, Any]] = []
    corrective: list[dict[str, Any]] = []
    for part in patterns.divergences:
        overall += _global_rows(problem, patterns, part)
        corrective += _corrective_rows(problem, patterns, part)
    return {
        "contributions": Table.from_rows(
            local,
            (METRIC, SUBGROUP, ITEM, CONTRIBUTION),
            title=msg("What each item adds to the divergence of a subgroup"),
            backend=problem.backend,
        ),
        "global_contributions": Table.from_rows(
            overall,
            (METRIC, ITEM, CONTRIBUTION, DIVERGENCE, Column("note", title=msg("note"))),
            title=msg("What each item adds to divergence over all subgroups"),
            backend=problem.backend,
        ),
        "corrective": Table.from_rows(
            corrective,
            (
                *(METRIC, SUBGROUP, ITEM, DIVERGENCE),
                Column("with_item", format="num4", title=msg("Divergence with the item")),
                Column("correction", format="num4", title=msg("Correction")),
                Column("size", format="int", title=msg("Rows")),
            ),
            title=msg("Items that bring a subgroup closer to everyone"),
            backend=problem.backend,
        ),
    }


def _item(problem: Problem, patterns: Patterns, item: int) -> str:
    lattice = patterns.lattice
    return condition_text(problem.features[lattice.item_feature[item]], (int(lattice.item_code[item]),))


def _global_rows(problem: Problem, patterns: Patterns, part: Divergence) -> list[dict[str, Any]]:
    values = patterns.global_contributions(part.divergence)
    order = np.argsort(-np.abs(values), kind="stable")
    return [
        {
            "metric": part.quantity.id,
            "item": _item(problem, patterns, item),
            "contribution": float(values[item]),
            "divergence": None if np.isnan(part.divergence[item]) else float(part.divergence[item]),
            "note": UNDEFINED if np.isnan(part.divergence[item]) else None,
        }
        for item in order.tolist()
    ]


def _corrective_rows(problem: Problem, patterns: Patterns, part: Divergence) -> list[dict[str, Any]]:
    rows = []
    for before, item, after, gain in patterns.corrections(part.divergence, problem.options["n_corrective"]):
        conditions = patterns.lattice.conditions(patterns.items(before))
        texts = [condition_text(problem.features[feature], (code,)) for feature, code in sorted(conditions.items())]
        rows.append(
            {
                "metric": part.quantity.id,
                "slice": together(texts),
                "item": _item(problem, patterns, item),
                "divergence": float(part.divergence[before]),
                "with_item": float(part.divergence[after]),
                "correction": gain,
                "size": int(patterns.sums[after, 0]),
            }
        )
    return rows


def divergence_pictures(tables: dict[str, Table], found: list[Found], problem: Problem) -> tuple[Picture, ...]:
    if not found:
        return ()
    first, _, part = found[0]
    text = slice_text(first, problem.by_name)
    drawn = list(dict.fromkeys(tables["global_contributions"]["item"].values))[:_DRAWN]
    return (
        Picture(
            "bars",
            "contributions",
            msg("What each item adds to the divergence of {slice}", slice=text),
            {"labels": "item", "value": "contribution", "where": {"slice": text, "metric": part.quantity.id}},
        ),
        Picture(
            "bars",
            "global_contributions",
            msg("What each item adds to divergence over all subgroups"),
            {"labels": "item", "value": "contribution", "color": "metric", "where": {"item": drawn}},
        ),
    )
