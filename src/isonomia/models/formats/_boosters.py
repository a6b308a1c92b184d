"""What XGBoost and LightGBM boosters share."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from isonomia.data import Task
from isonomia.errors import require
from isonomia.models.columns import to_kind
from isonomia.models.surface import SurfaceKind


def task_of(kind: SurfaceKind | None, is_number: bool, n_classes: int) -> Task | None:
    """The task of an objective; None where it is not known."""
    if kind is None:
        return "regression" if is_number else None
    return "binary" if n_classes == 2 else "multiclass"


def with_categories(table: nw.DataFrame[Any]) -> Any:
    """A pandas frame whose texts are categories: the library maps them to the ones it was trained on."""
    require("pandas", extra="pandas", purpose="handing categories to a boosting model")
    rows = to_kind(table, "pandas")
    texts = [name for name in table.columns if not (table[name].dtype.is_numeric() or table[name].dtype == nw.Boolean)]
    return rows.astype(dict.fromkeys(texts, "category")) if texts else rows


def first_line(error: Exception) -> str:
    """An error of a library in one line."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"
