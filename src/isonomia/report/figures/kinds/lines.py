"""Lines: values over an ordered column, with their intervals as bands; over categories dots with whiskers."""

from __future__ import annotations

import re
from typing import Any

from isonomia.languages import Name
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import colour, reference_line, see_through, symbol, ticks
from isonomia.report.figures.whiskers import whiskers


def draw(reading: Reading) -> Chart:
    """A line with marks per series, its band beneath it; nothing lies between categories, so they have no line."""
    x = reading.needed("x")
    spots, axis = _across(reading, x)
    values = reading.columns("value") or [reading.needed("value")]
    if len(values) > 1:
        series = [(reading.heading(value), value, reading.rows) for value in values]
    else:
        series = [(name or "", values[0], rows) for name, rows in reading.series()]
    figure = Chart()
    ordered = all(_has_place(row[x]) for row in reading.rows)
    for index, (name, value, rows) in enumerate(series):
        band = _band(reading, rows, x, value, spots) if ordered else None
        if band is not None:
            figure.add_scatter(**band, fillcolor=see_through(colour(index), 0.16), legendgroup=str(index))
        figure.add_scatter(
            x=[spots[_spot(row[x])] for row in rows],
            y=reading.numbers(value, rows),
            mode="lines+markers" if ordered else "markers",
            error_y=None if ordered else whiskers(reading, value, rows),
            name=name,
            legendgroup=str(index),
            line={"color": colour(index), "width": 2},
            marker={"color": colour(index), "symbol": symbol(index), "size": 7},
            hovertext=[reading.hover(row, [x], value) for row in rows],
            hoverinfo="text",
        )
    figure.update_xaxes(**axis)
    title = reading.say(reading.option("y_title")) or (reading.heading(values[0]) if len(values) == 1 else "")
    figure.update_yaxes(**ticks(reading.style(values[0])), title={"text": title})
    reference_line(figure, reading, vertical=False)
    figure.update_layout(height=380, showlegend=len(series) > 1)
    return figure


def _spot(value: Any) -> Any:
    return value if isinstance(value, int | float) else str(value)


_PERIOD = re.compile(r"\d{4}([-/ ]?[\dQW].*)?")


def _has_place(value: Any) -> bool:
    """Whether a value lies between others: a number, a band of numbers or a period, but not a category."""
    if isinstance(value, Name):
        return any(isinstance(end, int | float) for end in value.message.params.values())
    return isinstance(value, int | float) or value is None or _PERIOD.fullmatch(str(value)) is not None


def _across(reading: Reading, x: str) -> tuple[dict[Any, float], dict[str, Any]]:
    """Where each value of the x column lies: a number at itself, a text at its index in the table."""
    title = {"text": reading.say(reading.option("x_title")) or reading.heading(x)}
    values = {_spot(row[x]): row[x] for row in reading.rows}
    found = list(values)
    if all(isinstance(value, int | float) for value in found):
        kind = "log" if reading.option("log_x", False) else "linear"
        return {value: value for value in found}, {"type": kind, "title": title, **ticks(reading.style(x))}
    step = max(1, len(found) // 12)
    names = {"tickmode": "array", "tickvals": list(range(0, len(found), step)), "title": title}
    names["ticktext"] = [reading.text(values[name]) for name in found[::step]]
    return {value: index for index, value in enumerate(found)}, names


def _band(
    reading: Reading, rows: list[dict[str, Any]], x: str, value: str, spots: dict[Any, float]
) -> dict[str, Any] | None:
    low, high = reading.interval(value)
    if low is None or high is None:
        return None
    known = [row for row in rows if row[low] is not None and row[high] is not None]
    there = [spots[_spot(row[x])] for row in known]
    return {
        "x": there + there[::-1],
        "y": reading.numbers(high, known) + reading.numbers(low, known)[::-1],
        "fill": "toself",
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


PICTURES.add(
    PictureKind(
        id="lines",
        purpose="Values over an ordered column, with their intervals as bands; over categories dots with whiskers.",
        options=(
            Option("x", "column", "column across; texts and dates keep the order of the table"),
            Option("value", "columns", "column with the value; a list of columns gives one line each"),
            *common("low", "high"),
            Option("color", "column", "one line per value of this column, when `value` is one column"),
            *common("n", "format", "where", "names", "x_title", "y_title"),
            Option("log_x", "yes or no", "logarithmic horizontal axis (default no)"),
            *common("reference", "reference_label"),
        ),
        draw=draw,
    )
)
