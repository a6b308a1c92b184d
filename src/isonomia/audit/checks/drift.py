"""Has the population changed since the reference data?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of, other_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import drift as find
from isonomia.subject import Subject

_OPTIONS = ("reference", "features", "bins", "alpha", "adjust", "joint", "folds", "verify")


@check(
    "drift",
    title=msg("Drift"),
    question=msg("Have the people, the outcomes or the predictions changed since the reference data?"),
    purpose="reference against current data; needs the option reference",
    within="full",
)
def drift(subject: Subject) -> Result:
    """The rows examined against a reference (option `reference`: a dataset, or a file)."""
    given = options_of(subject, "drift", _OPTIONS)
    if given.get("reference") is None:
        raise NotApplicable(msg("no reference data was given (option reference of this check)"))
    reference = other_rows(subject, given.pop("reference"))
    return find(reference, subject, level=subject.settings.level, seed=subject.settings.seed, **given)
