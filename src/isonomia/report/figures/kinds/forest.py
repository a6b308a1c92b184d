"""Forest plot: a value and its interval per row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from isonomia.languages.message import write_number
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import MOST_LINES, PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.svg.elements import width
from isonomia.report.figures.theme import FAINT, colour, reference_line, symbol, ticks
from isonomia.report.figures.whiskers import whiskers

#: Pixels a row takes, and what a panel needs beside its rows.
ROW, FRAME, LEGEND = 26, 92, 64
#: Panels side by side.
ACROSS = 3

Rows = list[dict[str, Any]]
Key = tuple[str, ...]


@dataclass(frozen=True)
class _Panel:
    title: str
    name: str
    value: str
    rows: Rows
    row: int
    col: int


def draw(reading: Reading) -> Chart:
    """A panel for each figure (or facet), a row for each label, the interval as a bar through the mark."""
    names = reading.columns("labels")
    panels = _panels(reading)
    across = max(panel.col for panel in panels)
    down = max(panel.row for panel in panels)
    positions = _positions(reading, names)
    height = FRAME * down + ROW * max(2, len(positions)) * down
    figure = Chart.of_panels(
        [panel.title if len(panels) > 1 else "" for panel in panels],
        across,
        space_across=0.04,
        space_down=0 if down == 1 else min(1 / (down - 1), 70 / height),
        shared_y="row",
    )
    _frame(figure, reading, panels, positions)
    narrow = [reading.text(" · ".join(key), NARROW) for key in positions]
    patch = stacked(figure, len(panels), ROW * max(2, len(positions)), narrow)
    for panel in panels:
        _fill(figure, reading, panel, names, positions)
    _beside(figure, reading, panels, positions, names)
    # what is written inside the panels keeps its position in them
    moved = patch.get("annotations", [])
    patch["annotations"] = moved + figure.layout.get("annotations", [])[len(moved) :]
    figure.update_layout(height=height, meta={"narrow": patch})
    if len(panels) > 1 and reading.option("color"):  # the legend stands above the panels' titles
        figure.update_layout(legend={"yref": "container", "y": 1, "yanchor": "top"}, margin={"t": LEGEND})
        patch["height"] += LEGEND
    return figure


def _panels(reading: Reading) -> list[_Panel]:
    values = reading.columns("value") or [reading.needed("value")]
    if len(values) > 1:
        parts = [(reading.heading(value), value, value, reading.rows) for value in values]
    else:
        parts = [(name or "", name or "", values[0], rows) for name, rows in reading.series("facet")]
    across = 2 if len(parts) == 4 else min(ACROSS, len(parts))
    return [_Panel(*part, index // across + 1, index % across + 1) for index, part in enumerate(parts)]


def _positions(reading: Reading, names: list[str]) -> dict[Key, int]:
    """Rows of the same label share a position on the axis; the first is on top."""
    positions: dict[Key, int] = {}
    for row in reading.rows:
        positions.setdefault(_key(reading, row, names), len(positions))
    return positions


def _key(reading: Reading, row: dict[str, Any], names: list[str]) -> Key:
    return tuple(reading.words(row[name]) for name in names)


def _frame(figure: Chart, reading: Reading, panels: list[_Panel], positions: dict[Key, int]) -> None:
    given = reading.say(reading.option("x_title"))
    title = given or (reading.heading(panels[0].value) if len(panels) == 1 else "")
    figure.update_xaxes(title={"text": title}, row=panels[-1].row)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(positions.values()),
        ticktext=[reading.text(" · ".join(key)) for key in positions],
        range=[len(positions) - 0.5, -0.5],
        showgrid=False,
    )
    for panel in panels:
        figure.update_xaxes(**ticks(reading.style(panel.value)), row=panel.row, col=panel.col)


def _fill(figure: Chart, reading: Reading, panel: _Panel, names: list[str], positions: dict[Key, int]) -> None:
    where = {"row": panel.row, "col": panel.col}
    inside = {id(row) for row in panel.rows}
    for index, (series, rows) in enumerate(reading.series()):
        mine = [row for row in rows if id(row) in inside]
        if mine:
            trace = _trace(reading, mine, names, panel.value, positions, index)
            shown = series is not None and (panel.row, panel.col) == (1, 1)
            figure.add_scatter(**trace, name=series or "", legendgroup=str(index), showlegend=shown, **where)
    reference = reading.option("reference")
    if isinstance(reference, dict):
        at = reference.get(panel.name)
        if at is not None and math.isfinite(at):
            figure.add_vline(at, line={"color": FAINT, "width": 1.2, "dash": "dash"}, **where)
    else:
        reference_line(figure, reading, vertical=True, labelled=(panel.row, panel.col) == (1, 1), **where)
    for row, number in zip(panel.rows, reading.numbers(panel.value, panel.rows), strict=True):
        if number is None:
            _missing(figure, reading, positions[_key(reading, row, names)], where)


def _trace(
    reading: Reading, rows: Rows, names: list[str], value: str, positions: dict[Key, int], index: int
) -> dict[str, Any]:
    flag = reading.column("flag")
    hollow = [flag is not None and row[flag] is True for row in rows]
    return {
        "x": reading.numbers(value, rows),
        "y": [positions[_key(reading, row, names)] for row in rows],
        "mode": "markers",
        "hovertext": [reading.hover(row, names, value) for row in rows],
        "hoverinfo": "text",
        "error_x": whiskers(reading, value, rows),
        "marker": {
            "color": colour(index),
            "size": 9,
            "symbol": [symbol(index) + ("-open" if small else "") for small in hollow],
            "line": {"width": 1.5, "color": colour(index)},
        },
    }


def _beside(figure: Chart, reading: Reading, panels: list[_Panel], positions: dict[Key, int], names: list[str]) -> None:
    """The figures that stand at the right of each row, in the space that they need."""
    columns = reading.columns("beside")
    if not columns:
        return
    first = {_key(reading, row, names): row for row in reversed(reading.rows)}
    texts = [" · ".join(reading.write(column, first[key][column]) for column in columns) for key in positions]
    _, up = figure.axes(panels[0].row, panels[0].col)
    place = {"x": 1.01, "xref": "paper", "xanchor": "left", "yref": up, "font": {"size": 12, "color": FAINT}}
    for text, at in zip(texts, positions.values(), strict=True):
        figure.add_annotation(text=text, y=at, **place)
    figure.update_layout(margin={"r": 16 + round(max(map(width, texts)))})


def _missing(figure: Chart, reading: Reading, index: int, where: dict[str, int]) -> None:
    """A row without a figure says so, where its mark would be."""
    across, up = figure.axes(**where)
    figure.add_annotation(
        text=write_number(None, "num", reading.language),
        x=0.02,
        xref=f"{across} domain",
        xanchor="left",
        y=index,
        yref=up,
        font={"size": 11, "color": FAINT},
    )


PICTURES.add(
    PictureKind(
        id="forest",
        purpose="A value and its interval per row.",
        options=(
            *common("labels"),
            Option("value", "columns", "column with the value; a list of columns gives one panel each"),
            *common("low", "high", "color"),
            Option("facet", "column", "one panel per value of this column, when `value` is one column"),
            Option("beside", "columns", "columns that stand at the right of each row, of a picture with one panel"),
            *common("flag", "n", "format", "where", "names", "x_title"),
            Option(
                "reference",
                "number",
                "where a reference line is drawn; or a mapping of value column or facet to number",
            ),
            *common("reference_label"),
        ),
        draw=draw,
        most_rows=MOST_LINES,
    )
)
