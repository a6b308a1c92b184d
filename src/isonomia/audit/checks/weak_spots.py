"""Where is the model worse than it is on average?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import weak_spots as find
from isonomia.subject import Subject

#: Beside unequal treatment of people, an error is critical when it is twice the overall one.
DOUBLED = 1.0

_OPTIONS = ("pairs", "metric", "features", "slicing", "bins", "min_samples", "severity", "critical", "alpha")


@check(
    "weak_spots",
    title=msg("Weak spots"),
    question=msg("Where does the model err more than it does overall?"),
    purpose="slices of features (and pairs of them) where the model errs more",
)
def weak_spots(subject: Subject) -> Result:
    """Slices of every feature; pairs, the metric and the way of slicing by option."""
    assert subject.truth is not None
    given = options_of(subject, "weak_spots", _OPTIONS)
    given.setdefault("min_samples", subject.settings.min_per_group)
    given.setdefault("critical", DOUBLED)
    return find(
        subject,
        level=subject.settings.level,
        seed=subject.settings.seed,
        progress=subject.progress,
        **given,
    )
