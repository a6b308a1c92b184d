"""Kinds of pictures: what each draws and which options it takes, as declared data.

A kind is one file in `figures/kinds`, or an entry point of another package in the group ``isonomia.pictures``.
Everything else is derived from its declaration: which names `evidence.Picture.options` accepts, how many rows of a
table are drawn, and the page ``docs/pictures.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from isonomia.registry import Registry

if TYPE_CHECKING:
    from isonomia.report.figures.chart import Chart
    from isonomia.report.figures.reading import Reading

#: More rows than this cannot be distinguished and would make the page heavy; the first where each row has its own line.
MOST_LINES, MOST_ROWS = 80, 2000

#: What an option is given as.
Takes = Literal["column", "columns", "number", "numbers", "yes or no", "message", "mapping", "format"]


@dataclass(frozen=True)
class Option:
    """One option of a kind of picture: its name, what it is given as, and one line of help."""

    name: str
    takes: Takes
    help: str


@dataclass(frozen=True)
class PictureKind:
    """A kind of picture.

    Attributes
    ----------
    id : str
        What `evidence.Picture.kind` names.
    purpose : str
        What it shows, in one line.
    options : tuple of Option
    draw : callable
        From a `Reading` (the rows, labels and numbers of the table) to a `Chart`.
    most_rows : int
        At most this many rows of the table are drawn.
    svg : callable, optional
        From the chart as plain values (`Chart.to_dict`) and a width in pixels to one static ``<svg>`` element. By
        default `figures.svg` draws it, which knows scatter, bar and heatmap traces; a kind with other traces brings
        its own.
    """

    id: str
    purpose: str
    options: tuple[Option, ...]
    draw: Callable[[Reading], Chart]
    most_rows: int = MOST_ROWS
    svg: Callable[[Mapping[str, Any], int], str] | None = None


PICTURES: Registry[PictureKind] = Registry("picture", word="kind of picture", package="isonomia.report.figures.kinds")

#: Options that mean the same in every kind that takes them.
COMMON: Mapping[str, Option] = {
    option.name: option
    for option in (
        Option("labels", "columns", "columns that name a row; several are joined with ' · '"),
        Option("value", "columns", "column with the value"),
        Option("low", "column", "lower end of the interval; `<value>_low` where left out and present"),
        Option("high", "column", "upper end of the interval; `<value>_high` where left out and present"),
        Option("color", "column", "column whose values give each row its colour and an entry in the legend"),
        Option("facet", "column", "column whose values give each row its panel"),
        Option("n", "column", "column with the number of rows, shown on hover; `n` where left out and present"),
        Option("flag", "column", "column of truth values: the row is drawn hollow (small group, read with care)"),
        Option("where", "mapping", "column to value, or list of values: only these rows are drawn"),
        Option("names", "mapping", "value of these columns to the `Message` that a reader sees instead"),
        Option("format", "format", "how numbers are written; the table's own format of the column where left out"),
        Option("x_title", "message", "title of the horizontal axis"),
        Option("y_title", "message", "title of the vertical axis"),
        Option("reference", "number", "number at which a reference line is drawn"),
        Option("reference_label", "message", "text at the reference line"),
    )
}


def common(*names: str) -> tuple[Option, ...]:
    """Some of the shared options, in this order."""
    return tuple(COMMON[name] for name in names)


def reference() -> str:
    """All kinds of pictures with their options, as Markdown: the text of ``docs/pictures.md``."""
    parts = [
        "# Kinds of pictures\n\n"
        "A check declares `Picture(kind, table, title, options)`; `report.draw` makes a Plotly figure of it and\n"
        "`report.draw_svg` a static drawing with the same numbers. Another package adds a kind by an entry point in\n"
        "the group `isonomia.pictures`. This page is written from the declarations:\n"
        "`python -m isonomia.report.figures > docs/pictures.md`.\n"
    ]
    for kind in sorted(PICTURES, key=lambda kind: kind.id):
        parts.append(f"## `{kind.id}`\n\n{kind.purpose}\n\n| option | given as | meaning |\n|---|---|---|")
        parts.extend(f"| `{option.name}` | {option.takes} | {option.help} |" for option in kind.options)
        parts.append("")
    return "\n".join(parts)
