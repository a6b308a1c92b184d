"""How firm is each decision, and are some people's more fragile than others'?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._sample import ALTERED_ROWS, predicted_of_sample, sampled
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import local_robustness as examine
from isonomia.subject import Subject


@check(
    "local_robustness",
    of_model=True,
    order=290,
    family="robustness",
    what_if=True,
    title=msg("Local robustness"),
    question=msg("How stable is each decision, and are some people's decisions more fragile than others'?"),
    purpose="a score a row, the nearest flip, the most fragile rows, groups compared",
    within="full",
    parameters=(
        *options_of(examine, min_per_group=None),
        ALTERED_ROWS,
    ),
)
def local_robustness(subject: Subject, *, max_rows: int, **options: Any) -> Result:
    """Disturbed copies of a sample of rows, and the nearest flip of each."""
    rows = sampled(subject, max_rows)
    examined = subject if rows.size == len(subject) else subject.take(rows)
    result = examine(examined, **settings(subject, examine, options))
    indices = np.flatnonzero(subject.rows)[rows]
    table = result.tables["fragile"]
    row = replace(table["row"], values=indices[np.asarray(table["row"].values, dtype=np.intp)])
    tables = {**result.tables, "fragile": table.with_columns(row)}
    return replace(result, tables=tables, notes=(*result.notes, *predicted_of_sample(rows, subject)))
