"""Drift as tables, findings and pictures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Picture, Result, Table
from isonomia.languages import ColumnName, Message, Name, msg

if TYPE_CHECKING:
    from isonomia.robustness.shift.drift import Drift, Shift

#: Population stability from which a shift is reported, and from which it is large (usual in credit scoring).


def show(found: Drift, backend: Backend, second: Table | None) -> Result:
    """The result that a user sees."""
    n = len(found.shifts)
    drifted = found.adjusted[:n] < found.alpha
    tables = {"variables": _variables(found, drifted, backend)}
    if found.groups:
        tables["groups"] = _group_table(found, backend)
    if second is not None:
        tables["evidently"] = second
    pictures = [
        Picture(
            "bars",
            "variables",
            msg("Jensen-Shannon distance of each variable"),
            {"labels": ["role", "variable"], "value": "jensen_shannon"},
        )
    ]
    if found.groups:
        pictures.append(
            Picture(
                "bars",
                "groups",
                msg("Shares of groups, before and now"),
                {"labels": ["attribute", "group"], "value": ["reference", "current"]},
            )
        )
    features = [i for i, shift in enumerate(found.shifts) if shift.role == "feature"]
    values: dict[str, Any] = {
        "drifted_features": int(drifted[features].sum()),
        "features": len(features),
        "dataset_drift": bool(drifted.any() or (found.joint_p is not None and found.adjusted[-1] < found.alpha)),
    }
    if found.joint is not None:
        values["auc"] = found.joint
    titles = {
        "drifted_features": msg("Features that drifted"),
        "features": msg("Features compared"),
        "dataset_drift": msg("Drift"),
        "auc": msg("AUC of a classifier between the samples"),
    }
    findings = [_finding(found, int(i)) for i in np.flatnonzero(drifted)]
    if found.joint is not None and found.joint_p is not None and found.adjusted[-1] < found.alpha:
        findings.append(_joint(found))
    note = (
        msg(
            "The chance of any false alarm among all {n:int} tests is at most {alpha:pct} (Holm).",
            n=found.adjusted.size,
            alpha=found.alpha,
        )
        if found.adjust == "holm"
        else msg(
            "Of the variables reported, at most {alpha:pct} are expected to be false alarms (Benjamini-Hochberg over "
            "{n:int} tests).",
            n=found.adjusted.size,
            alpha=found.alpha,
        )
    )
    notes = [note]
    if second is not None:
        notes.append(
            msg("Evidently's chi-square takes the shares of the reference as known, so its p-values are smaller.")
        )
    return Result("drift", msg("Drift"), tables, values, tuple(findings), tuple(pictures), tuple(notes), titles=titles)


def role_name(role: str) -> Message:
    """What a variable is for, as a word."""
    return {
        "feature": msg("feature"),
        "target": msg("target"),
        "prediction": msg("prediction"),
        "group": msg("group"),
    }[role]


def _variable(shift: Shift) -> str:
    """What a variable is called; predictions have no column of the data."""
    return Name(role_name(shift.role)) if shift.role == "prediction" else shift.name


def _variables(found: Drift, drifted: Any, backend: Backend) -> Table:
    shifts = found.shifts
    return Table(
        (
            Column("variable", [_variable(shift) for shift in shifts], title=msg("Variable")),
            Column("role", [role_name(shift.role) for shift in shifts], title=msg("Role")),
            Column(
                "test",
                ["Kolmogorov-Smirnov" if shift.found.test == "ks" else Name(msg("chi-square")) for shift in shifts],
                title=msg("Test"),
            ),
            Column("statistic", [shift.found.statistic for shift in shifts], format="num", title=msg("Statistic")),
            Column("p_value", [shift.p_value for shift in shifts], format="p", title=msg("p-value")),
            Column("p_adjusted", found.adjusted[: len(shifts)], format="p", title=msg("Adjusted p-value")),
            Column("drifted", [bool(value) for value in drifted], title=msg("Drifted")),
            Column("wasserstein", format="num", title=msg("Wasserstein distance")).filled(
                [_or_why(shift.found.wasserstein, shift) for shift in shifts]
            ),
            Column("wasserstein_sd", format="num", title=msg("Wasserstein, in standard deviations")).filled(
                [_or_why(_in_sd(shift), shift) for shift in shifts]
            ),
            Column(
                "psi", [shift.found.psi for shift in shifts], format="num4", title=msg("Population stability index")
            ),
            Column("psi_beyond_noise", format="num4", title=msg("Stability index beyond noise")).filled(
                [shift.found.stability for shift in shifts]
            ),
            Column(
                "jensen_shannon",
                [shift.found.jensen_shannon for shift in shifts],
                format="num4",
                title=msg("Jensen-Shannon distance"),
            ),
            Column("mean_reference", format="num", title=msg("Mean before")).filled(
                [_or_why(shift.mean[0], shift) for shift in shifts]
            ),
            Column("mean_current", format="num", title=msg("Mean now")).filled(
                [_or_why(shift.mean[1], shift) for shift in shifts]
            ),
            Column(
                "missing_reference", [shift.missing[0] for shift in shifts], format="pct", title=msg("Missing before")
            ),
            Column("missing_current", [shift.missing[1] for shift in shifts], format="pct", title=msg("Missing now")),
        ),
        msg("Every variable, before and now"),
        backend,
    )


def _or_why(figure: Estimate | float | None, shift: Shift) -> Estimate | float | Message:
    """A figure, or the reason why there is none."""
    if isinstance(figure, Estimate) and figure.value is not None and np.isfinite(figure.value):
        return figure
    if isinstance(figure, float) and np.isfinite(figure):
        return figure
    if shift.found.test != "ks":
        return msg("categories have no mean and no distance")
    if any(mean is None or np.isnan(mean) for mean in shift.mean):
        return msg("no finite value before, or none now")
    if shift.scale is not None:
        return msg("the numbers are too large for a standard deviation")
    return msg("all values were the same before, so the standard deviation is 0")


def _in_sd(shift: Shift) -> Estimate | None:
    found, scale = shift.found.wasserstein, shift.scale
    if found is None or found.value is None or scale is None or not np.isfinite(found.value / scale):
        return None
    low, high = (None if end is None else end / scale for end in (found.low, found.high))
    return replace(found, value=found.value / scale, low=low, high=high)


_GROUPS = (
    Column("attribute", title=msg("protected attribute")),
    Column("group", title=msg("group")),
    Column("n_reference", format="int", title=msg("Rows before")),
    Column("n_current", format="int", title=msg("Rows now")),
    Column("reference", format="pct", title=msg("Share before")),
    Column("current", format="pct", title=msg("Share now")),
    Column("difference", format="points", title=msg("Difference")),
)


def _group_table(found: Drift, backend: Backend) -> Table:
    rows = []
    for part in found.groups:
        n, m = part.reference.sum(), part.current.sum()
        for group, a, b in zip(part.groups, part.reference, part.current, strict=True):
            shares = {"reference": float(a / n), "current": float(b / m), "difference": float(b / m - a / n)}
            rows.append(
                {"attribute": part.attribute, "group": group, "n_reference": int(a), "n_current": int(b), **shares}
            )
    return Table.from_rows(rows, _GROUPS, title=msg("Shares of groups"), backend=backend)


def _sentence(shift: Shift) -> Message:
    in_sd = _in_sd(shift)
    psi = {"psi": shift.found.psi, "beyond": shift.found.stability.value}
    if shift.role == "prediction":
        if in_sd is None:
            return msg(
                "The predictions have changed: their shares differ (stability index {psi:num}, beyond noise "
                "{beyond:num}).",
                **psi,
            )
        return msg(
            "The predictions have changed: they moved by {sd:num} standard deviations (stability index {psi:num}, "
            "beyond noise {beyond:num}).",
            sd=in_sd,
            **psi,
        )
    gaps = {"variable": ColumnName(shift.name), "role": role_name(shift.role), **psi}
    if in_sd is None:
        return msg(
            "The {role} {variable} has changed: its shares differ (stability index {psi:num}, beyond noise "
            "{beyond:num}).",
            **gaps,
        )
    return msg(
        "The {role} {variable} has changed: its values moved by {sd:num} standard deviations (stability index "
        "{psi:num}, beyond noise {beyond:num}).",
        sd=in_sd,
        **gaps,
    )


def _finding(found: Drift, i: int) -> Finding:
    shift = found.shifts[i]
    message, index = _sentence(shift), shift.found.stability
    assert index.value is not None  # every variable has one
    return Finding(
        f"drift.{shift.role}",
        THRESHOLDS["stability_index"].severity(index.value),
        message,
        index,
        columns=(shift.name,) if shift.role == "feature" else (),
        n=found.sizes[1],
        magnitude=index.value / (THRESHOLDS["stability_index"].warning or 1.0),
        p_value=shift.p_value,
        p_adjusted=float(found.adjusted[i]),
        test=("drift", "variables", i),
        threshold=THRESHOLDS["stability_index"].warning,
        evidence="drift/variables",
        remedy="measure_on_current_rows",
    )


def _joint(found: Drift) -> Finding:
    auc = found.joint
    assert auc is not None
    assert auc.value is not None
    return Finding(
        "drift.joint",
        "warning" if auc.value >= 0.6 else "notice",
        msg(
            "A classifier separates current rows from earlier ones with an AUC of {auc:num} ({low:num} to {high:num}).",
            auc=auc.value,
            low=auc.low,
            high=auc.high,
        ),
        auc,
        n=found.sizes[1],
        magnitude=(auc.value - 0.5) / 0.1,
        p_value=found.joint_p,
        p_adjusted=float(found.adjusted[-1]),
        threshold=0.5,
        evidence="drift/variables",
    )
