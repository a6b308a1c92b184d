"""What becomes of the metrics when the world differs from the data?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._declared import options_of, settings
from isonomia.audit.checks._sample import ALTERED_ROWS, sample_of
from isonomia.evidence import Result
from isonomia.languages import msg
from isonomia.robustness import Scenarios
from isonomia.robustness import dashboard as summarise
from isonomia.robustness import scenarios as play
from isonomia.subject import Subject

_PARAMETERS = (
    *options_of(play, n_trials=20),
    ALTERED_ROWS,
)


def played(subject: Subject, options: dict[str, Any]) -> Scenarios:
    """The scenarios of a subject, on a sample of its rows; played once where two checks want the same."""
    assert subject.truth is not None
    own = {name: value for name, value in options.items() if name != "max_rows"}

    def make() -> Scenarios:
        examined, notes = sample_of(subject, options["max_rows"])
        found = play(examined, **settings(subject, play, own))
        return replace(found, notes=(*found.notes, *notes))

    return subject.shared(("scenarios", repr(options)), make)


@check(
    "scenarios",
    order=260,
    family="robustness",
    what_if=True,
    title=msg("Scenarios"),
    question=msg("What happens to the metrics when labels, predictions, people or features differ from these data?"),
    purpose="nine kinds of change, each run many times: every metric, calibration, gaps between groups",
    within="full",
    parameters=_PARAMETERS,
    keys={"scenarios": "scenarios", "n_trials": "n_trials", "metric": "metric"},
    asked_by="scenarios",
)
def scenarios(subject: Subject, **options: Any) -> Result:
    """All scenarios that apply; which ones, and how many trials, by option."""
    return played(subject, options)


@check(
    "dashboard",
    order=265,
    family="robustness",
    what_if=True,
    title=msg("Scenarios at a glance"),
    question=msg("Which metrics lose most under the scenarios, and how stable is the model?"),
    purpose="the worst scenario of every metric, large drops, rankings, a score of stability",
    within="full",
    parameters=_PARAMETERS,
    asked_by="scenarios",
    like="scenarios",
)
def dashboard(subject: Subject, **options: Any) -> Result:
    """A summary of the same scenarios as the check before it, unless it has options of its own."""
    return summarise(played(subject, options), level=subject.settings.level)
