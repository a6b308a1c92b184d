"""Findings folded into entries, numbered and linked, and how each check ended."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, get_args

from isonomia.evidence import SEVERITIES, Finding, Fold, Severity
from isonomia.languages import Language, Words, msg
from isonomia.languages.message import write_number
from isonomia.report import words
from isonomia.report.document import Document, Section, SectionOutcome, counted
from isonomia.report.proofs import proof_of
from isonomia.report.texts import interval, rows, sentence, who, with_unit

#: More entries than this are left to the annex, which lists the findings of every check.
ENTRIES = 25

View = dict[str, Any]

#: Checks whose outcome asks for something come first.
_ORDER: tuple[SectionOutcome, ...] = ("failed", "issue", "skipped", "not_applicable", "passed")
assert set(_ORDER) == set(get_args(SectionOutcome))


def overview(document: Document, language: Language) -> View:
    """The parts about all findings and all checks."""
    folds = [fold_view(document, fold, number, language) for number, fold in enumerate(document.folds[:ENTRIES], 1)]
    hidden = sum(len(fold.findings) for fold in document.folds[ENTRIES:])
    unlisted = msg("{n:One more finding is|# more findings are} listed with their checks in the annex.", n=hidden)
    return {
        "folded": _folded(document, language),
        "entries": folds,
        "unlisted": unlisted.text(language) if hidden else "",
        "checks": checks(document, language),
    }


def checks(document: Document, language: Language) -> list[View]:
    """How each check ended and why, those that ask for something first."""
    counts: dict[str, Counter[Severity]] = {}
    for finding in document.findings:
        counts.setdefault(finding.check, Counter())[finding.severity] += 1

    def urgency(section: Section) -> tuple[int, list[int]]:
        found = counts.get(section.code, Counter())
        return _ORDER.index(section.outcome), [-found[grade] for grade in SEVERITIES]

    ordered = sorted(document.sections, key=urgency)
    return [
        {
            "id": section_id(section),
            "title": sentence(section.title, language),
            "purpose": sentence(section.purpose, language),
            "outcome": section.outcome,
            "label": words.OUTCOMES[section.outcome].text(language),
            "reason": sentence(section.reason, language),
            "grades": _grades(counts.get(section.code, Counter()), language),
        }
        for section in ordered
    ]


def _grades(found: Counter[Severity], language: Language) -> list[tuple[Severity, str]]:
    return [(grade, counted(found[grade], grade).text(language)) for grade in SEVERITIES if found[grade]]


def section_id(section: Section) -> str:
    """Where a section stands on the page."""
    return "check-" + anchor(section.code)


def fold_view(document: Document, fold: Fold, number: int, language: Language) -> View:
    """One entry: the worst finding in full, the others beneath it, and links to the checks that saw it."""
    sections = {section.code: section for section in document.sections}
    return {
        **_card(document, fold.first, language),
        **({} if proof_of(document, fold.first, number) is None else {"evidence": f"evidence-{number}"}),
        "number": number,
        "id": f"finding-{number}",
        "subject": words.subject_of(document, fold, language),
        "also": words.also(document, fold, language),
        "others": [_card(document, finding, language) for finding in fold.others],
        "links": [
            (section_id(found), sentence(found.title, language))
            for code in fold.checks
            if (found := sections.get(code))
        ],
    }


def _card(document: Document, finding: Finding, language: Language) -> View:
    """One finding with links to the table that shows it and to what was tried about it."""
    tried = "" if finding.tried is None else _table_id(document, finding.tried.evidence)
    return {
        **card(finding, language, document.words),
        "evidence": _table_id(document, finding.evidence),
        "tried_at": tried,
    }


def card(finding: Finding, language: Language, file_words: Words | None = None) -> View:
    """One finding as texts, in the words of the file."""
    estimate = finding.estimate
    p = finding.p_adjusted if finding.p_adjusted is not None else finding.p_value
    return {
        "severity": finding.severity,
        "grade": words.SEVERITY[finding.severity].text(language),
        "message": sentence(finding.message, language),
        "who": who(finding.who, language, file_words),
        "reference": who(finding.reference, language, file_words) if finding.reference else "",
        "n": rows(finding.n, language),
        "people": words.people_affected(finding, language),
        "value": with_unit(estimate.value, finding.format, language),
        "interval": interval(estimate, language, finding.format).strip(),
        "note": sentence(estimate.note, language) if estimate.value is None else "",
        "p": "" if p is None else write_number(p, "p", language),
        "adjusted": finding.p_adjusted is not None,
        "sure": {True: "stands", False: "doubtful", None: "untested"}[finding.sure],
        "threshold": "" if finding.threshold is None else with_unit(finding.threshold, finding.format, language),
        "advice": sentence(finding.advice, language),
        "tried": "" if finding.tried is None else sentence(finding.tried.message, language),
        "tried_at": "",
        "evidence": "",
    }


def anchor(text: str) -> str:
    """A name that can stand in an address within the page.

    >>> anchor("group_fairness/by group")
    'group_fairness-by-group'
    """
    return re.sub(r"[^a-z0-9_]+", "-", text.lower())[:80].strip("-") or "part"


def _table_id(document: Document, evidence: str) -> str:
    """The id of a table ("check/table") on the page; empty where it is not there."""
    return "" if document.table(evidence) is None else "table-" + anchor(evidence)


def _folded(document: Document, language: Language) -> str:
    """How many findings are reported in how many entries."""
    n, entries = len(document.findings), len(document.folds)
    if n == entries:
        return ""
    return msg(
        "{n:# finding|# findings} on {entries:# matter|# matters}, the most important first.", n=n, entries=entries
    ).text(language)
