"""Which criteria cannot hold together on these data, and which one matters for the use at hand?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.evidence import Result
from isonomia.fairness import guide
from isonomia.fairness import incompatibility as conflicts
from isonomia.languages import msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject


@check(
    "incompatibility",
    counted=True,
    order=100,
    family="people",
    title=msg("Incompatible criteria"),
    question=msg("Given these base rates, which criteria exclude each other, and by how much?"),
    purpose="criteria that exclude each other at these base rates, with numbers, and a guide to choosing by use",
    parameters=parameters_of(guide, "use"),
)
def incompatibility(subject: Subject, *, use: Any) -> Result:
    """Conflicts for each attribute, and the guide (for one use where the options name it)."""
    subject.needs_attributes()
    found = conflicts(subject)
    table = replace(guide(use).tables["guide"], backend=subject.backend)
    return Result(
        found.code,
        found.title,
        {**found.tables, "guide": table},
        found.values,
        found.findings,
        found.pictures,
        (*found.story, *found.notes),
        titles={"rows": msg("rows")},
    )
