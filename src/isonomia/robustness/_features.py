"""Which features to examine, and whether two tables have them."""

from __future__ import annotations

from collections.abc import Sequence

from isonomia.data import Dataset
from isonomia.errors import DataError, NotApplicable, SpecError, close_to
from isonomia.languages import msg


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
        if not data.features:
            raise NotApplicable(msg("there is no feature"))
        raise NotApplicable(
            msg("every feature is an identifier, has no value, or has infinite numbers; name those to examine")
        )
    return names


def check_same_columns(one: Dataset, two: Dataset, names: Sequence[str], *, called: tuple[str, str]) -> None:
    """Refuse two tables that lack columns of each other's, or have another kind of values in them."""
    first, second = called
    if missing := [name for name in names if name not in two.columns]:
        raise DataError(
            f"`{second}` lacks columns that `{first}` has: {', '.join(map(repr, missing[:10]))}. Compare tables with "
            "the same columns, or name the common ones with features=[...]."
        )
    for name in names:
        kinds = one.kinds[name], two.kinds[name]
        if kinds[0] != kinds[1] and not {*kinds} <= {"numeric", "integer", "boolean"}:
            raise DataError(
                f"The column '{name}' is {kinds[0]} in `{first}` and {kinds[1]} in `{second}`; give both the same kind."
            )
