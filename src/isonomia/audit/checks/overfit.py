"""Where did the model learn its training rows by heart?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of, other_rows
from isonomia.errors import NotApplicable
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import overfit as find
from isonomia.subject import Subject

_OPTIONS = ("train", "pairs", "metric", "features", "slicing", "bins", "min_samples", "gap", "alpha")


@check(
    "overfit",
    title=msg("Overfitting by slice"),
    question=msg("Where is the model better on the rows it was trained on than on others?"),
    purpose="train-test gap of every slice; needs the option train",
    within="full",
)
def overfit(subject: Subject) -> Result:
    """The gap between the training rows (option `train`: a dataset, or a file) and the rows examined."""
    given = options_of(subject, "overfit", _OPTIONS)
    if given.get("train") is None:
        raise NotApplicable(msg("the rows of training were not given (option train of this check)"))
    assert subject.truth is not None
    train = other_rows(subject, given.pop("train"))
    given.setdefault("min_samples", subject.settings.min_per_group)
    return find(train, subject, level=subject.settings.level, seed=subject.settings.seed, **given)
