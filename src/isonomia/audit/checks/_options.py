"""Options of single checks, as a spec gives them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.data import read
from isonomia.errors import SpecError, close_to
from isonomia.subject import Subject


def options_of(subject: Subject, code: str, known: Sequence[str]) -> dict[str, Any]:
    """The options given for a check; a name it does not know is refused."""
    given = dict(subject.options.get(code, {}))
    for name in given:
        if name not in known:
            raise SpecError(f"The check '{code}' has no option {name!r}.{close_to(name, known)}")
    return given


def other_rows(subject: Subject, given: Any) -> Subject:
    """Other rows for the same model: a dataset, a frame, or a file that is read with the roles of the first."""
    if isinstance(given, str | Path):
        given = subject.shared(("read", str(given)), lambda: read(given, **subject.data.options()))
    return subject.like(given)
