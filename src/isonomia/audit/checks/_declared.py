"""Checks that are one function of another package: what the subject brings, and which options it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from isonomia.audit.check_registry import CHECKS, Check
from isonomia.evidence import Result
from isonomia.parameters import Parameter, parameters_of
from isonomia.subject import Subject

#: What an audit sets for all checks; it is an option of a check only where the check has a default of its own.
SHARED = ("level", "seed", "n_boot", "min_per_group", "min_samples")


def options_of(function: Callable[..., Any], **defaults: Any) -> tuple[Parameter, ...]:
    """The options of a check that is one function: all of its own but those that the audit sets."""
    every = (one.name for one in parameters_of(function))
    return parameters_of(function, *(name for name in every if name not in SHARED or name in defaults), **defaults)


def settings(
    subject: Subject, function: Callable[..., Any], options: Mapping[str, Any], *, max_boot: int | None = None
) -> dict[str, Any]:
    """The options, and of what the subject sets for all checks what the function takes and no option overrides.

    A check of very many intervals bounds their bootstrap samples by `max_boot`.
    """
    n_boot = subject.settings.n_boot
    shared = {
        "level": subject.settings.level,
        "seed": subject.settings.seed,
        "n_boot": n_boot if max_boot is None else min(n_boot, max_boot),
        "min_per_group": subject.settings.min_per_group,
        "min_samples": subject.settings.min_per_group,
        "progress": subject.progress,
    }
    taken = inspect.signature(function).parameters
    given = {name: value for name, value in options.items() if value is not None or name not in shared}
    return {**{name: value for name, value in shared.items() if name in taken}, **given}


def declare(
    code: str,
    function: Callable[..., Result],
    *,
    defaults: Mapping[str, Any] | None = None,
    max_boot: int | None = None,
    room: str = "robustness",
    **facts: Any,
) -> None:
    """Put a function ``(subject, **options) -> Result`` into the registry of checks.

    Parameters
    ----------
    defaults
        Defaults that differ from the function's own; None leaves the value to the subject.
    max_boot
        The maximum of bootstrap samples behind each interval, for a check of very many; else as many as the audit sets.
    facts
        As in `Check`.
    """

    def run(subject: Subject, **given: Any) -> Result:
        assert subject.truth is not None  # says why the check does not apply, where there is no target
        return function(subject, **settings(subject, function, given, max_boot=max_boot))

    CHECKS.add(Check(id=code, run=run, room=room, parameters=options_of(function, **(defaults or {})), **facts))
