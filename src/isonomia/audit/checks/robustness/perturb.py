"""How much worse does the model get when its inputs are perturbed?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._sample import ALTERED_ROWS, sample_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import PERTURBERS
from isonomia.robustness import perturb as disturb
from isonomia.subject import Subject


@check(
    "perturb",
    of_model=True,
    order=270,
    family="robustness",
    what_if=True,
    title=msg("Perturbed inputs"),
    question=msg("How much worse does the model get when its inputs are noisy, missing or wrong?"),
    purpose="noise, swapped categories, missing values, rounding, wrong units; an adversary on request",
    within="full",
    parameters=(
        *options_of(disturb, levels=(0.1, 0.2, 0.3), n_trials=3),
        ALTERED_ROWS,
    ),
    keys={"n_trials": "n_trials", "metric": "metric"},
)
def perturb(subject: Subject, *, max_rows: int, perturbers: Any, **options: Any) -> Result:
    """Every perturbation at a few levels, on a sample of rows; an adversary by option."""
    assert subject.truth is not None
    options["perturbers"] = list(PERTURBERS.ids()) if perturbers is None else perturbers
    examined, notes = sample_of(subject, max_rows)
    result = disturb(examined, **settings(subject, disturb, options))
    return replace(result, notes=(*result.notes, *notes))
