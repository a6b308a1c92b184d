"""The same people with different labels: rows that agree in everything but the protected attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, smallest, sum_by
from isonomia.data import Dataset
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import (
    Column,
    Estimate,
    Picture,
    Result,
    Table,
    free_name,
    normal_p,
    wilson,
)
from isonomia.evidence.intervals import normal_interval
from isonomia.fairness.groups.grouping import BY, By, Group, form_groups
from isonomia.fairness.labels.label_values import left_out_classes, outcomes_table, worths
from isonomia.languages import msg
from isonomia.parameters import NAMES, validated
from isonomia.subject import Subject, SubjectOptions, dataset_attributes
from isonomia.typing import Floats

Ints = NDArray[np.int64]

WORST = 20


@dataclass(frozen=True, repr=False)
class Duplicates(Result):
    """Rows that agree in every compared column.

    `duplicated` is the share of rows with an equal, `conflicting` the share of those whose set has different labels,
    `in_conflict` their product: the share of all rows with an equal of another label.
    """

    duplicated: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    conflicting: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    in_conflict: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))


@validated(columns=NAMES.or_none("for all"), by=BY)
def duplicates(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    by: By | Sequence[Sequence[str]] = "all",
    **given: Unpack[SubjectOptions],
) -> Duplicates:
    r"""People who agree in all features but the protected ones, and yet have different true outcomes.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target. A weight is the number of people that a row stands for: weights apply to shares and means, but do
        not make a row its own equal; rows of weight 0 are left out.
    columns : sequence of str, optional
        What has to agree; by default all features that are not protected.
    by : "all", "each", "intersection" or lists of names
        The groups that are compared.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`).

    Returns
    -------
    Duplicates
        ``tables["sets"]``: the largest sets of equal rows with different labels; ``tables["by_group"]``: for each
        group, how often its rows in such sets have the favourable label (each class, or the mean number), against the
        other rows of the same sets, with interval and p-value.

    Notes
    -----
    For a group with weight W_s in set s: difference = sum W_s (own mean_s - others' mean_s) / sum W_s over the sets
    that hold both. If labels were dealt out by chance within each set, its variance is sum W_s^2 S_s^2 (sum a^2) /
    (sum W_s)^2, S_s^2 the variance of the labels of set s and a a row's share of the weight of its side: exact moments
    of the permutation, and the stratified test of Cochran, Mantel and Haenszel. Interval and p-value take it as normal.

    References
    ----------
    N. Mantel (1963), J. Am. Stat. Assoc. 58:690.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M", "F", "M"], "job": ["a", "a", "b", "c"], "y": [0, 1, 1, 1]}, target="y",
    ...                protected=["sex"])
    >>> found = duplicates(data)
    >>> found.duplicated.value, found.conflicting.value
    (0.5, 1.0)
    """
    subject = Subject.of(data, counted=True, **given).fitting()
    data, level = subject.known if subject.counts is None else subject.data, subject.settings.level
    if data.target is None:
        raise NotApplicable(msg("the data have no target, so there are no labels to compare"))
    names = [name for name in data.descriptive if name not in data.protected] if columns is None else list(columns)
    for name in names:
        if name not in data.columns:
            raise SpecError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    if not names:
        raise NotApplicable(msg("no column is left for comparing people once the protected ones are removed"))
    people = _people(subject, names)
    mixed = people.mixed
    tables = {"sets": _sets(names, people)}
    attributes = people.attributes
    pictures: tuple[Picture, ...] = ()
    if attributes and mixed.any():
        tables["by_group"] = _by_group(people, by, level)
        facet = {"facet": "class"} if "class" in tables["by_group"] else {}
        pictures = (
            Picture(
                "forest",
                "by_group",
                msg("Outcomes compared with duplicates in other groups"),
                {"labels": "group", "value": "difference", "reference": 0.0, **facet},
            ),
        )
    equal, conflict = people.counts[people.set] > 1, mixed[people.set]
    duplicated, in_conflict = (_rate(people.sums(part), people.total, level) for part in (equal, conflict))
    conflicting = _rate(people.sums(conflict), people.sums(equal), level)
    notes = (
        msg("People are identical when they agree in {n:# column|# columns}.", n=len(names)),
        *left_out_classes(people.data, people.label),
    )
    found = Duplicates(
        "duplicates",
        msg("Same people, different labels"),
        tables,
        {
            "duplicated": duplicated,
            "conflicting": conflicting,
            "in_conflict": in_conflict,
            "sets_in_conflict": int(mixed.sum()),
        },
        (),
        pictures,
        notes,
        duplicated,
        conflicting,
        in_conflict,
        titles={
            "duplicated": msg("rows with a duplicate"),
            "conflicting": msg("of them with different labels"),
            "in_conflict": msg("rows with a duplicate of a different label"),
            "sets_in_conflict": msg("sets of duplicates with different labels"),
        },
    )
    return subject.noted(found)


class _Sums(NamedTuple):
    """Rows, their weights and their squared weights, added up."""

    n: int
    w: float
    w2: float


@dataclass(frozen=True, eq=False)
class _People:
    """Rows with a known label and a weight, and the set of equals each belongs to.

    Attributes
    ----------
    data : Dataset
        The table that the rows are in: all rows, or those that an engine counted since another one equals them.
    rows : array of int
        Their indices in the table.
    position : array of int or None
        Their numbers in the source; None where an engine counted them.
    n, w : arrays
        How many rows each stands for, and the weight of each of these.
    set, counts, mixed : arrays
        The set of each; the rows of each set, and whether its labels differ.
    attributes : tuple of Codes
        The protected attributes of the rows of the table; after them those of all rows where the table has only some.
    total : _Sums
        Of all rows with a label, also those without an equal.
    """

    data: Dataset
    rows: NDArray[np.intp]
    position: NDArray[np.intp] | None
    n: Floats
    w: Floats
    set: Ints
    counts: Ints
    mixed: NDArray[np.bool_]
    label: Codes
    worths: tuple[tuple[str | None, Floats], ...]
    attributes: tuple[Codes, ...]
    total: _Sums

    def sums(self, inside: NDArray[np.bool_]) -> _Sums:
        """Over some of the rows."""
        n, w = self.n[inside], self.w[inside]
        return _Sums(int(n.sum()), float(n @ w), float(n @ (w * w)))


def _people(subject: Subject, names: Sequence[str]) -> _People:
    if subject.counts is not None:
        plain = subject.task == "binary" and not set(names) & set(subject.data.protected)
        found = subject.data.repeated(names) if plain else None
        if found is not None:
            groups = zip(dataset_attributes(found), subject.attributes, strict=True)
            attributes = tuple(_and_others(own, every) for own, every in groups)
            return _read_people(found, names, found.weights, attributes, None, _total(subject))
        subject = subject.in_rows()
    position = np.flatnonzero(subject.rows)
    return _read_people(subject.known, names, subject.weights, subject.attributes, position, None)


def _and_others(column: Codes, every: Codes) -> Codes:
    """The groups of rows with an equal, and after them those of everyone: all groups there are."""
    index = np.asarray([every.labels.index(label) for label in column.labels], dtype=smallest(every.size))
    return Codes(every.name, np.concatenate([index[column.codes], every.codes]), every.labels)


def _total(subject: Subject) -> _Sums:
    """All rows with a label and a weight above 0."""
    assert subject.counts is not None
    n, w = subject.counts.astype(float), np.ones(subject.counts.size) if subject.weights is None else subject.weights
    return _Sums(int(n[w > 0].sum()), float(n @ w), float(n @ (w * w)))


def _read_people(
    data: Dataset,
    names: Sequence[str],
    weights: Floats | None,
    attributes: tuple[Codes, ...],
    position: NDArray[np.intp] | None,
    total: _Sums | None,
) -> _People:
    assert data.target is not None
    label = Codes.encode(data.column(data.target), name=data.target)
    known = np.ones(len(label), bool) if label.missing is None else label.codes != label.missing
    if weights is not None:
        known &= weights > 0
    if not known.any() and total is None:
        raise NotApplicable(msg("no row has both a label and a weight above 0"))
    rows = np.flatnonzero(known)
    n = np.ones(rows.size) if data.counts is None else data.counts[rows].astype(float)
    _, person = np.unique(_same(data, names)[rows], return_inverse=True)
    counts = sum_by(person, n, int(person.max(initial=-1)) + 1).astype(np.int64)
    codes = label.codes[rows].astype(np.int64)
    lowest, highest = np.full(counts.size, label.size), np.full(counts.size, -1)
    # labels differ within a set exactly where the smallest and the largest code do
    np.minimum.at(lowest, person, codes)
    np.maximum.at(highest, person, codes)
    w = np.ones(rows.size) if weights is None else weights[rows]
    return _People(
        data=data,
        rows=rows,
        position=None if position is None else position[rows],
        n=n,
        w=w,
        set=person,
        counts=counts,
        mixed=lowest < highest,
        label=label,
        worths=tuple((name, values[rows]) for name, values in worths(data, label)),
        attributes=attributes,
        total=_Sums(int(n.sum()), float(n @ w), float(n @ (w * w))) if total is None else total,
    )


def _same(data: Dataset, names: Sequence[str]) -> Ints:
    """A number for each different person."""
    person = np.zeros(data.height, dtype=np.int64)
    size = 1
    for name in names:
        codes = Codes.encode(data.column(name), name=name)
        person = person * codes.size + codes.codes
        size *= codes.size
        if size > 1 << 31:
            values, person = np.unique(person, return_inverse=True)
            size = values.size
    return person


def _sets(names: Sequence[str], people: _People) -> Table:
    data, counts, mixed = people.data, people.counts, people.mixed
    order = np.argsort(-np.where(mixed, counts, 0), kind="stable")[: min(WORST, int(mixed.sum()))]
    first = np.full(counts.size, -1)
    first[people.set[::-1]] = np.arange(people.rows.size)[::-1]
    here = people.rows[first[order]]
    shown: dict[str, Any] = {} if people.position is None else {"first_row": people.position[first[order]]}
    shown["n"] = counts[order]
    size = sum_by(people.set, people.n * people.w, counts.size)
    described = [
        Column("first_row", format="int", title=msg("first row")),
        Column("n", format="int", title=msg("rows")),
        Column("mean_label", format="num", title=msg("mean true outcome")),
    ]
    for kind, values in people.worths:
        key = "mean_label" if kind is None else f"share[{kind}]"
        shown[key] = sum_by(people.set, people.n * people.w * values, counts.size)[order] / size[order]
        if kind is not None:
            described.append(Column(key, format="pct", title=msg("share of {label}", label=kind)))
    own = set(shown)
    for name in names[:8]:
        shown[free_name(name, own)] = [str(value) for value in data.column(name)[here.tolist()].to_list()]
    title = msg("Sets of identical people with different labels")
    return Table.of(shown, described, title=title, backend=data.backend)


def _by_group(people: _People, by: By | Sequence[Sequence[str]], level: float) -> Table:
    """Each group's rows in mixed sets against the other rows of the same sets."""
    used = people.mixed[people.set]
    everyone = np.arange(people.data.height, len(people.attributes[0]))
    columns = [column.take(np.concatenate([people.rows, everyone])).observed() for column in people.attributes]
    groups = form_groups(columns, by=by)
    cells = groups.cells.codes[: people.rows.size][used]
    sets = np.unique(people.set[used], return_inverse=True)[1]
    out: list[dict[str, Any]] = []
    members: list[Group] = []
    for group in groups.groups:
        own = np.isin(cells, group.cells)
        for kind, values in people.worths:
            n, figures = _against_equals(own, sets, (people.n[used], people.w[used]), values[used], level)
            note = None
            if figures is None:
                note = msg("no duplicate from another group in a set with different labels")
            elif figures[-1] is None:
                note = msg("every set shared with other groups has a single label")
            own_mean, others, gap, low, high, p_value = figures or (None,) * 6
            row = {"class": kind, "n": n, "own": own_mean, "others": others, "difference": (gap, low, high)}
            out.append({**row, "p_value": p_value, "note": note})
            members.append(group)
    compared = (
        Column("others", format="num", title=msg("of duplicates in other groups")),
        Column("difference", format="num", title=msg("difference")),
    )
    return outcomes_table(out, members, compared, msg("Identical people in different groups"), people.data.backend)


def _against_equals(
    own: NDArray[np.bool_], sets: Ints, rows: tuple[Floats, Floats], values: Floats, level: float
) -> tuple[int, tuple[float | None, ...] | None]:
    """Rows of the group in sets shared with others; own mean, others' mean, difference, its ends and p-value.

    `rows` are how many rows each stands for, and the weight of each of these.
    """
    size = int(sets.max()) + 1
    each, w = rows

    def over(x: Floats, rows: NDArray[np.bool_]) -> Floats:
        return sum_by(sets[rows], (each * x)[rows], size)

    w_own, w_rest = over(w, own), over(w, ~own)
    shared = (w_own > 0) & (w_rest > 0)
    inside = shared[sets]
    if not shared.any():
        return 0, None
    sides = [
        (over(w * values, part)[shared], total[shared], over(w * w, part)[shared])
        for part, total in ((own, w_own), (~own, w_rest))
    ]
    (s_own, w_own, q_own), (s_rest, w_rest, q_rest) = sides
    share = w_own / w_own.sum()
    a, b = float(share @ (s_own / w_own)), float(share @ (s_rest / w_rest))
    n = sum_by(sets, each, size)[shared]
    mean = sum_by(sets, each * values, size)[shared] / n
    centred = values[inside] - mean[np.cumsum(shared)[sets[inside]] - 1]
    spread = sum_by(sets[inside], each[inside] * centred**2, size)[shared] / (n - 1)
    error = float(np.sqrt(share**2 @ (spread * (q_own / w_own**2 + q_rest / w_rest**2))))
    if error == 0:  # within each of these sets everyone is the same: nothing differs, and chance could not make it
        return int(each[own & inside].sum()), (a, b, 0.0, None, None, None)
    low, high = (float(end) for end in normal_interval(a - b, error, level))
    return int(each[own & inside].sum()), (a, b, a - b, low, high, float(normal_p((a - b) / error)))


def _rate(part: _Sums, whole: _Sums, level: float) -> Estimate:
    """The weighted share of some rows; its interval is Wilson's at the effective number of rows."""
    if whole.n == 0:
        return Estimate.missing(msg("no two rows agree in every compared column"))
    value, n = part.w / whole.w, whole.w**2 / max(whole.w2, 1e-300)
    low, high = wilson(value * n, n, level)
    return Estimate(value, float(low), float(high), n=whole.n, method="wilson", level=level)
