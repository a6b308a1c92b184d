"""Pictures drawn from tables, one file a kind: ``draw(picture, table, language)`` gives a Plotly figure.

Every kind takes its options from `evidence.Picture.options`; each file's docstring lists its own. These mean the same
everywhere:

=============== =====================================================================================================
``labels``      column, or list of columns, that name a row; several are joined with " · "
``value``       column with the figure (some kinds take a list of columns: a panel or a series each)
``low, high``   columns with the ends of its interval; where left out, ``<value>_low`` and ``<value>_high`` if present
``color``       column whose values give each row its colour and a place in the legend
``facet``       column whose values give each row its panel
``n``           column with the number of rows, shown on hover; "n" where left out and present
``flag``        column of truth values: the row is drawn hollow (small group, do not lean on it)
``where``       mapping of column to value (or list of values): only these rows are drawn
``names``       mapping of a value of these columns to the `Message` it is called by
``format``      how numbers are written; the table's own format of the column where left out
``x_title``     `Message` for the axis; ``y_title`` as well
``reference``   number at which a line is drawn, with ``reference_label`` (`Message`)
=============== =====================================================================================================

A column name that the table does not have is an error that names the picture. Texts that come from data are cut to a
readable length (the whole of it on hover) and cannot carry markup. Colours are safe for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from isonomia.errors import SpecError, close_to
from isonomia.evidence import Picture, PictureKind, Table
from isonomia.languages import check_language
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import finish, themed

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: The options of each kind of picture; each kind is a file of this folder with a function `draw(reading)`.
OPTIONS: Mapping[PictureKind, tuple[str, ...]] = {
    "forest": (
        "labels",
        "value",
        "low",
        "high",
        "color",
        "facet",
        "flag",
        "n",
        "format",
        "where",
        "names",
        "x_title",
        "reference",
        "reference_label",
    ),
    "heatmap": ("x", "y", "value", "low", "high", "n", "flag", "format", "where", "names", "middle", "range"),
    "reliability": (
        "predicted",
        "observed",
        "low",
        "high",
        "color",
        "n",
        "format",
        "where",
        "names",
        "x_title",
        "y_title",
    ),
    "confusion": ("labels", "tp", "fp", "fn", "tn", "actual", "predicted", "count", "facet", "where", "names"),
    "bars": (
        "labels",
        "value",
        "low",
        "high",
        "color",
        "facet",
        "stacked",
        "upright",
        "flag",
        "n",
        "format",
        "where",
        "names",
        "x_title",
        "reference",
        "reference_label",
    ),
    "lines": (
        "x",
        "value",
        "low",
        "high",
        "color",
        "n",
        "format",
        "where",
        "names",
        "x_title",
        "y_title",
        "log_x",
        "reference",
        "reference_label",
    ),
    "scatter": (
        "x",
        "y",
        "color",
        "n",
        "hover",
        "labels",
        "diagonal",
        "where",
        "names",
        "x_title",
        "y_title",
        "reference",
        "reference_label",
    ),
    "histogram": (
        "left",
        "right",
        "count",
        "color",
        "where",
        "names",
        "x_title",
        "y_title",
        "reference",
        "reference_label",
    ),
}

__all__ = ["OPTIONS", "Reading", "draw", "sketch"]


def draw(picture: Picture, table: Table, language: str = "en", *, most: int | None = None) -> Figure:
    """The picture of a table as a Plotly figure that can be restyled.

    Parameters
    ----------
    picture : Picture
        Its kind, and the columns it shows.
    table : Table
    language : "en" or "pt-BR"
    most : int, optional
        At most this many rows of the table are drawn, the first ones; each kind has a bound of its own. How many were
        left out stands in ``figure.layout.meta["left_out"]``.

    Examples
    --------
    >>> from isonomia.languages import msg
    >>> table = Table({"sex": ["F", "M"], "rate": [0.2, 0.3], "rate_low": [0.1, 0.2], "rate_high": [0.3, 0.4]})
    >>> figure = draw(Picture("forest", "rates", msg("Rates"), {"labels": "sex", "value": "rate"}), table)
    >>> figure.data[0].x
    (0.2, 0.3)
    """
    return themed(sketch(picture, table, language, most=most))


def sketch(picture: Picture, table: Table, language: str = "en", *, most: int | None = None) -> Figure:
    """The same without the theme, for a page that holds it once for all its figures."""
    if picture.kind not in OPTIONS:
        raise SpecError(f"A picture's kind must be one of {list(OPTIONS)}; got {picture.kind!r}.")
    for option in picture.options:
        if option not in OPTIONS[picture.kind]:
            near = close_to(option, OPTIONS[picture.kind])
            raise SpecError(f"The {picture.kind} picture '{picture.title}' has no option {option!r}.{near}")
    reading = Reading.of(picture, table, check_language(language), most)
    figure: Figure = import_module(f"isonomia.report.figures.{picture.kind}").draw(reading)
    return finish(figure, reading)
