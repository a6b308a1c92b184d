"""Heat map: a value per combination of two columns."""

from __future__ import annotations

from typing import Any

from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import named
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import DIVERGING, SEQUENTIAL, ticks

ROW, FRAME = 38, 110
#: More cells than this carry no numbers, only colours.
MOST_TEXTS = 150


def draw(reading: Reading) -> Chart:
    """A coloured cell for each crossing, its figure inside, what stands behind it on hover; no cell where no row is."""
    x, y, value = reading.needed("x"), reading.needed("y"), reading.needed("value")
    across, down = _axis(reading, x), _axis(reading, y)
    figures: list[list[float | None]] = [[None] * len(across) for _ in down]
    texts = [[""] * len(across) for _ in down]
    hovers = [[""] * len(across) for _ in down]
    flag = reading.column("flag")
    for row, number in zip(reading.rows, reading.numbers(value), strict=True):
        row_index, column_index = down[reading.words(row[y])], across[reading.words(row[x])]
        figures[row_index][column_index] = number
        star = "*" if flag is not None and row[flag] is True else ""
        texts[row_index][column_index] = "" if number is None else reading.write(value, number) + star
        hovers[row_index][column_index] = reading.hover(row, [y, x], value)
    figure = Chart()
    figure.add_heatmap(
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
    positions: dict[str, int] = {}
    for row in reading.rows:
        positions.setdefault(reading.words(row[column]), len(positions))
    return positions


def _named(reading: Reading, column: str, positions: dict[str, int]) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(positions.values()),
        "ticktext": [reading.text(name) for name in positions],
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


PICTURES.add(
    PictureKind(
        id="heatmap",
        purpose="A value per combination of two columns.",
        options=(
            Option("x", "column", "column across"),
            Option("y", "column", "column down"),
            *common("value", "low", "high", "n"),
            Option("flag", "column", "column of truth values: the cell is marked with *"),
            *common("format", "where", "names"),
            Option("middle", "number", "the colours run in both directions from this number"),
            Option("range", "numbers", "the two ends of the colour scale"),
        ),
        draw=draw,
    )
)
