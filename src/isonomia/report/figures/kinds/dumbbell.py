"""Dumbbells: a value before and after on one line per row, with the limit it is compared with."""

from __future__ import annotations

from typing import Any

from isonomia.languages import msg
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import MOST_LINES, PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, ticks

#: Pixels a row takes, and what a panel needs beside its rows.
ROW, FRAME = 30, 96

Rows = list[dict[str, Any]]


def draw(reading: Reading) -> Chart:
    """A panel per facet, a line per row: hollow before, filled after, a diamond at the limit."""
    before, after, limit = reading.needed("before"), reading.needed("after"), reading.column("limit")
    panels = reading.series("facet")
    most = max(2, *(len(rows) for _, rows in panels))
    height = (FRAME + ROW * most) * len(panels)
    titles = [title or "" if len(panels) > 1 else "" for title, _ in panels]
    figure = Chart.of_panels(
        titles or [""], 1, space_across=0, space_down=0 if len(panels) < 2 else min(0.4, 80 / height)
    )
    names = [
        reading.text(reading.name_of(row, reading.columns("labels")), NARROW) for _, rows in panels for row in rows
    ]
    for index, (_, rows) in enumerate(panels):
        where = {"row": index + 1, "col": 1}
        _panel(figure, reading, rows, (before, after), limit, first=index == 0, **where)
        figure.update_xaxes(**ticks(reading.style(after)), **where)
    figure.update_layout(
        height=height,
        legend={"yref": "container", "y": 1, "yanchor": "top"},
        margin={"t": 64},
        meta={"narrow": stacked(figure, len(panels), ROW * most, names if len(panels) == 1 else None)},
    )
    return figure


def _panel(
    figure: Chart,
    reading: Reading,
    rows: Rows,
    values: tuple[str, str],
    limit: str | None,
    *,
    first: bool,
    **where: int,
) -> None:
    labels = reading.columns("labels")
    places = list(range(len(rows)))
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[reading.text(reading.name_of(row, labels)) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
        **where,
    )
    numbers = [reading.numbers(value, rows) for value in values]
    for place, (low, high) in enumerate(zip(*numbers, strict=True)):
        if low is not None and high is not None:
            line = {"color": FAINT, "width": 2}
            figure.add_scatter(x=[low, high], y=[place] * 2, mode="lines", line=line, showlegend=False, **where)
    shown: list[tuple[str, list[float | None], str]] = [
        (reading.heading(value), known, mark)
        for value, known, mark in zip(values, numbers, ("circle-open", "circle"), strict=True)
    ]
    if limit is not None:
        shown.append((reading.heading(limit), reading.numbers(limit, rows), "diamond-open"))
    for index, (title, known, mark) in enumerate(shown):
        tint = FAINT if mark == "diamond-open" else colour(0)
        figure.add_scatter(
            x=known,
            y=places,
            mode="markers",
            name=title,
            legendgroup=str(index),
            showlegend=first,
            marker={"color": tint, "symbol": mark, "size": 11, "line": {"width": 2, "color": tint}},
            hovertext=[_hover(reading, row, values, limit) for row in rows],
            hoverinfo="text",
            **where,
        )


def _hover(reading: Reading, row: dict[str, Any], values: tuple[str, str], limit: str | None) -> str:
    lines = [f"<b>{reading.name_of(row, reading.columns('labels'), whole=True)}</b>"]
    for value in (*values, *([limit] if limit else [])):
        written = reading.write(value, row[value])
        low, high = reading.interval(value)
        if low is not None and high is not None and row[low] is not None:
            ends = f"{reading.write(value, row[low])} – {reading.write(value, row[high])}"
            written = msg("{value} (interval: {ends})", value=written, ends=ends).text(reading.language)
        lines.append(f"{reading.heading(value)}: {written}")
    return "<br>".join(lines)


PICTURES.add(
    PictureKind(
        id="dumbbell",
        purpose="A value before and after on one line per row, with the limit it is compared with.",
        options=(
            *common("labels"),
            Option("before", "column", "column with the value before"),
            Option("after", "column", "column with the value after"),
            Option("limit", "column", "column with the limit of each row"),
            *common("facet", "format", "where", "names"),
        ),
        draw=draw,
        most_rows=MOST_LINES,
    )
)
