"""Slopes: a value of each row before and after, joined by a line."""

from __future__ import annotations

import math
from typing import Any

from isonomia.languages import msg
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import MOST_LINES, PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import colour, symbol, ticks

#: Panels side by side, and the pixels of one.
ACROSS, PANEL = 3, 260


def draw(reading: Reading) -> Chart:
    """A line per row from its value before to its value after; a panel per facet, all on one scale."""
    before, after = reading.needed("before"), reading.needed("after")
    panels = reading.series("facet")
    down = max(1, math.ceil(len(panels) / ACROSS))
    across = max(1, math.ceil(len(panels) / down))
    height = 90 + (PANEL + 60) * down
    figure = Chart.of_panels(
        [title or "" if len(panels) > 1 else "" for title, _ in panels] or [""],
        across,
        space_across=0.08,
        space_down=min(0.25, 75 / height),
        shared_y="all",
    )
    ends: dict[str, Any] = {"tickmode": "array", "tickvals": [0, 1], "range": [-0.25, 1.25], "showgrid": False}
    ends["ticktext"] = [reading.heading(before), reading.heading(after)]
    index = 0
    for panel, (_, rows) in enumerate(panels):
        where = {"row": panel // across + 1, "col": panel % across + 1}
        for row in rows:
            figure.add_scatter(**_line(reading, row, (before, after), index), **where)
            index += 1
        figure.update_xaxes(**ends, **where)
    title = reading.say(reading.option("y_title"))
    figure.update_yaxes(**ticks(reading.style(after)), range=_range(reading, (before, after)))
    figure.update_yaxes(title={"text": title}, col=1)
    figure.update_layout(
        height=height, showlegend=index > 1, meta={"narrow": stacked(figure, max(1, len(panels)), PANEL)}
    )
    return figure


def _range(reading: Reading, values: tuple[str, str]) -> list[float] | None:
    """One scale for all panels: slopes of different steepness must differ in their values."""
    known = [number for value in values for number in reading.numbers(value) if number is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    space = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    return [low - space, high + space]


def _line(reading: Reading, row: dict[str, Any], values: tuple[str, str], index: int) -> dict[str, Any]:
    names = reading.columns("labels")
    lines = [f"<b>{reading.name_of(row, names, whole=True)}</b>"]
    lines += [f"{reading.heading(value)}: {reading.write(value, row[value])}" for value in values]
    change = reading.column("change")
    if change is not None:
        low, high = reading.interval(change)
        written = reading.write(change, row[change])
        if low is not None and high is not None and row[low] is not None:
            ends = f"{reading.write(change, row[low])} – {reading.write(change, row[high])}"
            written = msg("{value} (interval: {ends})", value=written, ends=ends).text(reading.language)
        lines.append(f"{reading.heading(change)}: {written}")
    hover = "<br>".join(lines)
    return {
        "x": [0, 1],
        "y": [reading.numbers(value, [row])[0] for value in values],
        "mode": "lines+markers",
        "name": reading.name_of(row, names),
        "line": {"color": colour(index), "width": 2},
        "marker": {"color": colour(index), "symbol": symbol(index + index // 8), "size": 8},
        "hovertext": [hover, hover],
        "hoverinfo": "text",
    }


PICTURES.add(
    PictureKind(
        id="slopes",
        purpose="A value of each row before and after, joined by a line.",
        options=(
            *common("labels"),
            Option("before", "column", "column with the value before"),
            Option("after", "column", "column with the value after"),
            Option("change", "column", "column with the change, shown on hover with its interval"),
            *common("facet", "format", "where", "names", "y_title"),
        ),
        draw=draw,
        most_rows=MOST_LINES,
    )
)
