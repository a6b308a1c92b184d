"""Do predictions with a promised coverage keep it, for every group?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of, other_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import conformal as find
from isonomia.subject import Subject

_OPTIONS = ("calibration", "alpha", "score", "by_group")


@check(
    "conformal",
    title=msg("Coverage of predictions"),
    question=msg("Do intervals or sets around predictions hold the truth as often as promised, for every group?"),
    purpose="split conformal coverage, overall and by group",
    within="full",
)
def conformal(subject: Subject) -> Result:
    """Coverage on one half of the rows of widths set on the other (or on the option `calibration`)."""
    assert subject.truth is not None
    given = options_of(subject, "conformal", _OPTIONS)
    if subject.task != "regression" and subject.surface.probability is None:
        raise NotApplicable(msg("sets of classes need probabilities, and the predictions hold none"))
    if len(subject) < 4:
        raise NotApplicable(msg("there are fewer than four rows"))
    given |= {
        "min_per_group": subject.settings.min_per_group,
        "level": subject.settings.level,
        "seed": subject.settings.seed,
    }
    if given.get("calibration") is not None:
        given["calibration"] = other_rows(subject, given["calibration"])
    return find(subject, **given)
