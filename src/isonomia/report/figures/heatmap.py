"""Heat map: a figure for each crossing of two columns.

Options: ``x``, ``y``, ``value``, ``low``, ``high``, ``n``, ``flag`` (a cell is marked with *), ``format``,
``where``, ``names``, ``middle`` (a number: colours run both ways from it), ``range`` (two numbers: ends of the
colour scale).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import named
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import DIVERGING, SEQUENTIAL, ticks

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ROW, FRAME = 38, 110
#: More cells than this carry no numbers, only colours.
MOST_TEXTS = 150


def draw(reading: Reading) -> Figure:
    """A coloured cell for each crossing, its figure inside, what stands behind it on hover; no cell where no row is."""
    from plotly.graph_objects import Figure, Heatmap

    x, y, value = reading.needed("x"), reading.needed("y"), reading.needed("value")
    across, down = _axis(reading, x), _axis(reading, y)
    figures: list[list[float | None]] = [[None] * len(across) for _ in down]
    texts = [[""] * len(across) for _ in down]
    hovers = [[""] * len(across) for _ in down]
    flag = reading.column("flag")
    for row, number in zip(reading.rows, reading.numbers(value), strict=True):
        place = down[reading.words(row[y])], across[reading.words(row[x])]
        figures[place[0]][place[1]] = number
        star = "*" if flag is not None and row[flag] is True else ""
        texts[place[0]][place[1]] = "" if number is None else reading.write(value, number) + star
        hovers[place[0]][place[1]] = reading.hover(row, [y, x], value)
    figure = Figure(
        Heatmap(
            z=figures,
            text=texts if len(across) * len(down) <= MOST_TEXTS else None,
            texttemplate="%{text}",
            hovertext=hovers,
            hoverinfo="text",
            xgap=2,
            ygap=2,
            hoverongaps=False,
            coloraxis="coloraxis",
        )
    )
    figure.update_xaxes(**_named(reading, x, across), showgrid=False)
    figure.update_yaxes(**_named(reading, y, down), showgrid=False, autorange="reversed")
    narrow = {
        "xaxis": named([reading.text(name, NARROW * 2 // 3) for name in across]),
        "yaxis": {**named([reading.text(name, NARROW) for name in down]), "title": {"text": ""}},
        "coloraxis": {"showscale": False},
    }
    figure.update_layout(
        height=FRAME + ROW * max(2, len(down)), coloraxis=_scale(reading, value), meta={"narrow": narrow}
    )
    return figure


def _axis(reading: Reading, column: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for row in reading.rows:
        places.setdefault(reading.words(row[column]), len(places))
    return places


def _named(reading: Reading, column: str, places: dict[str, int]) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(places.values()),
        "ticktext": [reading.text(name) for name in places],
        "title": {"text": reading.heading(column)},
    }


def _scale(reading: Reading, value: str) -> dict[str, Any]:
    middle, ends = reading.option("middle"), reading.option("range")
    scale: dict[str, Any] = {
        "colorscale": SEQUENTIAL if middle is None else DIVERGING,
        "colorbar": {"thickness": 10, "outlinewidth": 0, **ticks(reading.style(value))},
    }
    if middle is not None:
        scale["cmid"] = middle
    if ends is not None:
        scale["cmin"], scale["cmax"] = ends
    return scale
