"""How firm is each decision, and are some people's more fragile than others'?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.audit.checks._sample import said_of_sample, sampled
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import local_robustness as examine
from isonomia.subject import Subject

_OPTIONS = (
    "strength",
    "n_iterations",
    "perturbers",
    "features",
    "tolerance",
    "nearest",
    "budget",
    "fragile",
    "most_rows",
    "min_per_group",
    "keep_valid",
    "max_rows",
)


@check(
    "local_robustness",
    title=msg("Local robustness"),
    question=msg("How firm is each decision, and are some people's decisions more fragile than others'?"),
    purpose="a score a row, the nearest flip, the most fragile rows, groups compared",
    within="full",
)
def local_robustness(subject: Subject) -> Result:
    """Disturbed copies of a sample of rows, and the nearest flip of each."""
    subject.needs_model()
    given = options_of(subject, "local_robustness", _OPTIONS)
    rows = sampled(subject, given)
    given.pop("max_rows", None)
    given.setdefault("min_per_group", subject.settings.min_per_group)
    result = examine(
        subject if rows.size == len(subject) else subject.take(rows),
        level=subject.settings.level,
        seed=subject.settings.seed,
        progress=subject.progress,
        **given,
    )
    places = np.flatnonzero(subject.rows)[rows]
    table = result.tables["fragile"]
    row = replace(table["row"], values=places[np.asarray(table["row"].values, dtype=np.intp)])
    tables = {**result.tables, "fragile": table.with_columns(row)}
    return replace(result, tables=tables, notes=(*result.notes, *said_of_sample(rows, subject)))
