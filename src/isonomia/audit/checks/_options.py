"""Options of single checks, as a spec gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from isonomia.audit.subject import Subject
from isonomia.errors import SpecError, close_to


def options_of(subject: Subject, code: str, known: Sequence[str]) -> dict[str, Any]:
    """The options given for a check; a name it does not know is refused."""
    given = dict(subject.options.get(code, {}))
    for name in given:
        if name not in known:
            raise SpecError(f"The check '{code}' has no option {name!r}.{close_to(name, known)}")
    return given
