"""Local robustness as tables, findings and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import sum_by
from isonomia.data import Backend
from isonomia.evidence import (
    THRESHOLDS,
    Column,
    Estimate,
    Finding,
    Picture,
    Table,
    wilson,
)
from isonomia.fairness.groups.averages import effective_rows, mean_interval
from isonomia.languages import Message, Name, msg
from isonomia.languages.naming import number, together
from isonomia.models import Surface
from isonomia.robustness.perturbation.local_robustness_groups import group_findings, group_table, measure_groups

if TYPE_CHECKING:
    from isonomia.robustness.perturbation.local_robustness import Firmness, LocalRobustness


#: Maximum number of changes written out per row.
CHANGES = 4


def show(firm: Firmness, backend: Backend | None) -> LocalRobustness:
    """The result that a user sees."""
    from isonomia.robustness.perturbation.local_robustness import LocalRobustness

    tables = {"fragile": _fragile_table(firm, backend)}
    pictures = []
    groups = measure_groups(firm)
    if groups:
        tables["groups"] = group_table(firm, groups, backend)
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
    findings = [*_overall_finding(firm, values["fragile_share"]), *group_findings(firm, groups)]
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


_FRAGILE = (
    Column("row", format="int", title=msg("Row")),
    Column("score", format="pct", title=msg("Same decision")),
    Column("low", format="pct", title=msg("from")),
    Column("high", format="pct", title=msg("to")),
    Column("deviation", format="num", title=msg("Mean change of the prediction")),
    Column("prediction", title=msg("Prediction")),
    Column("distance", format="num", title=msg("Nearest flip")),
    Column("changes", title=msg("What flips it")),
    Column("then", title=msg("Prediction after the flip")),
    Column("note", title=msg("note")),
)
_IN_TOLERANCES = Column("deviation", format="num", title=msg("Mean change, in tolerances"))


def _fragile_table(firm: Firmness, backend: Backend | None) -> Table:
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
    described = _FRAGILE if firm.tolerance is None else (*_FRAGILE, _IN_TOLERANCES)
    return Table.of(columns, described, title=msg("The most fragile rows"), backend=backend)


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


def _flip_table(firm: Firmness, backend: Backend | None) -> Table:
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


def _distribution(firm: Firmness, backend: Backend | None) -> Table:
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
    if share.value is None or share.low is None or share.low <= THRESHOLDS["fragile_share"].reported:
        return []
    gaps = {"share": share.value, "least": 1.0 - firm.fragile, "level": firm.strength, "n": len(firm.scores)}
    return [
        Finding(
            "local_robustness.fragile",
            "notice",
            _how_many(firm, gaps),
            share,
            n=len(firm.scores),
            magnitude=share.value / THRESHOLDS["fragile_share"].reported,
            threshold=THRESHOLDS["fragile_share"].reported,
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
