"""The first page: the verdict, who is affected, what to do next, what was not examined, and room for a decision.

It fits one sheet of A4 paper: everything on it is bounded, and the rest of the report has it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isonomia.evidence import Finding, Fold
from isonomia.evidence.remedies import REMEDIES
from isonomia.languages import Language, Message, msg
from isonomia.languages.naming import both
from isonomia.report import words
from isonomia.report.document import Document, Verdict
from isonomia.report.overview import View
from isonomia.report.texts import moment, sentence, tame

#: How many entries, steps and checks without an answer the first page names.
AFFECTED, STEPS, UNEXAMINED = 3, 3, 3
#: How many checks that failed it names.
FAILED = 3


def first_page(document: Document, language: Language) -> View:
    """The texts of the first page."""
    silent = [section for section in document.sections if section.outcome in ("not_applicable", "skipped")]
    entries = told(document)[:AFFECTED]
    chance = len(document.folds) - len(told(document))
    left = len(document.folds) - len(entries) - chance
    return {
        "failed": failures(document, language),
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "lead": lead(document.verdict, language),
        "reference": " ".join(filter(None, (_reference(document, entries, language), _weights(document, language)))),
        "nobody": nobody(document, language),
        "affected": [
            {
                "id": f"finding-{number}",
                "message": sentence(fold.first.message, language),
                "people": words.people_affected(fold.first, language),
            }
            for number, fold in entries
        ],
        "more_affected": " ".join(
            _text(message, language, n)
            for message, n in (
                (msg("{n:One more entry follows|# more entries follow}.", n=left), left),
                (
                    msg(
                        "{n:One difference that may be due to chance is|# differences that may be due to chance are} "
                        "listed with the findings.",
                        n=chance,
                    ),
                    chance,
                ),
            )
        ).strip(),
        "steps": [
            {"about": _about(document, step, language), "advice": step.advice.text(language)}
            for step in steps(document)
        ],
        "scope": scope(document, language),
        "unexamined": [
            (sentence(section.title, language), sentence(section.reason, language).split(";")[0].rstrip("."))
            for section in silent[:UNEXAMINED]  # what could be done about it stands in the annex
        ],
        "more_unexamined": _text(
            msg(
                "{n:One more check has|# more checks have} no result; the annex states why.",
                n=len(silent) - UNEXAMINED,
            ),
            language,
            len(silent) - UNEXAMINED,
        ),
        "examined": examined(document, language),
    }


def told(document: Document) -> list[tuple[int, Fold]]:
    """The entries that the first page may name, with their numbers: no notice about some people that may be chance.

    A notice about people stands there only where a test shows it after correction for all tests; warnings, breaches of
    the policy and what concerns nobody in particular always may.
    """
    return [
        (number, fold)
        for number, fold in enumerate(document.folds, 1)
        if fold.severity != "notice" or fold.first.sure or (fold.first.sure is None and not fold.first.who)
    ]


def _reference(document: Document, entries: Sequence[tuple[int, Fold]], language: Language) -> str:
    """Whom the groups are compared with where a rule chose it; empty where the page compares nobody."""
    reference = document.subject.get("reference")
    known = reference if isinstance(reference, Mapping) else {}
    compared = [column for _, fold in entries if fold.first.reference for column in fold.who]
    groups = [known[column] for column in dict.fromkeys(compared) if isinstance(known.get(column), Message)]
    if not groups:
        return ""
    named = msg("Compared with the best-off {n:group|groups}: {groups}.", n=len(groups), groups=both(groups))
    return sentence(named, language)


def _weights(document: Document, language: Language) -> str:
    """That rates are weighted, where they are; numbers of people never are."""
    weight = document.subject.get("weight")
    if not isinstance(weight, str):
        return ""
    named = document.words.column(weight)
    return sentence(msg("Rates are weighted by {weight}; numbers of people count rows.", weight=named), language)


def nobody(document: Document, language: Language) -> str:
    """That nobody was found to be treated differently, before what was noticed besides; empty where somebody was."""
    if any(fold.severity != "notice" for fold in document.folds):
        return ""
    outcome = None if document.verdict is None else document.verdict.outcome
    if outcome == "meets":
        lead = msg("Nothing exceeds the limits.")
    elif outcome == "not_enough_evidence":
        lead = msg("Nothing is shown to exceed the limits.")
    else:
        lead = msg("No check found anybody who is treated differently or served worse.")
    return msg("{lead} Also noticed:", lead=lead).text(language) if told(document) else lead.text(language)


def scope(document: Document, language: Language) -> str:
    """Which set of checks ran and what the others would have asked; empty where the document does not say."""
    said = document.subject.get("checks")
    return sentence(said, language) if isinstance(said, Message) else ""


def failures(document: Document, language: Language) -> str:
    """That the audit is not complete, since parts of it failed, and which; empty where none did."""
    failed = [section for section in document.sections if section.outcome == "failed"]
    if not failed:
        return ""
    named = "; ".join(
        Message("{check} ({reason})", {"check": section.title, "reason": section.reason}).text(language, escape=tame)
        for section in failed[:FAILED]
    )
    more = "; ..." if len(failed) > FAILED else ""
    return msg(
        "This audit is not complete: {n:one check|# checks} failed. {named}.", n=len(failed), named=f"{named}{more}"
    ).text(language)


def _text(message: Message, language: Language, n: int) -> str:
    return message.text(language) if n > 0 else ""


def lead(verdict: Verdict | None, language: Language) -> View:
    """The verdict as a reader meets it first: its name, its sentence, and how its policy decides."""
    if verdict is None:
        return {
            "outcome": "none",
            "name": msg("No verdict").text(language),
            "title": "",
            "reason": msg("No policy was given, so there is no verdict.").text(language),
            "basis": "",
            "standing": "",
        }
    return {
        "outcome": verdict.outcome,
        "name": words.VERDICTS[verdict.outcome].text(language),
        "title": sentence(verdict.title, language),
        "reason": sentence(verdict.reason, language),
        "basis": sentence(verdict.basis, language),
        "standing": " ".join(sentence(note, language) for note in verdict.notes),
    }


@dataclass(frozen=True)
class Step:
    """Something to do, and whom the entries that advise it are about; nobody where it is about the audit."""

    advice: Message
    findings: tuple[Finding, ...] = ()


def steps(document: Document) -> list[Step]:
    """The first things to do: what the entries advise, each once, in their order; never an empty list."""
    found: list[Step] = []
    if any(section.outcome == "failed" for section in document.sections):
        found.append(Step(msg("Repair and repeat the checks that failed: the annex states why.")))
    if document.verdict is not None and document.verdict.outcome == "not_enough_evidence":
        found.insert(0, Step(msg("Collect more data on the groups named in the verdict, then repeat the audit.")))
    advised: dict[str, list[Finding]] = {}
    folds = [fold for _, fold in told(document)]
    for first in (fold.first for fold in folds):
        advised.setdefault(first.remedy or "", []).append(first)
    for fold in folds:
        for other in fold.others:
            if other.sure is not False:
                advised.setdefault(other.remedy or "", [fold.first])
    advised.pop("", None)
    found += [Step(REMEDIES[remedy], tuple(findings)) for remedy, findings in advised.items()]
    return found[:STEPS] or [Step(msg("Repeat the audit whenever the model or the data change."))]


def _about(document: Document, step: Step, language: Language) -> str:
    """Whom or what a step is about."""
    named = [Fold((finding,)) for finding in step.findings if finding.who or finding.columns][:AFFECTED]
    people = dict.fromkeys(words.subject_of(document, one, language) for one in named if not one.columns)
    columns = list(dict.fromkeys(column for one in named for column in one.columns))
    return "; ".join([*people, *([words.columns_named(document, columns, language)] if columns else [])])


def examined(document: Document, language: Language) -> str:
    """What was examined, in a line: the data, how many records and checks."""
    subject = document.subject
    parts = [tame(subject[key], 60) for key in ("dataset", "name") if isinstance(subject.get(key), str)][:1]
    if isinstance(rows := subject.get("rows"), int):
        parts.append(msg("{n:# record|# records}", n=rows).text(language))
    ran = document.counts["issue"] + document.counts["passed"]
    if ran:
        parts.append(msg("{n:# check|# checks}", n=ran).text(language))
    return " · ".join(parts)
