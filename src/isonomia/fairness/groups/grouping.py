"""Who is compared with whom: protected attributes as cells, and cells as groups and reference groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite
from isonomia.data import Missing
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages.naming import is_in, is_value, span_of, together
from isonomia.parameters import MISSING, Choice, Either, Several, Text, validated
from isonomia.subject.attributes import MAX_GROUPS

By = Literal["intersection", "each", "all"]
#: An option that says how attributes make groups: each alone, crossed, both, or the combinations listed.
BY = Either(Choice(get_args(By)), Several(Several(Text("a protected attribute"), 1, single=True), 1))

#: Intersections of more attributes than this are not formed unless they are all the attributes there are.
MAX_ORDER = 3


@dataclass(frozen=True)
class Group:
    """Rows that share values of some attributes.

    `attributes` maps each attribute that defines the group to the label of its value; `control` likewise for the
    factors that comparisons are held fixed on.
    """

    attributes: Mapping[str, Any]
    texts: Mapping[str, str]
    control: Mapping[str, str]
    cells: NDArray[np.intp]

    @cached_property
    def name(self) -> str:
        """The group as a person reads it: "sex=Female, age < 25"."""
        return together(condition(name, text) for name, text in self.texts.items())

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """The attributes and their values as texts: what the group is known by, whatever it is called."""
        return tuple(self.texts.items())

    @property
    def by(self) -> tuple[str, ...]:
        """The attributes that define it."""
        return tuple(self.attributes)


def condition(name: str, text: str) -> str:
    """An attribute and its value as a person reads them.

    >>> from isonomia.languages.naming import at_least, between
    >>> condition("sex", "Female"), condition("age", at_least(60)), condition("age", between(25, 60))
    ('sex=Female', 'age >= 60', 'age in [25, 60)')
    """
    span = span_of(text)
    return is_value(name, text) if span is None or None in (span.low, span.high) else is_in(name, text)


@dataclass(frozen=True, eq=False)
class Groups:
    """All groups of an examination, over cells that do not overlap.

    Attributes
    ----------
    columns : tuple of Codes
        The protected attributes.
    control : tuple of Codes
        Factors that comparisons are held fixed on.
    labels : tuple of tuples
        The cells: combinations of control and attribute values that occur, in order.
    groups : tuple of Group
        Each a union of cells.
    """

    columns: tuple[Codes, ...]
    control: tuple[Codes, ...]
    labels: tuple[tuple[Any, ...], ...]
    groups: tuple[Group, ...]

    @cached_property
    def cells(self) -> Codes:
        """The cell of each row."""
        return composite([*self.control, *self.columns])

    def indicator(self, cell_sets: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
        """Cells x sets: 1 where a cell belongs to a set."""
        table = np.zeros((len(self.labels), len(cell_sets)))
        for index, cells in enumerate(cell_sets):
            table[cells, index] = 1.0
        return table

    @property
    def names(self) -> tuple[str, ...]:
        """The protected attributes."""
        return tuple(column.name for column in self.columns)


def form_groups(
    columns: Sequence[Codes],
    *,
    control: Sequence[Codes] = (),
    by: By | Sequence[Sequence[str]] = "intersection",
    labels: Sequence[tuple[Any, ...]] | None = None,
) -> Groups:
    """Cells of all attributes together, and the requested groups as unions of cells.

    Parameters
    ----------
    by : "intersection", "each", "all" or a list of lists of names
        Groups of all attributes together; of each attribute alone; of every combination (up to three attributes); or
        of the combinations named.
    labels : sequence of tuples, optional
        The cells that occur, in order, where a tally has found them already.
    """
    everything = [*control, *columns]
    cells: tuple[tuple[Any, ...], ...] = composite(everything).labels if labels is None else tuple(labels)
    if len(cells) > MAX_GROUPS:
        raise DataError(
            f"{' x '.join(column.name for column in everything)} makes {len(cells):,} groups (at most {MAX_GROUPS:,}). "
            "Take fewer attributes together, or merge rare values."
        )
    groups: list[Group] = []
    for names in combinations_of([column.name for column in columns], by):
        groups += _groups_by(names, columns, control, cells)
    return Groups(tuple(columns), tuple(control), cells, tuple(groups))


def combinations_of(names: Sequence[str], by: By | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The combinations of attributes to form groups by.

    >>> combinations_of(["sex", "race"], "all")
    [('sex',), ('race',), ('sex', 'race')]
    """
    if by == "intersection":
        return [tuple(names)]
    if by == "each":
        return [(name,) for name in names]
    if by == "all":
        return [c for size in range(1, min(len(names), MAX_ORDER) + 1) for c in combinations(names, size)]
    if isinstance(by, str):
        raise SpecError(f"`by` must be 'intersection', 'each', 'all' or lists of attribute names; got {by!r}.")
    requested = [tuple(part) if not isinstance(part, str) else (part,) for part in by]
    for part in requested:
        for name in part:
            if name not in names:
                raise SpecError(f"`by` names {name!r}, which is not among the attributes.{close_to(name, names)}")
    return requested


