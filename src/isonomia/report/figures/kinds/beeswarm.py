"""Beeswarm: how many rows have which value, one line of marks per label."""

from __future__ import annotations

import math
from typing import Any

from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import colour, number_axis, reference_line, symbol

#: Pixels of a line of marks, and what the picture needs beside them.
ROW, FRAME = 30, 120
#: Diameters of the smallest and the largest mark, and how far apart the colours of one line stand.
SMALLEST, LARGEST, APART = 3.0, 13.0, 0.22


def draw(reading: Reading) -> Chart:
    """A mark per row of the table, its size from n; lines in the order of the table, colours slightly apart."""
    value, n, names = reading.needed("value"), reading.needed("n"), reading.columns("labels")
    lines: dict[str, int] = {}
    for row in reading.rows:
        lines.setdefault(_name(reading, row, names), len(lines))
    most = max((number or 0 for number in reading.numbers(n)), default=0) or 1
    figure = Chart()
    named = [reading.say(name) for name in (reading.option("names") or {}).values()]
    series = sorted(reading.series(), key=lambda one: named.index(one[0]) if one[0] in named else len(named))
    seen: dict[str, int] = {}  # colours of a line that are drawn already
    colours = {
        line: sum(any(_name(reading, row, names) == line for row in rows) for _, rows in series) for line in lines
    }
    for index, (name, rows) in enumerate(series):
        here = {_name(reading, row, names) for row in rows}
        heights = {line: lines[line] + APART * (seen.get(line, 0) - (colours[line] - 1) / 2) for line in here}
        seen |= {line: seen.get(line, 0) + 1 for line in here}
        figure.add_scatter(
            x=reading.numbers(value, rows),
            y=[heights[_name(reading, row, names)] for row in rows],
            mode="markers",
            name=name or "",
            marker={
                "color": colour(index),
                "symbol": symbol(index),
                "opacity": 0.75,
                "size": [
                    SMALLEST + (LARGEST - SMALLEST) * math.sqrt((number or 0) / most)
                    for number in reading.numbers(n, rows)
                ],
            },
            hovertext=[reading.hover(row, names, value) for row in rows],
            hoverinfo="text",
        )
    figure.update_xaxes(**number_axis(reading, value, reading.say(reading.option("x_title")) or None))
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(lines.values()),
        ticktext=[reading.text(name) for name in lines],
        range=[len(lines) - 0.5, -0.5],
        showgrid=False,
    )
    reference_line(figure, reading, vertical=True)
    height = FRAME + ROW * max(2, len(lines))
    narrow = stacked(figure, 1, ROW * max(2, len(lines)), [reading.text(name, NARROW) for name in lines])
    figure.update_layout(height=height, showlegend=len(series) > 1, meta={"narrow": narrow})
    return figure


def _name(reading: Reading, row: dict[str, Any], names: list[str]) -> str:
    return " · ".join(reading.words(row[name]) for name in names)


PICTURES.add(
    PictureKind(
        id="beeswarm",
        purpose="How many rows have which value, a line of marks per label.",
        options=(
            *common("labels", "value"),
            Option("n", "column", "column with the number of rows: the size of a mark"),
            *common("color", "where", "names", "format", "x_title", "reference", "reference_label"),
        ),
        draw=draw,
        most_rows=6000,
    )
)
