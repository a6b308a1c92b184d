"""What each column of a table is for: read from what the user wrote, checked against the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.bands import Bands, propose_bands
from isonomia.data.columns import distinct, is_nested, numbers
from isonomia.data.labels import index_of
from isonomia.data.other_answers import OtherAnswers
from isonomia.data.schema import KINDS, Kind, Task
from isonomia.data.weights import check_weights
from isonomia.errors import DataError, SpecError, close_to

#: A protected attribute with more different values than this is an identifier or needs bands.
MAX_LEVELS = 1000


@dataclass(frozen=True)
class Roles:
    """What each column of a table is for; every name is checked against the table by `Dataset`."""

    target: str | None = None
    protected: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    prediction: str | None = None
    score: tuple[str, ...] = ()
    weight: str | None = None
    time: str | None = None
    bands: Mapping[str, Bands] = field(default_factory=dict)
    privileged: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that have a role other than that of a feature."""
        single = (self.target, self.prediction, self.weight, self.time)
        return tuple(dict.fromkeys(name for name in (*single, *self.score, *self.protected) if name is not None))


class RoleOptions(TypedDict, total=False):
    """The keywords of `Dataset`, which `read` takes too."""

    target: str | None
    positive: Any
    protected: str | Sequence[str] | Mapping[str, Any]
    privileged: Mapping[str, Any] | None
    prediction: str | None
    score: str | Sequence[str] | Mapping[Any, str] | None
    weight: str | None
    time: str | None
    features: Sequence[str] | None
    ignore: str | Sequence[str] | None
    kinds: Mapping[str, Kind] | None
    task: Task | None
    name: str | None
    labels: Mapping[str, Any] | None
    other_answers: OtherAnswers | None


def given_roles(options: RoleOptions) -> Roles:
    """The roles as written; features come later, when the table is known."""
    protected = given_protected(options.get("protected"))
    return Roles(
        target=options.get("target"),
        protected=tuple(protected),
        prediction=options.get("prediction"),
        score=_given_score(options.get("score")),
        weight=options.get("weight"),
        time=options.get("time"),
        bands={column: Bands.of(bands, column) for column, bands in protected.items() if bands is not None},
        privileged=_given_privileged(options.get("privileged"), tuple(protected)),
    )


