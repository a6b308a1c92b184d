"""Train-test gaps as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Finding, Format, Picture, Result, Table, finite
from isonomia.evidence.intervals import normal_quantile
from isonomia.evidence.simultaneous import simultaneous_level
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.robustness.slices.spot_merging import condition_text

if TYPE_CHECKING:
    from isonomia.robustness.slices.overfit import Comparison, Gaps

#: Maximum number of rows of pairs in the table, of findings, and of features in the picture.
MOST_PAIRS, FINDINGS, DRAWN = 50, 10, 4


def show(found: Comparison, backend: Backend | None) -> Result:
    """The result that a user sees."""
    rows = [row for part in found.singles for row in _rows(found, part)]
    crossed = [row for part in found.pairs for row in _rows(found, part)]
    widened = [_picked(found, row) for row in [*rows, *crossed]]
    worst = sorted((row for row in widened if row["beyond_rest"]), key=lambda row: (-row["gap"].low, -row["gap"].value))
    tables = {
        "slices": _table(found, rows, msg("Train and test, slice by slice"), backend),
        "worst": _table(found, worst, msg("Slices that overfit more than the rest"), backend, tested=False),
        "features": _feature_table(found, backend),
    }
    if found.pairs:
        tested = (row for row in widened[len(rows) :] if row["p_value"] is not None)
        shown = sorted(tested, key=lambda row: -row["gap"].value)
        tables["pairs"] = _table(
            found, shown[:MOST_PAIRS], msg("Pairs of slices with the largest gaps"), backend, tested=False
        )
    overall = found.overall
    n = int(overall.n_train[0] + overall.n_test[0])
    values = {
        "train": _estimate(found, overall.train[0], n=int(overall.n_train[0])),
        "test": _estimate(found, overall.test[0], n=int(overall.n_test[0])),
        "gap": _estimate(found, overall.gap[0], overall.low[0], overall.high[0], n=n, level=found.level),
        "overfitted_slices": sum(row["overfit"] for row in widened),
        "beyond_gap": sum(row["beyond_gap"] for row in widened),
        "beyond_rest": len(worst),
    }
    titles = {
        "train": msg("On training rows"),
        "test": msg("On other rows"),
        "gap": msg("Train-test gap"),
        "overfitted_slices": msg("Overfitted slices"),
        "beyond_gap": msg("Slices whose gap is beyond the limit"),
        "beyond_rest": msg("Slices whose gap is beyond that of the rest"),
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
    if any(found.beyond_rest(part).any() for part in (*found.singles, *found.pairs)):
        notes.append(
            msg(
                "Overfitted slices were selected from {n:# slice|# slices}: their intervals are valid for "
                "all of them at once.",
                n=found.n_tests,
            )
        )
    alone = [part.names[0] for part in found.singles if (part.n_train > 0).sum() < 2]
    if alone:
        notes.append(msg("All rows lie in one slice of: {features}.", features=", ".join(alone[:10])))
    return tuple(notes)


def _picked(found: Comparison, row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table of picked slices: its interval holds for all slices tested at once."""
    gap: Estimate = row["gap"]
    if gap.value is None or gap.low is None or gap.high is None:
        return row
    wider = normal_quantile(simultaneous_level(found.level, found.n_tests)) / normal_quantile(found.level)
    low, high = (gap.value + wider * (end - gap.value) for end in (gap.low, gap.high))
    return {**row, "gap": replace(gap, low=low, high=high, method="simultaneous")}


def _estimate(found: Comparison, value: Any, low: Any = None, high: Any = None, **more: Any) -> Estimate:
    note = as_text(found.overall.notes[0] or found.metric.undefined) if np.isnan(value) else None
    return Estimate(float(value), low, high, method="normal" if low is not None else "", note=note, **more)


