"""Are there people who would be treated differently if only protected attributes were different?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.audit.checking import check
from isonomia.audit.checks._options import options_of
from isonomia.audit.subject import Subject
from isonomia.discovery import find_pairs
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg

_OPTIONS = (
    "method",
    "constraints",
    "values",
    "domain",
    "max_tests",
    "max_seconds",
    "max_model_rows",
    "gamma",
    "one_attr_at_a_time",
    "options",
)


@check(
    "pairs",
    title=msg("Pairs of people"),
    question=msg("Who would be treated differently if only protected attributes were different?"),
    purpose="searches for pairs of people alike but for protected attributes whom the model treats differently",
    within="full",
)
def pairs(subject: Subject) -> Result:
    """`find_pairs` with the method "auto" unless the options name another; up to 10,000 people and 60 seconds."""
    given = options_of(subject, "pairs", _OPTIONS)
    names = tuple(column.name for column in subject.needs_attributes())
    if subject.model is None:
        raise NotApplicable(msg("there is no model to ask about changed people, only its predictions"))
    own = dict(given.pop("options", {}))
    found = find_pairs(
        subject.data, subject.model, seed=subject.seed, **{"max_seconds": 60.0, "method": "auto", **given}, **own
    )
    kept = (
        "TSN",
        "DSN",
        "SUR",
        "n_model_rows",
        "cells",
        "naturalness",
        "status",
        "share_low",
        "share_high",
        "share_estimate",
        "share_estimate_low",
        "share_estimate_high",
        "max_gap",
        "max_gap_bound",
        "gap_scale",
    )
    values = {name: found.metrics[name] for name in kept if found.metrics.get(name) is not None}
    return Result(
        "pairs", msg("Pairs of people"), found.tables, {**found.values, **values},
        tuple(replace(finding, columns=names, format="pct") for finding in found.findings), found.pictures,
        found.notes,
    )  # fmt: skip
