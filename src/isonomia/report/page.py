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
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

from markupsafe import Markup

from isonomia._version import __version__
from isonomia.errors import SpecError
from isonomia.languages import Language, check_language, translate
from isonomia.parameters import Choice
from isonomia.report.document import Document
from isonomia.report.footer import foot, on_paper
from isonomia.report.naming import in_file_words
from isonomia.report.parts import Figures, Setting, part_view
from isonomia.report.view import document_view, sheet_view, short_view

if TYPE_CHECKING:
    from jinja2 import Environment

#: How much of a report is shown.
Extent = Literal["whole", "short", "first_page"]
#: Rows of each table, tables and pictures of each result (None for all), and whether pictures can be explored.
Limits = tuple[tuple[int, int | None, bool], ...]
#: A page stays below this many bytes, and so does the fragment of a whole report; any other fragment below the second.
MOST_BYTES, FRAGMENT_BYTES = 2_000_000, 200_000
#: How many rows of each table, and how many tables and pictures of a result, are tried, in this order.
PAGE: Limits = (
    *((rows, None, True) for rows in (200, 60)),
    *((rows, None, False) for rows in (200, 60, 30, 15, 8, 3)),  # a page that is too large does without Plotly
)
FRAGMENT: Limits = tuple(
    (*limit, False) for limit in ((60, None), (30, None), (15, None), (8, None), (3, 12), (3, 3), (1, 1))
)

#: Rows of each table on paper.
PAPER_ROWS = 25

_PLOTLY = "plotly-cartesian-4.1.1.min.js"
_ELSEWHERE = re.compile(r"https?://(?!www\.w3\.org/)")


def to_html(part: Any, language: str = "en", *, page: bool = True, extent: Extent = "whole") -> str:
    """A report, or any part of one, as a self-contained page or as a fragment of another page.

    Parameters
    ----------
    part : Document, Section, Result, Table, Drawing or Finding
    language : "en" or "pt-BR"
    page : bool
        False gives a fragment: no script, no ids, styles that touch nothing around it.
    extent : "whole", "short" or "first_page"
        How much of a report: with "first_page" what a board reads and signs, one sheet of A4 paper; with "short" that,
        the findings and the criteria of the policy, without the annex.

    Examples
    --------
    >>> page = to_html(Document("Audit of a model", {"dataset": "adult", "rows": 48842}))
    >>> page.startswith("<!doctype html>"), len(page) < MOST_BYTES
    (True, True)
    """
    known = check_language(language)
    Choice(get_args(Extent)).check("extent", extent)
    if extent != "whole":
        if not isinstance(part, Document):
            raise SpecError(f"Only a report has a first page; got {type(part).__name__}. Leave `extent` out.")
        return _first_page(part, known, page) if extent == "first_page" else _short(part, known)
    shown = in_file_words(part)
    if not page:
        return _fragment(shown, known, MOST_BYTES if isinstance(part, Document) else FRAGMENT_BYTES)
    below = foot(part, known)
    return _smallest(PAGE, MOST_BYTES, known, lambda setting: _page(shown, setting, below), page=True)


def paper_html(part: Any, language: str, extent: Extent = "short") -> str:
    """The report, or a part of it, to be printed: no scripts; with the annex everything open and long tables cut."""
    if extent != "whole":
        return to_html(part, language, extent=extent)
    known = check_language(language)
    setting = Setting(known, PAPER_ROWS, Figures(), paper=True)
    return _page(in_file_words(part), setting, foot(part, known))


def _first_page(document: Document, language: Language, page: bool) -> str:
    setting = Setting(language, 0, Figures(), page=False, paper=True)
    if page:
        return _in_page("board.html", setting, sheet_view(document, language), foot(document, language))
    sheets = _style("parts.css", "document.css")
    return _rendered("fragment.html", setting, **sheet_view(document, language), kind="summary", style=sheets)


def _short(document: Document, language: Language) -> str:
    setting = Setting(language, 0, Figures(), page=False, paper=True)
    return _in_page("short.html", setting, short_view(document, setting), foot(document, language))


def _smallest(
    limits: Limits, most_bytes: int, language: Language, render: Callable[[Setting], str], *, page: bool = False
) -> str:
    """The first rendering that is small enough: with fewer and fewer rows, then with fewer parts."""
    html, figures = "", Figures()
    for rows, parts, explorable in limits:
        figures.begin()
        setting = Setting(language, rows, figures, page=page, parts=parts, explorable=explorable)
        html = render(setting)
        if len(html.encode("utf-8", "replace")) < most_bytes:
            break
    return html


def _fragment(part: Any, language: Language, most_bytes: int) -> str:
    def render(setting: Setting) -> str:
        if isinstance(part, Document):
            sheets = _style("parts.css", "document.css")
            return _rendered("fragment.html", setting, **document_view(part, setting), kind="document", style=sheets)
        macro, view = part_view(part, setting)
        sheets = _style("parts.css", "document.css") if macro == "card" else _style("parts.css")
        return _rendered("fragment.html", setting, part=view, kind=macro, style=sheets)

    return _smallest(FRAGMENT, most_bytes, language, render)


def _page(part: Any, setting: Setting, below: str) -> str:
    if isinstance(part, Document):
        return _in_page("report.html", setting, document_view(part, setting), below)
    kind, view = part_view(part, setting)
    return _in_page("part.html", setting, {"kind": kind, "part": view, "title": view["title"], "created": ""}, below)


def _in_page(template: str, setting: Setting, context: Mapping[str, Any], below: str) -> str:
    figures = setting.figures.shown if setting.explorable else []
    return _rendered(
        template,
        setting,
        **context,
        version=__version__,
        foot=below,
        style=_style("parts.css", "document.css", "page.css") + on_paper(below, setting.language),
        plotly=_packed_plotly() if figures else "",
        script="" if setting.paper else Markup(_asset("report.js")),
        rules=_policy([] if setting.paper else [_plotly(), _asset("report.js")]),
        pictures=_packed(_json({"template": _template(), "figures": figures})) if figures else "",
    )


def _rendered(template: str, setting: Setting, **context: Any) -> str:
    environment = _environment(setting.language)
    page: str = environment.get_template(template).render(
        lang=setting.language, linked=setting.page, paper=setting.paper, explorable=setting.explorable, **context
    )
    return page


def _style(*sheets: str) -> Markup:
    return Markup("".join(_asset(sheet) for sheet in sheets))


def _policy(scripts: list[str]) -> str:
    """What the page may do: run the scripts whose hashes are named, style itself, and load nothing."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
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


_BREAKS = re.compile(r"([,=/_→])(?=[^\s\d])|(=)(?=\d)")
_TOGETHER = re.compile(r"(?<=[<≥>=]) (?=[\d.])")


def breaks(text: str) -> Markup:
    """A text that may be broken after commas and signs of equality, never between a sign and its number.

    >>> breaks("sex=F,race=<b>"), breaks("< 0.0001"), breaks("1,960")
    (Markup('sex=<wbr>F,<wbr>race=<wbr>&lt;b&gt;'), Markup('&lt;\xa00.0001'), Markup('1,960'))
    """
    kept = str(Markup.escape(_TOGETHER.sub("\u00a0", str(text))))  # no entity has a character to break after
    return Markup(_BREAKS.sub(r"\1\2<wbr>", kept))


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
    environment.filters["breaks"] = breaks
    return environment
