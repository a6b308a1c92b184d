"""Local robustness as tables, findings and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.data import Backend
from isonomia.evidence import (
    Column,
    Estimate,
    Finding,
    Format,
    Picture,
    Table,
    benjamini_hochberg,
    normal_quantile,
    welch,
    wilson,
)
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import number, together
from isonomia.models import Surface
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.local_robustness import Firmness, LocalRobustness


#: More fragile decisions than this share of rows are reported; so are groups that flip this much more often.
SHARE, GAP = 0.1, 0.02
#: A group's p-value has to be below this after adjusting.
ALPHA = 0.05
#: Maximum number of changes written out per row.
CHANGES = 4


def show(firm: Firmness, backend: Backend) -> LocalRobustness:
    """The result that a user sees."""
    from isonomia.robustness.perturbation.local_robustness import LocalRobustness

    tables = {"fragile": _fragile_table(firm, backend)}
    pictures = []
    groups = _groups(firm)
    if groups:
        tables["groups"] = _group_table(firm, groups, backend)
        pictures.append(
            Picture(
                "forest",
                "groups",
                msg("Perturbed copies with another decision, by group"),
                {"labels": ["attribute", "group"], "value": "flips", "flag": "small"},
            )
        )
    if firm.nearest is not None and np.isfinite(firm.nearest.distance).any():
        tables["flips"] = _flip_table(firm, backend)
        pictures.append(
            Picture(
                "bars",
                "flips",
                msg("Features that change in the nearest flips"),
                {"labels": "feature", "value": "share"},
            )
        )
    tables["distribution"] = _distribution(firm, backend)
    pictures.insert(
        0,
        Picture(
            "histogram",
            "distribution",
            msg("Stability of decisions"),
            {
                "left": "left",
                "right": "right",
                "count": "share",
                "reference": firm.fragile,
                "reference_label": msg("fragile"),
            },
        ),
    )
    values, titles = _values(firm)
    findings = [*_overall_finding(firm, values["fragile_share"]), *_group_findings(firm, groups)]
    distance = firm.nearest.distance if firm.nearest is not None else np.full(len(firm.scores), np.nan)
    return LocalRobustness(
        "local_robustness",
        msg("Local robustness"),
        tables,
        values,
        tuple(findings),
        tuple(pictures),
        _notes(firm),
        titles=titles,
        formats={"mean_score": "pct", "fragile_share": "pct"},
        scores=firm.scores,
        deviation=firm.deviation,
        distance=distance,
    )


# --- rows ------------------------------------------------------------------------------------------------------------


def ranked(firm: Firmness) -> NDArray[np.intp]:
    """Rows from the most fragile on: by score, then by the distance of the nearest flip, then by the mean change."""
    distance = firm.nearest.distance if firm.nearest is not None else np.full(len(firm.scores), np.nan)
    return np.lexsort((-firm.deviation, np.where(np.isnan(distance), np.inf, distance), firm.scores))


def _fragile_table(firm: Firmness, backend: Backend) -> Table:
    rows = ranked(firm)[: firm.most_rows]
    columns: dict[str, Any] = {
        "row": rows,
        "score": firm.scores[rows],
        "low": firm.low[rows],
        "high": firm.high[rows],
        "deviation": firm.deviation[rows],
        "prediction": [_predicted(firm.altering.predicted, int(row)) for row in rows],
    }
    if firm.nearest is not None:
        found = np.isfinite(firm.nearest.distance[rows])
        columns["distance"] = firm.nearest.distance[rows]
        columns["changes"] = [_changes(firm, int(row)) if there else "" for row, there in zip(rows, found, strict=True)]
        columns["then"] = [
            _predicted(firm.after, int(row)) if there and firm.after is not None else ""
            for row, there in zip(rows, found, strict=True)
        ]
        columns["note"] = [None if there else msg("no flip was found") for there in found]
    formats: dict[str, Format] = {
        "row": "int",
        "score": "pct",
        "low": "pct",
        "high": "pct",
        "deviation": "num",
        "distance": "num",
    }
    titles = {
        "row": msg("Row"),
        "score": msg("Same decision"),
        "low": msg("from"),
        "high": msg("to"),
        "deviation": msg("Mean change of the prediction"),
        "prediction": msg("Prediction"),
        "distance": msg("Nearest flip"),
        "changes": msg("What flips it"),
        "then": msg("Prediction after the flip"),
        "note": msg("note"),
    }
    if firm.tolerance is not None:
        titles["deviation"] = msg("Mean change, in tolerances")
    kept = {name: style for name, style in formats.items() if name in columns}
    names = {name: title for name, title in titles.items() if name in columns}
    return Table.of(columns, kept, names, msg("The most fragile rows"), backend)


def _predicted(surface: Surface, row: int) -> str:
    if surface.label is not None:
        return str(surface.classes[int(surface.label[row])])
    values = next(v for v in (surface.continuous, surface.probability, surface.score) if v is not None)
    return number(float(values[row])) if values.ndim == 1 else ", ".join(f"{value:.3g}" for value in values[row])


def _changes(firm: Firmness, row: int) -> str:
    assert firm.nearest is not None
    before, after = firm.altering.rows[row], firm.nearest.rows[row]
    moved = [
        Name(
            Message(
                "{name}: {before} → {after}",
                {"name": feature.name, "before": feature.localized(float(a)), "after": feature.localized(float(b))},
            )
        )
        for feature, a, b in zip(firm.altering.columns.features, before, after, strict=True)
        if a != b and not (np.isnan(a) and np.isnan(b))
    ]
    more = [f"… (+{len(moved) - CHANGES})"] if len(moved) > CHANGES else []
    return together([*moved[:CHANGES], *more], "; ")


def _flip_table(firm: Firmness, backend: Backend) -> Table:
    """In what share of the nearest flips each feature changes, and by how much."""
    assert firm.nearest is not None
    columns, found = firm.altering.columns, np.isfinite(firm.nearest.distance)
    before, after = firm.altering.rows[found], firm.nearest.rows[found]
    changed = (after != before) & ~(np.isnan(after) & np.isnan(before))
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(columns.numeric, np.abs(after - before) / columns.spread, np.nan)
    w = np.ones(len(before)) if firm.weights is None else firm.weights[found]
    share = (w @ changed) / w.sum()
    moves = [float(np.mean(size[hit, i])) if hit.any() else np.nan for i, hit in enumerate(changed.T)]
    order = np.argsort(-share, kind="stable")
    return Table(
        (
            Column("feature", [columns.features[index].name for index in order], title=msg("Feature")),
            Column("share", share[order], format="pct", title=msg("Nearest flips that change it")),
            Column("move", np.array(moves)[order], format="num", title=msg("Mean change, in standard deviations")),
            Column(
                "note",
                [_why_no_move(bool(columns.numeric[index]), bool(changed[:, index].any())) for index in order],
                title=msg("note"),
            ),
        ),
        msg("What flips decisions"),
        backend,
    )


def _why_no_move(number: bool, changed: bool) -> Message | None:
    if not changed:
        return msg("no nearest flip changes it")
    return None if number else msg("a category is replaced, not shifted")


def _distribution(firm: Firmness, backend: Backend) -> Table:
    bins = min(firm.n_iterations, 10)
    edges = np.linspace(0, 1, bins + 1)
    # by whole numbers of copies: shares such as 3 / 10 lie on either side of an edge
    kept = np.rint(firm.scores * firm.n_iterations).astype(np.intp)
    index = np.minimum(kept * bins // firm.n_iterations, bins - 1)
    counts = sum_by(index, firm.weights, bins)
    return Table(
        (
            Column("left", edges[:-1], format="pct", title=msg("from")),
            Column("right", edges[1:], format="pct", title=msg("to")),
            Column("share", counts / counts.sum(), format="pct", title=msg("Share of rows")),
        ),
        msg("Share of copies with the same decision"),
        backend,
    )


# --- groups ----------------------------------------------------------------------------------------------------------


def _groups(firm: Firmness) -> list[dict[str, Any]]:
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


def _group_table(firm: Firmness, groups: list[dict[str, Any]], backend: Backend) -> Table:
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


# --- the result ------------------------------------------------------------------------------------------------------


def _values(firm: Firmness) -> tuple[dict[str, Any], dict[str, Message]]:
    n, w = len(firm.scores), firm.weights
    size = effective_rows(n, w)
    mean, low, high = mean_interval(firm.scores, w, firm.level)
    share = mean_interval((firm.scores < firm.fragile).astype(float), w, firm.level)[0]
    ends = wilson(share * size, size, firm.level)
    values: dict[str, Any] = {
        "mean_score": Estimate(mean, low, min(high, 1.0), n=n, method="normal", level=firm.level),
        "fragile_share": Estimate(share, float(ends[0]), float(ends[1]), n=n, method="wilson", level=firm.level),
    }
    if firm.nearest is not None:
        found = np.isfinite(firm.nearest.distance)
        values["flips_found"] = int(found.sum())
        if found.any():
            values["median_distance"] = float(np.median(firm.nearest.distance[found]))
        values["queries"] = firm.nearest.queries
    titles = {
        "mean_score": msg("Copies with the same decision"),
        "fragile_share": msg("Fragile decisions"),
        "flips_found": msg("Rows with a flip found"),
        "median_distance": msg("Median distance of the nearest flip"),
        "queries": msg("Queries per row"),
    }
    if firm.tolerance is not None:
        titles |= {"mean_score": msg("Copies with the same prediction"), "fragile_share": msg("Fragile predictions")}
    return values, titles


def _notes(firm: Firmness) -> tuple[Message, ...]:
    notes = [
        msg(
            "{n:int} copies of each row, perturbed at level {level:num}: a decision that survives fewer than "
            "{least:pct} of them is called fragile.",
            n=firm.n_iterations,
            level=firm.strength,
            least=firm.fragile,
        )
    ]
    if firm.tolerance is not None:
        notes.append(msg("A prediction that changes by at most {size:num} counts as the same.", size=firm.tolerance))
    if firm.nearest is not None:
        notes.append(
            msg(
                "Distances are in standard deviations; a changed category counts as 1. They belong to the nearest "
                "flips found: the true distances can only be shorter."
            )
        )
        lost = int(np.isnan(firm.nearest.distance).sum())
        if lost:
            notes.append(msg("No flip was found for {n:# row|# rows}.", n=lost))
    columns = firm.altering.columns
    same = [feature.name for feature, flat in zip(columns.features, columns.constant, strict=True) if flat]
    if same:
        notes.append(msg("Constant columns get no noise: {names}.", names=", ".join(same)))
    for name, reason in firm.altering.left.items():
        notes.append(msg("The column {name} was left as it is: {reason}", name=name, reason=reason))
    return tuple(notes)


def _overall_finding(firm: Firmness, share: Estimate) -> list[Finding]:
    if share.value is None or share.low is None or share.low <= SHARE:
        return []
    gaps = {"share": share.value, "least": 1.0 - firm.fragile, "level": firm.strength, "n": len(firm.scores)}
    return [
        Finding(
            "local_robustness.fragile",
            "warning",
            _how_many(firm, gaps),
            share,
            n=len(firm.scores),
            magnitude=share.value / SHARE,
            threshold=SHARE,
            evidence="local_robustness/distribution",
            format="pct",
            topic="disturbance",
            remedy="review_borderline_cases",
        )
    ]


def _how_many(firm: Firmness, gaps: dict[str, Any]) -> Message:
    if firm.tolerance is not None:
        return msg(
            "{share:pct} of predicted numbers change by more than {size:num} in more than {least:pct} of copies "
            "perturbed at level {level:num} ({n:# row|# rows}).",
            size=firm.tolerance,
            **gaps,
        )
    return msg(
        "{share:pct} of decisions change in more than {least:pct} of copies perturbed at level {level:num} ({n:# "
        "row|# rows}).",
        **gaps,
    )


def _group_findings(firm: Firmness, groups: list[dict[str, Any]]) -> list[Finding]:
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
