"""Whose decisions are more fragile: groups compared, as a table and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Backend
from isonomia.evidence import (
    THRESHOLDS,
    Column,
    Estimate,
    Finding,
    Table,
    benjamini_hochberg,
    finite,
)
from isonomia.evidence.intervals import Figures, difference_interval, difference_p
from isonomia.fairness.groups.averages import mean_of_losses
from isonomia.languages import People, msg
from isonomia.languages.naming import as_text, together
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.local_robustness import Firmness


#: Groups that flip more often are reported if the p-value is below this after adjusting.
ALPHA = 0.05


def measure_groups(firm: Firmness) -> list[dict[str, Any]]:
    """Every group of every protected attribute against the privileged one, or the largest."""
    out: list[dict[str, Any]] = []
    for column in firm.groups:
        out += _attribute(firm, column)
    if not out:
        return []
    adjusted = benjamini_hochberg(np.array([row["p_value"] for row in out], dtype=float))
    return [{**row, "p_adjusted": float(p)} for row, p in zip(out, adjusted, strict=True)]


def _attribute(firm: Firmness, column: Codes) -> list[dict[str, Any]]:
    flips, counts = 1.0 - firm.scores, column.counts()
    present = [int(code) for code in np.flatnonzero(counts)]
    favoured = {str(value) for value in firm.privileged.get(column.name, ())}
    reference = [code for code in present if column.text(code) in favoured or str(column.labels[code]) in favoured]
    if not reference:
        reference = [max(present, key=lambda code: counts[code])]
    against = np.isin(column.codes, reference)
    base = _mean(firm, flips, against)
    few = as_text(msg("fewer than {least:int} rows: not tested", least=firm.min_per_group))
    alike = as_text(msg("values do not vary within either group: no interval and no test"))
    rows = []
    for code in present:
        inside = column.codes == code
        own = _mean(firm, flips, inside)
        compared = code not in reference
        enough = compared and counts[code] >= firm.min_per_group and against.sum() >= firm.min_per_group
        p = float(difference_p(own, base)[0]) if enough else np.nan
        distance = firm.nearest.distance[inside] if firm.nearest is not None else np.empty(0)
        known = distance[np.isfinite(distance)]
        share = own.value[0]
        low, high = own.known((1 - firm.level) / 2)[1:]
        gap_low, gap_high = difference_interval(own, base, firm.level)
        rows.append(
            {
                "attribute": column.name,
                "group": column.text(code),
                "n": int(counts[code]),
                "flips": (float(share), float(low[0]), min(float(high[0]), 1.0)),
                "distance": float(np.median(known)) if known.size else msg("no flip was found"),
                "gap": Estimate(
                    float(share - base.value[0]),
                    finite(gap_low[0]),
                    finite(gap_high[0]),
                    n=int(counts[code]),
                    method="hall",
                    note=few if not enough else alike if np.isnan(gap_low[0]) else None,
                    level=firm.level,
                )
                if compared
                else Estimate.missing(msg("others are compared with it")),
                "p_value": p,
                "reference": together(column.text(one) for one in reference),
                "base": float(base.value[0]),
                "small": bool(counts[code] < firm.min_per_group),
            }
        )
    return rows


def _mean(firm: Firmness, flips: Floats, inside: NDArray[np.bool_]) -> Figures:
    """The mean share of flips of a group: most people have none, a few have many."""
    return mean_of_losses(flips[inside], None if firm.weights is None else firm.weights[inside])


def group_table(firm: Firmness, groups: list[dict[str, Any]], backend: Backend | None) -> Table:
    """Groups and how often their decisions flip, each against the reference."""
    columns = (
        Column("attribute", title=msg("protected attribute")),
        Column("group", title=msg("group")),
        Column("n", format="int", title=msg("Rows")),
        Column("flips", format="pct", title=msg("Copies with another decision")),
        Column("distance", format="num", title=msg("Median distance of the nearest flip")),
        Column("reference", title=msg("Compared with")),
        Column("gap", format="points", title=msg("Difference")),
        Column("p_value", format="p", title=msg("p-value")),
        Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
        Column("small", title=msg("small group")),
    )
    shown = [column for column in columns if column.name != "distance" or firm.nearest is not None]
    title = msg("Are some people's decisions more fragile than others'?")
    return Table.from_rows(groups, shown, title=title, backend=backend)


def group_findings(firm: Firmness, groups: list[dict[str, Any]]) -> list[Finding]:
    """Groups whose decisions are clearly more, or less, fragile than the reference's."""
    out = []
    limits = THRESHOLDS["robustness_gap"]
    for index, row in enumerate(groups):
        gap = row["gap"].value
        if gap is None or not abs(gap) > limits.reported or not row["p_adjusted"] < ALPHA:
            continue
        more = gap > 0  # otherwise those it is compared with are the more fragile ones: worth knowing
        gaps = {
            "group": People.of({row["attribute"]: row["group"]}),
            "flips": row["flips"][0],
            "base": row["base"],
            "reference": People.of({row["attribute"]: row["reference"]}),
            "n": row["n"],
        }
        out.append(
            Finding(
                "local_robustness.group",
                limits.severity(gap),
                msg(
                    "Decisions about {group} change in {flips:pct} of slightly altered copies, those about "
                    "{reference} in {base:pct} ({n:# person|# people}).",
                    **gaps,
                )
                if firm.tolerance is None
                else msg(
                    "Predicted numbers of {group} change by more than {size:num} in {flips:pct} of perturbed copies, "
                    "compared with {base:pct} for {reference} ({n:# row|# rows}).",
                    size=firm.tolerance,
                    **gaps,
                ),
                row["gap"],
                who={row["attribute"]: row["group"]},
                reference={row["attribute"]: row["reference"]},
                n=row["n"],
                magnitude=abs(gap) / limits.reported,
                p_value=row["p_value"],
                test=("local_robustness", "groups", index),
                p_adjusted=row["p_adjusted"],
                threshold=limits.reported,
                evidence="local_robustness/groups",
                format="points",
                remedy="improve_group_data" if more else None,
            )
        )
    return out