def attribute_sets(columns: Sequence[Codes], by: By | Sequence[Sequence[str]]) -> list[Codes]:
    """Each combination of attributes as one column, a value for each combination of values that occurs.

    >>> both = attribute_sets([Codes.encode(["F", "M"], name="sex"), Codes.encode(["a", "b"], name="race")], "all")[-1]
    >>> both.name, both.labels
    ('sex x race', (('F', 'a'), ('M', 'b')))
    """
    named = {column.name: column for column in columns}
    out = []
    for names in combinations_of(list(named), by):
        if len(names) == 1:
            out.append(named[names[0]])
        else:
            both = composite([named[name] for name in names])
            out.append(Codes(" x ".join(names), both.codes, both.labels))
    return out


def named_groups(columns: Sequence[Codes], by: By | Sequence[Sequence[str]]) -> list[Codes]:
    """For each way of grouping one column, whose values are the groups as a person reads them."""
    groups = form_groups(columns, by=by)
    ways: dict[tuple[str, ...], list[Group]] = {}
    for group in groups.groups:
        ways.setdefault(group.by, []).append(group)
    out = []
    for way, members in ways.items():
        position = np.zeros(len(groups.labels), dtype=np.uint16)
        for index, group in enumerate(members):
            position[group.cells] = index
        out.append(Codes(" x ".join(way), position[groups.cells.codes], tuple(group.name for group in members)))
    return out


def _groups_by(
    names: tuple[str, ...], columns: Sequence[Codes], control: Sequence[Codes], cells: Sequence[tuple[Any, ...]]
) -> list[Group]:
    everything = [*control, *columns]
    positions = [i for i, column in enumerate(everything) if i < len(control) or column.name in names]
    texts = [dict(zip(column.labels, column.texts, strict=True)) for column in everything]
    members: dict[tuple[Any, ...], list[int]] = {}
    for index, label in enumerate(cells):
        members.setdefault(tuple(label[i] for i in positions), []).append(index)
    groups = []
    for key, indices in members.items():
        parts = dict(zip(positions, key, strict=True))
        controls = {everything[i].name: texts[i][value] for i, value in parts.items() if i < len(control)}
        own = {everything[i].name: value for i, value in parts.items() if i >= len(control)}
        values_of = {everything[i].name: texts[i][value] for i, value in parts.items() if i >= len(control)}
        groups.append(Group(own, values_of, controls, np.array(indices)))
    return groups


@validated(missing=MISSING)
def rows_with_attributes(
    columns: Sequence[Codes], missing: Missing, counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.bool_] | None, int]:
    """The rows that take part (None for all), and how many have a missing protected value.

    `missing` is "group" (they are a group of their own), "exclude" (they are left out) or "error".
    """
    absent = [column.codes == column.missing for column in columns if column.missing is not None]
    if not absent:
        return None, 0
    any_absent: NDArray[np.bool_] = np.logical_or.reduce(absent)
    n_missing = int(any_absent.sum() if counts is None else counts[any_absent].sum())
    if missing == "group":
        return None, n_missing
    if missing == "error":
        names = ", ".join(column.name for column in columns if column.missing is not None)
        raise DataError(
            f"{n_missing} rows have a missing protected value ({names}). Fill them, or pass missing='group' to "
            "keep them as a group of their own, or missing='exclude' to leave them out."
        )
    if any_absent.all():
        raise DataError("Every row has a missing protected value; nothing is left to compare.")
    return ~any_absent, n_missing
