"""What becomes of the metrics when the world differs from the data?"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.audit.subject import Subject
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import Scenarios
from isonomia.robustness import dashboard as summarise
from isonomia.robustness import scenarios as play

#: Trials of each scenario in an audit, where nobody says.
TRIALS = 20

_OPTIONS = ("scenarios", "n_trials", "metrics", "metric", "tolerance")
#: What was played for a subject: two checks read it.
_PLAYED: WeakKeyDictionary[Subject, tuple[dict[str, Any], Scenarios]] = WeakKeyDictionary()


def played(subject: Subject, code: str) -> Scenarios:
    """The scenarios of a subject; played once where two checks want the same."""
    given = options_of(subject, code, _OPTIONS) or options_of(subject, "scenarios", _OPTIONS)
    given.setdefault("n_trials", TRIALS)
    assert subject.truth is not None
    if subject in _PLAYED and _PLAYED[subject][0] == given:
        return _PLAYED[subject][1]
    found = play(
        subject.known,
        subject.outcome.surface if subject.model is None else subject.model,
        min_per_group=subject.min_per_group,
        level=subject.level,
        seed=subject.seed,
        progress=subject.progress,
        **given,
    )
    _PLAYED[subject] = (given, found)
    return found


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


@check(
    "dashboard",
    title=msg("Scenarios at a glance"),
    question=msg("Which metrics lose most under the scenarios, and how stable is the model?"),
    purpose="the worst scenario of every metric, large drops, rankings, a score of stability",
    within="full",
)
def dashboard(subject: Subject) -> Result:
    """A summary of the same scenarios as the check before it, unless it has options of its own."""
    return summarise(played(subject, "dashboard"), level=subject.level)
