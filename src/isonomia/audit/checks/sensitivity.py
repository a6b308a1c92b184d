"""Which metrics give way first as noise grows?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import sensitivity as find
from isonomia.subject import Subject

#: Trials at each level in an audit, where nobody says.
TRIALS = 10

_OPTIONS = ("scenarios", "levels", "n_trials", "metrics", "tolerance")


@check(
    "sensitivity",
    title=msg("Sensitivity"),
    question=msg("Which metrics give way first as noise grows?"),
    purpose="curves of every metric over growing noise, the most sensitive metric",
    within="full",
)
def sensitivity(subject: Subject) -> Result:
    """Noise on predictions by default; other scenarios and levels by option."""
    assert subject.truth is not None
    given = options_of(subject, "sensitivity", _OPTIONS)
    given.setdefault("n_trials", TRIALS)
    return find(
        subject,
        level=subject.settings.level,
        seed=subject.settings.seed,
        progress=subject.progress,
        **given,
    )
