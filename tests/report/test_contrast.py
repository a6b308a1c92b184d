"""Texts inside drawings are readable on what lies behind them, in the light and in the dark.

Tools that check pages cannot decide the contrast of text in an SVG; here it follows from the drawing's own colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from isonomia.evidence import Picture, Table
from isonomia.languages import msg
from isonomia.report import Document
from isonomia.report.figures import describe, static
from isonomia.report.figures.svg.drawing import NARROW, WIDE
from isonomia.report.figures.svg.marks import gradient, ink_on
from isonomia.report.figures.theme import DIVERGING, SEQUENTIAL

Colour = tuple[float, float, float]
#: What WCAG 2.2 asks of text of any size (level AA).
LEAST = 4.5


def colour(text: str) -> Colour:
    """A colour written as #rgb or #rrggbb."""
    digits = text.strip().removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    red, green, blue = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return red, green, blue


def sheets() -> dict[str, tuple[Colour, Colour]]:
    """Ink and sheet of a page in the light, in the dark and on paper, from its style sheet."""
    css = files("isonomia.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    inks, papers = (re.findall(rf"--{name}: (#[0-9a-f]+);", css) for name in ("ink", "sheet"))
    assert len(inks) == len(papers) == 3
    pairs = zip(inks, papers, strict=True)
    return dict(zip(("light", "dark", "print"), ((colour(i), colour(p)) for i, p in pairs), strict=True))


def over(front: Colour, back: Colour, opacity: float) -> Colour:
    red, green, blue = (opacity * f + (1 - opacity) * b for f, b in zip(front, back, strict=True))
    return red, green, blue


def luminance(one: Colour) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in one]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


def contrast(one: Colour, other: Colour) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_the_guideline() -> None:
    assert contrast(colour("#000"), colour("#fff")) == pytest.approx(21.0)
    assert contrast(colour("#767676"), colour("#fff")) == pytest.approx(
        4.54, abs=0.01
    )  # the known grey that just passes


def texts(drawing: str, ink: Colour, sheet: Colour) -> Iterator[tuple[str, Colour, Colour]]:
    """Every text with its colour and what is painted behind it: the last filled box before it that holds its anchor."""
    boxes: list[tuple[float, float, float, float, Colour]] = []

    def walk(node: ElementTree.Element, fill: str, opacity: float) -> Iterator[tuple[str, Colour, Colour]]:
        fill = node.get("fill", fill)
        opacity *= float(node.get("fill-opacity", 1)) * float(node.get("opacity", 1))
        tag = node.tag.rpartition("}")[2]
        if tag == "rect" and fill not in ("none", "currentColor"):
            x, y, wide, high = (float(node.get(name, 0)) for name in ("x", "y", "width", "height"))
            boxes.append((x, y, x + wide, y + high, over(colour(fill), sheet, opacity)))
        if tag == "text" and "".join(node.itertext()).strip():
            x, y = float(node.get("x", 0)), float(node.get("y", 0)) - 4  # above the baseline
            behind = [box[4] for box in boxes if box[0] <= x <= box[2] and box[1] <= y <= box[3]]
            back = behind[-1] if behind and node.get("transform") is None else sheet
            own = ink if fill == "currentColor" else colour(fill)
            yield "".join(node.itertext()), over(own, back, opacity), back
        if tag != "title":
            for child in node:
                yield from walk(child, fill, opacity)

    yield from walk(ElementTree.fromstring(drawing), "currentColor", 1.0)


def drawings(document: Document) -> Iterator[str]:
    grid = [(x, y) for x in range(6) for y in range(6)]
    table = Table.of({"a": [f"a{x}" for x, _ in grid], "b": [f"b{y}" for _, y in grid], "v": np.linspace(0, 1, 36)})
    wanted = [(Picture("heatmap", "t", msg("yes"), {"x": "a", "y": "b", "value": "v"}), table)]
    for section in document.sections:
        drawn = {} if section.result is None else section.result.drawings
        wanted += [(each.picture, each.table) for each in drawn.values() if len(each.table)]
    for picture, shown in wanted:
        described = describe(picture, shown, "en", most=200)
        yield from (static(picture.kind, described, width, alone=True) for width in (WIDE, NARROW))


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_texts_of_drawings_can_be_read(document: Document, scheme: str) -> None:
    ink, sheet = sheets()[scheme]
    found = [each for drawing in drawings(document) for each in texts(drawing, ink, sheet)]
    assert len(found) > 100
    assert any(back != sheet for _, _, back in found), "texts on cells were looked at"
    faint = {text: round(contrast(own, back), 2) for text, own, back in found if contrast(own, back) < LEAST}
    assert not faint


@pytest.mark.parametrize("stops", [SEQUENTIAL, DIVERGING])
def test_every_shade_of_a_scale_carries_its_text(stops: tuple[tuple[float, str], ...]) -> None:
    shade = gradient(stops, 0, 1)
    tones = map(shade, np.linspace(0, 1, 501))
    worst = min(contrast(colour(ink_on(tone)), colour(tone)) for tone in tones)
    assert worst >= LEAST
