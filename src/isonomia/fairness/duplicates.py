"""The same people with different labels: rows that agree in everything but the protected attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, composite
from isonomia.data import Dataset
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import Estimate, Picture, Result, Table, check_level, wilson
from isonomia.fairness.groups import dataset_attributes
from isonomia.languages import msg

WORST = 20


@dataclass(frozen=True, repr=False)
class Duplicates(Result):
    """Rows that agree in every compared column; `conflicting` is the share of them whose labels disagree."""

    duplicated: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))
    conflicting: Estimate = field(default_factory=lambda: Estimate.missing("not measured"))


def duplicates(data: Dataset, *, columns: Sequence[str] | None = None, level: float = 0.95) -> Duplicates:
    """People who agree in all features but the protected ones, and yet have different true outcomes.

    Parameters
    ----------
    data : Dataset
        With a target.
    columns : sequence of str, optional
        What has to agree; by default all features that are not protected.

    Returns
    -------
    Duplicates
        ``tables["sets"]``: the largest sets of equal rows with different labels; ``tables["by_group"]``: for each
        group, how often its rows in such sets have the favourable label (or the mean), against the other rows of the
        same sets.

    Examples
    --------
    >>> data = Dataset({"sex": ["F", "M", "F", "M"], "job": ["a", "a", "b", "c"], "y": [0, 1, 1, 1]}, target="y",
    ...                protected=["sex"])
    >>> found = duplicates(data)
    >>> found.duplicated.value, found.conflicting.value
    (0.5, 1.0)
    """
    check_level(level)
    if data.target is None:
        raise NotApplicable("the data name no target, so labels cannot disagree")
    names = [name for name in data.features if name not in data.protected] if columns is None else list(columns)
    for name in names:
        if name not in data.columns:
            raise SpecError(f"`columns` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    if not names:
        raise NotApplicable("no column is left to tell people by once the protected ones are taken out")
    label = Codes.encode(data.column(data.target), name=data.target)
    known = np.ones(len(label), bool) if label.missing is None else label.codes != label.missing
    person, n_people = _same(data, names)
    counts = np.bincount(person[known], minlength=n_people)
    worth = _worth(data, label)
    lowest = np.full(n_people, np.inf)
    highest = np.full(n_people, -np.inf)
    # labels differ within a set exactly where the smallest and the largest code do
    np.minimum.at(lowest, person[known], label.codes[known])
    np.maximum.at(highest, person[known], label.codes[known])
    mixed = (counts > 1) & (lowest < highest)
    n = int(known.sum())
    in_sets = int(counts[counts > 1].sum())
    in_mixed = int(counts[mixed].sum())
    tables = {"sets": _sets(data, names, person, counts, mixed, worth, known)}
    attributes = dataset_attributes(data)
    pictures: tuple[Picture, ...] = ()
    if attributes and mixed.any():
        tables["by_group"] = _by_group(attributes, person, mixed, worth, known, n_people, data)
        pictures = (
            Picture("bars", "by_group", msg("Outcomes against equals of other groups"),
                    {"labels": "group", "value": "difference"}),
        )  # fmt: skip
    duplicated, conflicting = _rate(in_sets, n, level), _rate(in_mixed, in_sets, level)
    return Duplicates(
        "duplicates", msg("Same people, different labels"), tables,
        {"duplicated": duplicated, "conflicting": conflicting, "sets_in_conflict": int(mixed.sum())}, (), pictures,
        (msg("People are the same where they agree in {n:int} columns.", n=len(names)),), duplicated, conflicting,
        titles={"duplicated": msg("rows with an equal"), "conflicting": msg("of them with different labels"),
                "sets_in_conflict": msg("sets of equals with different labels")},
    )  # fmt: skip


def _same(data: Dataset, names: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """A number for each different person."""
    person = np.zeros(len(data), dtype=np.int64)
    size = 1
    for name in names:
        codes = Codes.encode(data.column(name), name=name)
        person = person * codes.size + codes.codes
        size *= codes.size
        if size > 1 << 31:
            values, person = np.unique(person, return_inverse=True)
            size = values.size
    values, person = np.unique(person, return_inverse=True)
    return person.astype(np.int64), int(values.size)


def _worth(data: Dataset, label: Codes) -> NDArray[np.float64] | None:
    """What is averaged over rows: 1 for the favourable label, or the number; None for several classes."""
    if data.task == "regression":
        return np.asarray(data.column(label.name).to_numpy(), dtype=float)
    if data.task != "binary":
        return None
    return np.asarray(label.codes == label.code_of(data.positive), dtype=float)


def _sets(data: Dataset, names: Sequence[str], person: Any, counts: Any, mixed: Any, worth: Any, known: Any) -> Table:
    order = np.argsort(-np.where(mixed, counts, 0), kind="stable")[: min(WORST, int(mixed.sum()))]
    first = np.full(counts.size, -1)
    first[person[::-1]] = np.arange(person.size)[::-1]
    shown: dict[str, Any] = {"first_row": first[order], "n": counts[order]}
    if worth is not None:
        w = np.where(known, worth, 0.0)
        shown["mean_label"] = np.bincount(person, weights=w, minlength=counts.size)[order] / counts[order]
    for name in names[:8]:
        shown[name] = [str(value) for value in data.column(name)[first[order].tolist()].to_list()]
    titles = {"first_row": msg("first row"), "n": msg("rows"), "mean_label": msg("mean true outcome")}
    formats: dict[str, Any] = {"first_row": "int", "n": "int", "mean_label": "num"}
    return Table(shown, formats, titles, msg("Sets of equal people with different labels"), data.backend)


def _by_group(
    attributes: Sequence[Codes], person: Any, mixed: Any, worth: Any, known: Any, n_people: int, data: Dataset
) -> Table:
    """Each group's rows in mixed sets against the other rows of the same sets."""
    out: dict[str, list[Any]] = {name: [] for name in ("group", "n", "own", "others", "difference")}
    used = mixed[person] & known
    for column in attributes:
        cell = composite([column]).codes
        for code in range(column.size):
            own = used & (cell == code)
            n_own = np.bincount(person[own], minlength=n_people).astype(float)
            n_rest = np.bincount(person[used & ~own], minlength=n_people).astype(float)
            shared = (n_own > 0) & (n_rest > 0)
            out["group"].append(f"{column.name}={column.texts[code]}")
            out["n"].append(int(n_own[shared].sum()))
            if worth is None or not shared.any():
                values: tuple[Any, ...] = (None, None, None)
            else:
                s_own = np.bincount(person[own], weights=worth[own], minlength=n_people)[shared]
                rest = used & ~own
                s_rest = np.bincount(person[rest], weights=worth[rest], minlength=n_people)[shared]
                weight = n_own[shared] / n_own[shared].sum()
                a, b = float(weight @ (s_own / n_own[shared])), float(weight @ (s_rest / n_rest[shared]))
                values = (a, b, a - b)
            for key, value in zip(("own", "others", "difference"), values, strict=True):
                out[key].append(value)
    titles = {"group": msg("group"), "n": msg("rows"), "own": msg("mean true outcome"),
              "others": msg("of equals in other groups"), "difference": msg("difference")}  # fmt: skip
    formats: dict[str, Any] = {"n": "int", "own": "num", "others": "num", "difference": "num"}
    return Table(out, formats, titles, msg("Equal people of different groups"), data.backend)


def _rate(k: int, n: int, level: float) -> Estimate:
    if n == 0:
        return Estimate.missing("no two rows agree in every compared column")
    low, high = wilson(k, n, level)
    return Estimate(k / n, float(low), float(high), n=n, method="wilson", level=level)
