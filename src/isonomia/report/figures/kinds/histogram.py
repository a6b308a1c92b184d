"""Histogram of bins that were counted before: a picture is drawn from tables, never from rows."""

from __future__ import annotations

from typing import Any

from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import colour, number_axis, reference_line, see_through


def draw(reading: Reading) -> Chart:
    """A bar per bin, as wide as the bin; several groups overlap."""
    left, right = reading.needed("left", "left"), reading.needed("right", "right")
    count = reading.needed("count", "count")
    series = reading.series()
    figure = Chart()
    for index, (name, rows) in enumerate(series):
        known = [row for row in rows if None not in reading.numbers(left, [row]) + reading.numbers(right, [row])]
        figure.add_bar(
            x=[(row[left] + row[right]) / 2 for row in known],
            width=[row[right] - row[left] for row in known],
            y=reading.numbers(count, known),
            name=name or "",
            marker={
                "color": see_through(colour(index), 0.55) if len(series) > 1 else colour(index),
                "line": {"width": 0.5, "color": colour(index)},
            },
            hovertext=[_hover(reading, row, name, left, right, count) for row in known],
            hoverinfo="text",
        )
    figure.update_xaxes(**number_axis(reading, left, reading.say(reading.option("x_title")) or None))
    figure.update_yaxes(**number_axis(reading, count, reading.say(reading.option("y_title")) or None))
    reference_line(figure, reading, vertical=True)
    figure.update_layout(barmode="overlay", bargap=0, height=360, showlegend=len(series) > 1)
    return figure


def _hover(reading: Reading, row: dict[str, Any], name: str | None, left: str, right: str, count: str) -> str:
    ends = f"{reading.write(left, row[left])} – {reading.write(right, row[right])}"
    lines = ([f"<b>{name}</b>"] if name else []) + [
        ends,
        f"{reading.heading(count)}: {reading.write(count, row[count])}",
    ]
    return "<br>".join(lines)


PICTURES.add(
    PictureKind(
        id="histogram",
        purpose="Counts per bin, each bar as wide as its bin.",
        options=(
            Option("left", "column", "lower end of a bin; `left` where left out"),
            Option("right", "column", "upper end of a bin; `right` where left out"),
            Option("count", "column", "number of rows in a bin, or any value of it; `count` where left out"),
            Option("color", "column", "one series per value of this column"),
            *common("where", "names", "x_title", "y_title", "reference", "reference_label"),
        ),
        draw=draw,
    )
)
