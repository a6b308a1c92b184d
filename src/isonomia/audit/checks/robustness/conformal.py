"""Do predictions with a promised coverage keep it, for every group?"""

from __future__ import annotations

from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._other_rows import other_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import conformal as find
from isonomia.subject import Subject


@check(
    "conformal",
    order=300,
    family="robustness",
    counted=True,
    title=msg("Coverage of predictions"),
    question=msg("Do intervals or sets around predictions reach their nominal coverage in every group?"),
    purpose="split conformal coverage, overall and by group",
    within="full",
    parameters=options_of(find),
)
def conformal(subject: Subject, *, calibration: Any, **options: Any) -> Result:
    """Coverage on one half of the rows of widths set on the other (or on the option `calibration`)."""
    assert subject.truth is not None
    if subject.task != "regression" and subject.surface.probability is None:
        raise NotApplicable(msg("sets of classes need probabilities, and the predictions have none"))
    if len(subject) < 4:
        raise NotApplicable(msg("there are fewer than four rows"))
    calibration_rows = None if calibration is None else other_rows(subject, calibration)
    return find(subject, calibration=calibration_rows, **settings(subject, find, options))
