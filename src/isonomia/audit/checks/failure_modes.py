"""Which rows are served worst, and what is unusual about them?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import failure_modes as find
from isonomia.subject import Subject

_OPTIONS = ("top_k", "share", "features", "confident", "far", "rare", "bins", "min_samples", "alpha")


@check(
    "failure_modes",
    title=msg("Failure modes"),
    question=msg("Which rows are served worst, and what is unusual about them?"),
    purpose="the worst rows with reasons, how rows fail, slices with more than their share",
    within="full",
)
def failure_modes(subject: Subject) -> Result:
    """The twenty worst rows by default."""
    assert subject.truth is not None
    given = options_of(subject, "failure_modes", _OPTIONS)
    given.setdefault("min_samples", subject.settings.min_per_group)
    return find(subject, level=subject.settings.level, **given)
