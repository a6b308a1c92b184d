"""The outcome a dataset is about: which task its target asks for, and which value is the favourable one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data.columns import distinct
from isonomia.data.labels import two_classes
from isonomia.data.schema import TASKS, Kind, Task, task_of
from isonomia.errors import DataError
from isonomia.parameters import Choice, validated


@validated(task=Choice(TASKS).or_none())
def given_task(
    table: nw.DataFrame[Any], name: str | None, task: Task | None, kinds: Mapping[str, Kind], *, known: bool
) -> Task | None:
    """The task, read off the column of outcomes unless it is given; `known` tasks fit by definition."""
    if name is None or (known and task is not None):
        return task
    values = distinct(table[name])
    if not values:
        raise DataError(f"The column '{name}' has no values: every row is missing.")
    if task is None:
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


def given_positive(table: nw.DataFrame[Any], name: str | None, positive: Any, task: Task | None, *, known: bool) -> Any:
    """The favourable value of a two-valued outcome, as the column contains it."""
    if name is None or (known and positive is not None):
        return positive
    if task != "binary":
        if positive is not None:
            raise DataError(
                f"`positive` is for targets of two values; '{name}' is read as {task} with "
                f"{len(distinct(table[name]))} values. Leave `positive` out, or recode the column to two values."
            )
        return None
    return two_classes(distinct(table[name]), positive, what=f"'{name}'")[1]
