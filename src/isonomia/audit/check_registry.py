"""What a check is, and the registry of all checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from isonomia.errors import SpecError, close_to
from isonomia.evidence import Result
from isonomia.languages import Message
from isonomia.registry import Registry
from isonomia.subject import Subject

CheckSet = Literal["quick", "standard", "full"]
SETS: tuple[CheckSet, ...] = ("quick", "standard", "full")

Run = Callable[[Subject], Result]


@dataclass(frozen=True)
class Check:
    """One examination.

    Attributes
    ----------
    id : str
        Its stable code.
    title, question : Message
        What it is called, and the question it answers, in a report.
    purpose : str
        One line for the command line.
    run : callable
        ``run(subject) -> Result``; raises `NotApplicable` with a reason where the question has no answer.
    within : "quick", "standard" or "full"
        The smallest of the named sets it belongs to; the larger ones have it too.
    """

    id: str
    title: Message
    question: Message
    purpose: str
    run: Run
    within: CheckSet = "standard"


#: Every check by its code; another package adds its own through the entry point group ``isonomia.checks``.
CHECKS: Registry[Check] = Registry("check")


def check(
    code: str, *, title: Message, question: Message, purpose: str, within: CheckSet = "standard"
) -> Callable[[Run], Run]:
    """Put a function into the registry of checks."""

    def register(run: Run) -> Run:
        CHECKS.add(Check(code, title, question, purpose, run, within))
        return run

    return register


def choose_checks(wanted: str | Sequence[str]) -> tuple[Check, ...]:
    """The checks of a named set, or the ones named, in the order of the registry.

    >>> [c.id for c in choose_checks("performance,group_fairness")]
    ['performance', 'group_fairness']
    """
    names: Any = wanted
    if isinstance(wanted, str):
        if wanted in SETS:
            reach = SETS.index(wanted)
            return tuple(entry for entry in CHECKS if SETS.index(entry.within) <= reach)
        names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names:
        raise SpecError(f"`checks` must be one of {', '.join(SETS)}, or names of checks: {', '.join(CHECKS.ids())}.")
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise SpecError(f"Unknown check or set of checks {unknown[0]!r}.{close_to(unknown[0], [*SETS, *CHECKS.ids()])}")
    return tuple(entry for entry in CHECKS if entry.id in names)
