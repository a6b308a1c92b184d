"""How much worse does the model get when its inputs are disturbed?"""

from __future__ import annotations

from dataclasses import replace

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.audit.checks._sample import said_of_sample, sampled
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import PERTURBERS
from isonomia.robustness import perturb as disturb
from isonomia.subject import Subject

#: Every disturbance counts in an audit; fewer levels and trials than by hand.
LEVELS = (0.1, 0.2, 0.3)
TRIALS = 3

_OPTIONS = (
    "levels",
    "n_trials",
    "perturbers",
    "features",
    "metric",
    "metrics",
    "by_feature",
    "adversarial",
    "budget",
    "tolerance",
    "critical",
    "keep_valid",
    "max_rows",
)


@check(
    "perturb",
    title=msg("Disturbed inputs"),
    question=msg("How much worse does the model get when its inputs are noisy, missing or mistaken?"),
    purpose="noise, swapped categories, missing values, rounding, wrong units; an adversary on request",
    within="full",
)
def perturb(subject: Subject) -> Result:
    """Every disturbance at a few levels, on a sample of rows; an adversary by option."""
    assert subject.truth is not None
    subject.needs_model()
    given = options_of(subject, "perturb", _OPTIONS)
    rows = sampled(subject, given)
    given.pop("max_rows", None)
    given.setdefault("levels", LEVELS)
    given.setdefault("n_trials", TRIALS)
    given.setdefault("perturbers", [one.id for one in PERTURBERS])
    result = disturb(
        subject if rows.size == len(subject) else subject.take(rows),
        level=subject.settings.level,
        seed=subject.settings.seed,
        progress=subject.progress,
        **given,
    )
    return replace(result, notes=(*result.notes, *said_of_sample(rows, subject)))
