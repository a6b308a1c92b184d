"""What do protected attributes themselves add to predictions?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.errors import NotApplicable
from isonomia.evidence import Column, Picture, Result, Table
from isonomia.explain import Sensitive, explained_class, sensitive, several_classes
from isonomia.languages import Message, msg, once
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: Rows that the model may be asked about, per attribute.
MODEL_ROWS = 100_000
TITLE, CLASS = msg("protected attribute"), msg("class")
READING = msg(
    "A contribution is the Shapley value of the attribute: what it adds to a prediction when the other columns of the "
    "person and of the background are mixed in all ways."
)


@check(
    "explain_sensitive",
    order=165,
    topic="use",
    within="full",
    family="people",
    title=msg("What protected attributes add"),
    question=msg("How much of a prediction comes from the protected attribute itself?"),
    purpose="disparity, importance and rank of each protected attribute's Shapley value, with intervals",
    parameters=parameters_of(
        sensitive, "method", "output", "error", "max_background", "max_model_rows", max_model_rows=MODEL_ROWS
    ),
)
def explain_sensitive(subject: Subject, **options: Any) -> Result:
    """`sensitive` for every protected attribute."""
    names = [column.name for column in subject.needs_attributes()]
    if subject.model is None:
        raise NotApplicable(msg("it needs the model, not only its predictions"))
    found: dict[str, Sensitive] = {}
    left_out: dict[str, Message] = {}
    for name in subject.progress.stage("attributes", msg("Explaining"), total=len(names)).over(names):
        try:
            label = explained_class(subject, name, output=options["output"])
            one = sensitive(subject, attribute=name, label=label, progress=subject.progress, **options)
            if one.disparity.value is None:
                raise NotApplicable(one.disparity.note or msg("not available"))
            found[name] = one
        except NotApplicable as error:
            left_out[name] = msg("{attribute} is left out: {reason}.", attribute=name, reason=error.message)
    if not found:
        raise NotApplicable(Message.join(left_out.values()))
    used = {name: one for name, one in found.items() if one.tables}
    tables = {"attributes": _attributes(found, subject)}
    if used:
        stacked = Table.stack([with_attribute(name, one.tables["groups"], one.label) for name, one in used.items()])
        tables["groups"] = replace(stacked, title=msg("What each attribute adds, by group"))
    return Result(
        "explain_sensitive",
        msg("What protected attributes add"),
        tables,
        findings=tuple(finding for one in used.values() for finding in one.findings),
        pictures=(_picture(),) if used else (),
        notes=(
            *once(note for one in found.values() for note in one.notes),
            *several_classes(subject),
            *left_out.values(),
            READING,
        ),
    )


def _attributes(found: dict[str, Sensitive], subject: Subject) -> Table:
    rows = [
        {
            "attribute": name,
            "label": one.label,
            "disparity": one.disparity,
            "importance": one.importance,
            "rank": one.rank,
            "model_rows": one.model_rows,
        }
        for name, one in found.items()
    ]
    columns = (
        Column("attribute", title=TITLE),
        *((Column("label", title=CLASS),) if subject.task == "multiclass" else ()),
        Column("disparity", format="num4", title=msg("disparity of the contribution")),
        Column("importance", format="num4", title=msg("mean size of the contribution")),
        Column("rank", format="int", title=msg("rank among the columns")),
        Column("model_rows", format="int", title=msg("rows that the model was asked about")),
    )
    return Table.from_rows(rows, columns, title=msg("What each attribute adds"), backend=subject.backend)


def with_attribute(name: str, table: Table, label: str | None) -> Table:
    """A table about one attribute (and class) with first columns that name it, so that tables can be stacked."""
    first = Column("attribute", [name] * len(table), title=TITLE)
    classes = () if label is None else (Column("label", [label] * len(table), title=CLASS),)
    return replace(table, columns=(first, *classes, *table.columns))


def _picture() -> Picture:
    return Picture(
        "forest",
        "groups",
        msg("Mean contribution of each group's own value"),
        {"labels": ["attribute", "group"], "value": "contribution", "reference": 0.0},
    )
