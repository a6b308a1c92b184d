"""Where did the model learn its training rows by heart?"""

from __future__ import annotations

from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._other_rows import other_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.parameters import File, Parameter
from isonomia.robustness import overfit as find
from isonomia.subject import Subject


@check(
    "overfit",
    order=210,
    title=msg("Overfitting by slice"),
    question=msg("Where is the model better on training rows than on other rows?"),
    purpose="train-test gap of every slice; needs the option train",
    within="full",
    parameters=(
        Parameter("train", File().or_none(), None, "the rows it was trained on: a file, a Dataset or a frame"),
        *options_of(find, min_samples=None),
    ),
    keys={"train": "train_dataset"},
    asked_by="train_dataset",
    counted=True,
)
def overfit(subject: Subject, *, train: Any, **options: Any) -> Result:
    """The gap between the training rows (option `train`: a dataset, or a file) and the rows examined."""
    if train is None:
        raise NotApplicable(msg("no training data were given; set this check's option `train`"))
    assert subject.truth is not None
    given = settings(subject, find, options)
    return find(other_rows(subject, train), subject, **given)
