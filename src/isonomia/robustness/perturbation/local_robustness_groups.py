"""Whose decisions are more fragile: groups compared, as a table and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Backend
from isonomia.evidence import (
    Estimate,
    Finding,
    Format,
    Table,
    benjamini_hochberg,
    normal_quantile,
    welch,
)
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import Message, msg
from isonomia.languages.naming import together
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.local_robustness import Firmness


#: Groups that flip this much more often are reported, if the p-value is below ALPHA after adjusting.
GAP, ALPHA = 0.02, 0.05


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
    rows = []
    for code in present:
        inside = column.codes == code
        own = _mean(firm, flips, inside)
        compared = code not in reference
        enough = compared and counts[code] >= firm.min_per_group and against.sum() >= firm.min_per_group
        p = welch(own[0], own[1], own[2] - 1, base[0], base[1], base[2] - 1) if enough else np.nan
        distance = firm.nearest.distance[inside] if firm.nearest is not None else np.empty(0)
        known = distance[np.isfinite(distance)]
        gap = own[0] - base[0]
        low, high = normal_interval(own[0], own[1], firm.level)
        gap_low, gap_high = normal_interval(gap, np.hypot(own[1], base[1]), firm.level)
        rows.append(
            {
                "attribute": column.name,
                "group": column.text(code),
                "n": int(counts[code]),
                "flips": own[0],
                "flips_low": max(float(low), 0.0),
                "flips_high": min(float(high), 1.0),
                "distance": float(np.median(known)) if known.size else None,
                "gap": gap if compared else None,
                "gap_low": float(gap_low) if compared else None,
                "gap_high": float(gap_high) if compared else None,
                "p_value": float(p),
                "reference": together(column.text(one) for one in reference),
                "base": base[0],
                "small": bool(counts[code] < firm.min_per_group),
                "level": firm.level,
                "note": _why_untested(firm, compared, enough)
                or (msg("no flip was found") if firm.nearest is not None and not known.size else None),
            }
        )
    return rows


def _why_untested(firm: Firmness, compared: bool, enough: bool) -> Message | None:
    if not compared:
        return msg("others are compared with it")
    few = msg("fewer than {least:int} rows: not tested", least=firm.min_per_group)
    return None if enough else few


def _mean(firm: Firmness, values: Floats, inside: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The mean, its standard error and the effective number of rows of a group."""
    w = None if firm.weights is None else firm.weights[inside]
    mean, low, _ = mean_interval(values[inside], w, firm.level)
    return mean, (mean - low) / normal_quantile(firm.level), effective_rows(int(inside.sum()), w)


def group_table(firm: Firmness, groups: list[dict[str, Any]], backend: Backend) -> Table:
    names = (
        "attribute",
        "group",
        "n",
        "flips",
        "flips_low",
        "flips_high",
        "distance",
        "reference",
        "gap",
        "gap_low",
        "gap_high",
        "p_value",
        "p_adjusted",
        "small",
        "note",
    )
    kept = [name for name in names if name != "distance" or firm.nearest is not None]
    texts = ("attribute", "group", "reference", "small", "n", "note")
    columns: dict[str, Any] = {
        name: [row[name] for row in groups] if name in texts else np.array([row[name] for row in groups], dtype=float)
        for name in kept
    }
    formats: dict[str, Format] = {
        "n": "int",
        "flips": "pct",
        "flips_low": "pct",
        "flips_high": "pct",
        "distance": "num",
        "gap": "points",
        "gap_low": "points",
        "gap_high": "points",
        "p_value": "p",
        "p_adjusted": "p",
    }
    titles = {
        "attribute": msg("protected attribute"),
        "group": msg("group"),
        "n": msg("Rows"),
        "flips": msg("Copies with another decision"),
        "flips_low": msg("from"),
        "flips_high": msg("to"),
        "distance": msg("Median distance of the nearest flip"),
        "reference": msg("Compared with"),
        "gap": msg("Difference"),
        "gap_low": msg("at least"),
        "gap_high": msg("at most"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("Adjusted p-value"),
        "small": msg("small group"),
        "note": msg("note"),
    }
    styles = {name: style for name, style in formats.items() if name in columns}
    heads = {name: title for name, title in titles.items() if name in columns}
    return Table.of(
        columns,
        styles,
        heads,
        msg("Are some people's decisions more fragile than others'?"),
        backend,
        intervals=("flips", "gap"),
    )


def group_findings(firm: Firmness, groups: list[dict[str, Any]]) -> list[Finding]:
    out = []
    for index, row in enumerate(groups):
        if row["gap"] is None or not abs(row["gap"]) > GAP or not row["p_adjusted"] < ALPHA:
            continue
        more = row["gap"] > 0  # otherwise those it is compared with are the more fragile ones: worth knowing
        gaps = {
            "group": condition(row["attribute"], row["group"]),
            "flips": row["flips"],
            "base": row["base"],
            "reference": row["reference"],
            "n": row["n"],
        }
        out.append(
            Finding(
                "local_robustness.group",
                "warning" if more else "notice",
                msg(
                    "Decisions about {group} change in {flips:pct} of perturbed copies, compared with {base:pct} for "
                    "{reference} ({n:# row|# rows}).",
                    **gaps,
                )
                if firm.tolerance is None
                else msg(
                    "Predicted numbers of {group} change by more than {size:num} in {flips:pct} of perturbed copies, "
                    "compared with {base:pct} for {reference} ({n:# row|# rows}).",
                    size=firm.tolerance,
                    **gaps,
                ),
                Estimate(row["gap"], row["gap_low"], row["gap_high"], n=row["n"], method="normal", level=row["level"]),
                who={row["attribute"]: row["group"]},
                reference={row["attribute"]: row["reference"]},
                n=row["n"],
                magnitude=abs(row["gap"]) / GAP,
                p_value=row["p_value"],
                test=("local_robustness", "groups", index),
                p_adjusted=row["p_adjusted"],
                threshold=GAP,
                evidence="local_robustness/groups",
                format="points",
                remedy="improve_group_data" if more else None,
            )
        )
    return out
