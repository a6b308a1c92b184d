"""What ``method="auto"`` means: one row per situation, with the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from isonomia.languages import Message, msg
from isonomia.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What is done in a situation.

    Attributes
    ----------
    fits : callable
        Whether a subject (and whether errors were given) is such a situation.
    method : str
        Of `METHODS`.
    settings : mapping
        `metric`, `holdout`, `max_overlap` and `one_by_one` where the caller leaves them out.
    options : mapping
        The method's own.
    reason : Message
        Why, for the reader of a result.
    contestant : str or None
        The contestant of the benchmark with this method and these options, whose figures in docs/benchmark/summary.csv
        are the evidence (a test compares the two); None where the choice was not measured by itself.
    """

    fits: Callable[[Subject, bool], bool]
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    reason: Message
    contestant: str | None = None


def _scored(subject: Subject, errors: bool) -> bool:
    outcome = subject.outcome
    known = outcome.truth is not None and outcome.surface.probability is not None
    return known and not errors and outcome.surface.task == "binary"


def _decided(subject: Subject, errors: bool) -> bool:
    outcome = subject.outcome
    known = outcome.truth is not None and outcome.surface.label is not None
    return known and not errors and outcome.surface.task == "binary"


def _has_errors(subject: Subject, errors: bool) -> bool:
    return errors or (subject.outcome.truth is not None and bool(subject.outcome.surface.kinds))


_ALPHA: dict[str, Any] = {"alpha": 0.99}
_HELD_OUT: dict[str, Any] = {"holdout": 0.5, "one_by_one": True}
_ERRORS_ALONE = msg("it finds the largest share of subgroups with a known bias; here only errors can be compared")
#: The first row that fits is taken; see docs/benchmark.md.
CHOICES: tuple[Chosen, ...] = (
    Chosen(
        fits=_scored,
        method="sliceline",
        settings={"metric": ("underrated", "overrated"), **_HELD_OUT},
        options=_ALPHA,
        reason=msg(
            "one by one and measured on held-out rows, it finds the largest share of subgroups with a known bias"
        ),
        contestant="sliceline_holdout",
    ),
    Chosen(
        fits=_decided,
        method="sliceline",
        settings={"metric": ("fpr", "fnr"), **_HELD_OUT},
        options=_ALPHA,
        reason=_ERRORS_ALONE,
    ),
    Chosen(
        fits=_has_errors,
        method="sliceline",
        settings=_HELD_OUT,
        options=_ALPHA,
        reason=_ERRORS_ALONE,
        contestant="sliceline_holdout",
    ),
    Chosen(
        fits=lambda subject, errors: True,
        method="divexplorer",
        settings={"max_overlap": 0.6},
        options={"rank_by": "t"},
        reason=msg("there are no errors, so outcome rates are compared"),
    ),
)
#: Where the caller names the metric.
FOR_METRIC = Chosen(
    fits=lambda subject, errors: True,
    method="divexplorer",
    settings={"max_overlap": 0.6},
    options={"rank_by": "t"},
    reason=msg("it compares any metric, in the direction that is worse"),
)


def choose(subject: Subject, *, errors: bool, metric: Any = None) -> Chosen:
    """The row for a subject."""
    if metric is not None:
        return FOR_METRIC
    return next(choice for choice in CHOICES if choice.fits(subject, errors))


def resolve(
    subject: Subject, errors: bool, settings: dict[str, Any], options: dict[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any], tuple[Message, ...]]:
    """The method, settings and options that "auto" stands for, and a note; what the caller gave stays."""
    choice = choose(subject, errors=errors, metric=settings["metric"])
    chosen = {name: choice.settings.get(name) if value is None else value for name, value in settings.items()}
    note = msg("Searched by {method}: {reason}.", method=choice.method, reason=choice.reason)
    return choice.method, chosen, {**choice.options, **options}, (note,)
