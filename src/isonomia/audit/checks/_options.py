"""Options of single checks, as a spec gives them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomia.audit.subject import Subject
from isonomia.data import Dataset, read
from isonomia.errors import SpecError, close_to


def options_of(subject: Subject, code: str, known: Sequence[str]) -> dict[str, Any]:
    """The options given for a check; a name it does not know is refused."""
    given = dict(subject.options.get(code, {}))
    for name in given:
        if name not in known:
            raise SpecError(f"The check '{code}' has no option {name!r}.{close_to(name, known)}")
    return given


def other_dataset(subject: Subject, given: Any) -> Dataset:
    """A second dataset: as it is, or read from a file with the roles of the first."""
    if isinstance(given, Dataset):
        return given
    if isinstance(given, str | Path):
        return read(given, **subject.data.options())
    return subject.data.replace(given)
