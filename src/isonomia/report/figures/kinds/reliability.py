"""Reliability diagram: observed rate by predicted probability, bin by bin."""

from __future__ import annotations

import math
from typing import Any

from isonomia.languages import msg
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, symbol
from isonomia.report.figures.whiskers import whiskers


def draw(reading: Reading) -> Chart:
    """A line per group through its bins, the diagonal of perfect calibration, marks sized by the bins' rows."""
    predicted = reading.needed("predicted", "predicted")
    observed = reading.needed("observed", "observed")
    figure = Chart()
    diagonal = msg("perfect calibration").text(reading.language)
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name=diagonal,
        hoverinfo="skip",
        line={"color": FAINT, "dash": "dash", "width": 1.2},
    )
    n = reading.column("n", "n")
    largest = max((size or 0 for size in reading.numbers(n)), default=0) if n else 0
    for index, (name, rows) in enumerate(reading.series()):
        known = sorted((row for row in rows if row[predicted] is not None), key=lambda row: row[predicted])
        figure.add_scatter(**_line(reading, known, predicted, observed, index), name=name or reading.heading(observed))
        if n and largest:
            sizes = [5 + 13 * math.sqrt((size or 0) / largest) for size in reading.numbers(n, known)]
            figure.data[-1]["marker"]["size"] = sizes
    axis: dict[str, Any] = {"range": [-0.03, 1.03], "tickformat": ".0%", "constrain": "domain"}
    figure.update_xaxes(**axis, title={"text": reading.say(reading.option("x_title")) or reading.heading(predicted)})
    figure.update_yaxes(**axis, title={"text": reading.say(reading.option("y_title")) or reading.heading(observed)})
    figure.update_layout(height=440)
    return figure


def _line(reading: Reading, rows: list[dict[str, Any]], predicted: str, observed: str, index: int) -> dict[str, Any]:
    return {
        "x": reading.numbers(predicted, rows),
        "y": reading.numbers(observed, rows),
        "mode": "lines+markers",
        "line": {"color": colour(index), "width": 1.8},
        "marker": {"color": colour(index), "symbol": symbol(index)},
        "hovertext": [
            f"{reading.heading(predicted)}: {reading.write(predicted, row[predicted])}<br>"
            + reading.hover(row, [name for name in [reading.column("color")] if name], observed)
            for row in rows
        ],
        "hoverinfo": "text",
        "error_y": whiskers(reading, observed, rows, thickness=1.1),
    }


PICTURES.add(
    PictureKind(
        id="reliability",
        purpose="The observed rate by predicted probability, bin by bin.",
        options=(
            Option("predicted", "column", "column with the mean prediction of a bin; `predicted` where left out"),
            Option("observed", "column", "column with the observed rate; `observed` where left out"),
            Option(
                "low",
                "column",
                "lower end of the observed rate's interval; `<observed>_low` where left out and present",
            ),
            Option(
                "high",
                "column",
                "upper end of the observed rate's interval; `<observed>_high` where left out and present",
            ),
            Option("color", "column", "one line per value of this column"),
            Option("n", "column", "column with the number of rows: the size of a mark"),
            *common("format", "where", "names", "x_title", "y_title"),
        ),
        draw=draw,
    )
)
