"""Front: what each row reaches against what it costs, both with intervals, and those that no other beats."""

from __future__ import annotations

from typing import Any

from isonomia.evidence import yes_no
from isonomia.languages import msg
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import MOST_LINES, PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, number_axis, reference_line, symbol
from isonomia.report.figures.whiskers import whiskers

Row = dict[str, Any]


def draw(reading: Reading) -> Chart:
    """A mark per row with its intervals across and up, hollow where another row beats it; a line joins the others."""
    x, y, names = reading.needed("x"), reading.needed("y"), reading.columns("labels")
    front = reading.column("front")
    points = [(a, b) for a, b in zip(reading.numbers(x), reading.numbers(y), strict=True)]
    rows = [row for row, spot in zip(reading.rows, points, strict=True) if None not in spot]
    kept = [row for row in rows if front is None or row[front] in (True, yes_no(True))]
    joined = sorted(zip(reading.numbers(x, kept), reading.numbers(y, kept), strict=True))
    figure = Chart()
    figure.add_scatter(
        x=[spot[0] for spot in joined],
        y=[spot[1] for spot in joined],
        mode="lines",
        name=msg("not beaten by another").text(reading.language),
        line={"color": FAINT, "width": 1.5},
        hoverinfo="skip",
    )
    for index, row in enumerate(rows):
        figure.add_scatter(
            x=reading.numbers(x, [row]),
            y=reading.numbers(y, [row]),
            error_x=whiskers(reading, x, [row], thickness=1.2),
            error_y=whiskers(reading, y, [row], thickness=1.2),
            mode="markers",
            name=reading.name_of(row, names),
            marker={"color": colour(index), "symbol": _shape(index, row in kept), "size": 10},
            hovertext=[_hover(reading, row, names, (x, y))],
            hoverinfo="text",
        )
    figure.update_xaxes(**number_axis(reading, x, reading.say(reading.option("x_title")) or None))
    figure.update_yaxes(**number_axis(reading, y, reading.say(reading.option("y_title")) or None))
    reference_line(figure, reading, vertical=True)
    figure.update_layout(height=440, showlegend=True)
    return figure


def _shape(index: int, kept: bool) -> str:
    shape = symbol(index + index // 8)  # the ninth row has the colour of the first, and another shape
    return shape if kept else f"{shape}-open"


def _hover(reading: Reading, row: Row, names: list[str], values: tuple[str, str]) -> str:
    lines = [f"<b>{reading.name_of(row, names, whole=True)}</b>"]
    for value in values:
        low, high = reading.interval(value)
        ends = (None, None) if low is None or high is None else (row[low], row[high])
        written = f"{reading.heading(value)}: {reading.write(value, row[value])}"
        if ends[0] is not None and ends[1] is not None:
            written += f" ({reading.write(value, ends[0])} – {reading.write(value, ends[1])})"
        lines.append(written)
    return "<br>".join(lines)


PICTURES.add(
    PictureKind(
        id="front",
        purpose="Two values per row with their intervals (a gap and its price), and the rows that no other beats.",
        options=(
            Option("x", "column", "column across: what is reached, with its interval"),
            Option("y", "column", "column up: what it costs, with its interval"),
            *common("labels"),
            Option("front", "column", "column of yes or no: these rows are joined by a line, others are hollow"),
            *common("format", "where", "names", "x_title", "y_title"),
            Option("reference", "number", "number across at which a reference line is drawn (a limit)"),
            *common("reference_label"),
        ),
        draw=draw,
        most_rows=MOST_LINES,
    )
)
