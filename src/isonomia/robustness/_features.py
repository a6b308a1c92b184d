"""Which features to look at."""

from __future__ import annotations

from collections.abc import Sequence

from isonomia.data import Dataset
from isonomia.errors import DataError, SpecError, close_to


def check_features(
    data: Dataset, features: Sequence[str] | None, default: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The features to look at: those named, or the default, which is all."""
    if isinstance(features, str):
        features = (features,)
    names = tuple(features if features is not None else data.features if default is None else default)
    for name in names:
        if name not in data.columns:
            raise SpecError(f"`features` must name columns of the data; got {name!r}.{close_to(name, data.columns)}")
    if not names:
        raise DataError("There is no feature to look at; give a table with at least one feature column.")
    return names
