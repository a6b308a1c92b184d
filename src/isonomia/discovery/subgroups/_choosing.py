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
        `metric` and `max_overlap` where the caller leaves them out.
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


def _has_errors(subject: Subject, errors: bool) -> bool:
    return errors or (subject.outcome.truth is not None and bool(subject.outcome.surface.kinds))


_BY_T = {"rank_by": "t"}
#: The first row that fits is taken; see docs/benchmark.md.
CHOICES: tuple[Chosen, ...] = (
    Chosen(
        fits=_scored,
        method="divexplorer",
        settings={"metric": ("underrated", "overrated"), "max_overlap": 0.6},
        options=_BY_T,
        reason=msg("ranked by t and without repeats it finds most of the subgroups whose bias is known"),
        contestant="divexplorer_t",
    ),
    Chosen(
        fits=_has_errors,
        method="divexplorer",
        settings={"max_overlap": 0.6},
        options=_BY_T,
        reason=msg("it finds most of the subgroups whose bias is known; here errors are all there is to compare"),
    ),
    Chosen(
        fits=lambda subject, errors: True,
        method="divexplorer",
        settings={"max_overlap": 0.6},
        options=_BY_T,
        reason=msg("without errors it compares outcome rates, which is what is left to compare"),
    ),
)


def choose(subject: Subject, *, errors: bool) -> Chosen:
    """The row for a subject."""
    return next(choice for choice in CHOICES if choice.fits(subject, errors))


def resolve(
    subject: Subject, errors: bool, settings: dict[str, Any], options: dict[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any], tuple[Message, ...]]:
    """The method, settings and options that "auto" stands for, and a note; what the caller gave stays."""
    choice = choose(subject, errors=errors)
    chosen = {name: choice.settings.get(name) if value is None else value for name, value in settings.items()}
    note = msg("Searched by {method}: {reason}.", method=choice.method, reason=choice.reason)
    return choice.method, chosen, {**choice.options, **options}, (note,)
