"""The report as one HTML file: offline, printable, readable on a phone.

The file loads nothing: style, script and pictures are inside, and a content security policy forbids any address and any
script other than the two whose hashes it names. Everything from data goes through Jinja's autoescape.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from isonomia._version import __version__
from isonomia.languages import Language, check_language, translate
from isonomia.report.document import Document
from isonomia.report.view import Figures, view

if TYPE_CHECKING:
    from jinja2 import Environment

#: The file stays below this many bytes; tables are shown with fewer rows until it does.
MOST_BYTES = 1_500_000
#: How many rows of a table are tried, in this order.
ROWS = (200, 60, 30, 15, 8, 3)

_PLOTLY = "plotly-cartesian-4.1.1.min.js"
_ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/)")


def to_html(document: Document, language: str = "en") -> str:
    """The whole report as one self-contained page.

    Examples
    --------
    >>> page = to_html(Document("Audit of a model", {"dataset": "adult", "rows": 48842}))
    >>> page.startswith("<!doctype html>"), len(page) < MOST_BYTES
    (True, True)
    """
    known = check_language(language)
    page, figures = "", Figures()
    for rows in ROWS:
        page = _render(document, known, rows, figures)
        if len(page.encode("utf-8", "replace")) < MOST_BYTES:
            break
    return page


def _render(document: Document, language: Language, rows: int, figures: Figures) -> str:
    shown = view(document, language, rows, figures)
    page: str = (
        _environment(language)
        .get_template("report.html")
        .render(
            **shown,
            lang=language,
            version=__version__,
            style=Markup(_asset("report.css")),
            plotly=_packed_plotly(),
            script=Markup(_asset("report.js")),
            policy=_policy([_plotly(), _asset("report.js")]),
            pictures=_packed(_json({"template": _template(), "figures": shown["figures"]})),
        )
    )
    return page


def _policy(scripts: list[str]) -> str:
    """What the page may do: run the two scripts whose hashes are named, style itself, and load nothing."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'"
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _packed(text: str) -> str:
    """A text that the page unpacks: a fraction of the bytes, and no character that could end the element it is in.

    >>> gzip.decompress(base64.b64decode(_packed("</script>"))).decode()
    '</script>'
    """
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


@cache
def _asset(name: str) -> str:
    text = files("isonomia.report").joinpath("assets", name).read_text(encoding="utf-8")
    if "</script" in text.lower() or "</style" in text.lower():
        raise AssertionError(f"{name} would end the element it is embedded in.")
    return text


@cache
def _plotly() -> str:
    """Plotly's script without the addresses in its comments and unused defaults; names of XML namespaces stay."""
    return _ELSEWHERE.sub("", _asset(_PLOTLY))


@cache
def _packed_plotly() -> str:
    """Plotly's script packed for the page, which unpacks it: a third of the bytes."""
    return _packed(_plotly())


def _template() -> dict[str, Any]:
    from isonomia.report.figures.theme import template

    return template()


@cache
def _environment(language: Language) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("isonomia.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    say: Callable[[str], str] = lambda text: translate(text, language)  # noqa: E731
    environment.globals["_"] = say
    return environment
