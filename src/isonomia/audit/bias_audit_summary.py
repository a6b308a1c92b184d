"""The summary of a bias audit that New York City's rule asks to be published (6 RCNY 5-303)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from isonomia.audit.report import Report
from isonomia.errors import SpecError
from isonomia.evidence import Column, Estimate, Result, Table
from isonomia.languages import Message, msg
from isonomia.report import Fact, Notice
from isonomia.report.markdown import escape, grid, table_text
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
) -> Notice:
    """The summary as a notice, its fields in the order of the rule: facts, rates and impact ratios, the day of use.

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
    subject, found = report.document.subject, section.result
    missing = msg("to be filled in by the employer or employment agency")
    named = in_file_words(found, report.document.words)
    notes = list(named.notes)
    if (on or datetime.now(UTC).date()) - made > VALID:
        notes.insert(0, msg("This bias audit is more than one year old (6 RCNY 5-301(a)): make a new one."))
    return Notice(
        "bias_audit_summary",
        msg("Summary of a bias audit, New York City Local Law 144"),
        named.tables,
        notes=tuple(notes),
        facts=(
            (msg("Date of the bias audit"), _day(made)),
            (msg("Tool"), readable(subject.get("model"), "en") if subject.get("model") else missing),
            (msg("Source of the data"), source or str(subject.get("dataset", "")) or missing),
            (msg("Explanation of the data"), explanation or missing),
            (msg("People of unknown category"), _unknown(found)),
            (msg("Number of people"), _count(found.values["people"])),
        ),
        shown=tuple(_by_way(named.tables[_CHECK])),
        closing=((msg("Distribution date of the tool"), missing if distributed is None else _day(distributed)),),
    )


def summary_markdown(summary: Notice, language: str = "en") -> str:
    """The summary as Markdown: every category, however many there are."""
    parts = [f"# {sentence(summary.title, language, escape)}", _listed(summary.facts, language)]
    for table in summary.shown:
        parts += [f"## {sentence(table.title, language, escape)}", table_text(table, language, rows=max(len(table), 1))]
    parts += [f"> {sentence(note, language, escape)}" for note in summary.notes]
    return "\n\n".join([*parts, _listed(summary.closing, language)]) + "\n"


def _listed(facts: Sequence[Fact], language: str) -> str:
    return grid(["", ""], [[name.text(language), sentence(value, language, escape)] for name, value in facts])


def _unknown(found: Result) -> Message:
    """How many people have no known category, and of which attribute; a count needs no interval."""
    table = found.tables["unknown"]
    names, counts = table["attribute"].values, [int(n) for n in table["n"].values]
    each = [Message("{name}: {n:int}", {"name": name, "n": n}) for name, n in zip(names[:-1], counts, strict=False)]
    return Message("{n:int} ({each})", {"n": counts[-1], "each": Message.join(each)})


def _by_way(table: Table) -> Iterator[Table]:
    """The ratios as they are published: a table for each attribute and intersection."""
    ways = [str(way) for way in table["by"].values]
    for way in dict.fromkeys(ways):
        rows = table.take([row for row, one in enumerate(ways) if one == way])
        figures = [rows["ratio"].estimate(row) for row in range(len(rows))]
        ends = [_interval(one) for one in figures]
        notes = [msg("highest rate") if one.value == 1 else one.note for one in figures]
        columns = (
            *(rows[name] for name in ("group", "n", "selected")),
            replace(rows["rate"], low=None, high=None),
            Column("ratio", [_ratio(one.value) for one in figures], title=rows["ratio"].title),
            Column("interval", ends, title=msg("interval")),
            Column("note", notes, title=msg("note")),
        )
        yield Table(columns, msg("Impact ratios by {way}", way=way), table.backend)


def _ratio(value: float | None) -> Message | None:
    """A ratio with three decimals, whatever its size."""
    return None if value is None else Message("{x:.3f}", {"x": value})


def _interval(figure: Estimate) -> Message | None:
    if figure.low is None or figure.high is None or figure.low == figure.high:  # nothing was estimated
        return None
    return Message("{low:.3f}–{high:.3f}", {"low": figure.low, "high": figure.high})


def _day(day: date) -> Message:
    return Message("{day:date}", {"day": day.isoformat()})


def _count(n: int) -> Message:
    return Message("{n:int}", {"n": n})
