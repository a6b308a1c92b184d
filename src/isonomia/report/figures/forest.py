"""Forest plot: a figure and its interval a row.

Options: ``labels``, ``value`` (a list of columns gives a panel each), ``low``, ``high``, ``color``, ``facet`` (a
panel a value, when ``value`` is one column), ``flag``, ``n``, ``format``, ``where``, ``names``, ``x_title``,
``reference`` (a number, or a mapping of value column or facet to number), ``reference_label``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isonomia.languages.message import write_number
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, reference_line, symbol, ticks
from isonomia.report.figures.whiskers import whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

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


def draw(reading: Reading) -> Figure:
    """A panel for each figure (or facet), a row for each label, the interval as a bar through the mark."""
    from plotly.subplots import make_subplots

    names = reading.columns("labels")
    panels = _panels(reading)
    across = max(panel.col for panel in panels)
    down = max(panel.row for panel in panels)
    places = _places(reading, names)
    height = FRAME * down + ROW * max(2, len(places)) * down
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0 if down == 1 else min(1 / (down - 1), 70 / height),
        subplot_titles=[panel.title for panel in panels] if len(panels) > 1 else None,
    )
    figure.update_annotations(font_size=13)
    _frame(figure, reading, panels, places)
    narrow = [reading.text(" · ".join(key), NARROW) for key in places]
    patch = stacked(figure, len(panels), ROW * max(2, len(places)), narrow)
    for panel in panels:
        _fill(figure, reading, panel, names, places)
    # what is written inside the panels keeps its place in them
    patch["annotations"] = patch.get("annotations", []) + [
        note.to_plotly_json() for note in figure.layout.annotations[len(patch.get("annotations", [])) :]
    ]
    figure.update_layout(height=height, meta={"narrow": patch})
    if len(panels) > 1 and reading.option("color"):  # the legend stands above the panels' titles
        figure.update_layout(legend={"yref": "container", "y": 1, "yanchor": "top"}, margin_t=LEGEND)
        patch["height"] += LEGEND
        figure.layout.meta = {"narrow": patch}
    return figure


def _panels(reading: Reading) -> list[_Panel]:
    values = reading.columns("value") or [reading.needed("value")]
    if len(values) > 1:
        parts = [(reading.heading(value), value, value, reading.rows) for value in values]
    else:
        parts = [(name or "", name or "", values[0], rows) for name, rows in reading.series("facet")]
    across = 2 if len(parts) == 4 else min(ACROSS, len(parts))
    return [_Panel(*part, place // across + 1, place % across + 1) for place, part in enumerate(parts)]


def _places(reading: Reading, names: list[str]) -> dict[Key, int]:
    """Rows of the same label share a place on the axis; the first is on top."""
    places: dict[Key, int] = {}
    for row in reading.rows:
        places.setdefault(_key(reading, row, names), len(places))
    return places


def _key(reading: Reading, row: dict[str, Any], names: list[str]) -> Key:
    return tuple(reading.words(row[name]) for name in names)


def _frame(figure: Figure, reading: Reading, panels: list[_Panel], places: dict[Key, int]) -> None:
    given = reading.say(reading.option("x_title"))
    title = given or (reading.heading(panels[0].value) if len(panels) == 1 else "")
    figure.update_xaxes(title_text=title, row=panels[-1].row)
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(places.values()),
        ticktext=[reading.text(" · ".join(key)) for key in places],
        range=[len(places) - 0.5, -0.5],
        showgrid=False,
    )
    for panel in panels:
        figure.update_xaxes(**ticks(reading.style(panel.value)), row=panel.row, col=panel.col)


def _fill(figure: Figure, reading: Reading, panel: _Panel, names: list[str], places: dict[Key, int]) -> None:
    where = {"row": panel.row, "col": panel.col}
    inside = {id(row) for row in panel.rows}
    for place, (series, rows) in enumerate(reading.series()):
        mine = [row for row in rows if id(row) in inside]
        if mine:
            trace = _trace(reading, mine, names, panel.value, places, place)
            shown = series is not None and (panel.row, panel.col) == (1, 1)
            figure.add_scatter(**trace, name=series or "", legendgroup=str(place), showlegend=shown, **where)
    reference = reading.option("reference")
    if isinstance(reference, dict):
        at = reference.get(panel.name)
        if at is not None and math.isfinite(at):
            figure.add_vline(at, line={"color": FAINT, "width": 1.2, "dash": "dash"}, **where)
    else:
        reference_line(figure, reading, vertical=True, **where)
    for row, number in zip(panel.rows, reading.numbers(panel.value, panel.rows), strict=True):
        if number is None:
            _missing(figure, reading, places[_key(reading, row, names)], where)


def _trace(
    reading: Reading, rows: Rows, names: list[str], value: str, places: dict[Key, int], place: int
) -> dict[str, Any]:
    flag = reading.column("flag")
    hollow = [flag is not None and row[flag] is True for row in rows]
    return {
        "x": reading.numbers(value, rows),
        "y": [places[_key(reading, row, names)] for row in rows],
        "mode": "markers",
        "hovertext": [reading.hover(row, names, value) for row in rows],
        "hoverinfo": "text",
        "error_x": whiskers(reading, value, rows),
        "marker": {
            "color": colour(place),
            "size": 9,
            "symbol": [symbol(place) + ("-open" if small else "") for small in hollow],
            "line": {"width": 1.5, "color": colour(place)},
        },
    }


def _missing(figure: Figure, reading: Reading, place: int, where: dict[str, int]) -> None:
    """A row without a figure says so, where its mark would be."""
    figure.add_annotation(
        text=write_number(None, "num", reading.language),
        x=0.02,
        xref="x domain",
        xanchor="left",
        y=place,
        showarrow=False,
        font={"size": 11, "color": FAINT},
        **where,
    )
