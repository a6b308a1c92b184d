"""Bars: a value per row, with its interval where the table has one."""

from __future__ import annotations

from typing import Any

from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import named
from isonomia.report.figures.picture_kind import MOST_LINES, PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import colour, reference_line, see_through, ticks
from isonomia.report.figures.whiskers import whiskers

ROW, FRAME = 26, 92
#: Seen on the bar, on white paper and on dark.
WHISKER = "#8a96a3"


def draw(reading: Reading) -> Chart:
    """Bars beside or upon each other; a flagged one is pale."""
    names, facet = reading.columns("labels"), reading.column("facet")
    upright, stacked = bool(reading.option("upright", False)), bool(reading.option("stacked", False))
    together = [*([facet] if facet else []), *names]
    rows = [row for _, rows in reading.series("facet") for row in rows]
    positions = {key: index for index, key in enumerate(dict.fromkeys(_key(reading, row, together) for row in rows))}
    texts = [" · ".join(key[1:] if facet else key) for key in positions]
    figure = Chart()
    series = _series(reading)
    for index, (name, value, rows) in enumerate(series):
        figure.add_bar(**_bars(reading, rows, together, value, positions, upright, index), name=name or "")
    first = series[0][1]
    numbers = {**ticks(reading.style(first)), "title": {"text": _title(reading, series)}}
    labels = {
        "tickmode": "array",
        "tickvals": list(positions.values()),
        "ticktext": [reading.text(text) for text in texts],
        "showgrid": False,
    }
    figure.update_xaxes(**(labels if upright else numbers))
    figure.update_yaxes(**(numbers if upright else {**labels, "range": [len(positions) - 0.5, -0.5]}))
    reference_line(figure, reading, vertical=not upright)
    beside = 1 if stacked or facet else len(series)
    figure.update_layout(
        barmode="stack" if stacked else "overlay" if facet else "group",
        height=380 if upright else FRAME + ROW * max(2, len(positions) * beside),
        showlegend=len(series) > 1,
        bargap=0.25,
        meta={"narrow": {} if upright else {"yaxis": named([reading.text(text, NARROW) for text in texts])}},
    )
    return figure


def _series(reading: Reading) -> list[tuple[str | None, str, list[dict[str, Any]]]]:
    values = reading.columns("value") or [reading.needed("value")]
    if len(values) > 1:
        return [(reading.heading(value), value, reading.rows) for value in values]
    return [(name, values[0], rows) for name, rows in reading.series("facet" if reading.option("facet") else "color")]


def _key(reading: Reading, row: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    return tuple(reading.words(row[name]) for name in names)


def _title(reading: Reading, series: list[tuple[str | None, str, list[dict[str, Any]]]]) -> str:
    given = reading.say(reading.option("x_title"))
    return given or (reading.heading(series[0][1]) if len({value for _, value, _ in series}) == 1 else "")


def _bars(
    reading: Reading,
    rows: list[dict[str, Any]],
    names: list[str],
    value: str,
    positions: dict[tuple[str, ...], int],
    upright: bool,
    index: int,
) -> dict[str, Any]:
    flag = reading.column("flag")
    pale = [flag is not None and row[flag] is True for row in rows]
    numbers, spots = reading.numbers(value, rows), [positions[_key(reading, row, names)] for row in rows]
    return {
        "x": spots if upright else numbers,
        "y": numbers if upright else spots,
        "orientation": "v" if upright else "h",
        "marker": {"color": [see_through(colour(index), 0.45) if small else colour(index) for small in pale]},
        "error_y" if upright else "error_x": whiskers(reading, value, rows, color=WHISKER),
        "hovertext": [reading.hover(row, names, value) for row in rows],
        "hoverinfo": "text",
    }


PICTURES.add(
    PictureKind(
        id="bars",
        purpose="A value per row as a bar, with its interval where there is one.",
        options=(
            *common("labels"),
            Option("value", "columns", "column with the value; a list of columns gives one series each"),
            *common("low", "high"),
            Option("color", "column", "one series per value of this column, when `value` is one column"),
            Option("facet", "column", "rows are grouped by the values of this column, one colour each"),
            Option("stacked", "yes or no", "series are stacked instead of side by side (default no)"),
            Option(
                "upright", "yes or no", "vertical bars (default no: with horizontal bars labels are easier to read)"
            ),
            Option("flag", "column", "column of truth values: the bar is pale (small group, read with care)"),
            *common("n", "format", "where", "names", "x_title", "reference", "reference_label"),
        ),
        draw=draw,
        most_rows=MOST_LINES,
    )
)
