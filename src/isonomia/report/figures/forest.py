"""Forest plot: a figure and its interval a row.

Options: ``labels``, ``value`` (a list of columns gives a panel each), ``low``, ``high``, ``color``, ``facet`` (a
panel a value, when ``value`` is one column), ``flag``, ``n``, ``format``, ``where``, ``x_title``, ``reference`` (a
number, or a mapping of value column or facet to number), ``reference_label``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, reference_line, symbol, ticks
from isonomia.report.figures.whiskers import whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Pixels a row takes, and what a panel needs beside its rows.
ROW, FRAME = 26, 92


def draw(reading: Reading) -> Figure:
    """A panel for each figure (or facet), a row for each label, the interval as a bar through the mark."""
    from plotly.subplots import make_subplots

    names = reading.columns("labels")
    panels = _panels(reading)
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=_titles(panels)
    )
    places = _places(reading, names)
    colours = {name: place for place, (name, _) in enumerate(reading.series())}
    for number, (title, value, rows) in enumerate(panels, start=1):
        for series, place in colours.items():
            column = reading.column("color")
            mine = [row for row in rows if column is None or reading.text(row[column]) == series]
            if mine:
                trace = _trace(reading, mine, names, value, places)
                trace.update(name=series or "", legendgroup=str(place), showlegend=series is not None and number == 1)
                _colour(trace, reading, mine, place)
                figure.add_scatter(**trace, row=1, col=number)
        figure.update_xaxes(**ticks(reading.style(value)), row=1, col=number)
        _line(figure, reading, title, value, number)
    _frame(figure, reading, panels, places)
    return figure


def _panels(reading: Reading) -> list[tuple[str | None, str, list[dict[str, Any]]]]:
    values = reading.columns("value") or [reading.needed("value")]
    if len(values) > 1:
        return [(reading.heading(value), value, reading.rows) for value in values]
    return [(name, values[0], rows) for name, rows in reading.series("facet")]


def _titles(panels: list[tuple[str | None, str, list[dict[str, Any]]]]) -> list[str] | None:
    return [title or "" for title, _, _ in panels] if len(panels) > 1 else None


def _places(reading: Reading, names: list[str]) -> dict[tuple[Any, ...], int]:
    """Rows of the same label share a place on the axis; the first is on top."""
    places: dict[tuple[Any, ...], int] = {}
    for row in reading.rows:
        places.setdefault(tuple(str(row[name]) for name in names), len(places))
    return places


def _trace(
    reading: Reading, rows: list[dict[str, Any]], names: list[str], value: str, places: dict[tuple[Any, ...], int]
) -> dict[str, Any]:
    return {
        "x": reading.numbers(value, rows),
        "y": [places[tuple(str(row[name]) for name in names)] for row in rows],
        "mode": "markers",
        "hovertext": [reading.hover(row, names, value) for row in rows],
        "hoverinfo": "text",
        "error_x": whiskers(reading, value, rows),
    }


def _colour(trace: dict[str, Any], reading: Reading, rows: list[dict[str, Any]], place: int) -> None:
    flag = reading.column("flag")
    hollow = [flag is not None and row[flag] is True for row in rows]
    trace["marker"] = {
        "color": colour(place),
        "size": 9,
        "symbol": [symbol(place) + ("-open" if small else "") for small in hollow],
        "line": {"width": 1.5, "color": colour(place)},
    }


def _line(figure: Figure, reading: Reading, title: str | None, value: str, number: int) -> None:
    reference = reading.option("reference")
    if isinstance(reference, dict):
        at = reference.get(value, reference.get(title))
        if at is not None:
            figure.add_vline(at, line={"color": FAINT, "width": 1.2, "dash": "dash"}, row=1, col=number)
    else:
        reference_line(figure, reading, vertical=True, row=1, col=number)


def _frame(
    figure: Figure,
    reading: Reading,
    panels: list[tuple[str | None, str, list[dict[str, Any]]]],
    places: dict[tuple[Any, ...], int],
) -> None:
    title = reading.say(reading.option("x_title")) or (reading.heading(panels[0][1]) if len(panels) == 1 else "")
    figure.update_xaxes(title_text=title)
    names = [reading.text(" · ".join("—" if part == "None" else part for part in key)) for key in places]
    figure.update_yaxes(
        tickmode="array", tickvals=list(places.values()), range=[len(places) - 0.5, -0.5], showgrid=False
    )
    figure.update_yaxes(ticktext=names, col=1)
    figure.update_layout(height=FRAME + ROW * max(2, len(places)))
