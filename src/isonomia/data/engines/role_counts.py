"""The columns that have a role, counted where they are: a small table with a row per combination of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.bands import MAX_UNBANDED, QUARTILES, Bands, propose_bands
from isonomia.data.engines.engine import Engine, Groups, Key, Profile
from isonomia.data.engines.spread import spread_of
from isonomia.data.frames import wrap
from isonomia.data.roles import MAX_LEVELS, Roles, too_many_levels
from isonomia.data.schema import Kind
from isonomia.errors import DataError, NotApplicable
from isonomia.languages import msg
from isonomia.typing import Floats

#: Up to this many rows, scores and weights are grouped by their values; scores of more rows are counted in bins.
EXACT_ROWS = 100_000
#: Bins of scores: as many as leave no more groups than the memory allows.
SCORE_BINS = (1000, 100)
#: Bytes that a group takes here, with everything that is computed from it.
GROUP_BYTES = 256


@dataclass(frozen=True, kw_only=True)
class RoleCounts:
    """The columns of roles as a table.

    Attributes
    ----------
    table : frame
        A row per combination of values.
    counts : array of int, or None
        Rows of the source that each of them stands for; None where there are too many combinations, as there are in a
        regression, and the table is a sample of rows.
    bins : int
        How many bins scores were counted in; 0 where they are as they are.
    """

    table: nw.DataFrame[Any]
    counts: NDArray[np.int64] | None
    bins: int = 0


def bands_by_counting(engine: Engine, roles: Roles, kinds: Mapping[str, Kind]) -> dict[str, Bands]:
    """Bands for protected attributes that are numbers, have too many values to be counted one by one, and none given.

    They are those that `propose_bands` has for the rows themselves.
    """
    wide = []
    candidates = [
        name
        for name in roles.protected
        if engine.schema[name].is_numeric()
        and name not in roles.bands
        and name not in roles.privileged
        and kinds.get(name, "numeric") in ("numeric", "integer")
    ]
    ends = engine.profile(ends=_with_ends(roles, candidates)).ends
    for name in candidates:
        low, high = ends[name] or (0.0, 0.0)
        if engine.schema[name].is_float() or high - low >= MAX_LEVELS:
            wide.append(name)
    found = {}
    for name, spread in spread_of(engine, wide, QUARTILES, few=MAX_UNBANDED).items() if wide else ():
        bins = spread.bins
        counts = np.stack([(bins.n + 1) // 2, bins.n // 2], axis=1).ravel()
        values = np.stack([bins.low, bins.high], axis=1).ravel()
        bands = propose_bands(values[counts > 0], counts[counts > 0]) if spread.n else None
        if bands is not None:
            found[name] = bands
    return found


def _with_ends(roles: Roles, more: Sequence[str] = ()) -> list[str]:
    return [*(name for name in (*roles.score, roles.weight) if name is not None), *more]


def count_roles(engine: Engine, roles: Roles, *, moments: bool = False) -> RoleCounts:
    """The columns of these roles, counted.

    Parameters
    ----------
    engine : Engine
    roles : Roles
    moments : bool
        Whether to count by time, too; scores are then left out, or cut where they are cut into decisions.
    """
    used = (roles.target, roles.prediction, roles.weight, roles.time, *roles.score, *roles.protected)
    names = list(dict.fromkeys(name for name in used if name is not None))
    if not names:
        raise DataError(
            "The data are a lazy frame, of which only columns with a role are counted: name the target, predictions "
            "or protected attributes. Or call .collect() on it and give the result."
        )
    _check_types(engine, names)
    profile = engine.profile(ends=_with_ends(roles))
    if profile.rows == 0:
        raise DataError("The table has no rows; there is nothing to examine.")
    if roles.weight is not None:
        _check_weight(engine, profile, roles.weight)
    few = profile.rows <= EXACT_ROWS
    limit = max(EXACT_ROWS, engine.memory // GROUP_BYTES)
    keys = _plain_keys(engine, roles, moments=moments)
    weight = None if few else roles.weight
    if few and roles.weight is not None:
        keys.append(Key(column=roles.weight))
    for bins in (0,) if few or not roles.score else SCORE_BINS:
        scores = _score_keys(roles, profile, bins, moments=moments)
        groups = engine.grouped(_distinct([*keys, *scores]), weight=weight, limit=limit)
        if groups is not None:
            return _as_table(groups, weight, bins if scores else 0)
    for name in roles.protected:
        key = [Key(column=name)]
        if name not in roles.bands and engine.grouped(key, limit=MAX_LEVELS) is None:
            raise too_many_levels(name, None, numeric=engine.schema[name].is_numeric())
    return RoleCounts(table=wrap(engine.sample(names, EXACT_ROWS, 0)), counts=None)


def count_beside(
    engine: Engine,
    roles: Roles,
    sets: Sequence[Sequence[Key]],
    *,
    outcomes: bool,
    bins: int | None,
    protected: bool,
    also: Sequence[Key] = (),
    least: int = 1,
    means: Sequence[str] = (),
) -> list[RoleCounts | None]:
    """The rows counted by each set of keys, beside outcomes, scores and protected attributes where asked for.

    `bins` are those that scores are counted in: 0 for their values, None for the decisions that follow from them.
    All sets are counted by the keys `also`, too. Combinations of a set's own keys that fewer than `least` rows have
    are left out. None stands for a set with more combinations than memory allows. The means of the numbers in the
    columns `means`, and of their squares, are columns of their own (`mean_names`).
    """
    profile = engine.profile(ends=_with_ends(roles))
    few = profile.rows <= EXACT_ROWS
    weight = None if few else roles.weight
    shared = _plain_keys(engine, roles, moments=False) if protected else []
    if outcomes:
        names = (roles.target, roles.prediction)
        shared += [Key(column=name) for name in names if name is not None and not protected]
        if bins is not None:
            shared += _score_keys(roles, profile, bins, moments=False)
        elif roles.prediction is None and not any(key.column in roles.score for key in also):
            shared += [Key(column=name, form="bands", edges=(0.5,)) for name in roles.score]
    shared += also
    if few and roles.weight is not None:
        shared.append(Key(column=roles.weight))
    limit = max(EXACT_ROWS, engine.memory // GROUP_BYTES // len(sets))
    found = engine.grouped_each(sets, shared=_distinct(shared), weight=weight, limit=limit, least=least, summed=means)
    return [None if groups is None else _as_table(groups, weight, bins or 0) for groups in found]


def count_frequent(
    engine: Engine, roles: Roles, sets: Sequence[Sequence[Key]], least: int, also: Sequence[Key]
) -> list[RoleCounts]:
    """The rows counted by each set of keys beside outcomes, without combinations that too few rows have."""
    found = count_beside(engine, roles, sets, outcomes=True, bins=None, protected=False, also=also, least=least)
    for own, part in zip(sets, found, strict=True):
        if part is None:
            raise too_many([key.column for key in own])
    return [part for part in found if part is not None]


def count_repeated(engine: Engine, roles: Roles, names: Sequence[str]) -> RoleCounts | None:
    """Rows that share the values of some columns with another row, counted by these, the target and the groups.

    None where there are more combinations than memory allows.
    """
    weight = roles.weight
    also = [key for key in _plain_keys(engine, roles, moments=False) if key.column != roles.prediction]
    also = [key for key in also if key.column not in names]
    keys = [Key(column=name) for name in names]
    few = engine.profile(ends=_with_ends(roles)).rows <= EXACT_ROWS
    if few and weight is not None:
        also, weight = [*also, Key(column=weight)], None
    limit = max(EXACT_ROWS, engine.memory // GROUP_BYTES)
    (groups,) = engine.grouped_each([keys], shared=also, weight=weight, limit=limit, least=2)
    return None if groups is None else _as_table(groups, weight, 0)


def too_many(names: Sequence[str]) -> NotApplicable:
    """That some columns cannot be counted together."""
    return NotApplicable(msg("{features} have too many combinations for the memory given", features=" x ".join(names)))


def _check_types(engine: Engine, names: Sequence[str]) -> None:
    for name in names:
        dtype = engine.schema[name]
        if dtype.is_nested() or dtype == nw.Unknown:
            raise DataError(
                f"'{name}' contains values of a type that cannot be counted ({dtype}); a role needs plain ones. "
                "Convert the column, or name another one."
            )


def _plain_keys(engine: Engine, roles: Roles, *, moments: bool) -> list[Key]:
    keys = [
        Key(column=name, form="bands", edges=roles.bands[name].edges) if name in roles.bands else Key(column=name)
        for name in roles.protected
    ]
    keys += [Key(column=name) for name in (roles.target, roles.prediction) if name is not None]
    if moments and roles.time is not None:
        by_day = engine.schema[roles.time] == nw.Datetime
        keys.append(Key(column=roles.time, form="day" if by_day else "value"))
    return keys


def _score_keys(roles: Roles, profile: Profile, bins: int, *, moments: bool) -> list[Key]:
    """How scores are grouped: by value, in bins, or by the decision that follows from them."""
    if moments and roles.prediction is not None:
        return []
    if bins == 0:
        return [Key(column=name) for name in roles.score]
    if moments:
        return [Key(column=name, form="bands", edges=(0.5,)) for name in roles.score]
    return [Key(column=name, form="bins", edges=score_ends(profile, name), bins=bins) for name in roles.score]


def score_ends(profile: Profile, name: str) -> tuple[float, float]:
    """Where the bins of a score begin and end: 0 and 1 for probabilities."""
    low, high = profile.ends.get(name) or (0.0, 1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return low, high if high > low else low + 1.0


def _distinct(keys: Sequence[Key]) -> list[Key]:
    """Each column once: a score may be the prediction, too."""
    return list({key.column: key for key in keys}.values())


def mean_names(column: str) -> tuple[str, str]:
    """What the columns of means are called: of the numbers of a column, and of their squares."""
    return f"isonomia mean of {column}", f"isonomia mean square of {column}"


def _as_table(groups: Groups, weight: str | None, bins: int) -> RoleCounts:
    table = wrap(groups.frame)
    order = _sorted(table)
    mass = groups.n if groups.w is None else np.where(groups.w > 0, groups.w, 1.0)
    means = [
        nw.new_series(name, total / mass, nw.Float64, backend=table.implementation)
        for column, sums in groups.sums.items()
        for name, total in zip(mean_names(column), sums, strict=True)
    ]
    table, counts = table.with_columns(*means)[order], groups.n[order]
    if weight is not None and groups.w is not None and groups.w2 is not None:
        index, counts, weights = spread_weights(counts, groups.w[order], groups.w2[order])
        table = table[index]
        column = nw.new_series(weight, weights, nw.Float64, backend=table.implementation)
        table = table.with_columns(column)
    return RoleCounts(table=table, counts=counts, bins=bins)


def _sorted(table: nw.DataFrame[Any]) -> NDArray[np.int64]:
    """The order of the rows by their values: the same, whatever order an engine returned them in."""
    name = "row"
    while name in table.columns:
        name += "_"
    return table.with_row_index(name).sort(*table.columns, nulls_last=True)[name].to_numpy().astype(np.int64)


def spread_weights(n: NDArray[np.int64], w: Floats, w2: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """At most two rows per group that stand for all of them: (group, rows, weight of each of these rows).

    A group of n rows whose weights have mean m and standard deviation s becomes k rows of weight
    m + s sqrt((n - k) / k) and n - k rows of weight m - s sqrt(k / (n - k)): its rows, weights and squared weights add
    up to what they were. k is n / 2, or less where the lighter weight would be negative.

    >>> spread_weights(np.array([4, 1]), np.array([8.0, 3.0]), np.array([20.0, 9.0]))
    (array([0, 0, 1]), array([2, 2, 1]), array([3., 1., 3.]))
    """
    mean = w / n
    spread = np.sqrt(np.maximum(w2 / n - mean * mean, 0.0))
    spread[spread < 1e-9 * mean] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, (mean / spread) ** 2, np.inf)
        most = np.where(np.isinf(ratio), n / 2, n * ratio / (1 + ratio))  # k / (n - k) <= (m / s)^2
    heavy = np.clip(np.floor(np.minimum(n / 2, most * (1 + 1e-12))), 1, None).astype(np.int64)
    split = (spread > 0) & (n > 1)
    light = np.where(split, n - heavy, 0)
    heavy = np.where(split, heavy, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(split, mean + spread * np.sqrt(light / heavy), mean)
        down = np.where(split, np.maximum(mean - spread * np.sqrt(heavy / light), 0.0), 0.0)
    group = np.repeat(np.arange(n.size), 2)
    rows = np.stack([heavy, light], axis=1).ravel()
    weights = np.stack([up, down], axis=1).ravel()
    kept = rows > 0
    return group[kept], rows[kept], weights[kept]


def _check_weight(engine: Engine, profile: Profile, name: str) -> None:
    """One finite weight of at least 0 per row, not all of them 0."""
    ends = profile.ends.get(name)
    sound = ends is not None and ends[0] >= 0 and ends[1] > 0
    if not sound or profile.missing[name] or profile.infinite[name]:
        raise DataError(f"The weights in '{name}' must be finite numbers of at least 0, not all of them zero.")
