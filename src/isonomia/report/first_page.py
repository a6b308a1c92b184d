"""The first page: the verdict, who is affected, what to do next, what was not examined, and room for a decision.

It fits one sheet of A4 paper: everything on it is bounded, and the rest of the report has it all.
"""

from __future__ import annotations

from dataclasses import dataclass

from isonomia.evidence import Finding, Fold
from isonomia.evidence.remedies import REMEDIES
from isonomia.languages import Language, Message, msg
from isonomia.report import words
from isonomia.report.document import Document, Verdict
from isonomia.report.overview import View
from isonomia.report.texts import moment, sentence, tame

#: How many entries, steps and checks without an answer the first page names, and how many further groups of an entry.
AFFECTED, STEPS, UNEXAMINED, ALSO = 3, 3, 3, 3
#: How many checks that failed it names.
FAILED = 3


def first_page(document: Document, language: Language) -> View:
    """The texts of the first page."""
    silent = [section for section in document.sections if section.outcome in ("not_applicable", "skipped")]
    left = len(document.folds) - AFFECTED
    return {
        "failed": failures(document, language),
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "lead": lead(document.verdict, language),
        "affected": [
            {
                "id": f"finding-{number}",
                "message": sentence(fold.first.message, language),
                "people": words.people_affected(fold.first, language),
                "also": also_affected(document, fold, language),
            }
            for number, fold in enumerate(document.folds[:AFFECTED], 1)
        ],
        "more_affected": _text(msg("{n:One more entry follows|# more entries follow}.", n=left), language, left),
        "steps": [
            {"about": _about(document, step, language), "advice": step.advice.text(language)}
            for step in steps(document)
        ],
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
    """Something to do, and the entries that advise it (else a finding within one); none where it is about the audit."""

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
    for first in (fold.first for fold in document.folds):
        advised.setdefault(first.remedy or "", []).append(first)
    for other in (finding for fold in document.folds for finding in fold.others):
        advised.setdefault(other.remedy or "", [other])
    advised.pop("", None)
    found += [Step(REMEDIES[remedy], tuple(findings)) for remedy, findings in advised.items()]
    return found[:STEPS] or [Step(msg("Repeat the audit whenever the model or the data change."))]


def _about(document: Document, step: Step, language: Language) -> str:
    """Whom or what a step is about."""
    named = [Fold((finding,)) for finding in step.findings if finding.who or finding.columns][:AFFECTED]
    people = dict.fromkeys(words.subject_of(document, one, language) for one in named if not one.columns)
    columns = list(dict.fromkeys(column for one in named for column in one.columns))
    return "; ".join([*people, *([words.columns_named(document, columns, language)] if columns else [])])


def also_affected(document: Document, fold: Fold, language: Language) -> str:
    """Other groups of the same attributes that are surely worse off in the same way, with their people; else empty."""
    first = fold.first
    people: dict[str, float] = {}
    for one in fold.others:
        same = one.code == first.code and set(one.who) == set(first.who) and one.who not in (first.who, first.reference)
        if same and one.severity != "notice" and one.people is not None and one.people_at_least > 0:
            who = words.subject_of(document, Fold((one,)), language)
            people[who] = max(people.get(who, 0.0), one.people.value or 0.0)
    most = sorted(people, key=lambda who: -people[who])[:ALSO]
    if not most:
        return ""
    groups = ", ".join(msg("{who} (about {n:int})", who=who, n=people[who]).text(language) for who in most)
    return msg("Also affected: {groups}.", groups=groups).text(language)


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
