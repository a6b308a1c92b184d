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
