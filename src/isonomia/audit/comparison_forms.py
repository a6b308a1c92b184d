"""A comparison as Markdown for a pull request: what got worse first, then criteria and gaps, the rest folded."""

from __future__ import annotations

from collections.abc import Iterator

from isonomia.audit.comparison import MAX_SENTENCES, Comparison
from isonomia.evidence import Table
from isonomia.languages import check_language, msg
from isonomia.report.markdown import escape, table_text
from isonomia.report.texts import sentence


def moved(table: Table, column: str, still: str) -> Table:
    """The rows of a table that changed."""
    return table.take([row for row, value in enumerate(table[column].values) if str(value) != still])


def comparison_markdown(comparison: Comparison, language: str = "en") -> str:
    """The comparison as one Markdown text.

    Examples
    --------
    >>> import isonomia as iso
    >>> data = iso.Dataset({"sex": ["F", "M"] * 50, "p": [0, 1, 1, 0] * 25}, prediction="p", protected=["sex"])
    >>> report = iso.audit(data, checks="group_fairness")
    >>> print(comparison_markdown(iso.compare(report, report)).splitlines()[6])
    **Nothing got worse (0 criteria and 2 gaps compared).**
    """
    known = check_language(language)
    return "\n\n".join(part for part in _parts(comparison, known) if part) + "\n"


def _parts(comparison: Comparison, language: str) -> Iterator[str]:
    yield f"## {sentence(comparison.title, language, escape)}"
    yield "\n".join(f"- {sentence(one, language, escape)}" for one in comparison.head)
    yield "\n".join(f"- **{sentence(one, language, escape)}**" for one in comparison.differences)
    yield f"**{comparison.headline.text(language)}**"
    sentences_shown = comparison.sentences[:MAX_SENTENCES]
    yield "\n".join(f"- {sentence(one, language, escape)}" for one in sentences_shown)
    if len(comparison.sentences) > MAX_SENTENCES:
        yield msg("... and {n:int} more.", n=len(comparison.sentences) - MAX_SENTENCES).text(language)
    if len(criteria := comparison.tables["criteria"]):
        yield f"### {sentence(criteria.title, language, escape)}"
        yield table_text(criteria, language)
    gaps = comparison.tables["gaps"].without("code")
    changed = moved(gaps, "trend", "unclear")
    if len(changed):
        yield f"### {sentence(gaps.title, language, escape)}"
        yield table_text(changed, language)
    if len(gaps) > len(changed):
        yield msg("{n:One gap has|# gaps have} no clear change.", n=len(gaps) - len(changed)).text(language)
    findings = moved(comparison.tables["findings"], "state", "unchanged")
    if len(findings):
        yield f"### {sentence(findings.title, language, escape)}"
        yield table_text(findings, language)
    for note in comparison.notes:
        yield f"> {sentence(note, language, escape)}"
