"""The report in a terminal: the verdict and the worst findings, in a few lines that read without colour as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isonomia.languages import check_language, msg
from isonomia.report import words
from isonomia.report.document import Document
from isonomia.report.first_page import failures, scope, told
from isonomia.report.means import means_sentence
from isonomia.report.texts import figure, rows, sentence

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

#: Criteria that are not met are shown up to this many, and checks without a result are named.
SHOWN, UNEXAMINED = 12, 5
_COLOURS = {
    "meets": "green",
    "exceeds": "red",
    "not_enough_evidence": "yellow",
    "not_applicable": "dim",
    "documents": "default",
    "incomplete": "yellow",
    "critical": "red",
    "warning": "yellow",
    "notice": "blue",
}


def summary(document: Document, language: str = "en", *, findings: int = 8) -> Group:
    """What a rich console prints of a report: title, verdict, the criteria that are not met, and the worst findings.

    Findings of several checks about the same people or columns are one line; `findings` bounds the lines. Notices about
    some people that may be chance are left to the report.

    Examples
    --------
    >>> from rich.console import Console
    >>> Console(width=80, no_color=True).print(summary(Document("Audit", {"rows": 3})))
    Audit
    No policy was given, so there is no verdict.
    No check could be run, so there is no statement about the model.
    """
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    language = check_language(language)
    lines: list[Text | Grid] = [Text(sentence(document.title, language), style="bold")]
    if failed := failures(document, language):
        lines.append(Text(failed, style="bold red"))
    if means := means_sentence(document):
        lines.append(Text(sentence(means, language)))
    lines += [*_verdict(document, language), *_criteria(document, language)]
    lines.append(Text(document.assessment.text(language)))
    if said := scope(document, language):
        lines.append(Text(said, style="dim"))
    silent = [one for one in document.sections if one.outcome in ("not_applicable", "skipped")]
    if silent and len(silent) < len(document.sections):
        names = ", ".join(sentence(one.title, language) for one in silent[:UNEXAMINED])
        more = ", ..." if len(silent) > UNEXAMINED else ""
        without = msg("{n:One check has|# checks have} no result: {names}.", n=len(silent), names=names + more)
        lines.append(Text(without.text(language), style="dim"))
    entries = [fold for _, fold in told(document)[:findings]]
    if entries:
        grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
        for head in (msg("Severity"), msg("Finding"), msg("For whom"), msg("Rows"), msg("Figure")):
            grid.add_column(head.text(language), justify="left", overflow="fold")
        for fold in entries:
            finding = fold.first
            described = Text(sentence(finding.message, language))
            if fold.others:
                described.append(f"\n{words.also(document, fold, language)}", style="dim")
            grid.add_row(
                Text(words.SEVERITY[finding.severity].text(language), style=_COLOURS[finding.severity]),
                described,
                Text(words.subject_of(document, fold, language)),
                Text(rows(finding.n, language)),
                Text(figure(finding.estimate, language, finding.format)),
            )
        lines += [Text(""), grid]
    left = len(document.findings) - sum(len(fold.findings) for fold in entries)
    if left > 0:
        lines.append(Text(msg("... and {n:int} more findings in the report.", n=left).text(language), style="dim"))
    return Group(*lines)


def _verdict(document: Document, language: str) -> list[Text]:
    """The outcome, the worst criterion as a sentence, how the policy decides and whether it is in force."""
    from rich.text import Text

    verdict = document.verdict
    if verdict is None:
        return [Text(msg("No policy was given, so there is no verdict.").text(language), style="dim")]
    head = Text(words.VERDICTS[verdict.outcome].text(language), style=f"bold {_COLOURS[verdict.outcome]}")
    head.append(f" · {sentence(verdict.title, language)}", style="default")
    lines = [head, Text(sentence(verdict.reason, language))]
    how = [verdict.basis, *verdict.notes]
    return [*lines, Text(" ".join(sentence(part, language) for part in how if part), style="dim")]


def _criteria(document: Document, language: str) -> list[Text | Grid]:
    """The criteria that are not met, the worst first, as a table; and how many are met."""
    from rich.table import Table as Grid
    from rich.text import Text

    criteria = () if document.verdict is None else document.verdict.criteria
    left = sorted((c for c in criteria if not c.passes), key=lambda c: words.WORST_FIRST.index(c.outcome))
    if not left:
        return []
    grid = Grid(show_edge=False, pad_edge=False, box=None, header_style="bold")
    for head in (msg("Outcome"), msg("Criterion"), msg("For whom"), msg("Figure"), msg("Limit")):
        grid.add_column(head.text(language), justify="left", overflow="fold")
    for criterion in left[:SHOWN]:
        grid.add_row(
            Text(words.CRITERIA[criterion.outcome].text(language), style=_COLOURS[criterion.outcome]),
            Text(criterion.key or sentence(criterion.name, language)),
            Text(words.people_of(criterion, language)),
            Text(figure(criterion.estimate, language, words.style_of(criterion))),
            Text(words.limit(criterion, language)),
        )
    lines: list[Text | Grid] = [Text(""), grid]
    if len(left) > SHOWN:
        rest = msg("... and {n:int} more criteria in the report.", n=len(left) - SHOWN)
        lines.append(Text(rest.text(language), style="dim"))
    met = len(criteria) - len(left)
    if met:
        lines.append(Text(msg("{n:One criterion is met|# criteria are met}.", n=met).text(language)))
    return [*lines, Text("")]
