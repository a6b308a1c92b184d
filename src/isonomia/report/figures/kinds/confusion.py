"""Confusion per group: a small table per group, coloured by the share of each actual class."""

from __future__ import annotations

import math
from typing import Any

from isonomia.languages import msg
from isonomia.languages.message import write_number
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import SEQUENTIAL

#: Panels side by side, and how many there can be.
ACROSS, MOST_PANELS = 3, 12
PANEL = 210

#: A panel: its title, the actual classes (down), the predicted ones (across), counts.
Panel = tuple[str, list[str], list[str], list[list[float | None]]]


def draw(reading: Reading) -> Chart:
    """Counts by actual (down) and predicted (across) class; the colour is the share within the actual class."""
    found = _long(reading) if reading.option("actual") else _wide(reading)
    panels = found[:MOST_PANELS]
    across = max(1, min(ACROSS, len(panels)))
    down = max(1, math.ceil(len(panels) / across))
    height = 90 + PANEL * down
    figure = Chart.of_panels(
        [title for title, *_ in panels] or [""], across, space_across=0.1, space_down=min(0.25, 75 / height)
    )
    for index, panel in enumerate(panels):
        where = {"row": index // across + 1, "col": index % across + 1}
        figure.add_heatmap(**_trace(reading, panel), **where)
        _, actual, predicted, _ = panel
        figure.update_xaxes(**_classes(predicted), **where)
        figure.update_yaxes(**_classes(actual), autorange="reversed", **where)
    figure.update_xaxes(title={"text": msg("predicted").text(reading.language)}, row=down)
    figure.update_yaxes(title={"text": msg("actual").text(reading.language)}, col=1)
    if len(panels) == 1:
        figure.update_xaxes(domain=[0, 0.5])
    figure.update_layout(
        height=height, meta={"narrow": stacked(figure, len(panels), PANEL), "left_out": len(found) - len(panels)}
    )
    return figure


def _wide(reading: Reading) -> list[Panel]:
    names = reading.columns("labels")
    tp, fp, fn, tn = (reading.needed(cell, cell) for cell in ("tp", "fp", "fn", "tn"))
    negative, positive = msg("negative").text(reading.language), msg("positive").text(reading.language)
    panels: list[Panel] = []
    for row in reading.rows:
        counts = [reading.numbers(name, [row])[0] for name in (tn, fp, fn, tp)]
        cells = [counts[:2], counts[2:]]
        panels.append((reading.name_of(row, names), [negative, positive], [negative, positive], cells))
    return panels


def _long(reading: Reading) -> list[Panel]:
    actual, predicted, count = (reading.needed(option, option) for option in ("actual", "predicted", "count"))
    classes: dict[str, int] = {}
    for row in reading.rows:
        for name in (row[actual], row[predicted]):
            classes.setdefault(reading.words(name), len(classes))
    panels: list[Panel] = []
    for title, rows in reading.series("facet"):
        cells: list[list[float | None]] = [[0.0] * len(classes) for _ in classes]
        for row, number in zip(rows, reading.numbers(count, rows), strict=True):
            cells[classes[reading.words(row[actual])]][classes[reading.words(row[predicted])]] = number
        labels = [reading.text(name) for name in classes]
        panels.append((title or "", labels, labels, cells))
    return panels


def _trace(reading: Reading, panel: Panel) -> dict[str, Any]:
    title, actual, predicted, cells = panel
    shares: list[list[float | None]] = []
    for line in cells:
        total = sum(cell or 0 for cell in line)
        shares.append([None if cell is None or not total else cell / total for cell in line])
    texts = [
        [
            f"<b>{_write(cell, 'int', reading)}</b><br>{_write(share, 'pct', reading)}"
            for cell, share in zip(*lines, strict=True)
        ]
        for lines in zip(cells, shares, strict=True)
    ]
    hovers = [
        [
            f"<b>{title}</b><br>{_crossing(row, column, reading)}<br>{text}"
            for column, text in zip(predicted, line, strict=True)
        ]
        for row, line in zip(actual, texts, strict=True)
    ]
    return {
        "z": [[share or 0 for share in line] for line in shares],
        "text": texts,
        "texttemplate": "%{text}" if len(actual) <= 5 else None,
        "hovertext": hovers,
        "hoverinfo": "text",
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "colorscale": SEQUENTIAL,
        "showscale": False,
    }


def _crossing(actual: str, predicted: str, reading: Reading) -> str:
    return msg("actual {actual}, predicted {predicted}", actual=actual, predicted=predicted).text(reading.language)


def _write(number: float | None, style: str, reading: Reading) -> str:
    return "—" if number is None else write_number(number, style, reading.language)


def _classes(names: list[str]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False}


PICTURES.add(
    PictureKind(
        id="confusion",
        purpose="Counts by actual and predicted class, one small table per group.",
        options=(
            Option("labels", "columns", "columns that name a group, in a table with one row per group"),
            Option("tp", "column", "true positives, in a table with one row per group; `tp` where left out"),
            Option("fp", "column", "false positives; `fp` where left out"),
            Option("fn", "column", "false negatives; `fn` where left out"),
            Option("tn", "column", "true negatives; `tn` where left out"),
            Option("actual", "column", "actual class, in a table with one row per cell"),
            Option("predicted", "column", "predicted class, in a table with one row per cell"),
            Option("count", "column", "number of rows, in a table with one row per cell"),
            Option("facet", "column", "the group, in a table with one row per cell; one panel where left out"),
            *common("where", "names"),
        ),
        draw=draw,
    )
)
