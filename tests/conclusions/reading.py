"""What a reader of the first page sees, as lines of text."""

from __future__ import annotations

import re
from html import unescape

import isonomia as iso

LANGUAGES = ("en", "pt-BR")


def first_page(report: iso.Report, language: str = "en") -> list[str]:
    """The lines of the first page."""
    html = report.to_html(language, extent="first_page")
    body = html[html.index("<body") :]
    body = re.sub(r"<style>.*?</style>|<script.*?</script>|<a class=.skip.*?</a>|<svg.*?</svg>", "", body, flags=re.S)
    lines = re.sub(r"</?(p|h\d|li|ol|ul|div|section|header|footer|main|body|html|tr|td)\b[^>]*>", "\n", body)
    plain = (unescape(re.sub(r"<[^>]+>", "", line)) for line in lines.splitlines())
    return [" ".join(line.split()) for line in plain if line.strip()]


def text(report: iso.Report, language: str = "en") -> str:
    """The first page as one text."""
    return "\n".join(first_page(report, language))


def matters(report: iso.Report, language: str = "en") -> list[str]:
    """The lines of the first page about who is affected and what to do."""
    head, end = {
        "en": ("Who is affected", "What was not examined"),
        "pt-BR": ("Quem é afetado", "O que não foi examinado"),
    }[language]
    lines = first_page(report, language)
    start = next(index for index, line in enumerate(lines) if line.startswith(head))
    return lines[start + 1 : lines.index(end)]