def given_protected(protected: str | Sequence[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Protected attributes with their bands, or None where they have none."""
    if protected is None:
        return {}
    if isinstance(protected, str):
        return {protected: None}
    if isinstance(protected, Mapping):
        return dict(protected)
    names = _listed(protected, "protected")
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SpecError(f"`protected` names {', '.join(map(repr, sorted(map(str, repeated))))} more than once.")
    return dict.fromkeys(names)


def proposed_bands(
    table: nw.DataFrame[Any], roles: Roles, kinds: Mapping[str, Kind], counts: NDArray[np.int64] | None
) -> dict[str, Bands]:
    """Bands for the protected attributes that are numbers with many different values and were given none.

    An attribute whose privileged values are named by the user, or that the user calls a category, keeps its values.
    """
    found = {}
    for name in roles.protected:
        if name in roles.bands or name in roles.privileged or kinds[name] not in ("numeric", "integer"):
            continue
        bands = propose_bands(numbers(table[name]), counts) if _is_numeric(table[name]) else None
        if bands is not None:
            found[name] = bands
    return found


def check_column(columns: Sequence[str], name: object, role: str) -> None:
    """Raise an error if a name is not one of the columns, with the nearest names."""
    if not isinstance(name, str) or name not in columns:
        raise DataError(f"`{role}` must name a column of the data; got {name!r}.{close_to(name, columns)}")


def check_names(columns: Sequence[str], roles: Roles, kinds: Mapping[str, Kind]) -> None:
    """Every name is a column, and no column has two roles that exclude each other."""
    single = {"target": roles.target, "prediction": roles.prediction, "weight": roles.weight, "time": roles.time}
    for role, name in single.items():
        if name is not None:
            check_column(columns, name, role)
    for role, names in {"protected": roles.protected, "score": roles.score, "kinds": tuple(kinds)}.items():
        for name in names:
            check_column(columns, name, role)
    if roles.target is not None and roles.target in roles.protected:
        raise DataError(
            f"'{roles.target}' is named both as the target and as protected. A group must not be defined by the "
            "outcome itself: name another protected attribute."
        )
    if roles.target is not None and roles.target in (roles.prediction, *roles.score):
        raise DataError(
            f"'{roles.target}' is named both as the target and as the prediction. Name the column that contains "
            "the predictions."
        )
    given = [(role, name) for role, name in single.items() if name is not None]
    given += [("score", name) for name in roles.score]
    for index, (role, name) in enumerate(given):
        for other, same in given[index + 1 :]:
            if name == same and {role, other} != {"prediction", "score"}:
                raise DataError(f"'{name}' is named both as {role} and as {other}. Name a separate column for each.")
    wrong = [f"{column}: {kind!r}" for column, kind in kinds.items() if kind not in KINDS]
    if wrong:
        raise SpecError(f"`kinds` must be one of {', '.join(KINDS)}; got {', '.join(wrong)}.")


def check_contents(table: nw.DataFrame[Any], roles: Roles, kinds: Mapping[str, Kind]) -> None:
    """The columns of a role contain what the role needs."""
    present = set(table.columns)  # once: pandas makes a list of all names each time it is asked
    for name in roles.named:
        if name in present and is_nested(table[name]):
            raise DataError(f"'{name}' contains nested values ({table[name].dtype}); a role needs plain ones.")
    for name, kind in kinds.items():
        if name not in present or kind not in ("numeric", "integer"):  # not read into memory, or of no numbers
            continue
        column = table[name]
        if not _is_numeric(column) and column.dtype not in (nw.Boolean, nw.Duration):
            raise DataError(f"`kinds` calls '{name}' {kind}, but it contains {column.dtype}. Convert the column first.")
    for name in roles.bands:
        if not _is_numeric(table[name]):
            raise DataError(f"Bands cut numbers; '{name}' is of kind '{kinds[name]}'. Drop its bands.")
    for name in roles.score:
        if name in present and not _is_numeric(table[name]):
            first = next(iter(distinct(table[name])), None)
            raise DataError(f"The scores in '{name}' must be numbers; got values such as {first!r}.")
    if roles.weight is not None:
        check_weights(table[roles.weight], len(table), what=f"The weights in '{roles.weight}'")


def given_features(
    columns: Sequence[str], options: RoleOptions, roles: Roles, nested: Mapping[str, Any]
) -> tuple[str, ...]:
    """What a model sees: what the user listed, or every plain column without another role that is not to be ignored."""
    features, ignore = options.get("features"), options.get("ignore") or ()
    ignored = [ignore] if isinstance(ignore, str) else list(ignore)
    for name in ignored:
        check_column(columns, name, "ignore")
    if features is None:
        taken = {roles.target, roles.prediction, roles.weight, roles.time, *roles.score, *nested, *ignored}
        return tuple(column for column in columns if column not in taken)
    names = _listed(features, "features")
    for name in names:
        check_column(columns, name, "features")
    if twice := [name for name in names if name in ignored]:
        raise SpecError(f"'{twice[0]}' is named both among `features` and in `ignore`. Name it in one of them.")
    if roles.target in names:
        raise DataError(f"The target '{roles.target}' is listed among the features: a model must not see it.")
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise SpecError(f"`features` names {', '.join(map(repr, repeated))} more than once.")
    bad = [name for name in names if name in nested]
    if bad:
        raise DataError(
            f"The feature '{bad[0]}' contains nested values ({nested[bad[0]]}). Flatten it or leave it out."
        )
    return tuple(names)


def privileged_values(table: nw.DataFrame[Any], roles: Roles) -> dict[str, tuple[Any, ...]]:
    """Privileged values as the column contains them; checks also that every protected attribute forms groups."""
    found: dict[str, tuple[Any, ...]] = {}
    for name in roles.protected:
        levels = _levels(table[name], name, roles.bands.get(name))
        wanted = roles.privileged.get(name, ())
        for value in wanted:
            index = index_of(value, levels)
            if index is None:
                raise DataError(f"`privileged` must name values of '{name}'; got {value!r}.{close_to(value, levels)}")
            found[name] = (*found.get(name, ()), levels[index])
        if len(levels) > 1 and len(set(found.get(name, ()))) == len(levels):
            raise DataError(f"`privileged` names every value of '{name}'; leave at least one group to compare with.")
    return found


def _levels(column: nw.Series[Any], name: str, bands: Bands | None) -> list[Any]:
    if int(column.null_count()) == len(column) or (_is_numeric(column) and bool(np.isnan(numbers(column)).all())):
        raise DataError(f"The protected attribute '{name}' has no values: every row is missing. Leave it out.")
    if bands is not None:
        return list(bands.labels)
    n_levels = int(column.n_unique())
    if n_levels > MAX_LEVELS:
        raise too_many_levels(name, n_levels, numeric=_is_numeric(column))
    return distinct(column)


def too_many_levels(name: str, found: int | None, *, numeric: bool) -> DataError:
    """The error about a protected attribute whose values do not form groups."""
    advice = (
        f"Cut it into bands: protected={{{name!r}: [25, 60]}}."
        if numeric
        else "Is it an identifier? Put its values into fewer groups."
    )
    many = f"more than {MAX_LEVELS:,} different values"
    if found is not None:
        many = f"{found:,} different values, more than {MAX_LEVELS:,}"
    return DataError(f"The protected attribute '{name}' has {many}. {advice}")


def _is_numeric(column: nw.Series[Any]) -> bool:
    return bool(column.dtype.is_numeric())


def _listed(given: object, role: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(f"`{role}` must be a list of column names; got {given!r}. Write [{given!r}].")
    return list(given)


def _given_score(score: str | Sequence[str] | Mapping[Any, str] | None) -> tuple[str, ...]:
    if score is None:
        return ()
    if isinstance(score, str):
        return (score,)
    return tuple(score.values()) if isinstance(score, Mapping) else tuple(_listed(score, "score"))


def _given_privileged(privileged: Mapping[str, Any] | None, protected: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    if privileged is not None and not isinstance(privileged, Mapping):
        raise SpecError(f"`privileged` must give a value for each attribute, as in {{'sex': 'M'}}; got {privileged!r}.")
    given = {name: value for name, value in (privileged or {}).items() if value is not None}
    for name in given:
        if name not in protected:
            raise SpecError(
                f"`privileged` names {name!r}, which is not among the protected attributes.{close_to(name, protected)}"
            )
    return {name: tuple(value) if isinstance(value, list | tuple | set) else (value,) for name, value in given.items()}
