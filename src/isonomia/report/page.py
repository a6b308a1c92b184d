"""A report, or any part of one, as HTML: a file that is offline, printable and readable on a phone, or a fragment.

A page loads nothing: style, script and pictures are inside, and a content security policy forbids any address and any
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
from isonomia.report.parts import Figures, Setting, part_view
from isonomia.report.view import document_view, summary_view

if TYPE_CHECKING:
    from jinja2 import Environment

#: Rows of each table, and tables and pictures of each result (all of them where None).
Limits = tuple[tuple[int, int | None], ...]
#: A page stays below this many bytes, and so does the fragment of a whole report; any other fragment below the second.
MOST_BYTES, FRAGMENT_BYTES = 1_500_000, 200_000
#: How many rows of each table, and how many tables and pictures of a result, are tried, in this order.
PAGE: Limits = ((200, None), (60, None), (30, None), (15, None), (8, None), (3, None))
FRAGMENT: Limits = ((60, None), (30, None), (15, None), (8, None), (3, 12), (3, 3), (1, 1))

_PLOTLY = "plotly-cartesian-4.1.1.min.js"
_ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/)")


def to_html(part: Any, language: str = "en", *, page: bool = True) -> str:
    """A report, or any part of one, as a self-contained page or as a fragment of another page.

    Parameters
    ----------
    part : Document, Section, Result, Table, Drawing or Finding
    language : "en" or "pt-BR"
    page : bool
        False gives a fragment: static figures, no script, no ids, styles that touch nothing around it.

    Examples
    --------
    >>> page = to_html(Document("Audit of a model", {"dataset": "adult", "rows": 48842}))
    >>> page.startswith("<!doctype html>"), len(page) < MOST_BYTES
    (True, True)
    """
    known = check_language(language)
    if not page:
        whole = isinstance(part, Document)
        return _fragment(part, known, "document", MOST_BYTES) if whole else _fragment(part, known)
    static = not isinstance(part, Document)
    return _smallest(PAGE, MOST_BYTES, known, lambda setting: _page(part, setting), page=True, static=static)


def summary_html(document: Document, language: str) -> str:
    """The beginning of a report as a fragment, for a notebook: verdict, worst findings, how each check ended."""
    return _fragment(document, check_language(language), "summary")


def _smallest(
    limits: Limits,
    most_bytes: int,
    language: Language,
    render: Callable[[Setting], str],
    *,
    page: bool = False,
    static: bool = True,
) -> str:
    """The first rendering that is small enough: with fewer and fewer rows, then with fewer parts."""
    html, figures = "", Figures()
    for rows, parts in limits:
        figures.begin()
        html = render(Setting(language, rows, figures, page, parts, static))
        if len(html.encode("utf-8", "replace")) < most_bytes:
            break
    return html


def _fragment(part: Any, language: Language, kind: str = "", most_bytes: int = FRAGMENT_BYTES) -> str:
    def render(setting: Setting) -> str:
        if kind:
            shown = (document_view if kind == "document" else summary_view)(part, setting)
            return _rendered("fragment.html", setting, **shown, kind=kind, style=_style("parts.css", "document.css"))
        macro, shown = part_view(part, setting)
        sheets = ("parts.css", "document.css") if macro == "card" else ("parts.css",)
        return _rendered("fragment.html", setting, part=shown, kind=macro, style=_style(*sheets))

    return _smallest(FRAGMENT, most_bytes, language, render)


def _page(part: Any, setting: Setting) -> str:
    if isinstance(part, Document):
        name, context = "report.html", document_view(part, setting)
    else:
        kind, shown = part_view(part, setting)
        name, context = "part.html", {"kind": kind, "part": shown, "title": shown["title"], "created": ""}
    figures = setting.figures.shown
    return _rendered(
        name,
        setting,
        **context,
        version=__version__,
        style=_style("parts.css", "document.css", "page.css"),
        plotly=_packed_plotly() if figures else "",
        script=Markup(_asset("report.js")),
        policy=_policy([_plotly(), _asset("report.js")]),
        pictures=_packed(_json({"template": _template(), "figures": figures})) if figures else "",
    )


def _rendered(template: str, setting: Setting, **context: Any) -> str:
    environment = _environment(setting.language)
    page: str = environment.get_template(template).render(lang=setting.language, linked=setting.page, **context)
    return page


def _style(*sheets: str) -> Markup:
    return Markup("".join(_asset(sheet) for sheet in sheets))


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
