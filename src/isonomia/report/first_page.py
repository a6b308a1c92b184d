"""The first page: the verdict, who is affected, what to do next, what was not examined, and room for a decision.

It fits one sheet of A4 paper: everything on it is bounded, and the rest of the report has it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isonomia.evidence import Finding, Fold
from isonomia.evidence.remedies import REMEDIES
from isonomia.languages import Language, Message, msg
from isonomia.languages.naming import both
from isonomia.report import words
from isonomia.report.document import Criterion, Document, Verdict
from isonomia.report.means import means_sentence
from isonomia.report.overview import View
from isonomia.report.texts import moment, sentence, tame

#: How many entries and checks without an answer the first page names.
AFFECTED, UNEXAMINED = 3, 3
#: Dots of a strip, and how many of them stand in a row.
DOTS, ACROSS = 50, 25
#: How many chips stand for the criteria.
CHIPS = 6
#: How many checks that failed it names.
FAILED = 3


def first_page(document: Document, language: Language) -> View:
    """The texts of the first page."""
    silent = [section for section in document.sections if section.outcome in ("not_applicable", "skipped")]
    chance = len(document.folds) - len(told(document))
    left = len(told(document)) - AFFECTED
    return {
        "failed": failures(document, language),
        "title": sentence(document.title, language),
        "created": moment(document.created, language),
        "assessment": document.assessment.text(language),
        "lead": lead(document.verdict, language),
        "reference": " ".join(
            filter(None, (_reference(document, told(document)[:AFFECTED], language), _weights(document, language)))
        ),
        "means": sentence(means_sentence(document), language),
        "chips": chips(document, language),
        "nobody": nobody(document, language),
        "matters": matters(document, language),
        "more_matters": " ".join(
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
        "steps": [step.text(language) for step in steps(document)],
        "scope": scope(document, language),
        "unexamined": left_out(document, language)
        + [
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


def left_out(document: Document, language: Language) -> list[tuple[str, str]]:
    """Whom criteria that are met do not speak of, such as groups below the rule's share: attribute by attribute."""
    criteria = () if document.verdict is None else document.verdict.criteria
    reasons = {
        (" x ".join(one.by), sentence(one.reason, language))
        for one in criteria
        if one.outcome == "meets" and one.by and one.reason
    }
    return sorted(reasons)[:UNEXAMINED]


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
            "figure": "",
            "limit": "",
            "reason": msg("No policy was given, so there is no verdict.").text(language),
            "basis": "",
            "standing": "",
        }
    criterion = verdict.decisive
    figure = "" if criterion is None else words.headline(criterion, language)
    return {
        "figure": figure,
        "limit": words.limit_in_short(criterion, language) if criterion is not None and figure else "",
        "outcome": verdict.outcome,
        "name": words.VERDICTS[verdict.outcome].text(language),
        "title": sentence(verdict.title, language),
        "reason": sentence(verdict.reason, language),
        "basis": sentence(verdict.basis, language),
        "standing": " ".join(sentence(note, language) for note in verdict.notes),
    }


def chips(document: Document, language: Language) -> View:
    """The outcomes of all criteria, the worst first: a chip for each outcome of a rule, with the attributes it is for.

    Of many rules the first are shown, and how many more there are.
    """
    criteria = () if document.verdict is None else document.verdict.criteria
    together: dict[tuple[str, str], list[Criterion]] = {}
    for one in sorted(criteria, key=lambda one: (words.WORST_FIRST.index(one.outcome), one.margin)):
        together.setdefault((one.rule or str(one.name), one.outcome), []).append(one)
    named = len({rule for rule, _ in together}) > 1
    chosen = list(together.values()) if named else [[one] for same in together.values() for one in same]
    left = msg("{n:one more|# more}", n=len(chosen) - CHIPS)
    return {
        "each": [
            (same[0].outcome, words.criteria_in_short(document, same, language, named=named)) for same in chosen[:CHIPS]
        ],
        "more": left.text(language) if len(chosen) > CHIPS else "",
    }


def steps(document: Document) -> list[Message]:
    """What to do about the audit itself, and where there is no matter about the model: to repeat it."""
    found = []
    if document.verdict is not None and document.verdict.outcome == "not_enough_evidence":
        found.append(msg("Collect more data on the groups named in the verdict, then repeat the audit."))
    if any(section.outcome == "failed" for section in document.sections):
        found.append(msg("Repair and repeat the checks that failed: the annex states why."))
    if not found and not told(document):
        found.append(msg("Repeat the audit whenever the model or the data change."))
    return found


def matters(document: Document, language: Language) -> list[View]:
    """The first entries, each with how many people it is about and what to do."""
    said: dict[str, int] = {}
    shown = []
    for number, fold in told(document)[:AFFECTED]:
        first = fold.first
        remedy = next(
            (one.remedy for one in fold.findings if one.remedy and (one is first or one.sure is not False)), None
        )
        before = said.setdefault(remedy, number) if remedy else number
        same = msg("The same as for {number:int}.", number=before)
        shown.append(
            {
                "id": f"finding-{number}",
                "number": number,
                "severity": first.severity,
                "grade": words.SEVERITY[first.severity].text(language),
                "subject": words.subject_of(document, fold, language),
                "message": sentence(first.message, language),
                "people": words.people_affected(first, language),
                "strip": strip(first, language),
                "advice": "" if remedy is None else (REMEDIES[remedy] if before == number else same).text(language),
            }
        )
    return shown


def strip(finding: Finding, language: Language) -> View | None:
    """How many of how many people as dots: those affected, and the rest; None where none are counted.

    Each of the dots stands for the same share of the people the finding is about; where anybody is affected one is
    filled.
    """
    people = finding.people
    if people is None or people.value is None or round(people.value) < 1:
        return None
    value, n = people.value, people.n or finding.n
    if n < value:
        return None
    filled = max(1, round(DOTS * value / n))
    text = msg("{people:int} of {n:int}", people=round(value), n=n).text(language)
    return {"text": text, "filled": _dots(0, filled), "rest": _dots(filled, DOTS)}


def _dots(first: int, last: int) -> str:
    """Dots as a path, in rows of `ACROSS`."""
    return "".join(f"M{5 + 10 * (dot % ACROSS)} {5 + 10 * (dot // ACROSS)}h0" for dot in range(first, last))


def examined(document: Document, language: Language) -> str:
    """What was examined, in a line: the model, the data, how many records, of which time, and how many checks."""
    subject = document.subject
    parts = [tame(subject[key], 60) for key in ("model", "prediction") if isinstance(subject.get(key), str)][:1]
    parts += [tame(subject[key], 60) for key in ("dataset", "name") if isinstance(subject.get(key), str)][:1]
    if isinstance(rows := subject.get("rows"), int):
        parts.append(msg("{n:# record|# records}", n=rows).text(language))
    if isinstance(period := subject.get("period"), Message):
        parts.append(sentence(period, language))
    ran = document.counts["issue"] + document.counts["passed"]
    if ran:
        parts.append(msg("{n:# check|# checks}", n=ran).text(language))
    return " · ".join(parts)
