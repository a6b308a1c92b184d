"""The summary of a bias audit that New York City's rule asks to be published (6 RCNY 5-303)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from isonomia.audit.report import Report
from isonomia.errors import SpecError
from isonomia.evidence import Column, Result, Table
from isonomia.languages import Message, msg
from isonomia.report.markdown import escape, table_text
from isonomia.report.naming import in_file_words
from isonomia.report.texts import readable, sentence

#: A bias audit may be used for this long (6 RCNY 5-301(a)).
VALID = timedelta(days=365)
_CHECK = "impact_ratios"


def bias_audit_summary(
    report: Report,
    *,
    source: str = "",
    explanation: str = "",
    distributed: date | None = None,
    on: date | None = None,
) -> Result:
    """The summary as a result: facts, rates and impact ratios, people of unknown category.

    Parameters
    ----------
    report : Report
        Of an audit with the check `impact_ratios`, which the policy ``nyc-ll144`` runs.
    source, explanation : str
        Of the data; the dataset's name where they are not given.
    distributed : date, optional
        Since when this version of the tool is distributed.
    on : date, optional
        The day of the summary, today by default: an audit that is more than a year old is flagged.

    References
    ----------
    6 RCNY 5-301(a) and 5-303.
    """
    section = next((one for one in report.document.sections if one.code == _CHECK), None)
    if section is None or section.result is None:
        raise SpecError(
            "The report has no impact ratios. Run the audit with the policy nyc-ll144, or with the check impact_ratios."
        )
    made = datetime.fromisoformat(report.document.created).date()
    subject = report.document.subject
    missing = msg("to be filled in by the employer or employment agency")
    facts: list[tuple[Message, Message | str]] = [
        (msg("Date of the bias audit"), _day(made)),
        (msg("Tool"), readable(subject.get("model"), "en") if subject.get("model") else missing),
        (msg("Distribution date of the tool"), missing if distributed is None else _day(distributed)),
        (msg("Source of the data"), source or str(subject.get("dataset", "")) or missing),
        (msg("Explanation of the data"), explanation or missing),
        (msg("Number of people"), _count(section.result.values["people"])),
        (msg("People of unknown category"), _count(section.result.values["unknown"])),
    ]
    notes = list(section.result.notes)
    if (on or datetime.now(UTC).date()) - made > VALID:
        notes.insert(0, msg("This bias audit is more than one year old (6 RCNY 5-301(a)): make a new one."))
    result = Result(
        "bias_audit_summary",
        msg("Summary of a bias audit, New York City Local Law 144"),
        {
            "facts": Table(
                (
                    Column("fact", [name for name, _ in facts], title=msg("fact")),
                    Column("value", [value for _, value in facts], title=msg("value")),
                ),
                msg("About this bias audit"),
            ),
            **section.result.tables,
        },
        notes=tuple(notes),
    )
    return in_file_words(result, report.document.words)


def summary_markdown(summary: Result, language: str = "en") -> str:
    """The summary as Markdown: every category, however many there are."""
    parts = [f"# {sentence(summary.title, language, escape)}"]
    for table in summary.tables.values():
        parts += [f"## {sentence(table.title, language, escape)}", table_text(table, language, rows=max(len(table), 1))]
    parts += [f"> {sentence(note, language, escape)}" for note in summary.notes]
    return "\n\n".join(parts) + "\n"


def _day(day: date) -> Message:
    return Message("{day:date}", {"day": day.isoformat()})


def _count(n: int) -> Message:
    return Message("{n:int}", {"n": n})
