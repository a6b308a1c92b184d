"""Train-test gaps as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Estimate, Finding, Format, Picture, Result, Table
from isonomia.evidence.intervals import normal_quantile
from isonomia.evidence.simultaneous import simultaneous_level
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.robustness.slices.spot_merging import spelt

if TYPE_CHECKING:
    from isonomia.robustness.slices.overfit import Comparison, Gaps

#: Maximum number of rows of pairs in the table, of findings, and of features in the picture.
MOST_PAIRS, FINDINGS, DRAWN = 50, 10, 4


def show(found: Comparison, backend: Backend) -> Result:
    """The result that a user sees."""
    rows = [row for part in found.singles for row in _rows(found, part)]
    crossed = [row for part in found.pairs for row in _rows(found, part)]
    widened = [_picked(found, row) for row in [*rows, *crossed]]
    worst = sorted((row for row in widened if row["overfit"]), key=lambda row: (-row["gap_low"], -row["gap"]))
    tables = {
        "slices": _table(found, rows, msg("Train and test, slice by slice"), backend),
        "worst": _table(found, worst, msg("Overfitted slices"), backend, tested=False),
        "features": _feature_table(found, backend),
    }
    if found.pairs:
        tested = (row for row in widened[len(rows) :] if row["p_value"] is not None)
        shown = sorted(tested, key=lambda row: -row["gap"])
        tables["pairs"] = _table(
            found, shown[:MOST_PAIRS], msg("Pairs of slices with the largest gaps"), backend, tested=False
        )
    overall = found.overall
    n = int(overall.n_train[0] + overall.n_test[0])
    values = {
        "train": _estimate(found, overall.train[0], n=int(overall.n_train[0])),
        "test": _estimate(found, overall.test[0], n=int(overall.n_test[0])),
        "gap": _estimate(found, overall.gap[0], overall.low[0], overall.high[0], n=n, level=found.level),
        "overfitted_slices": len(worst),
    }
    titles = {
        "train": msg("On training rows"),
        "test": msg("On other rows"),
        "gap": msg("Train-test gap"),
        "overfitted_slices": msg("Overfitted slices"),
    }
    findings = (*_everywhere(found), *(_finding(found, row, rows) for row in worst[:FINDINGS]))
    return Result(
        "overfit",
        msg("Overfitting by slice"),
        tables,
        values,
        findings,
        tuple(_pictures(found)),
        _notes(found),
        titles=titles,
    )


def _notes(found: Comparison) -> tuple[Message, ...]:
    notes = []
    if any(found.overfitted(part).any() for part in (*found.singles, *found.pairs)):
        notes.append(
            msg(
                "Overfitted slices were picked among {n:# slice|# slices}: their intervals hold for all at once.",
                n=found.n_tests,
            )
        )
    alone = [part.names[0] for part in found.singles if (part.n_train > 0).sum() < 2]
    if alone:
        notes.append(msg("All rows lie in one slice of: {features}.", features=", ".join(alone[:10])))
    return tuple(notes)


def _picked(found: Comparison, row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table of picked slices: its interval holds for all slices tested at once."""
    if row["gap_low"] is None:
        return row
    wider = normal_quantile(simultaneous_level(found.level, found.n_tests)) / normal_quantile(found.level)
    ends = {f"gap_{end}": row["gap"] + wider * (row[f"gap_{end}"] - row["gap"]) for end in ("low", "high")}
    return {**row, **ends}


def _estimate(found: Comparison, value: Any, low: Any = None, high: Any = None, **more: Any) -> Estimate:
    note = as_text(found.overall.notes[0] or found.metric.undefined) if np.isnan(value) else None
    return Estimate(float(value), low, high, method="normal" if low is not None else "", note=note, **more)


