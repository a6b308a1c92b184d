"""Data of the study as matrices: one-hot columns, standardised numbers, the sensitive attribute as 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Dataset, Kind, distinct, index_of, numbers, to_frame, two_classes, wrap
from isonomia.errors import DataError, SpecError
from isonomia.subject import dataset_attributes
from isonomia.typing import Bools, Floats, Indices


@dataclass(frozen=True, eq=False)
class Matrices:
    """A training and a test set of encoded columns.

    Attributes
    ----------
    name : str
    train, test : Dataset
        Columns of numbers, with the target (1 = favourable) and the sensitive column (1 = privileged).
    samples : mapping of Dataset
        Training sets of fixes that were drawn before, by the fix's id; other fixes draw their own.
    """

    name: str
    train: Dataset
    test: Dataset
    samples: Mapping[str, Dataset] = field(default_factory=dict)

    @property
    def sensitive(self) -> str:
        """The sensitive column."""
        return self.test.protected[0]

    @property
    def target(self) -> str:
        """The target column."""
        assert self.test.target is not None  # `with_roles` gave it
        return self.test.target


def with_roles(frame: Any, *, target: str, sensitive: str) -> Dataset:
    """An encoded frame as a dataset: 1 is favourable, and 1 is privileged."""
    return Dataset(frame, target=target, positive=1, protected=[sensitive], privileged={sensitive: 1})


def inputs_of(data: Dataset) -> Any:
    """The columns that models of the study take: all but the target."""
    return wrap(data.frame).drop(data.target or "").to_native()


def outcomes_of(data: Dataset) -> Floats:
    """The target as 0 and 1."""
    return numbers(data.column(data.target or ""))


def members_of(data: Dataset) -> Bools:
    """Which rows are of the privileged group."""
    return np.asarray(numbers(data.column(data.protected[0])) == 1)


def encode(
    data: Dataset, *, name: str, seed: int = 0, test_share: float = 0.2, max_test: int | None = 1000
) -> Matrices:
    """A dataset split at random and encoded as the study does it.

    Texts become one-hot columns (a missing text is a value of its own); numbers are standardised by the training rows
    (a missing number is the training median), 0/1 columns stay. The first protected attribute is the sensitive column.

    Parameters
    ----------
    data : Dataset
        With a target of two values and at least one protected attribute with a privileged value.
    name : str
    seed : int
        Of the split.
    test_share : float
    max_test : int, optional
        The test rows beyond this many are not used.
    """
    member = _membership(data, name)
    outcome = _outcome(data, name)
    known = np.flatnonzero(~np.isnan(outcome))
    order = np.random.default_rng(seed).permutation(known)
    size = round(test_share * known.size)
    test, train = np.sort(order[:size][:max_test]), np.sort(order[size:])
    sensitive, target = data.protected[0], data.target or "target"
    columns: dict[str, Floats] = {sensitive: member.astype(float), target: outcome}
    for column in data.features:
        if column not in (sensitive, target):
            columns |= _encoded(data.column(column), column, data.kinds[column], train)
    return Matrices(
        name=name,
        train=_part(columns, train, target=target, sensitive=sensitive),
        test=_part(columns, test, target=target, sensitive=sensitive),
    )


def _part(columns: Mapping[str, Floats], rows: Indices, *, target: str, sensitive: str) -> Dataset:
    values = {name: column[rows] for name, column in columns.items()}
    values[target] = values[target].astype(np.int64)
    for name, role in ((target, "target"), (sensitive, "sensitive attribute")):
        if np.unique(values[name]).size < 2:
            raise DataError(f"The {role} {name!r} has one value in {rows.size} rows of a split; the study needs both.")
    return with_roles(to_frame(values), target=target, sensitive=sensitive)


def _membership(data: Dataset, name: str) -> Bools:
    if not data.protected:
        raise SpecError(f"The dataset {name!r} of the study needs a protected attribute, and its privileged value.")
    attribute = data.protected[0]
    favoured = data.privileged.get(attribute)
    if not favoured:
        raise SpecError(f"The dataset {name!r} of the study needs `privileged` for {attribute!r}.")
    codes = dataset_attributes(data)[0]
    chosen = [index_of(value, codes.labels) for value in favoured]
    found = np.isin(codes.codes, [index for index in chosen if index is not None])
    if not found.any() or found.all():
        raise DataError(f"{'Nobody' if not found.any() else 'Everybody'} in {name!r} has {attribute!r} = {favoured}.")
    return np.asarray(found)


def _outcome(data: Dataset, name: str) -> Floats:
    """1 where the favourable value is observed, 0 for the other, NaN where the target is missing."""
    if data.target is None:
        raise SpecError(f"The dataset {name!r} of the study needs a target.")
    column = data.column(data.target)
    favourable = two_classes(distinct(column), data.positive, what=f"the target of {name!r}")[1]
    same = [None if value is None or value != value else value == favourable for value in column.to_list()]
    return np.asarray([np.nan if value is None else float(value) for value in same])


def _encoded(column: nw.Series[Any], name: str, kind: Kind, train: Indices) -> dict[str, Floats]:
    if kind in ("numeric", "integer", "boolean"):
        values = numbers(column)
        known = values[train][~np.isnan(values[train])]
        if not known.size or np.isin(known, (0.0, 1.0)).all():
            return {name: np.nan_to_num(values)}
        values = np.where(np.isnan(values), np.median(known), values)
        spread = float(values[train].std())
        return {name: (values - values[train].mean()) / (spread or 1.0)}
    texts = np.asarray(["missing" if value is None or value != value else str(value) for value in column.to_list()])
    return {f"{name}_{value}": (texts == value).astype(float) for value in np.unique(texts)}
