"""The outcome a dataset is about: which task its target asks for, and which values are favourable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.columns import distinct, has_fractions
from isonomia.data.labels import favourable_classes, two_classes
from isonomia.data.roles import Roles
from isonomia.data.schema import TASKS, Kind, Task, task_of
from isonomia.errors import DataError
from isonomia.parameters import Choice, validated


@validated(task=Choice(TASKS).or_none())
def given_task(
    table: nw.DataFrame[Any],
    name: str | None,
    task: Task | None,
    kinds: Mapping[str, Kind],
    *,
    known: bool,
    predicted: str | None = None,
) -> Task | None:
    """The task, read off the column of outcomes unless it is given; `known` tasks fit by definition.

    Few whole numbers are classes, unless the column of predictions has fractions: grades from 0 to 20, for example.
    """
    if name is None or (known and task is not None):
        return task
    if table[name].dtype == nw.Duration:
        raise DataError(
            f"The column '{name}' contains durations, which cannot be predicted: give them as numbers of days."
        )
    values = distinct(table[name])
    if not values:
        raise DataError(f"The column '{name}' has no values: every row is missing.")
    if task is None:
        number = kinds[name] in ("integer", "numeric")
        if number and len(values) > 2 and predicted in table.columns and has_fractions(table[predicted]):
            return "regression"
        whole = kinds[name] == "numeric" and all(float(value).is_integer() for value in values)
        return task_of(kinds[name], len(values), name=name, whole=whole)
    if task == "binary" and len(values) > 2:
        raise DataError(
            f"The task is given as binary, but '{name}' has {len(values)} different values "
            f"({', '.join(map(repr, values[:5]))}{', ...' if len(values) > 5 else ''}). "
            "Give task='multiclass', or recode the column to two values."
        )
    if task == "regression" and not table[name].dtype.is_numeric():
        raise DataError(f"The task is given as regression, but '{name}' contains no numbers.")
    return task


def given_favourable(
    table: nw.DataFrame[Any], roles: Roles, positive: Any, task: Task | None, *, known: bool
) -> tuple[Any, ...]:
    """The favourable values of the outcome, as the columns contain them: one of two classes, those named of several.

    Of several classes all that occur are known: as true outcomes, and as predictions. `known` values are taken as they
    are, and so are those of a dataset that has no outcome.
    """
    name = roles.target or roles.prediction
    if positive is not None and (name is None or known):
        return tuple(positive) if task == "multiclass" and isinstance(positive, list | tuple | set) else (positive,)
    if name is None or task is None or (task != "binary" and positive is None):
        return ()
    if task == "binary":
        return (two_classes(distinct(table[name]), positive, what=f"'{name}'")[1],)
    if task == "multiclass":
        columns = [column for column in (roles.target, roles.prediction) if column is not None]
        labels = [label for column in columns for label in distinct(table[column])]
        return favourable_classes(labels, positive, what=f"'{name}'")
    raise DataError(
        f"`positive` is for targets of classes; '{name}' is read as {task} with {len(distinct(table[name]))} values. "
        "Leave `positive` out, or give task='binary' or task='multiclass'."
    )