def _rows(found: Comparison, part: Gaps) -> list[dict[str, Any]]:
    flagged, adjusted = found.overfitted(part), found.adjusted[part.names]
    overall = float(found.overall.gap[0])
    return [
        {
            "feature": " x ".join(part.names),
            "slice": part.labels[i],
            "n_train": int(part.n_train[i]),
            "n_test": int(part.n_test[i]),
            "train": _number(part.train[i]),
            "test": _number(part.test[i]),
            "gap": _number(part.gap[i]),
            "gap_low": _number(part.low[i]),
            "gap_high": _number(part.high[i]),
            "excess": _number(part.gap[i] - overall),
            "p_value": _number(part.p_value[i]),
            "p_adjusted": _number(adjusted[i]),
            "overfit": bool(flagged[i]),
            "small": not bool(part.enough[i]),
            "note": part.notes[i],
        }
        for i in np.flatnonzero((part.n_train > 0) | (part.n_test > 0))
    ]


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _table(
    found: Comparison, rows: list[dict[str, Any]], title: Message, backend: Backend, *, tested: bool = True
) -> Table:
    style: Format = found.metric.format
    gap: Format = "points" if style == "pct" else style
    formats: dict[str, Format] = {
        "n_train": "int",
        "n_test": "int",
        "train": style,
        "test": style,
        "gap": gap,
        "gap_low": gap,
        "gap_high": gap,
        "excess": gap,
        "p_value": "p",
        "p_adjusted": "p",
    }
    titles = {
        "feature": msg("Feature"),
        "slice": msg("Slice"),
        "n_train": msg("Training rows"),
        "n_test": msg("Other rows"),
        "train": msg("On training rows"),
        "test": msg("On other rows"),
        "gap": msg("Train-test gap"),
        "gap_low": msg("from"),
        "gap_high": msg("to"),
        "excess": msg("Above the overall gap"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("Adjusted p-value"),
        "overfit": msg("Overfitted"),
        "small": msg("Small slice"),
        "note": msg("note"),
    }
    names = [name for name in titles if tested or name not in ("p_value", "overfit", "small", "note")]
    columns = {name: [row[name] for row in rows] for name in names}
    return Table.of(
        columns, {name: formats[name] for name in names if name in formats}, titles, title, backend, intervals=("gap",)
    )


def _feature_table(found: Comparison, backend: Backend) -> Table:
    rows = []
    for part in found.singles:
        gaps = part.gap[part.enough]
        rows.append(
            {
                "feature": part.names[0],
                "slices": int((part.n_train > 0).sum()),
                "max_gap": float(gaps.max()) if gaps.size else None,
                "mean_gap": float(gaps.mean()) if gaps.size else None,
                "std_gap": float(gaps.std(ddof=1)) if gaps.size > 1 else None,
                "overfit_slices": int(found.overfitted(part).sum()),
                "note": None
                if gaps.size > 1
                else msg("one slice: no standard deviation")
                if gaps.size
                else msg("no slice was tested"),
            }
        )
    rows.sort(key=lambda row: -(row["max_gap"] or 0.0))  # type: ignore[operator]
    style: Format = "points" if found.metric.format == "pct" else found.metric.format
    titles = {
        "feature": msg("Feature"),
        "slices": msg("Slices"),
        "max_gap": msg("Largest gap"),
        "mean_gap": msg("Mean gap"),
        "std_gap": msg("Standard deviation of gaps"),
        "overfit_slices": msg("Overfitted slices"),
        "note": msg("note"),
    }
    formats: dict[str, Format] = {"max_gap": style, "mean_gap": style, "std_gap": style}
    return Table.of(
        {name: [row[name] for row in rows] for name in titles}, formats, titles, msg("Gaps of each feature"), backend
    )


def _pictures(found: Comparison) -> list[Picture]:
    def largest(part: Gaps) -> float:
        return float(np.max(np.where(part.enough, part.gap, -np.inf), initial=-np.inf))

    drawn = [part for part in sorted(found.singles, key=lambda part: -largest(part)) if part.enough.sum() > 1]
    return [
        Picture(
            "lines",
            "slices",
            msg("Train and test along {feature}", feature=part.names[0]),
            {"x": "slice", "value": ["train", "test"], "where": {"feature": part.names[0]}},
        )
        for part in drawn[:DRAWN]
    ]


def _finding(found: Comparison, row: dict[str, Any], listed: Sequence[dict[str, Any]]) -> Finding:
    """A slice that is overfitted; `listed` are the rows of the table of single slices, which holds their tests."""
    key = row["feature"], row["slice"]
    index = next((index for index, one in enumerate(listed) if (one["feature"], one["slice"]) == key), None)
    gaps = {
        "slice": row["slice"] if index is None else spelt(row["feature"], row["slice"]),
        "metric": found.metric.title,
        "train": row["train"],
        "test": row["test"],
        "n": row["n_test"],
    }
    message = (
        msg(
            "{metric} is {train:pct} on training rows and {test:pct} on other rows where {slice} ({n:# row|# rows}): "
            "the model overfits here.",
            **gaps,
        )
        if found.metric.format == "pct"
        else msg(
            "{metric} is {train:num} on training rows and {test:num} on other rows where {slice} ({n:# row|# rows}): "
            "the model overfits here.",
            **gaps,
        )
    )
    return Finding(
        "overfit.slice",
        "warning",
        message,
        Estimate(row["gap"], row["gap_low"], row["gap_high"], n=row["n_test"], method="normal", level=found.level),
        who={row["feature"]: row["slice"]},
        n=row["n_test"],
        magnitude=row["gap"] / found.min_gap if found.min_gap > 0 else 1.0 + row["gap"],
        p_value=row["p_adjusted"] if index is None else row["p_value"],
        test=None if index is None else ("overfit", "slices", index),
        p_adjusted=row["p_adjusted"],
        threshold=found.min_gap,
        evidence="overfit/worst",
        format="points" if found.metric.format == "pct" else found.metric.format,
        remedy="regularise",
    )


def _everywhere(found: Comparison) -> tuple[Finding, ...]:
    """The gap of all rows, where it is large and sure."""
    overall = found.overall
    gap, low, p = float(overall.gap[0]), float(overall.low[0]), float(overall.p_value[0])
    if not (gap > found.min_gap and low > 0 and p < found.alpha):
        return ()
    gaps = {"metric": found.metric.title, "train": float(overall.train[0]), "test": float(overall.test[0])}
    message = (
        msg("{metric} is {train:pct} on training rows and {test:pct} on other rows overall.", **gaps)
        if found.metric.format == "pct"
        else msg("{metric} is {train:num} on training rows and {test:num} on other rows overall.", **gaps)
    )
    n = int(overall.n_test[0])
    return (
        Finding(
            "overfit.overall",
            "warning",
            message,
            Estimate(gap, low, float(overall.high[0]), n=n, method="normal", level=found.level),
            n=n,
            magnitude=gap / found.min_gap if found.min_gap > 0 else 1.0 + gap,
            p_value=p,
            threshold=found.min_gap,
            evidence="overfit/features",
            format="points" if found.metric.format == "pct" else found.metric.format,
        ),
    )
