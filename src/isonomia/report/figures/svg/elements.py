"""SVG elements and the texts in them: escaped, measured and wrapped."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

#: Font sizes in pixels: ticks and legend, titles of panels, notes and axes.
TEXT, TITLE, SMALL = 12, 13, 11
#: Height of a line of text.
LINE = 15

_WIDTHS = {
    **dict.fromkeys("iljI|!.,:;'` ", 0.32),
    **dict.fromkeys('ftr()[]{}-/\\" ', 0.4),
    **dict.fromkeys("<>=+", 0.85),
    **dict.fromkeys("mwMW@%—…", 0.95),
}
_MARKUP = re.compile(r"</?b>")


def element(name: str, content: str = "", **attributes: Any) -> str:
    """One element; attribute values are escaped, `content` is markup already. Underscores in names are hyphens.

    >>> element("rect", x=1.0, width=2.345, fill=None, data_of='a"b')
    '<rect x="1" width="2.3" data-of="a&quot;b"/>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def _value(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else html.escape(str(value))


def number(value: float) -> str:
    """A coordinate to a tenth of a pixel.

    >>> number(2.50), number(-0.01), number(120.0)
    ('2.5', '0', '120')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def lines_of(text: object) -> list[str]:
    """The lines of a text as Plotly writes it: ``<br>`` ends a line, ``<b>`` is dropped, the rest is unescaped.

    >>> lines_of("<b>a &lt;b&gt;</b><br>c")
    ['a <b>', 'c']
    """
    return [html.unescape(_MARKUP.sub("", line)) for line in str(text).split("<br>")]


def plain(text: object) -> str:
    """The same as one escaped line."""
    return html.escape("; ".join(line for line in lines_of(text) if line), quote=False)


def width(text: str, size: float = TEXT) -> float:
    """About how many pixels a text takes: no font is at hand, so each character counts by its shape.

    >>> width("mm") > width("ii"), width("女") == 12
    (True, True)
    """
    return size * sum(_width(char) for char in text)


def _width(char: str) -> float:
    if char in _WIDTHS:
        return _WIDTHS[char]
    if unicodedata.east_asian_width(char) in "WF":
        return 1.0
    if unicodedata.combining(char) or unicodedata.category(char) == "Cf":
        return 0.0
    return 0.7 if char.isupper() else 0.62


def wrap(text: str, most: float, size: float = TEXT, lines: int = 2) -> list[str]:
    """A text in at most so many lines of at most `most` pixels; what does not fit ends in an ellipsis.

    >>> wrap("never married", 60), wrap("abcdefghijklmnop", 40, lines=1)
    (['never', 'married'], ['abc…'])
    """
    wrapped: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer, size) <= most:
            line = longer
            continue
        if line:
            wrapped.append(line)
        line = word
        while width(line, size) > most and len(line) > 1:
            part = _fitting(line, most, size)
            wrapped.append(part)
            line = line[len(part) :]
    wrapped += [line] if line else []
    if len(wrapped) > lines:
        last = _fitting(wrapped[lines - 1], most - width("…", size), size)
        wrapped = [*wrapped[: lines - 1], last.rstrip(" …") + "…"]
    return wrapped or [""]


def _fitting(text: str, most: float, size: float) -> str:
    """The longest beginning of a text that fits, at least one character."""
    length = 1
    while length < len(text) and width(text[: length + 1], size) <= most:
        length += 1
    return text[:length]


def text(lines: Iterable[str], x: float, y: float, *, line: float = LINE, **attributes: Any) -> str:
    """Lines of text, the first on the baseline `y`, the next `line` pixels below it."""
    lines = list(lines)
    if len(lines) == 1:
        return element("text", html.escape(lines[0], quote=False), x=x, y=y, **attributes)
    spans = (
        element("tspan", html.escape(words, quote=False), x=x, dy=line if index else None)
        for index, words in enumerate(lines)
    )
    return element("text", "".join(spans), x=x, y=y, **attributes)
