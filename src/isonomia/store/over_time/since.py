"""What changed since the last run of an analysis, as a section of the new report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import get_args

from isonomia.audit import Report, compare
from isonomia.evidence import Result, Table
from isonomia.languages import Message, msg
from isonomia.report import Section, VerdictOutcome

#: The section's stable name.
CODE = "since_last_run"


def with_section(report: Report, last: Report, at: datetime) -> Report:
    """The report with a section that compares it with the last one, in place of an earlier such section.

    A report without a result has nothing to compare, and stays as it is.
    """
    document = report.document
    counts = document.counts
    if not counts["issue"] and not counts["passed"]:
        return report
    sections = tuple(section for section in document.sections if section.code != CODE)
    plain = Report(replace(document, sections=sections))
    result = changes_since(plain, last, at)
    section = Section(
        code=CODE,
        title=result.title,
        purpose=msg("What changed since the last run of this analysis?"),
        outcome="passed",
        result=result,
    )
    return Report(replace(document, sections=(*sections, section)))


def changes_since(report: Report, last: Report, at: datetime) -> Result:
    """Figures that changed by more than chance, and findings that are new or gone."""
    before = Report(replace(last.document, sections=tuple(s for s in last.document.sections if s.code != CODE)))
    comparison = compare(before, report)
    findings, changes = comparison.tables["findings"], comparison.tables["changes"]
    states = [str(state) for state in findings["state"].values]
    moved = _rows(changes, [direction != "same" for direction in changes["direction"].values])
    new, gone = states.count("new"), states.count("gone")
    day = at.strftime("%Y-%m-%d %H:%M UTC")
    notes = [_sentence(day, len(moved), len(changes), new, gone)]
    if report.verdict is not None and before.verdict is not None:
        notes.append(_verdict(before.verdict.outcome, report.verdict.outcome))
    return Result(
        code=CODE,
        title=msg("Since the last run"),
        tables={"changes": moved, "findings": _rows(findings, [state != "unchanged" for state in states])},
        values={"compared": len(changes), "changed": len(moved), "new_findings": new, "gone_findings": gone},
        notes=(*notes, *comparison.differences, *comparison.notes),
        titles={
            "compared": msg("figures compared"),
            "changed": msg("figures that changed by more than chance"),
            "new_findings": msg("findings that are new"),
            "gone_findings": msg("findings that are gone"),
        },
        formats=dict.fromkeys(("compared", "changed", "new_findings", "gone_findings"), "int"),
    )


def _rows(table: Table, kept: list[bool]) -> Table:
    return table.take([row for row, keep in enumerate(kept) if keep])


def _sentence(day: str, moved: int, compared: int, new: int, gone: int) -> Message:
    return msg(
        "Compared with the last run ({day}), {moved:int} of {compared:# figure|# figures} changed by more than chance; "
        "{new:# finding is|# findings are} new and {gone:# is|# are} gone.",
        day=day,
        moved=moved,
        compared=compared,
        new=new,
        gone=gone,
    )


_OUTCOMES = {
    "meets": msg("meets the policy"),
    "exceeds": msg("exceeds the policy"),
    "not_enough_evidence": msg("not enough evidence"),
    "not_applicable": msg("not applicable"),
    "documents": msg("documented"),
    "incomplete": msg("incomplete"),
}
assert set(_OUTCOMES) == set(get_args(VerdictOutcome))


def _verdict(before: str, after: str) -> Message:
    if before == after:
        return msg("The verdict is the same: {outcome}.", outcome=_OUTCOMES[after])
    return msg("The verdict was: {before}. It is now: {after}.", before=_OUTCOMES[before], after=_OUTCOMES[after])
