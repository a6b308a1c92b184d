"""True outcomes over the classes of the predictions, and where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import index_of, listed, numbers, to_numpy
from isonomia.errors import DataError
from isonomia.models import Surface, refuse_huge
from isonomia.typing import Bools, Floats


class Truth(NamedTuple):
    """The true outcomes of all rows.

    Attributes
    ----------
    values : array
        Classification: one code per row over the classes of the predictions; a row whose target is missing has the
        code ``len(classes)``. Regression: numbers, NaN where the target is missing.
    known : array of bool
        Where the target is known.
    """

    values: NDArray[Any]
    known: Bools


def read_truth(values: Any, surface: Surface, *, what: str) -> Truth:
    """True outcomes as codes over the classes of a surface, as numbers for a regression.

    >>> read_truth(["no", "yes", None], Surface("binary", ("no", "yes")), what="hired")
    Truth(values=array([0, 1, 2], dtype=uint8), known=array([ True,  True, False]))
    """
    if surface.task != "regression":
        return over_classes(Codes.encode(values, name=what), surface.classes, what=what)
    found = _as_numbers(values, what)
    infinite = np.isinf(found)
    if infinite.any():
        raise DataError(
            f"The target '{what}' is infinite in {int(infinite.sum())} rows (the first at row "
            f"{int(np.flatnonzero(infinite)[0])}). Drop or repair these rows."
        )
    refuse_huge(found, what=f"values of the target '{what}'")
    return Truth(found, ~np.isnan(found))


def labels_beside(values: Any, surface: Surface, *, what: str = "y_true") -> Truth:
    """As `read_truth`; whole numbers 0, 1, ... may also be codes of the classes, where none of them is itself a label.

    >>> labels_beside([0, 0, 1], Surface("binary", (1, 0))).values.tolist()  # labels: 0 is the favourable value
    [1, 1, 0]
    >>> labels_beside([0, 0, 1], Surface("binary", ("no", "yes"))).values.tolist()  # codes
    [0, 0, 1]
    """
    if surface.task == "regression":
        return read_truth(values, surface, what=what)
    column = Codes.encode(values, name=what)
    known = [label for label in column.labels if label is not None]
    numbered = all(isinstance(label, int) and 0 <= label < len(surface.classes) for label in known)
    if numbered and all(index_of(label, surface.classes) is None for label in known):
        return over_classes(column, tuple(range(len(surface.classes))), what=what)
    return over_classes(column, surface.classes, what=what)


def over_classes(column: Codes, classes: Sequence[Any], *, what: str) -> Truth:
    """Encoded labels as codes over `classes`; missing ones have the code ``len(classes)``."""
    indices = [None if label is None else index_of(label, classes) for label in column.labels]
    unknown = [
        label for label, index in zip(column.labels, indices, strict=True) if label is not None and index is None
    ]
    if unknown:
        raise DataError(
            f"The target '{what}' contains {listed(unknown, 5)}, which is not among the classes of the predictions: "
            f"{listed(classes, 8)}."
        )
    if indices == list(range(len(classes))):
        return Truth(column.codes, np.ones(len(column), dtype=bool))
    n_classes = len(classes)
    table = np.array([n_classes if index is None else index for index in indices], dtype=np.min_scalar_type(n_classes))
    codes = table[column.codes]
    return Truth(codes, codes < n_classes)


def _as_numbers(values: Any, what: str) -> Floats:
    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        if column.dtype.is_numeric():
            return numbers(column)
        example = next((value for value in column.to_list() if value is not None), None)
        raise DataError(f"The target '{what}' must be numbers; got values such as {example!r}.")
    array = to_numpy(values)
    try:
        found: Floats = array.astype(float)
    except (TypeError, ValueError):
        raise DataError(f"The target '{what}' must be numbers; got values such as {array.ravel()[0]!r}.") from None
    if found.ndim != 1:
        raise DataError(f"The target '{what}' must have one dimension; got an array of shape {found.shape}.")
    return found
