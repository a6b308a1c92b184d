"""What a result states about the dependencies that people had to agree with."""

from __future__ import annotations

from typing import Any

import numpy as np

from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.evidence import Column, Table
from isonomia.languages import msg
from isonomia.probing import Dependencies, Domain

#: Values listed of those that exclude each other.
NAMED = 12


def state_dependencies(space: Space) -> None:
    """Add the table of dependencies and a note on who has no possible counterpart.

    Raises
    ------
    NotApplicable
        Where nobody in the data has one.
    """
    dependencies, people = space.domain.dependencies, space.people
    if dependencies is None:
        return
    space.tables["dependencies"] = dependency_table(space.domain, dependencies)
    if not len(people) or space.probe.possible(people[:0]) is None:
        return
    alone = int(len(people) - space.probe.valid(people).sum())
    if alone == len(people):
        raise NotApplicable(_nobody(space, dependencies))
    if alone:
        space.notes.append(
            msg(
                "{n:int} of {all:int} people were not tested: they contradict a dependency of the data, or would do so "
                "with another value of {protected}.",
                n=alone,
                all=len(people),
                protected=", ".join(space.probe.protected),
            )
        )


def dependency_table(domain: Domain, dependencies: Dependencies) -> Table:
    """A row per column that follows from another one, and per value that excludes values of another column."""
    rows: list[dict[str, Any]] = [
        {
            "column": domain.names[one.source],
            "value": msg("any"),
            "other": domain.names[one.column],
            "excluded": msg("all but the value that follows"),
        }
        for one in dependencies.follows
    ]
    for rule in dependencies.exclusions:
        for code in np.flatnonzero(rule.excluded.any(axis=1)):
            others = [_text(domain, dependencies, rule.other, int(at)) for at in np.flatnonzero(rule.excluded[code])]
            more = ", ..." if len(others) > NAMED else ""
            rows.append(
                {
                    "column": domain.names[rule.column],
                    "value": _text(domain, dependencies, rule.column, int(code)),
                    "other": domain.names[rule.other],
                    "excluded": ", ".join(others[:NAMED]) + more,
                }
            )
    columns = (
        Column("column", title=msg("column")),
        Column("value", title=msg("value")),
        Column("other", title=msg("other column")),
        Column("excluded", title=msg("values that do not occur with it")),
    )
    return Table.from_rows(
        rows, columns, title=msg("Dependencies that generated people keep to"), backend=domain.backend
    )


def _text(domain: Domain, dependencies: Dependencies, column: int, code: int) -> str:
    """A bin of a column as a text."""
    if code == dependencies.bins.sizes[column] - 1:
        return "-"
    low, high = (float(end) for end in dependencies.bins.span(column, np.array(code)))
    feature = domain.features[column]
    return feature.text(low) if low == high else f"[{feature.text(low)}, {feature.text(high)})"


def _nobody(space: Space, dependencies: Dependencies) -> str:
    names = space.domain.names
    tied = {
        names[other]
        for rule in dependencies.exclusions
        for own, other in ((rule.column, rule.other), (rule.other, rule.column))
        if own in space.protected and other not in space.protected
    }
    return (
        f"nobody in the data could differ in {', '.join(space.probe.protected)} alone: it is tied to "
        f"{', '.join(sorted(tied))}. Name these columns as protected too, or pass dependencies=False"
    )
