"""Who is compared with whom: the groups of one protected attribute, each against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting import Codes, count_by
from isonomia.data import index_of
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages.naming import together
from isonomia.subject import Subject
from isonomia.typing import Bools, Indices


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """Groups of one attribute.

    Attributes
    ----------
    attribute : str
    group : (N,) array
        Group of each row with a known target; 0 is the reference.
    names : tuple of str
        Of the groups, the reference first.
    present : (N,) array of bool
        Rows that take part: those without a value are left out where the settings exclude them.
    """

    attribute: str
    group: Indices
    names: tuple[str, ...]
    present: Bools

    def rows(self, group: int) -> Indices:
        """The rows of a group."""
        return np.flatnonzero(self.present & (self.group == group))


def attribute_column(subject: Subject, attribute: str | None) -> Codes:
    """The protected attribute of that name, or the first."""
    columns = subject.needs_attributes()
    if attribute is None:
        return columns[0]
    for column in columns:
        if column.name == attribute:
            return column
    near = close_to(attribute, [column.name for column in columns])
    raise SpecError(f"`attribute` must be a protected attribute; got {attribute!r}.{near}")


def compared_groups(subject: Subject, column: Codes) -> Compared:
    """The groups of an attribute; the reference is the one named, else the best-off group."""
    codes = column.codes.astype(np.intp)
    who = np.ones(len(codes), dtype=bool)
    if column.missing is not None and subject.settings.missing != "group":
        who = codes != column.missing
        if subject.settings.missing == "error" and not who.all():
            raise DataError(
                f"{int((~who).sum())} values of '{column.name}' are missing. Drop these rows, or group them."
            )
    present = np.unique(codes[who])
    first = _reference(subject.reference, column, codes[who])
    others = [code for code in present if code not in first]
    lookup = np.zeros(column.size, dtype=np.intp)
    lookup[others] = np.arange(1, len(others) + 1)
    names = (together(column.text(code) for code in first if code in present), *(column.text(c) for c in others))
    return Compared(attribute=column.name, group=lookup[codes], names=names if names[0] else names[1:], present=who)


def _reference(given: Any, column: Codes, codes: Indices) -> list[int]:
    """The codes of the reference group: those named, else the largest group."""
    values = given.get(column.name) if isinstance(given, Mapping) else given
    if values is None or (isinstance(values, str) and values == "largest"):
        return [int(np.argmax(count_by(codes, column.size)))]
    listed = list(values) if isinstance(values, list | tuple | set) else [values]
    found = [index_of(value, column.labels) for value in listed]
    if any(code is None for code in found):
        raise SpecError(
            f"The reference of '{column.name}' must be 'largest' or one of its values {list(column.texts)[:10]}; got "
            f"{values!r}."
        )
    return [code for code in found if code is not None]
