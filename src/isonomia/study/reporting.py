"""The report of a study: what was found, by which rule, and published figures beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isonomia.evidence import Result
from isonomia.languages import Message, error_message, msg
from isonomia.report import Inquiry

if TYPE_CHECKING:
    from isonomia.explain import Agreement
    from isonomia.study.outcome import Study

#: Pictures of a comparison that is shown beside the main one.
SIDE_PICTURES = ("bars", "forest", "heatmap")

#: With fewer models nothing is concluded: of four that agree all do so by chance in 0.5^4 = 6%.
CONCLUDES_FROM = 5

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


def document_of(study: Study) -> Inquiry:
    """The page: the main comparison, the other rules, the reproduction, and all results."""
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
    open_ = no_conclusion(study)
    found = tuple(finding.message for finding in study.agreement.findings)
    return Inquiry(
        question=msg("Do explanations and fairness measures agree?"),
        answer=(open_,) if open_ is not None else found or (msg("No measure agrees with SHAP by more than chance."),),
        sure=_sure(study),
        lead=None if open_ is not None else _lead(study.agreement),
        results=tuple(replace(part, findings=()) for part in parts),
        purposes=PURPOSES,
        about=_about(study),
    )


def no_conclusion(study: Study) -> Message | None:
    """Why there is no answer yet: cells are to do, or models are too few; None where one is."""
    if study.waiting:
        done = len(study.cells)
        return msg("{done:int} of {all:# cell|# cells}: no conclusion yet.", done=done, all=done + study.waiting)
    models = _models(study)
    if models < CONCLUDES_FROM:
        return msg(
            "{n:# model|# models}: no conclusion. What agrees with what is said from at least {least:int} models on.",
            n=models,
            least=CONCLUDES_FROM,
        )
    return None


def _models(study: Study) -> int:
    """How many models, each of a dataset: their results under several fixes hang together."""
    return len(set(zip(study.rows["dataset"].values, study.rows["model"].values, strict=True)))


def _sure(study: Study) -> tuple[Message, ...]:
    """What the answer rests on."""
    rests = msg("{n:# result|# results} of {models:# model|# models}.", n=len(study.rows), models=_models(study))
    return (rests, *study.agreement.notes)


def _lead(found: Agreement) -> Result:
    """The first figure of the agreement and the table behind it."""
    name = found.pictures[0].table if found.pictures else next(iter(found.tables))
    return Result(found.code, found.title, {name: found.tables[name]}, pictures=found.pictures[:1])


def unread_cell(reason: str) -> Message:
    """That a file among the cells is left out, and why."""
    return msg("A file among the cells could not be read and is left out: {reason}", reason=reason)


def _about(study: Study) -> tuple[tuple[Message, Any], ...]:
    def listed(name: str) -> list[str]:
        return list(dict.fromkeys(map(str, study.rows[name].values)))

    source: Message = msg("models trained here")
    if study.paper:
        source = msg("the set-up of the paper") if study.cells else msg("the published results of the paper")
    return (
        (msg("Source"), source),
        (msg("Datasets"), listed("dataset")),
        (msg("Models"), listed("model")),
        (msg("Fixes"), listed("fix")),
        (msg("Explainers"), listed("explainer")),
        (msg("Seeds"), listed("seed")),
    )
