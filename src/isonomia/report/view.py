"""A whole report as texts, ready to be arranged by the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.languages import Language, msg
from isonomia.report import words
from isonomia.report.document import Document, Verdict
from isonomia.report.glossary import GLOSSARY
from isonomia.report.overview import View, overview
from isonomia.report.parts import Setting, result_view, section_view
from isonomia.report.texts import figure, interval, moment, readable, sentence, tame, who


def document_view(document: Document, setting: Setting) -> View:
    """The parts of a whole report as texts, in reading order."""
    language = setting.language
    balance = document.balance_sheet
    return {
        **summary_view(document, setting),
        "subject": _pairs(document.subject, words.SUBJECT, language),
        "sections": [section_view(section, setting) for section in document.sections],
        "balance": None if balance is None else result_view(balance, "balance_sheet", setting),
        "glossary": [(term.text(language), words_.text(language)) for term, words_ in GLOSSARY],
        "fingerprint": _pairs(
            {key: str(item) if isinstance(item, int) else item for key, item in document.fingerprint.items()},
            words.FINGERPRINT,
            language,
        ),
    }


def summary_view(document: Document, setting: Setting) -> View:
    """What stands first in a report: the verdict, the worst findings, how each check ended."""
    language = setting.language
    return {
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "counts": _counts(document, language),
        "verdict": _verdict(document.verdict, language),
        **overview(document, language, setting.rows),
    }


def _counts(document: Document, language: Language) -> list[View]:
    counts = document.counts
    silent = counts["not_applicable"] + counts["skipped"] + counts["failed"]
    grades = document.severities
    shown = [
        ("passed", msg("checks without issues"), counts["passed"]),
        ("issue", msg("checks with issues"), counts["issue"]),
        ("silent", msg("checks without a result"), silent),
        ("critical", msg("critical findings"), grades["critical"]),
        ("warning", msg("warnings"), grades["warning"]),
        ("notice", msg("notices"), grades["notice"]),
    ]
    return [{"kind": kind, "name": name.text(language), "number": str(number)} for kind, name, number in shown]


def _pairs(values: Mapping[str, Any], names: Mapping[str, Any], language: Language) -> list[tuple[str, str]]:
    def read(key: str, value: Any) -> str:
        if key == "task" and value in names:
            return words.called(names, value, language)
        return readable(value, language)

    return [(tame(words.called(names, key, language)), read(key, value)) for key, value in values.items()]


def _verdict(verdict: Verdict | None, language: Language) -> View:
    if verdict is None:
        return {
            "outcome": "none",
            "name": msg("No verdict").text(language),
            "reason": msg("No policy was given, so there is no verdict.").text(language),
            "title": "",
            "source": "",
            "criteria": [],
        }
    return {
        "outcome": verdict.outcome,
        "name": words.VERDICTS[verdict.outcome].text(language),
        "title": sentence(verdict.title, language),
        "source": tame(verdict.source, 300),
        "reason": sentence(verdict.reason, language),
        "criteria": [
            {
                "name": sentence(criterion.name, language),
                "who": who(criterion.who, language),
                "reference": who(criterion.reference, language) if criterion.reference else "",
                "figure": figure(replace(criterion.estimate, low=None, high=None), language),
                "interval": interval(criterion.estimate, language).strip(),
                "limit": words.limit(criterion, language),
                "outcome": criterion.outcome,
                "label": words.CRITERIA[criterion.outcome].text(language),
                "point": "" if criterion.point is None else words.POINTS[criterion.point].text(language),
                "reason": sentence(criterion.reason, language),
                "citation": tame(criterion.citation, 200),
            }
            for criterion in verdict.criteria
        ],
    }
