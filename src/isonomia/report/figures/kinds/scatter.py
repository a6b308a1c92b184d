"""Scatter plot: two values per row."""

from __future__ import annotations

import math
from typing import Any

from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, number_axis, reference_line, symbol


def draw(reading: Reading) -> Chart:
    """A mark per row, its size from n, its texts on hover."""
    x, y, n = reading.needed("x"), reading.needed("y"), reading.column("n", "n")
    names = reading.columns("labels")
    largest = max((size or 0 for size in reading.numbers(n)), default=0) if n else 0
    figure = Chart()
    if reading.option("diagonal", False):
        ends = [number for number in reading.numbers(x) + reading.numbers(y) if number is not None]
        line = [min(ends, default=0), max(ends, default=1)]
        figure.add_scatter(
            x=line, y=line, mode="lines", hoverinfo="skip", showlegend=False, line={"color": FAINT, "dash": "dash"}
        )
    series = reading.series()
    for index, (name, rows) in enumerate(series):
        size: Any = 9
        if n and largest:
            size = [6 + 16 * math.sqrt((number or 0) / largest) for number in reading.numbers(n, rows)]
        figure.add_scatter(
            x=reading.numbers(x, rows),
            y=reading.numbers(y, rows),
            mode="markers+text" if names else "markers",
            text=[reading.name_of(row, names) for row in rows] if names else None,
            textposition="top center",
            name=name or "",
            marker={"color": colour(index), "symbol": symbol(index), "size": size, "opacity": 0.8},
            hovertext=[_hover(reading, row, x, y) for row in rows],
            hoverinfo="text",
        )
    figure.update_xaxes(**number_axis(reading, x, reading.say(reading.option("x_title")) or None))
    figure.update_yaxes(**number_axis(reading, y, reading.say(reading.option("y_title")) or None))
    reference_line(figure, reading, vertical=False)
    figure.update_layout(height=420, showlegend=len(series) > 1)
    return figure


def _hover(reading: Reading, row: dict[str, Any], x: str, y: str) -> str:
    names = reading.columns("labels")
    lines = [f"<b>{reading.name_of(row, names, whole=True)}</b>"] if names else []
    lines += [f"{reading.heading(name)}: {reading.write(name, row[name])}" for name in (x, y)]
    lines += [
        f"{reading.heading(name)}: {reading.name_of(row, [name], whole=True)}" for name in reading.columns("hover")
    ]
    return "<br>".join(lines)


PICTURES.add(
    PictureKind(
        id="scatter",
        purpose="Two values per row, as a mark.",
        options=(
            Option("x", "column", "column across"),
            Option("y", "column", "column up"),
            *common("color"),
            Option("n", "column", "column with the number of rows: the size of a mark"),
            Option("hover", "columns", "columns shown on hover"),
            Option("labels", "columns", "columns written beside the mark"),
            Option("diagonal", "yes or no", "draw the line x = y (default no)"),
            *common("where", "names", "x_title", "y_title", "reference", "reference_label"),
        ),
        draw=draw,
    )
)
