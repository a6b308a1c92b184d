"""Groups against reference groups: differences, ratios, their intervals, tests and what could have been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError, close_to
from isonomia.evidence import (
    benjamini_hochberg,
    detectable_difference,
    normal_p,
    normal_quantile,
    percentile,
    two_proportions,
)
from isonomia.evidence.power import ALPHA, POWER
from isonomia.fairness.groups.grouping import Group, Groups
from isonomia.fairness.groups.measure import Measured, spread_of
from isonomia.languages import msg
from isonomia.typing import Floats

ReferenceRule = Literal["largest", "best", "overall"]
#: Why a figure has no interval although there was a bootstrap.
UNSTEADY = msg("undefined in most bootstrap replicates, so there is no interval")
Reference = ReferenceRule | str | int | float | bool | Mapping[str, Any]


@dataclass(frozen=True)
class Stratum:
    """Groups that are compared with one another: of the same attributes, at the same control values."""

    by: tuple[str, ...]
    control: Mapping[str, str]
    members: tuple[int, ...]
    #: the place of the reference among all sets; None where it depends on the metric ("best")
    reference: int | None
    reference_name: str = ""


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of one metric: one entry a group (arrays of one length)."""

    metric: str
    group: tuple[int, ...]
    reference: tuple[str, ...]
    difference: Floats
    difference_low: Floats
    difference_high: Floats
    ratio: Floats
    ratio_low: Floats
    ratio_high: Floats
    p_value: Floats
    detectable: Floats


def strata_of(
    groups: Groups, sizes: NDArray[np.int64], reference: Reference
) -> tuple[list[Stratum], list[NDArray[Any]]]:
    """The strata of all groups, and the sets of cells behind references that are no group themselves.

    The places of those extra sets follow the groups': group 0..M-1, then one set a stratum where needed.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for index, group in enumerate(groups.groups):
        found.setdefault((group.by, tuple(group.control.items())), []).append(index)
    strata: list[Stratum] = []
    extra: list[NDArray[Any]] = []
    for (by, control), members in found.items():
        place: int | None
        name = ""
        if reference == "best":
            place = None
        elif reference == "overall":
            place, name = len(groups.groups) + len(extra), "overall"
            extra.append(np.concatenate([groups.groups[i].cells for i in members]))
        elif reference == "largest":
            place = max(members, key=lambda i: int(sizes[i]))
            name = groups.groups[place].name
        else:
            chosen = _matching(groups, members, reference, sizes)
            if len(chosen) == 1:
                place, name = chosen[0], groups.groups[chosen[0]].name
            else:
                place = len(groups.groups) + len(extra)
                name = " or ".join(groups.groups[i].name for i in chosen)
                extra.append(np.concatenate([groups.groups[i].cells for i in chosen]))
        strata.append(Stratum(by, dict(control), tuple(members), place, name))
    return strata, extra


def compare(
    measured: Sequence[Measured],
    strata: Sequence[Stratum],
    groups: Groups,
    *,
    level: float,
    min_per_group: int,
    sizes: NDArray[np.int64],
) -> list[Compared]:
    """Every group of every stratum against its reference, for every metric."""
    pairs = [_pairs(part, strata, groups, min_per_group, sizes) for part in measured]
    families: dict[tuple[bool, bool], list[int]] = {}
    for index, part in enumerate(measured):
        families.setdefault((part.rate, part.draws is not None), []).append(index)
    out: dict[int, Compared] = {}
    for members in families.values():  # those computed in one way are computed at once
        found = _compare([measured[i] for i in members], [pairs[i] for i in members], level)
        out |= dict(zip(members, found, strict=True))
    return [out[index] for index in range(len(measured))]


@dataclass(frozen=True)
class _Pairs:
    """Who is compared with whom, for one metric: places of sets, the references' names, and which are the whole."""

    group: tuple[int, ...]
    reference: tuple[int, ...]
    names: tuple[str, ...]
    whole: tuple[bool, ...]


