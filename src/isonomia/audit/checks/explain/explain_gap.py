"""Which columns make the gap between groups?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._sample import sample_of
from isonomia.audit.checks.explain.explain_sensitive import with_attribute
from isonomia.errors import BudgetError, NotApplicable
from isonomia.evidence import Finding, Picture, Result, Table
from isonomia.explain import GapDecomposition, explained_class, gap, several_classes
from isonomia.languages import Message, error_message, msg, once
from isonomia.parameters import Integer, Parameter, parameters_of
from isonomia.subject import Subject

#: Findings about each attribute, the largest contributions.
FINDINGS = 3
TITLES = {
    "contributions": msg("What each column adds to the gap"),
    "groups": msg("Mean output of each group"),
}
#: People that are explained, and rows that the model may be asked about per attribute, by default.
MAX_ROWS, MODEL_ROWS = 500, 300_000


@check(
    "explain_gap",
    order=167,
    topic="use",
    within="full",
    family="people",
    title=msg("What makes the gap between groups"),
    question=msg("Which columns make the gap between groups?"),
    purpose="the gap in mean predictions to the reference group as a sum over columns, with simultaneous intervals",
    parameters=(
        *parameters_of(gap, "criterion", "output", "threshold", "max_model_rows", max_model_rows=MODEL_ROWS),
        Parameter("max_rows", Integer(4), MAX_ROWS, "people to explain, at most; more are sampled"),
    ),
)
def explain_gap(subject: Subject, *, max_rows: int, **options: Any) -> Result:
    """`gap` for every protected attribute; its intervals hold for all columns at once, so no further test is made."""
    names = [column.name for column in subject.needs_attributes()]
    if subject.model is None:
        raise NotApplicable(msg("it needs the model, not only its predictions"))
    people, sampled = sample_of(subject, max_rows)
    found: dict[str, GapDecomposition] = {}
    left_out: dict[str, Message] = {}
    for name in subject.progress.stage("attributes", msg("Explaining"), total=len(names)).over(names):
        try:
            label = explained_class(subject, name, output=options["output"])
            found[name] = gap(people, attribute=name, label=label, progress=subject.progress, **options)
        except (NotApplicable, BudgetError) as error:  # too few people, or a budget too small for so many columns
            reason = error_message(error)
            left_out[name] = (
                msg("{attribute} is left out: {reason}.", attribute=name, reason=reason)
                if isinstance(error, NotApplicable)
                else msg("{attribute} is left out. {reason}", attribute=name, reason=reason)
            )
    if not found:
        raise NotApplicable(Message.join(left_out.values()))
    tables = {
        key: Table.stack([with_attribute(name, one.tables[key], one.label) for name, one in found.items()])
        for key in ("contributions", "groups")
    }
    if subject.task == "multiclass":  # each attribute may have a class of its own
        tables = {key: replace(table, title=TITLES[key]) for key, table in tables.items()}
    tables["contributions"] = tables["contributions"].without("p_value", "p_adjusted")
    notes = once(note for one in found.values() for note in one.notes)
    return Result(
        "explain_gap",
        msg("What makes the gap between groups"),
        tables,
        {"additivity": max(one.additivity for one in found.values())},
        tuple(finding for one in found.values() for finding in _findings(one)),
        tuple(_of_attribute(name, picture) for name, one in found.items() for picture in one.pictures),
        (*notes, *several_classes(subject), *left_out.values(), *sampled),
        titles=next(iter(found.values())).titles,
        formats={"additivity": "num"},
    )


def _findings(one: GapDecomposition) -> list[Finding]:
    """The largest contributions to gaps that are there; their intervals exclude 0 for all columns at once."""
    real = {name for name, whole in one.gaps.items() if whole.low and whole.high and whole.low * whole.high > 0}
    kept = [finding for finding in one.findings if finding.who[one.attribute] in real]
    return [replace(finding, p_value=None, p_adjusted=None) for finding in kept[:FINDINGS]]


def _of_attribute(attribute: str, picture: Picture) -> Picture:
    """A picture of the stacked tables that shows one attribute only."""
    where = {**picture.options["where"], "attribute": attribute}
    title = msg("{attribute}: {figure}", attribute=attribute, figure=picture.title)
    return replace(picture, title=title, options={**picture.options, "where": where})