def _rows(found: Comparison, part: Gaps) -> list[dict[str, Any]]:
    above, worse, adjusted = found.beyond_gap(part), found.beyond_rest(part), found.adjusted[part.names]
    overall = float(found.overall.gap[0])
    rows = []
    for i in np.flatnonzero((part.n_train > 0) | (part.n_test > 0)):
        note = as_text(part.notes[i] or found.metric.undefined) if part.notes[i] or np.isnan(part.gap[i]) else None
        gap, low, high = (float(end[i]) for end in (part.gap, part.low, part.high))
        n = int(part.n_test[i])
        rows.append(
            {
                "feature": " x ".join(part.names),
                "slice": part.labels[i],
                "n_train": int(part.n_train[i]),
                "n_test": n,
                "train": finite(part.train[i]),
                "test": finite(part.test[i]),
                "gap": Estimate(gap, low, high, n=n, method="normal", note=note, level=found.level),
                "excess": finite(gap - overall),
                "p_value": finite(part.p_value[i]),
                "p_adjusted": finite(adjusted[i]),
                "overfit": bool(above[i] or worse[i]),
                "beyond_gap": bool(above[i]),
                "beyond_rest": bool(worse[i]),
                "small": not bool(part.enough[i]),
            }
        )
    return rows


def _table(
    found: Comparison, rows: list[dict[str, Any]], title: Message, backend: Backend | None, *, tested: bool = True
) -> Table:
    style: Format = found.metric.format
    gap: Format = "points" if style == "pct" else style
    columns = (
        Column("feature", title=msg("Feature")),
        Column("slice", title=msg("Slice")),
        Column("n_train", format="int", title=msg("Training rows")),
        Column("n_test", format="int", title=msg("Other rows")),
        Column("train", format=style, title=msg("On training rows")),
        Column("test", format=style, title=msg("On other rows")),
        Column("gap", format=gap, title=msg("Train-test gap")),
        Column("excess", format=gap, title=msg("Above the overall gap")),
        Column("p_value", format="p", title=msg("p-value")),
        Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
        Column("overfit", title=msg("Overfitted")),
        Column("beyond_gap", title=msg("Beyond the limit")),
        Column("beyond_rest", title=msg("Beyond the rest")),
        Column("small", title=msg("Small slice")),
    )
    flags = ("p_value", "overfit", "beyond_rest", "small")
    shown = [column for column in columns if tested or column.name not in flags]
    return Table.from_rows(rows, shown, title=title, backend=backend)


def _feature_table(found: Comparison, backend: Backend | None) -> Table:
    none, single = msg("no slice was tested"), msg("one slice: no standard deviation")
    rows: list[dict[str, Any]] = []
    for part in found.singles:
        gaps = part.gap[part.enough]
        rows.append(
            {
                "feature": part.names[0],
                "slices": int((part.n_train > 0).sum()),
                "max_gap": float(gaps.max()) if gaps.size else none,
                "mean_gap": float(gaps.mean()) if gaps.size else none,
                "std_gap": float(gaps.std(ddof=1)) if gaps.size > 1 else single if gaps.size else none,
                "overfit_slices": int((found.beyond_gap(part) | found.beyond_rest(part)).sum()),
                "largest": float(gaps.max(initial=-np.inf)),
            }
        )
    rows.sort(key=lambda row: -row["largest"])
    style: Format = "points" if found.metric.format == "pct" else found.metric.format
    columns = (
        Column("feature", title=msg("Feature")),
        Column("slices", title=msg("Slices")),
        Column("max_gap", format=style, title=msg("Largest gap")),
        Column("mean_gap", format=style, title=msg("Mean gap")),
        Column("std_gap", format=style, title=msg("Standard deviation of gaps")),
        Column("overfit_slices", title=msg("Overfitted slices")),
    )
    return Table.from_rows(rows, columns, title=msg("Gaps of each feature"), backend=backend)


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
        "slice": row["slice"] if index is None else condition_text(row["feature"], row["slice"]),
        "metric": found.metric.title,
        "train": row["train"],
        "test": row["test"],
        "n": row["n_test"],
    }
    message = (
        msg(
            "The model overfits for {slice}: {metric:inner} is {train:pct} on training rows and {test:pct} "
            "on {n:# other row|# other rows}.",
            **gaps,
        )
        if found.metric.format == "pct"
        else msg(
            "The model overfits for {slice}: {metric:inner} is {train:num} on training rows and {test:num} "
            "on {n:# other row|# other rows}.",
            **gaps,
        )
    )
    return Finding(
        "overfit.slice",
        "warning",
        message,
        row["gap"],
        who={row["feature"]: row["slice"]},
        n=row["n_test"],
        magnitude=row["gap"].value / found.min_gap if found.min_gap > 0 else 1.0 + row["gap"].value,
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
