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
``format``      how numbers are written; the table's own format of the column where left out
``x_title``     `Message` for the axis; ``y_title`` as well
``reference``   number at which a line is drawn, with ``reference_label`` (`Message`)
=============== =====================================================================================================

A column name that the table does not have is an error that names the picture. Texts that come from data are cut to a
readable length (the whole of it on hover) and cannot carry markup. Colours are safe for colour-blind readers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from isonomia.errors import SpecError
from isonomia.evidence import Picture, Table
from isonomia.languages import check_language
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import finish

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Kinds of pictures; each is a file of this folder with a function `draw(reading)`.
KINDS = ("forest", "heatmap", "reliability", "confusion", "bars", "lines", "scatter", "histogram")

__all__ = ["KINDS", "Reading", "draw"]


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
    if picture.kind not in KINDS:
        raise SpecError(f"A picture's kind must be one of {list(KINDS)}; got {picture.kind!r}.")
    reading = Reading.of(picture, table, check_language(language), most)
    figure: Figure = import_module(f"isonomia.report.figures.{picture.kind}").draw(reading)
    return finish(figure, reading)
