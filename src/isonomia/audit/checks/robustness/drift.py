"""Has the population changed since the reference data?"""

from __future__ import annotations

from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._other_rows import earlier_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.parameters import File, Parameter
from isonomia.robustness import drift as find
from isonomia.subject import Subject


@check(
    "drift",
    order=310,
    family="robustness",
    title=msg("Drift"),
    question=msg("Have the people, the outcomes or the predictions changed since the reference data?"),
    purpose="reference against current data; needs the option reference",
    within="full",
    parameters=(
        Parameter("reference", File().or_none(), None, "earlier rows: a file, a Dataset or a frame"),
        *options_of(find),
    ),
    keys={"reference": "reference_dataset"},
    asked_by="reference_dataset",
    counted=True,
)
def drift(subject: Subject, *, reference: Any, **options: Any) -> Result:
    """The rows examined against a reference (option `reference`: a dataset, or a file)."""
    if reference is None:
        raise NotApplicable(msg("no reference data were given; set this check's option `reference`"))
    given = settings(subject, find, options)
    return find(earlier_rows(subject, reference), subject, **given)
