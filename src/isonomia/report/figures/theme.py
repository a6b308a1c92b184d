"""One look for all pictures: colours, fonts, margins, numbers in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isonomia.languages import locale

if TYPE_CHECKING:
    from isonomia.report.figures.chart import Chart
    from isonomia.report.figures.reading import Reading

#: Told apart by readers with any common colour blindness, on white and on dark paper (after Okabe and Ito, and Tol).
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7b5ea7", "#8c8c8c")
#: Marks differ in shape as well, so that a picture survives a grey printer.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "hexagon", "x")
#: From low to high; and with a middle, for differences.
SEQUENTIAL = ((0.0, "#f2f6fb"), (0.35, "#a9c9e8"), (0.7, "#3d86c0"), (1.0, "#08406f"))
DIVERGING = ((0.0, "#b2450b"), (0.25, "#eda678"), (0.5, "#f5f5f2"), (0.75, "#86b6da"), (1.0, "#0b5a94"))
INK, FAINT, LINE = "#1f2933", "#5f6c7b", "#d5dbe3"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
#: Axis ticks for each way of writing numbers.
TICKS = {"pct": ".0%", "points": ".1%", "int": ",d", "p": ".3~f"}


def template() -> dict[str, Any]:
    """The theme as a Plotly template; a page holds it once for all its figures."""
    axis = {
        "gridcolor": LINE,
        "linecolor": LINE,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
        "title": {"font": {"size": 12}, "standoff": 8},
        "tickfont": {"size": 12},
    }
    return {
        "layout": {
            "font": {"family": FONT, "size": 12, "color": INK},
            "colorway": list(PALETTE),
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 10, "r": 16, "t": 34, "b": 40},
            "xaxis": axis,
            "yaxis": axis,
            "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
            "hoverlabel": {"align": "left", "font": {"family": FONT, "size": 12}},
            "hovermode": "closest",
            "dragmode": False,
            "barcornerradius": 2,
        }
    }


def colour(index: int) -> str:
    """The colour of the n-th series."""
    return PALETTE[index % len(PALETTE)]


def symbol(index: int) -> str:
    """The mark of the n-th series."""
    return SYMBOLS[index % len(SYMBOLS)]


def see_through(hex_colour: str, share: float) -> str:
    """A colour that lets the paper shine through.

    >>> see_through("#0072b2", 0.2)
    'rgba(0,114,178,0.2)'
    """
    red, green, blue = (int(hex_colour[index : index + 2], 16) for index in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def number_axis(reading: Reading, column: str, title: str | None = None) -> dict[str, Any]:
    """An axis whose numbers are written as the column's."""
    return {"title": {"text": reading.heading(column) if title is None else title}, **ticks(reading.style(column))}


def ticks(style: str) -> dict[str, Any]:
    """How an axis writes its numbers."""
    return {"tickformat": TICKS[style]} if style in TICKS else {}


def reference_line(figure: Chart, reading: Reading, *, vertical: bool, labelled: bool = True, **where: Any) -> None:
    """The line that values are compared with, where the picture names one; of several panels one has its label."""
    value = reading.option("reference")
    if value is None or isinstance(value, dict):
        return
    add = figure.add_vline if vertical else figure.add_hline
    add(value, line={"color": FAINT, "width": 1.2, "dash": "dash"}, **where)
    text = reading.say(reading.option("reference_label"))
    if text and labelled:
        side = (
            {"yref": "paper", "y": 1, "yanchor": "bottom", "x": value}
            if vertical
            else {"xref": "paper", "x": 1, "xanchor": "right", "y": value, "yanchor": "bottom"}
        )
        figure.add_annotation(text=text, font={"size": 11, "color": FAINT}, **side)


def finish(figure: Chart, reading: Reading) -> Chart:
    """Numbers in the reader's language, the title for a figure that is shown alone, space for what is on top."""
    shown = sum(trace.get("showlegend") is not False for trace in figure.data)
    legend = figure.layout.get("showlegend") is not False and shown > 1
    meta = {"left_out": 0, **figure.layout.get("meta", {}), "title": reading.say(reading.picture.title)}
    meta["left_out"] += reading.left_out
    marks = locale(reading.language)
    figure.update_layout(separators=marks.decimal + marks.thousands, meta=meta)
    if not legend and not figure.layout.get("annotations"):
        figure.update_layout(margin={"t": 12})
    return figure