def _pairs(
    measured: Measured, strata: Sequence[Stratum], groups: Groups, min_per_group: int, sizes: NDArray[np.int64]
) -> _Pairs:
    rows: list[tuple[int, int, str, bool]] = []
    for stratum in strata:
        place = stratum.reference
        if place is None:
            place = best_of(measured, stratum.members, sizes, min_per_group)
        name = stratum.reference_name or groups.groups[place].name
        rows += [(member, place, name, name == "overall") for member in stratum.members if member != place]
    group, reference, names, whole = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _Pairs(group, reference, names, whole)


def _compare(measured: Sequence[Measured], pairs: Sequence[_Pairs], level: float) -> list[Compared]:
    """Metrics of one kind: their arrays laid end to end, one computation for all."""
    n_sets = measured[0].value.size
    shift = np.repeat(np.arange(len(measured)) * n_sets, [len(pair.group) for pair in pairs])
    g = np.array([i for pair in pairs for i in pair.group], dtype=int) + shift
    r = np.array([i for pair in pairs for i in pair.reference], dtype=int) + shift
    whole = np.array([w for pair in pairs for w in pair.whole], dtype=bool)
    signed = np.repeat([part.use.metric.range[0] < 0 for part in measured], [len(pair.group) for pair in pairs])
    every = _Laid(
        np.concatenate([part.value for part in measured]),
        np.concatenate([part.size for part in measured]),
        None
        if measured[0].draws is None
        else np.concatenate([part.draws for part in measured if part.draws is not None]),
        None if measured[0].draws is not None else np.concatenate([part.spread() for part in measured]),
    )
    difference = every.value[g] - every.value[r]
    ratio = np.where(signed, np.nan, _ratio(every.value[g], every.value[r]))
    ends = _intervals(every, g, r, difference, ratio, level)
    error = ends[-1]
    p_value = _test_rates(every, g, r, whole) if measured[0].rate else _test(difference, error)
    detectable = _detectable_rates(every, g, r) if measured[0].rate else _reach() * error
    columns = np.stack([difference, ends[0], ends[1], ratio, ends[2], ends[3], p_value, detectable])
    parts = np.split(columns, np.cumsum([len(pair.group) for pair in pairs])[:-1], axis=1)
    return [
        Compared(part.use.id, pair.group, pair.names, *column)
        for part, pair, column in zip(measured, pairs, parts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Laid:
    """Arrays of several metrics laid end to end."""

    value: Floats
    size: Floats
    draws: Floats | None
    error: Floats | None


def adjust(compared: Sequence[Compared]) -> list[Floats]:
    """Benjamini-Hochberg over all comparisons of all metrics."""
    if not compared:
        return []
    flat = benjamini_hochberg(np.concatenate([part.p_value for part in compared]))
    return list(np.split(flat, np.cumsum([part.p_value.size for part in compared])[:-1]))


def best_of(measured: Measured, members: Sequence[int], sizes: NDArray[np.int64], min_per_group: int) -> int:
    """The best-treated group: the best value of a metric that has a direction, the highest of one that has none."""
    index = np.array(members)
    large = index[(sizes[index] >= min_per_group) & ~np.isnan(measured.value[index])]
    if large.size == 0:
        return int(index[np.argmax(sizes[index])])
    sign = -1.0 if measured.use.metric.higher_is_better is False else 1.0
    return int(large[np.argmax(sign * measured.value[large])])


def _matching(groups: Groups, members: Sequence[int], reference: Any, sizes: NDArray[np.int64]) -> list[int]:
    """The groups that a given reference names; attributes it does not name take their largest such group."""
    by = groups.groups[members[0]].by
    wanted = dict(reference) if isinstance(reference, Mapping) else dict.fromkeys(by[:1], reference)
    if not isinstance(reference, Mapping) and len(by) > 1:
        raise SpecError(
            f"For groups by {' x '.join(by)} the reference must say a value for each attribute, such as "
            f"{{{by[0]!r}: ..., {by[1]!r}: ...}}; got {reference!r}."
        )
    unknown = [name for name in wanted if name not in groups.names]
    if unknown:
        raise SpecError(f"`reference` names {unknown[0]!r}, which is no attribute.{close_to(unknown[0], groups.names)}")
    allowed = {name: _values(value) for name, value in wanted.items() if name in by}
    for name, values in allowed.items():
        column = next(column for column in groups.columns if column.name == name)
        for value in values:
            if column.code_of(value) is None and value not in column.texts:
                raise SpecError(
                    f"`reference` must be a value of '{name}'; got {value!r}.{close_to(value, column.texts)}"
                )
    fits = [i for i in members if all(_is(groups.groups[i], name, values) for name, values in allowed.items())]
    if not fits:
        raise SpecError(f"No group by {' x '.join(by)} fits the reference {reference!r}.")
    open_attributes = [name for name in by if name not in allowed]
    if not open_attributes:
        return fits
    return [max(fits, key=lambda i: int(sizes[i]))]


def _values(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | set) else (value,)


def _is(group: Group, name: str, values: tuple[Any, ...]) -> bool:
    own = group.attributes[name]
    return any(own == value or group.texts[name] == str(value) for value in values)


def _ratio(a: Floats, b: Floats) -> Floats:
    """a / b; undefined where b is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b > 0, a / b, np.nan)


def _intervals(
    every: _Laid, g: NDArray[Any], r: NDArray[Any], difference: Floats, ratio: Floats, level: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Ends of the differences' and the ratios' intervals, and the differences' standard errors."""
    if not g.size:
        nothing = np.full(0, np.nan)
        return nothing, nothing, nothing, nothing, nothing
    if every.draws is not None:
        a, b = every.draws[g], every.draws[r]
        gaps = a - b
        low, high = percentile(gaps.T, level)
        r_low, r_high = percentile(_ratio(a, b).T, level)
        error = spread_of(gaps)
    else:
        assert every.error is not None
        z, spread = normal_quantile(level), every.error
        error = np.sqrt(spread[g] ** 2 + spread[r] ** 2)
        low, high = difference - z * error, difference + z * error
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.sqrt((spread[g] / every.value[g]) ** 2 + (spread[r] / every.value[r]) ** 2)
            r_low, r_high = ratio * np.exp(-z * relative), ratio * np.exp(z * relative)
    no_gap, no_ratio = np.isnan(difference), np.isnan(ratio)
    return (
        np.where(no_gap, np.nan, low),
        np.where(no_gap, np.nan, high),
        np.where(no_ratio, np.nan, r_low),
        np.where(no_ratio, np.nan, r_high),
        error,
    )


def _test_rates(every: _Laid, g: NDArray[Any], r: NDArray[Any], whole: NDArray[np.bool_]) -> Floats:
    n1, n2 = every.size[g], every.size[r]
    counts = np.stack([np.nan_to_num(every.value[g]) * n1, n1, np.nan_to_num(every.value[r]) * n2, n2])
    near = np.rint(counts)
    k1, n1, k2, n2 = np.where(np.abs(counts - near) < 1e-6, near, counts)
    # against everyone: the group is part of the whole, so the test is against the others
    k2, n2 = np.where(whole, k2 - k1, k2), np.where(whole, n2 - n1, n2)
    return two_proportions(k1, n1, k2, n2)


def _test(difference: Floats, error: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = normal_p(difference / error)
    return np.where((error == 0) & (difference == 0), 1.0, p)


def _detectable_rates(every: _Laid, g: NDArray[Any], r: NDArray[Any]) -> Floats:
    return detectable_difference(every.value[r], every.size[g], every.size[r])


def _reach() -> float:
    """How many standard errors a difference must span to be found with the usual power at the usual level."""
    return normal_quantile(1 - ALPHA) + normal_quantile(2 * POWER - 1)
