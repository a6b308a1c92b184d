"""Do metrics agree on where the model is better?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import metric_disagreement as find
from isonomia.subject import Subject

_OPTIONS = ("across", "features", "scenarios", "metrics", "bins", "n_trials")


@check(
    "metric_disagreement",
    title=msg("Disagreement of metrics"),
    question=msg("Do metrics agree on where the model is better?"),
    purpose="rankings of slices (or scenarios) by every metric: Kendall tau, pairs that swap",
    within="full",
)
def metric_disagreement(subject: Subject) -> Result:
    """Slices of the protected attributes (else of all features); scenarios by option."""
    assert subject.truth is not None
    given = options_of(subject, "metric_disagreement", _OPTIONS)
    return find(
        subject,
        min_samples=subject.settings.min_per_group,
        level=subject.settings.level,
        seed=subject.settings.seed,
        **given,
    )
