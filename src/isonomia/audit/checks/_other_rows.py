"""Other rows that an option of a check brings."""

from __future__ import annotations

from typing import Any

from isonomia.data import read
from isonomia.subject import Subject


def other_rows(subject: Subject, given: Any) -> Subject:
    """Other rows for the same model: a dataset, a frame, or a file that is read with the roles of the first."""
    if isinstance(given, str):
        given = subject.shared(("read", given), lambda: read(given, **subject.data.options()))
    return subject.like(given)
