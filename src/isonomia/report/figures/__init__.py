"""Pictures drawn from tables: plain values that a page draws, a static SVG, or a Plotly figure, with the same numbers.

Each kind of picture is one file in `kinds`, which declares its options (``docs/pictures.md`` lists all of them). A
column name that the table does not have is an error that names the picture. Texts from data are cut to a readable
length (the whole text is shown on hover) and cannot carry markup. Colours are safe for colour-blind readers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from isonomia.errors import SpecError, close_to, require
from isonomia.evidence import Picture, Table
from isonomia.languages import check_language
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, reference
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.svg.drawing import WIDE, svg
from isonomia.report.figures.theme import finish, template

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "PICTURES",
    "Chart",
    "Option",
    "PictureKind",
    "Reading",
    "describe",
    "draw",
    "draw_svg",
    "reference",
    "static",
]


def draw(picture: Picture, table: Table, language: str = "en", *, most: int | None = None) -> Figure:
    """The picture of a table as a Plotly figure that can be restyled.

    Parameters
    ----------
    picture : Picture
        Its kind, and the columns it shows.
    table : Table
    language : "en" or "pt-BR"
    most : int, optional
        At most this many rows of the table are drawn, the first ones; each kind has its own maximum. The number of rows
        left out is in ``figure.layout.meta["left_out"]``.

    Examples
    --------
    >>> from isonomia.languages import msg
    >>> table = Table.of({"sex": ["F", "M"], "rate": [0.2, 0.3], "rate_low": [0.1, 0.2], "rate_high": [0.3, 0.4]})
    >>> figure = draw(Picture("forest", "rates", msg("Rates"), {"labels": "sex", "value": "rate"}), table)
    >>> figure.data[0].x
    (0.2, 0.3)
    """
    plotly = require("plotly.graph_objects", extra="plotly", purpose="Drawing a figure that can be restyled")
    figure = plotly.Figure(_sketch(picture, table, language, most).to_dict())
    figure.layout.template = template()
    return figure


def draw_svg(
    picture: Picture, table: Table, language: str = "en", *, width: int = WIDE, most: int | None = None
) -> str:
    """The picture of a table as one static ``<svg>`` element, with the numbers of `draw`; no script is needed.

    It has no ids and no styles, and takes the ink of the text around it. Below 560 pixels of `width` panels stand above
    each other, as on a phone.

    Examples
    --------
    >>> from isonomia.languages import msg
    >>> table = Table.of({"sex": ["F", "M"], "rate": [0.2, 0.3]})
    >>> drawing = draw_svg(Picture("bars", "rates", msg("Rates"), {"labels": "sex", "value": "rate"}), table)
    >>> drawing.startswith("<svg "), drawing.count('class="bar"')
    (True, 2)
    """
    return static(picture.kind, describe(picture, table, language, most=most), width)


def static(kind: str, described: dict[str, Any], width: int = WIDE, *, alone: bool = True) -> str:
    """The drawing of a figure that was described before; not `alone` where the page names it and has its font."""
    own = PICTURES[kind].svg
    return svg(described, width, alone=alone) if own is None else own(described, width)


def describe(picture: Picture, table: Table, language: str = "en", *, most: int | None = None) -> dict[str, Any]:
    """The figure as plain values (Plotly's JSON, without a theme), its numbers to six significant digits."""
    described: dict[str, Any] = _compact(_sketch(picture, table, language, most).to_dict())
    return described


def _compact(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _compact(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_compact(item) for item in value]
    if hasattr(value, "tolist"):
        return _compact(value.tolist())
    return value


def _sketch(picture: Picture, table: Table, language: str, most: int | None) -> Chart:
    kind = PICTURES[picture.kind]
    known = [option.name for option in kind.options]
    for name in picture.options:
        if name not in known:
            near = close_to(name, known)
            raise SpecError(f"The {kind.id} picture '{picture.title}' has no option {name!r}.{near}")
    most_rows = kind.most_rows if most is None else min(kind.most_rows, most)
    reading = Reading.of(picture, table, check_language(language), most_rows)
    return finish(kind.draw(reading), reading)
