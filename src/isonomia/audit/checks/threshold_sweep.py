"""What would another threshold cost, and whom?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import threshold_sweep as find
from isonomia.subject import Subject

#: Thresholds, and replicates at each, in an audit.
STEPS, MOST_BOOT = 21, 200

_OPTIONS = ("thresholds", "metrics", "limits", "of_class")


@check(
    "threshold_sweep",
    title=msg("Threshold sweep"),
    question=msg("What would another threshold cost, and whom?"),
    purpose="performance and gaps between groups at every threshold, and where limits are kept",
    within="full",
)
def threshold_sweep(subject: Subject) -> Result:
    """Twenty-one thresholds and the four-fifths rule by default; others by option."""
    assert subject.truth is not None
    given = options_of(subject, "threshold_sweep", _OPTIONS)
    given.setdefault("thresholds", STEPS)
    return find(
        subject,
        min_per_group=subject.settings.min_per_group,
        level=subject.settings.level,
        n_boot=min(subject.settings.n_boot, MOST_BOOT),
        seed=subject.settings.seed,
        **given,
    )
