"""What becomes of the metrics when the world differs from the data?"""

from __future__ import annotations

from isonomia.audit.check_registry import check
from isonomia.audit.checks._options import options_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import Scenarios
from isonomia.robustness import dashboard as summarise
from isonomia.robustness import scenarios as play
from isonomia.subject import Subject

#: Trials of each scenario in an audit, where nobody says.
TRIALS = 20

_OPTIONS = ("scenarios", "n_trials", "metrics", "metric", "tolerance")


def played(subject: Subject, code: str) -> Scenarios:
    """The scenarios of a subject; played once where two checks want the same."""
    given = options_of(subject, code, _OPTIONS) or options_of(subject, "scenarios", _OPTIONS)
    given.setdefault("n_trials", TRIALS)
    assert subject.truth is not None
    return subject.shared(
        ("scenarios", repr(given)),
        lambda: play(
            subject,
            min_per_group=subject.settings.min_per_group,
            level=subject.settings.level,
            seed=subject.settings.seed,
            progress=subject.progress,
            **given,
        ),
    )


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
    return summarise(played(subject, "dashboard"), level=subject.settings.level)
