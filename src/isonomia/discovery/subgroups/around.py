"""The lattice around one subgroup: what it is without one of its conditions, and what one more makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.counting import Codes, count_by, sum_by
from isonomia.discovery.subgroups.conditions import condition_text, slice_text
from isonomia.discovery.subgroups.method import Subgroup
from isonomia.errors import SpecError
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.languages import msg
from isonomia.languages.naming import together

if TYPE_CHECKING:
    from isonomia.discovery.subgroups.result import SubgroupResult

#: Fewer rows than this say little about one more condition.
FEWEST = 30
_COLUMNS = (
    Column("relation", title=msg("Relation")),
    Column("slice", title=msg("Subgroup")),
    Column("size", format="int", title=msg("Rows")),
    Column("outcome", format="num", title=msg("Outcome")),
    Column("diff_outcome", format="num", title=msg("Difference from everyone")),
)


def around(result: SubgroupResult, index: int, *, k: int = 10) -> Result:
    """A table of neighbours with their sizes and outcomes, and its picture."""
    if not 0 <= index < len(result.subgroups):
        raise SpecError(f"`index` must be a row of the table, 0 to {len(result.subgroups) - 1}; got {index!r}.")
    subgroup, outcome = result.subgroups[index], result.outcome
    if outcome is None:
        raise SpecError(
            "Neighbours of a subgroup are measured on rows, and these rows are counted where they are. Read some of "
            "them into memory (data.rows(100_000)) and search these."
        )
    if subgroup.member is not None or subgroup.without:
        raise SpecError(
            f"Subgroup {index} is not a conjunction of conditions, so it has no neighbours with one condition more "
            "or less. Search with a method that finds conjunctions, such as 'sliceline'."
        )
    rows = [_row(msg("this subgroup"), subgroup, result.features, outcome)]
    for name in subgroup.conditions:
        rest = {other: codes for other, codes in subgroup.conditions.items() if other != name}
        rows.append(_row(msg("without a condition"), Subgroup(rest), result.features, outcome))
    rows += _children(subgroup, result.features, outcome, k)
    title = msg("Around {slice}", slice=slice_text(subgroup, result.features))
    table = Table.from_rows(rows, _COLUMNS, title=title, backend=result.tables["subgroups"].backend)
    picture = Picture("bars", "around", title, {"labels": "slice", "value": "diff_outcome", "n": "size"})
    return Result("subgroups.around", title, {"around": table}, pictures=(picture,))


def _row(relation: Any, subgroup: Subgroup, features: Mapping[str, Codes], outcome: Any) -> dict[str, Any]:
    mask = subgroup.mask(features)
    mean = float(outcome[mask].mean()) if mask.any() else None
    return {
        "relation": relation,
        "slice": slice_text(subgroup, features),
        "size": int(mask.sum()),
        "outcome": mean,
        "diff_outcome": None if mean is None else mean - float(outcome.mean()),
    }


def _children(subgroup: Subgroup, features: Mapping[str, Codes], outcome: Any, k: int) -> list[dict[str, Any]]:
    """One more condition: every value of every other feature, counted over the rows of the subgroup alone."""
    mask = subgroup.mask(features)
    mine, everyone = outcome[mask], float(outcome.mean())
    found: list[dict[str, Any]] = []
    for name, column in features.items():
        if name in subgroup.conditions:
            continue
        codes = column.codes[mask]
        sizes = count_by(codes, column.size)
        sums = sum_by(codes, mine, column.size)
        for code in np.flatnonzero((sizes >= FEWEST) & (sizes < mine.size)).tolist():
            mean = float(sums[code] / sizes[code])
            parts = [slice_text(subgroup, features)] if subgroup.conditions else []
            found.append(
                {
                    "relation": msg("with one more"),
                    "slice": together([*parts, condition_text(column, (code,))]),
                    "size": int(sizes[code]),
                    "outcome": mean,
                    "diff_outcome": mean - everyone,
                }
            )
    own = float(mine.mean()) if mine.size else 0.0
    return sorted(found, key=lambda row: -abs(row["outcome"] - own))[:k]
