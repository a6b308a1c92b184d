"""The report of a study: what was found, by which rule, and published figures beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isonomia._version import __version__
from isonomia.evidence import Result
from isonomia.languages import Message, error_message, msg
from isonomia.report import Document, Section

if TYPE_CHECKING:
    from isonomia.study.outcome import Study

#: Pictures of a comparison that is shown beside the main one.
SIDE_PICTURES = ("bars", "forest", "heatmap")

PURPOSES = {
    "agreement": msg(
        "Do fairness measures and SHAP show the same scenario, and change together when a model is fixed?"
    ),
    "agreement_linear": msg("Do the variants of SHAP for linear models give the same answer?"),
    "agreement_strict": msg("Does the answer depend on the rule: a tolerance of 0.001, and models with a fix only?"),
    "agreement_published": msg("What do the published results say, by the rule that gives the paper's tables?"),
    "reproduction": msg("Do the published figures come out again?"),
    "results": msg("What was measured for each model?"),
}
TITLES = {
    "agreement_linear": msg("Linear models: variants of SHAP"),
    "agreement_published": msg("The published results, models that are not among them added from here"),
    "agreement_strict": msg("The same by the rule that the paper's text states"),
}


def document_of(study: Study) -> Document:
    """The report: the main comparison, the other rules, the reproduction, and all results."""
    parts: list[Result] = [study.agreement]
    for name, result in study.others.items():
        code = f"agreement_{name}"
        pictures = tuple(picture for picture in result.pictures if picture.kind in SIDE_PICTURES)
        parts.append(replace(result, code=code, title=TITLES[code], findings=(), pictures=pictures))
    if study.reproduction is not None:
        parts.append(study.reproduction)
    notes = (
        *(msg("Missing: {reason}", reason=error_message(reason)) for reason in study.missing),
        *(
            msg("A file among the cells could not be read and is left out: {reason}", reason=one)
            for one in study.unread
        ),
    )
    parts.append(Result(code="results", title=msg("Results of the study"), tables={"rows": study.rows}, notes=notes))
    return Document(
        title=msg("Do explanations and fairness measures agree?"),
        subject=_subject(study),
        sections=tuple(_section(part) for part in parts),
        fingerprint={"isonomia": __version__},
    )


def unread_cell(reason: str) -> Message:
    """That a file among the cells is left out, and why."""
    return msg("A file among the cells could not be read and is left out: {reason}", reason=reason)


def _section(result: Result) -> Section:
    return Section(
        code=result.code,
        title=result.title,
        purpose=PURPOSES[result.code],
        outcome="issue" if result.findings else "passed",
        result=result,
    )


def _subject(study: Study) -> dict[str, Any]:
    def listed(name: str) -> list[str]:
        return list(dict.fromkeys(map(str, study.rows[name].values)))

    source: Message = msg("models trained here")
    if study.paper:
        source = msg("the set-up of the paper") if study.cells else msg("the published results of the paper")
    return {
        "source": source,
        "datasets": listed("dataset"),
        "models": listed("model"),
        "fixes": listed("fix"),
        "explainers": listed("explainer"),
        "seeds": listed("seed"),
    }
