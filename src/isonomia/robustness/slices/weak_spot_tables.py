"""Weak spots as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.data import Backend
from isonomia.evidence import Column, Estimate, Picture, Result, Table
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text, together
from isonomia.robustness.missing_reasons import of_slices
from isonomia.robustness.row_metrics import as_error
from isonomia.robustness.slices.spot_merging import condition_text

if TYPE_CHECKING:
    from isonomia.robustness.slices.weak_spots import Search, Slices
from isonomia.robustness.slices.weak_spot_findings import findings_of

#: Maximum number of pairs in heat maps, of spots in bars and of features in a line chart.
HEATMAPS, BARS, LINES = 3, 15, 4

#: The columns of all tables of slices.
_COLUMNS = (
    Column("feature", title=msg("Feature")),
    Column("slice", title=msg("Slice")),
    Column("n", format="int", title=msg("Rows")),
    Column("share", format="pct", title=msg("Share of rows")),
    Column("severity", format="pct", title=msg("Error above overall")),
    Column("expected", format="pct", title=msg("Error expected by score")),
    Column("severity_low", format="pct", title=msg("at least")),
    Column("severity_high", format="pct", title=msg("at most")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
    Column("weak", title=msg("Weak")),
    Column("critical", title=msg("critical")),
    Column("small", title=msg("Small slice")),
    Column("also", title=msg("Also seen as")),
    Column("slices", title=msg("Slices")),
    Column("worst", title=msg("Worst slice")),
    Column("best", title=msg("Best slice")),
    Column("weak_slices", title=msg("Weak slices")),
    Column("note", title=msg("note")),
    Column("one", title=msg("First feature")),
    Column("two", title=msg("Second feature")),
)


def show(search: Search, backend: Backend | None, *, honest: bool, n_rows: int) -> Result:
    """The result that a user sees."""
    tables = {
        "weak_spots": _spot_table(search, backend),
        "slices": _slice_table(search, backend),
        "features": _feature_table(search, backend),
    }
    pictures = _pictures(search)
    if search.pairs:
        worst = sorted(search.pairs, key=lambda part: -_worst(part)[1])
        tables["pairs"] = _pair_table(search, worst, backend)
        for index, part in enumerate(worst[:HEATMAPS], 1):
            if not np.isfinite(_worst(part)[1]):
                continue
            tables[f"heatmap_{index}"] = _heat_table(search, part, backend)
            title = msg(
                "{metric} by {one} and {two}",
                metric=search.parts.metric.title,
                one=part.names[0],
                two=part.names[1],
            )
            options = {"x": "two", "y": "one", "value": "value", "low": "low", "high": "high", "n": "n", "flag": "weak"}
            pictures.append(Picture("heatmap", f"heatmap_{index}", title, options))
    overall = search.parts.measure(search.overall, search.limits.level)
    spots = search.spots
    values: dict[str, Any] = {
        "overall": Estimate(
            float(overall.value),
            float(overall.low),
            float(overall.high),
            n=int(overall.n),
            method="wilson" if search.parts.kind == "rate" else "normal",
            level=search.limits.level,
            note=None if not np.isnan(overall.value) else as_text(search.parts.metric.undefined),
        ),
        "weak_spots": len(spots),
        "critical_spots": sum(spot.severity > search.limits.critical for spot in spots),
        "weak_features": len({name for spot in spots for name in spot.slices}),
        "mean_severity": _severity([spot.severity for spot in spots], np.mean),
        "max_severity": _severity([spot.severity for spot in spots], np.max),
        "slices_tested": search.n_tests,
    }
    titles = {
        "overall": search.parts.metric.title,
        "weak_spots": msg("Weak spots"),
        "critical_spots": msg("Critical weak spots"),
        "weak_features": msg("Features with weak spots"),
        "mean_severity": msg("Mean severity of weak spots"),
        "max_severity": msg("Largest severity of a weak spot"),
        "slices_tested": msg("Slices tested"),
    }
    return Result(
        "weak_spots",
        msg("Weak spots"),
        tables,
        values,
        findings_of(search),
        tuple(pictures),
        _notes(search, honest, n_rows),
        titles=titles,
    )


def _severity(severities: Sequence[float], summary: Callable[[Sequence[float]], Any]) -> Estimate:
    """A summary of the severities of weak spots: how much larger their errors are than the whole one."""
    if not severities:
        return Estimate.missing(msg("there is no weak spot"))
    return Estimate(float(summary(severities)), n=len(severities))


def _notes(search: Search, honest: bool, n_rows: int) -> tuple[Message, ...]:
    notes = []
    if not search.global_error > 0:
        notes.append(msg("The model makes no error on these rows, so no slice can be worse than the others."))
    if honest:
        notes.append(
            msg(
                "Slices were chosen on {chosen:int} rows and measured on the other {measured:int}.",
                chosen=n_rows - int(search.overall.n),
                measured=int(search.overall.n),
            )
        )
    if search.spots:
        notes.append(
            msg(
                "Weak spots were selected from {n:# slice|# slices}: their intervals are valid for all of "
                "them at once.",
                n=search.n_tests,
            )
        )
    alone = [part.names[0] for part in search.singles if (part.cells.n > 0).sum() < 2]
    if alone:
        notes.append(msg("All rows lie in one slice of: {features}.", features=", ".join(alone[:10])))
    return tuple(notes)


def _spot_table(search: Search, backend: Backend | None) -> Table:
    spots = search.spots
    measured = [search.parts.measure(spot.cells, search.picked_level) for spot in spots]
    total = search.overall.n
    scored = range(len(spots)) if search.rows.scored else None
    expected = {} if scored is None else {"expected": [search.excess(index).expected for index in scored]}
    columns: dict[str, Any] = {
        "slice": [spot.text(search.columns) for spot in spots],
        "feature": [" x ".join(spot.slices) for spot in spots],
        "n": np.array([int(part.n) for part in measured], dtype=np.int64),
        "share": np.array([float(part.n / total) for part in measured], dtype=float),
        "value": np.array([float(part.value) for part in measured], dtype=float),
        "low": np.array([float(part.low) for part in measured], dtype=float),
        "high": np.array([float(part.high) for part in measured], dtype=float),
        "severity": np.array([spot.severity for spot in spots], dtype=float),
        "severity_low": np.array([spot.severity_low for spot in spots], dtype=float),
        **expected,
        "critical": [spot.severity > search.limits.critical for spot in spots],
        "also": ["; ".join(spot.also[:5]) for spot in spots],
    }
    return _table(search, columns, msg("Where the model is worse than overall"), backend)


def _slice_table(search: Search, backend: Backend | None) -> Table:
    parts: dict[str, list[Any]] = {}
    for part in search.singles:
        column = search.columns[part.names[0]]
        adjusted = search.adjusted[part.names]
        here = np.flatnonzero(part.cells.n > 0)
        block = {
            "feature": [column.name] * here.size,
            "slice": [column.text(int(code)) for code in here],
            **_figures(search, part, here),
            "p_value": part.p_value[here],
            "p_adjusted": adjusted[here],
            "weak": _weak(search, part, here),
            "small": part.cells.n[here] < search.limits.min_samples,
            "note": of_slices(
                search.parts.metric,
                part.measured.value[here],
                part.cells.n[here],
                search.limits.min_samples,
                part.p_value[here],
            ),
        }
        for name, values in block.items():
            parts.setdefault(name, []).append(values)
    joined = {
        name: [item for part in values for item in part]
        if name in ("feature", "slice", "note")
        else np.concatenate(values)
        for name, values in parts.items()
    }
    return _table(search, joined, msg("All slices of each feature"), backend)


def _figures(search: Search, part: Slices, here: Any) -> dict[str, Any]:
    m = part.measured
    return {
        "n": part.cells.n[here],
        "share": part.cells.n[here] / search.overall.n,
        "value": m.value[here],
        "low": m.low[here],
        "high": m.high[here],
        "severity": part.severity[here],
        "severity_low": part.severity_low[here],
        "severity_high": part.severity_high[here],
    }


def _weak(search: Search, part: Slices, here: Any) -> Any:
    adjusted = search.adjusted[part.names][here]
    with np.errstate(invalid="ignore"):
        return part.enough[here] & (part.severity[here] > search.limits.severity) & (adjusted < search.limits.alpha)


def _feature_table(search: Search, backend: Backend | None) -> Table:
    """The worst and the best slice of each feature, among those with enough rows."""
    rows: list[dict[str, Any]] = []
    for part in search.singles:
        column = search.columns[part.names[0]]
        known = np.flatnonzero(part.enough)
        order = known[np.argsort(-_errors(search, part)[known], kind="stable")]
        worst, best = (int(order[0]), int(order[-1])) if order.size else (None, None)
        rows.append(
            {
                "feature": column.name,
                "slices": int((part.cells.n > 0).sum()),
                "worst": None if worst is None else column.text(worst),
                "worst_value": None if worst is None else float(part.measured.value[worst]),
                "severity": None if worst is None else float(part.severity[worst]),
                "best": None if best is None else column.text(best),
                "best_value": None if best is None else float(part.measured.value[best]),
                "weak_slices": int(_weak(search, part, slice(None)).sum()),
                "note": None if order.size else msg("no slice was tested"),
            }
        )
    rows.sort(key=lambda row: -np.nan_to_num(row["severity"] or 0.0))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return _table(search, columns, msg("Worst and best slice of each feature"), backend)


def _errors(search: Search, part: Slices) -> Any:
    return -part.measured.value if search.parts.metric.higher_is_better else part.measured.value


def _worst(part: Slices) -> tuple[tuple[int, ...], float]:
    """The cell with the highest severity that is surely there: its index and the lower end; -inf without any."""
    known = np.where(part.enough, np.nan_to_num(part.severity_low, nan=-np.inf), -np.inf)
    index = np.unravel_index(int(known.argmax()), known.shape)
    return tuple(int(i) for i in index), float(known[index])


def _pair_table(search: Search, worst: Sequence[Slices], backend: Backend | None) -> Table:
    """The worst cell of each pair of features; its interval holds for all slices that it was picked from."""
    rows: list[dict[str, Any]] = []
    for part in worst:
        index, lowest = _worst(part)
        if not np.isfinite(lowest):
            continue
        picked = search.parts.measure(part.cells[index], search.picked_level)
        ends = [float(as_error(search.parts.metric, end)) for end in (picked.low, picked.high)]
        one, two = (search.columns[name] for name in part.names)
        rows.append(
            {
                "one": one.name,
                "two": two.name,
                "slices": int(part.enough.sum()),
                "worst": together(
                    [condition_text(one.name, one.text(index[0])), condition_text(two.name, two.text(index[1]))]
                ),
                "n": int(part.cells.n[index]),
                "value": float(picked.value),
                "low": float(picked.low),
                "high": float(picked.high),
                "severity": float(part.severity[index]),
                "severity_low": min(ends) / search.global_error - 1,
                "weak_slices": int(_weak(search, part, slice(None)).sum()),
            }
        )
    names = ("one", "two", "slices", "worst", "n", "value", "low", "high", "severity", "severity_low", "weak_slices")
    return _table(search, {name: [row[name] for row in rows] for name in names}, msg("Pairs of features"), backend)


def _heat_table(search: Search, part: Slices, backend: Backend | None) -> Table:
    one, two = (search.columns[name] for name in part.names)
    here = np.nonzero(part.cells.n > 0)
    columns: dict[str, Any] = {
        "one": [one.text(int(i)) for i in here[0]],
        "two": [two.text(int(i)) for i in here[1]],
        **_figures(search, part, here),
        "weak": _weak(search, part, here),
        "small": part.cells.n[here] < search.limits.min_samples,
        "note": of_slices(
            search.parts.metric, part.measured.value[here], part.cells.n[here], search.limits.min_samples
        ),
    }
    title = msg("{one} and {two}", one=one.name, two=two.name)
    table = _table(search, columns, title, backend)
    named = (replace(table[key], title=msg("{name}", name=column.name)) for key, column in (("one", one), ("two", two)))
    return table.with_columns(*named)


def _table(search: Search, columns: dict[str, Any], title: Message, backend: Backend | None) -> Table:
    metric = search.parts.metric
    if "low" in columns:
        ends = columns.pop("low"), columns.pop("high")
        columns["value"] = Column("value", columns["value"], *ends, columns.pop("note", None))
    own = (
        Column("value", format=metric.format, title=metric.title),
        Column("worst_value", format=metric.format, title=msg("Value of the worst slice")),
        Column("best_value", format=metric.format, title=msg("Value of the best slice")),
    )
    return Table.of(columns, (*_COLUMNS, *own), title=title, backend=backend)


def _pictures(search: Search) -> list[Picture]:
    metric = search.parts.metric
    overall = float(search.parts.value(search.overall.sums))
    pictures = []
    line = {"reference": overall, "reference_label": msg("overall")} if np.isfinite(overall) else {}
    if search.spots:
        labels = [spot.text(search.columns) for spot in search.spots[:BARS]]
        pictures.append(
            Picture(
                "bars",
                "weak_spots",
                msg("{metric} of the weak spots", metric=metric.title),
                {"labels": "slice", "value": "value", "low": "low", "high": "high", "where": {"slice": labels}, **line},
            )
        )
    by_range = sorted(search.singles, key=lambda part: -_worst(part)[1])
    for part in by_range[:LINES]:
        if not part.enough.sum() > 1:
            continue
        title = msg("{metric} along {feature}", metric=metric.title, feature=part.names[0])
        pictures.append(
            Picture(
                "lines",
                "slices",
                title,
                {
                    "x": "slice",
                    "value": "value",
                    "low": "low",
                    "high": "high",
                    "where": {"feature": part.names[0]},
                    **line,
                },
            )
        )
    return pictures
