"""Texts inside a picture.

Plotly reads markup in every text it draws: ``<b>``, ``<span style>``, ``<a href>``. A text from data is therefore
escaped, and drawn as the characters it is made of.
"""

from __future__ import annotations

import html

from isonomia.report.texts import tame

#: Characters of a label on an axis; the whole text (up to `HOVER`) is shown on hover.
SHORT = 28
#: In a legend or above a panel there is a little more space.
TITLE = 36
#: The same where the page is as narrow as a phone.
NARROW = 20
HOVER = 160


def label(text: object, longest: int = SHORT) -> str:
    """A text as Plotly draws it literally, cut in the middle to a readable length.

    >>> label("<a href='x'>&")
    "&lt;a href='x'&gt;&amp;"
    """
    return html.escape(tame(text, longest, middle=True), quote=False)


def long_label(text: object) -> str:
    """The same for hover texts, which may be longer."""
    return label(text, HOVER)
