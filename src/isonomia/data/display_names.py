"""What columns and values are called in a report: the user's labels, checked against the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data.columns import distinct
from isonomia.data.labels import index_of
from isonomia.data.roles import MAX_LEVELS, Roles
from isonomia.errors import SpecError, close_to
from isonomia.languages import Words

#: Between the columns, and the values, of people who share several: ``{"race x sex": {"Black x F": "Black women"}}``.
AND = " x "
#: The key of a column's own name among the names of its values.
OWN = ""
#: A label is a few words.
MAX_LENGTH = 100
MAX_LABELS = 10_000


def read_labels(
    labels: Mapping[str, Any] | None,
    table: nw.DataFrame[Any],
    roles: Roles,
    *,
    known: bool,
    columns_given: Sequence[str],
) -> Words:
    """The labels as the words of a report.

    Parameters
    ----------
    labels : mapping, optional
        A column maps to its name, or to a mapping of its values to their names in which the key ``""`` is the column's
        own. Several columns, joined by ``" x "``, map to values joined likewise.
    known : bool
        Whether the labels were checked against all rows before.
    columns_given : sequence of str
        All columns of the data; values of those that are not in the table, since an engine counts the rows, are taken
        as they are.
    """
    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    groups: list[tuple[tuple[tuple[str, str], ...], str]] = []
    given = labels or {}
    if sum(len(label) if isinstance(label, Mapping) else 1 for label in given.values()) > MAX_LABELS:
        raise SpecError(f"`labels` must give at most {MAX_LABELS:,} names.")
    for key, label in given.items():
        names = _columns_of(key, columns_given)
        if not isinstance(label, Mapping):
            if len(names) > 1:
                raise SpecError(f"`labels` of {key!r} must map values such as 'a{AND}b' to their names.")
            columns[names[0]] = _checked(label, key)
            continue
        levels = [None if known or name not in table.columns else _levels(table, name, roles) for name in names]
        for value, text in label.items():
            if value == OWN and len(names) == 1:
                columns[names[0]] = _checked(text, key)
            elif len(names) == 1:
                values.setdefault(names[0], {})[_level(value, levels[0], key)] = _checked(text, f"{key}.{value}")
            else:
                shared = zip(names, _parts(value, levels, key), strict=True)
                groups.append((tuple(shared), _checked(text, f"{key}.{value}")))
    target = roles.target or roles.prediction or ""
    return Words(columns=columns, values=values, groups=tuple(groups), target=target)


def spelled(value: Any) -> str:
    """A value as groups spell it.

    >>> spelled(1.0), spelled(True), spelled("F")
    ('1', 'True', 'F')
    """
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def _columns_of(key: object, columns: Sequence[str]) -> tuple[str, ...]:
    if key in columns:
        return (str(key),)
    parts = tuple(str(key).split(AND))
    for part in parts:
        if part not in columns:
            raise SpecError(f"`labels` must name columns of the data; got {part!r}.{close_to(part, columns)}")
    return parts


def _levels(table: nw.DataFrame[Any], name: str, roles: Roles) -> list[Any] | None:
    """The values of a column; None where there are too many to name."""
    if name in roles.bands:
        return list(roles.bands[name].labels)
    return distinct(table[name]) if int(table[name].n_unique()) <= MAX_LEVELS else None


def _level(value: object, levels: list[Any] | None, key: str) -> str:
    """A value as groups spell it; `missing` names the rows without one."""
    if levels is None or str(value) == "missing":
        return spelled(value)
    index = index_of(value, levels)
    if index is None:
        raise SpecError(f"`labels.{key}` must name values of '{key}'; got {value!r}.{close_to(value, levels)}")
    return spelled(levels[index])


def _parts(value: object, levels: Sequence[list[Any] | None], key: str) -> Iterable[str]:
    parts = str(value).split(AND)
    if len(parts) != len(levels):
        raise SpecError(f"`labels.{key}` needs a value for each column, joined by {AND!r}; got {value!r}.")
    return [_level(part, own, key) for part, own in zip(parts, levels, strict=True)]


def _checked(text: object, where: str) -> str:
    """A few printable words."""
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"`labels.{where}` must be a text; got {text!r:.80}.")
    if len(text) > MAX_LENGTH or not text.isprintable():
        raise SpecError(f"`labels.{where}` must be at most {MAX_LENGTH} printable characters; got {text!r:.80}.")
    return text.strip()
