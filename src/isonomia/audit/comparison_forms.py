"""A comparison as Markdown for a pull request: what got worse first, then criteria and gaps, the rest folded."""

from __future__ import annotations

from collections.abc import Iterator

from isonomia.audit.comparison import Comparison
from isonomia.evidence import Table
from isonomia.languages import Message, check_language, msg
from isonomia.report.markdown import escape, table_text
from isonomia.report.texts import sentence

#: Sentences about what got worse are written up to this many; the tables have the rest.
MAX_SENTENCES = 10


def headline(comparison: Comparison) -> Message:
    """How many criteria and gaps got worse, and other figures where they count."""
    columns = {"criteria": "step", "gaps": "trend", "changes": "direction"}
    compared = {name: len(comparison.tables[name]) for name in columns}
    worse = {
        f"worse_{name}": [str(value) for value in comparison.tables[name][column].values].count("worse")
        for name, column in columns.items()
    }
    if not comparison.worse and not {"criteria", "gaps"} & {*comparison.worse_in}:
        return msg(
            "Nothing got worse ({criteria:# criterion|# criteria} and {gaps:# gap|# gaps} compared).", **compared
        )
    if comparison.fail_on == "any":
        return msg(
            "{worse_criteria:int} of {criteria:# criterion|# criteria}, {worse_gaps:int} of {gaps:# gap|# gaps} and "
            "{worse_changes:int} of {changes:# figure|# figures} got worse.",
            **compared,
            **worse,
        )
    return msg(
        "{worse_criteria:int} of {criteria:# criterion|# criteria} and {worse_gaps:int} of {gaps:# gap|# gaps} got "
        "worse.",
        **compared,
        **worse,
    )


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
    >>> print(comparison_markdown(iso.compare(report, report)).splitlines()[2])
    **Nothing got worse (0 criteria and 2 gaps compared).**
    """
    known = check_language(language)
    return "\n\n".join(part for part in _parts(comparison, known) if part) + "\n"


def _parts(comparison: Comparison, language: str) -> Iterator[str]:
    yield f"## {sentence(comparison.title, language, escape)}"
    yield f"**{headline(comparison).text(language)}**"
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
    yield msg("{n:One gap has|# gaps have} no clear change.", n=len(gaps) - len(changed)).text(language)
    findings = moved(comparison.tables["findings"], "state", "unchanged")
    if len(findings):
        yield f"### {sentence(findings.title, language, escape)}"
        yield table_text(findings, language)
    for note in comparison.notes:
        yield f"> {sentence(note, language, escape)}"
