"""Other rows that an option of a check brings."""

from __future__ import annotations

from typing import Any

from isonomia.data import RoleOptions, read
from isonomia.subject import Subject


def other_rows(subject: Subject, given: Any) -> Subject:
    """Other rows for the same model: a dataset, a frame, or a file that is read with the roles of the first."""
    if isinstance(given, str):
        given = subject.shared(("read", given), lambda: read(given, **_roles(subject)))
    return subject.like(given)


def _roles(subject: Subject) -> RoleOptions:
    """The roles of the data, with the same features whatever other columns the file has."""
    return {**subject.data.options(), "features": subject.data.features, "ignore": None}
