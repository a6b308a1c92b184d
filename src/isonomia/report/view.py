"""A whole report as texts, ready to be arranged by the templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from isonomia.evidence import Result
from isonomia.languages import Language, Message, Words, msg, translate
from isonomia.report import words
from isonomia.report.chapters import Chapter, arranged
from isonomia.report.document import Criterion, Document
from isonomia.report.first_page import first_page
from isonomia.report.glossary import ASSUMPTIONS, ASSUMPTIONS_TITLE, GLOSSARY
from isonomia.report.limits_picture import finding_view, limits_view
from isonomia.report.overview import ENTRIES, View, overview
from isonomia.report.parts import Setting, card_labels, result_view, section_view, unless_lost
from isonomia.report.proofs import proof_of
from isonomia.report.texts import figure, interval, readable, sentence, tame, who


def sheet_view(document: Document, language: Language) -> View:
    """The first page as texts, and its picture."""
    return {
        **first_page(document, language),
        **_limits(lambda: limits_view(document, language), language),
    }


def _limits(make: Callable[[], View | None], language: Language) -> View:
    """The picture of groups against a limit; where it cannot be drawn, a sentence says so in its place."""

    def lost(reason: Message) -> View:
        text = msg("This picture could not be drawn: {reason}.", reason=reason)
        return {"limits": {"lost": sentence(text, language)}}

    return unless_lost(lambda: {"limits": make()}, lost)


def short_view(document: Document, setting: Setting) -> View:
    """The first page, the findings and the criteria of the policy as texts."""
    language = setting.language
    return {
        **sheet_view(document, language),
        **overview(document, language),
        "policy": _policy(document, language),
    }


def document_view(document: Document, setting: Setting) -> View:
    """The parts of a whole report as texts, in reading order."""
    language = setting.language
    balance = document.balance_sheet
    if setting.page and not setting.paper:
        setting = replace(setting, proofs=_proofs(document, language))
    return {
        **short_view(document, setting),
        "subject": _pairs(document.subject, words.SUBJECT, language),
        "sections": [
            {**section_view(section, setting), "chapter": _chapter(chapter, language)}
            for chapter, section in arranged(document)
        ],
        "balance": None if balance is None else _balance(balance, setting),
        "glossary": [(term.text(language), words_.text(language)) for term, words_ in GLOSSARY],
        "assumptions": {
            "title": ASSUMPTIONS_TITLE.text(language),
            "texts": [assumption.text(language) for assumption in ASSUMPTIONS],
        },
        "fingerprint": _pairs(
            {key: str(item) if isinstance(item, int) else item for key, item in document.fingerprint.items()},
            words.FINGERPRINT,
            language,
        ),
    }


def _proofs(document: Document, language: Language) -> dict[str, list[View]]:
    """The evidence of the entries' first findings, by the table that shows it."""
    found: dict[str, list[View]] = {}
    for number, finding in enumerate((fold.first for fold in document.folds[:ENTRIES]), 1):
        proof = proof_of(document, finding, number)
        if proof is not None:
            found.setdefault(finding.evidence, []).append(
                {
                    "id": f"evidence-{number}",
                    "finding": f"finding-{number}",
                    "title": msg("Evidence for finding {number:int}", number=number).text(language),
                    "back": msg("Back to finding {number:int}", number=number).text(language),
                    "message": sentence(finding.message, language),
                    "counts": sentence(proof.counts, language),
                    "formula": sentence(proof.formula, language),
                    "at": proof.row,
                    **_limits(partial(finding_view, document, finding, language), language),
                }
            )
    return found


def _balance(balance: Result, setting: Setting) -> View:
    def lost(reason: Message) -> View:
        text = msg("The balance sheet could not be shown: {reason}.", reason=reason)
        view: View = {"headlines": [], "many": False, "tables": [], "pictures": [], "hidden": ""}
        title = sentence(balance.title, setting.language)
        return {**view, "title": title, "notes": [sentence(text, setting.language)]}

    return unless_lost(lambda: result_view(balance, "balance_sheet", setting), lost)


def _chapter(chapter: Chapter | None, language: Language) -> View | None:
    """A chapter as it begins: its question and the answer in a sentence."""
    if chapter is None:
        return None
    return {
        "id": f"chapter-{chapter.topic}",
        "title": chapter.title.text(language),
        "lead": sentence(chapter.lead, language),
    }


def _pairs(values: Mapping[str, Any], names: Mapping[str, Any], language: Language) -> list[tuple[str, str]]:
    def read(key: str, value: Any) -> str:
        if key == "task" and value in names:
            return words.called(names, value, language)
        return readable(value, language)

    return [(tame(words.called(names, key, language)), read(key, value)) for key, value in values.items()]


def _policy(document: Document, language: Language) -> View | None:
    """The criteria of the policy one by one, with what it says of itself; None where there are none."""
    verdict = document.verdict
    if verdict is None or not verdict.criteria:
        return None
    heads = [msg("Criterion"), msg("Outcome"), msg("Figure"), msg("Limit"), msg("For whom"), msg("Citation")]
    titles = [head.text(language) for head in heads]
    return {
        "source": tame(translate(verdict.source, language), 300),
        "about": sentence(verdict.about, language),
        "heads": titles,
        "labels": card_labels(titles),
        "criteria": [_criterion(criterion, language, document.words) for criterion in verdict.criteria],
    }


def _criterion(criterion: Criterion, language: Language, file_words: Words) -> View:
    style = words.style_of(criterion)
    return {
        "name": sentence(criterion.name, language),
        "who": words.people_of(criterion, language, file_words=file_words),
        "reference": who(criterion.reference, language, file_words) if criterion.reference else "",
        "figure": figure(replace(criterion.estimate, low=None, high=None), language, style),
        "interval": interval(criterion.estimate, language, style).strip(),
        "limit": words.limit(criterion, language),
        "outcome": criterion.outcome,
        "label": words.CRITERIA[criterion.outcome].text(language),
        "point": "" if criterion.point is None else words.POINTS[criterion.point].text(language),
        "reason": sentence(criterion.reason, language),
        "citation": tame(translate(criterion.citation, language), 200),
    }
