"""Other rows that an option of a check brings."""

from __future__ import annotations

from typing import Any

from isonomia.data import Dataset, RoleOptions, read
from isonomia.subject import Subject


def other_rows(subject: Subject, given: Any) -> Subject:
    """Other rows for the same model: a dataset, a frame, or a file that is read with the roles of the first."""
    if isinstance(given, str):
        given = subject.shared(("read", given), lambda: read(given, **_roles(subject)))
    return subject.like(given)


def earlier_rows(subject: Subject, given: Any) -> Subject:
    """As `other_rows`; rows whose outcomes are not known yet (or any more) may lack the column of the target."""
    target = subject.data.target
    if target is None or isinstance(given, Dataset | Subject):
        return other_rows(subject, given)
    roles = _without(_roles(subject), target)
    if isinstance(given, str):
        data = subject.shared(("read without target", given), lambda: read(given, **roles))
    else:
        data = Dataset(given, **roles)
    return subject.like(data.frame if target in data.columns else data)


def _without(roles: RoleOptions, target: str) -> RoleOptions:
    """The roles of a table without the target; what is favourable is that of predictions, where these are a column."""
    found: RoleOptions = {**roles, "target": None}
    found["kinds"] = {name: kind for name, kind in (roles.get("kinds") or {}).items() if name != target}
    if roles.get("prediction") is None:
        found |= {"positive": None, "task": None}
    return found


def _roles(subject: Subject) -> RoleOptions:
    """The roles of the data, with the same features whatever other columns the file has."""
    return {**subject.data.options(), "features": subject.data.features, "ignore": None}
