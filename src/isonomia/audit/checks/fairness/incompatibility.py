"""Which criteria cannot hold together on these data, and which one matters for the use at hand?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from isonomia.audit.check_registry import check
from isonomia.evidence import Result
from isonomia.fairness import guide
from isonomia.fairness import incompatibility as conflicts
from isonomia.fairness.criteria.guidance import Use
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

_USES = ", ".join(get_args(Use))


@check(
    "incompatibility",
    counted=True,
    order=100,
    family="people",
    title=msg("Incompatible criteria"),
    question=msg("Given these base rates, which criteria exclude each other, and by how much?"),
    purpose="criteria that exclude each other at these base rates, with numbers, and a guide to choosing by use",
    parameters=parameters_of(guide),
)
def incompatibility(subject: Subject, *, use: Any) -> Result:
    """Conflicts for each attribute, and the guide for the use where the options name it."""
    subject.needs_attributes()
    found = conflicts(subject)
    tables, notes = dict(found.tables), [*found.story, *found.notes]
    if use is None:
        notes.append(msg("Set the option `use` of this check to see which criteria matter for it: {uses}.", uses=_USES))
    else:
        tables["guide"] = replace(guide(use).tables["guide"], backend=subject.backend)
    return Result(
        found.code,
        found.title,
        tables,
        found.values,
        found.findings,
        found.pictures,
        tuple(notes),
        titles={"rows": msg("rows")},
    )
