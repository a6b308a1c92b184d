"""What becomes of the metrics when the world differs from the data?"""

from __future__ import annotations

from isonomia.audit.checking import check
from isonomia.audit.checks._options import options_of
from isonomia.audit.subject import Subject
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import Scenarios
from isonomia.robustness import scenarios as play

#: Trials of each scenario in an audit, where nobody says.
TRIALS = 20

_OPTIONS = ("scenarios", "n_trials", "metrics", "metric", "tolerance")


def played(subject: Subject, code: str, *, more: tuple[str, ...] = ()) -> Scenarios:
    """The scenarios of a subject, with the options given for a check."""
    given = options_of(subject, code, (*_OPTIONS, *more))
    given.setdefault("n_trials", TRIALS)
    assert subject.truth is not None
    return play(
        subject.known, subject.outcome.surface if subject.model is None else subject.model,
        min_per_group=subject.min_per_group, level=subject.level, seed=subject.seed, progress=subject.progress,
        **{name: value for name, value in given.items() if name in _OPTIONS},
    )  # fmt: skip


@check(
    "scenarios",
    title=msg("Scenarios"),
    question=msg("What becomes of the metrics when labels, predictions, people or features differ from these data?"),
    purpose="nine kinds of change, each played many times: every metric, calibration, gaps between groups",
    within="full",
)
def scenarios(subject: Subject) -> Result:
    """All scenarios that apply; which ones, and how many trials, by option."""
    return played(subject, "scenarios")
