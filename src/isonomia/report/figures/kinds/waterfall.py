"""Waterfall: from one figure to another in steps, one per row."""

from __future__ import annotations

from typing import Any

from isonomia.languages import msg
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import NARROW
from isonomia.report.figures.narrow import stacked
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, colour, ticks

#: Pixels of a step, what the picture needs beside them, and how thick a step is drawn.
ROW, FRAME, THICK = 28, 100, 14
#: Steps drawn by themselves; smaller ones are one step together.
STEPS = 12


def draw(reading: Reading) -> Chart:
    """A thick line per step from where the last one ended, in the order of the table; marks at both ends."""
    value, names = reading.needed("value"), reading.columns("labels")
    start = float(reading.option("start", 0.0))
    steps = [
        (" · ".join(reading.words(row[name]) for name in names), reading.hover(row, names, value), number)
        for row, number in zip(reading.rows, reading.numbers(value), strict=True)
        if number is not None
    ]
    if len(steps) > STEPS + 1:
        rest = msg("{n:int} other columns", n=len(steps) - STEPS).text(reading.language)
        steps = [*steps[:STEPS], (rest, rest, sum(number for _, _, number in steps[STEPS:]))]
    ends = [_words(reading, "start_label"), _words(reading, "end_label")]
    texts = [ends[0], *(name for name, _, _ in steps), ends[1]]
    figure, at = Chart(), start
    _end(figure, reading, value, ends[0], start, 0)
    for index, (_, hover, number) in enumerate(steps, 1):
        _link(figure, at, index - 1)
        figure.add_scatter(
            x=[at, at + number],
            y=[index, index],
            mode="lines",
            line={"color": colour(0 if number >= 0 else 1), "width": THICK},
            hovertext=[hover, hover],
            hoverinfo="text",
            showlegend=False,
        )
        at += number
    _link(figure, at, len(steps))
    _end(figure, reading, value, ends[1], at, len(steps) + 1)
    title = reading.say(reading.option("x_title")) or reading.heading(value)
    figure.update_xaxes(**ticks(reading.option("format") or reading.style(value)), title={"text": title})
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(texts))),
        ticktext=[reading.text(text) for text in texts],
        range=[len(texts) - 0.5, -0.5],
        showgrid=False,
    )
    narrow = stacked(figure, 1, ROW * len(texts), [reading.text(text, NARROW) for text in texts])
    figure.update_layout(height=FRAME + ROW * len(texts), showlegend=False, meta={"narrow": narrow})
    return figure


def _words(reading: Reading, option: str) -> str:
    message = reading.option(option)
    return "" if message is None else message.text(reading.language)


def _end(figure: Chart, reading: Reading, value: str, name: str, at: float, index: int) -> None:
    hover = f"<b>{reading.text(name)}</b><br>{reading.write(value, at)}"
    look: dict[str, Any] = {"color": FAINT, "symbol": "diamond", "size": 11}
    figure.add_scatter(x=[at], y=[index], mode="markers", marker=look, hovertext=[hover], hoverinfo="text")


def _link(figure: Chart, at: float, index: int) -> None:
    line = {"color": FAINT, "width": 1}
    figure.add_scatter(x=[at, at], y=[index, index + 1], mode="lines", line=line, hoverinfo="skip", showlegend=False)


PICTURES.add(
    PictureKind(
        id="waterfall",
        purpose="From one figure to another in steps, one per row.",
        options=(
            *common("labels", "value"),
            Option("start", "number", "the figure that the first step starts from (default 0)"),
            Option("start_label", "message", "what the first figure is"),
            Option("end_label", "message", "what the last figure is"),
            *common("where", "names", "format", "x_title"),
        ),
        draw=draw,
    )
)
