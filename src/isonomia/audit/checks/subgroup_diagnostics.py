"""How does every metric fare in every subgroup?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import subgroup_diagnostics as find
from isonomia.subject import Subject

#: Replicates behind an interval in an audit.
MOST_BOOT = 200

_OPTIONS = ("features", "metrics", "metric", "bins", "tolerance")


@check(
    "subgroup_diagnostics",
    title=msg("Subgroup diagnostics"),
    question=msg("How does every metric fare in every subgroup?"),
    purpose="every metric of every subgroup, or the reason why it has no value",
    within="full",
)
def subgroup_diagnostics(subject: Subject) -> Result:
    """Subgroups of the protected attributes; of any features by option."""
    assert subject.truth is not None
    given = options_of(subject, "subgroup_diagnostics", _OPTIONS)
    return find(
        subject,
        min_per_group=subject.settings.min_per_group,
        level=subject.settings.level,
        n_boot=min(subject.settings.n_boot, MOST_BOOT),
        seed=subject.settings.seed,
        **given,
    )
