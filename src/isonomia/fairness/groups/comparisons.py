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
    two_proportions,
)
from isonomia.evidence.intervals import difference_error, difference_interval, difference_p, quotient, ratio_interval
from isonomia.evidence.power import ALPHA, POWER
from isonomia.fairness.groups.grouping import Group, Groups
from isonomia.languages import msg
from isonomia.metrics import Measured
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
    #: the index of the reference among all sets; None where it depends on the metric ("best")
    reference: int | None
    reference_name: str = ""


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of one metric: one entry per group (arrays of one length)."""

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
    """The strata of all groups, and the sets of cells behind references that are not groups themselves.

    Those extra sets follow the groups: index 0..M-1 are groups, then one set per stratum where needed.
    """
    found: dict[tuple[Any, ...], list[int]] = {}
    for index, group in enumerate(groups.groups):
        found.setdefault((group.by, tuple(group.control.items())), []).append(index)
    strata: list[Stratum] = []
    extra: list[NDArray[Any]] = []
    for (by, control), members in found.items():
        base: int | None
        name = ""
        if reference == "best":
            base = None
        elif reference == "overall":
            base, name = len(groups.groups) + len(extra), "overall"
            extra.append(np.concatenate([groups.groups[i].cells for i in members]))
        elif reference == "largest":
            base = max(members, key=lambda i: int(sizes[i]))
            name = groups.groups[base].name
        else:
            chosen = _matching(groups, members, reference, sizes)
            if len(chosen) == 1:
                base, name = chosen[0], groups.groups[chosen[0]].name
            else:
                base = len(groups.groups) + len(extra)
                name = " or ".join(groups.groups[i].name for i in chosen)
                extra.append(np.concatenate([groups.groups[i].cells for i in chosen]))
        strata.append(
            Stratum(by=by, control=dict(control), members=tuple(members), reference=base, reference_name=name)
        )
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
    p_values = _test_rates(measured, pairs)
    return [_compare(part, pair, p_value, level) for part, pair, p_value in zip(measured, pairs, p_values, strict=True)]


@dataclass(frozen=True)
class _Pairs:
    """Who is compared with whom, for one metric: indices of sets, the references' names, and which are the whole."""

    group: tuple[int, ...]
    reference: tuple[int, ...]
    names: tuple[str, ...]
    whole: tuple[bool, ...]


def _pairs(
    measured: Measured, strata: Sequence[Stratum], groups: Groups, min_per_group: int, sizes: NDArray[np.int64]
) -> _Pairs:
    rows: list[tuple[int, int, str, bool]] = []
    for stratum in strata:
        base = stratum.reference
        if base is None:
            base = best_of(measured, stratum.members, sizes, min_per_group)
        name = stratum.reference_name or groups.groups[base].name
        rows += [(member, base, name, name == "overall") for member in stratum.members if member != base]
    group, reference, names, whole = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _Pairs(group, reference, names, whole)


def _compare(measured: Measured, pairs: _Pairs, tested: tuple[Floats, Floats] | None, level: float) -> Compared:
    """One metric, with the tests of rates; others are tested by their standard errors."""
    one, other = (measured.figures.take(np.array(index, dtype=int)) for index in (pairs.group, pairs.reference))
    difference = one.value - other.value
    together = _correlation(measured, pairs)
    low, high = difference_interval(one, other, level, together)
    if measured.metric.range[0] < 0:  # no ratio of numbers that can be negative
        ratio = ratio_low = ratio_high = np.full(difference.shape, np.nan)
    else:
        ratio, (ratio_low, ratio_high) = quotient(one.value, other.value), ratio_interval(one, other, level, together)
    if tested is None:
        error = difference_error(one, other)
        p_value = _test(difference, error) if one.ends is None else difference_p(one, other, together)
        tested = p_value, _reach() * error
    return Compared(
        metric=measured.metric.id,
        group=pairs.group,
        reference=pairs.names,
        difference=difference,
        difference_low=low,
        difference_high=high,
        ratio=ratio,
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        p_value=tested[0],
        detectable=tested[1],
    )


def _correlation(measured: Measured, pairs: _Pairs) -> Floats:
    """How a group's figure and the reference's vary together: not at all, unless the group is part of the reference.

    A mean over everyone moves with the mean of a group as the group's share of the rows: r = n_g s_g / (n s).
    """
    group, reference = np.array(pairs.group, dtype=int), np.array(pairs.reference, dtype=int)
    error = measured.spread()
    share = quotient(measured.size[group], measured.size[reference])
    together = np.nan_to_num(share * quotient(error[group], error[reference]))
    return np.where(np.array(pairs.whole, dtype=bool), np.minimum(together, 1.0), 0.0)


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
    sign = -1.0 if measured.metric.higher_is_better is False else 1.0
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


def _test_rates(measured: Sequence[Measured], pairs: Sequence[_Pairs]) -> list[tuple[Floats, Floats] | None]:
    """P-values and smallest detectable gaps of all rates at once; None for other metrics."""
    out: list[tuple[Floats, Floats] | None] = [None] * len(measured)
    rates = [index for index, part in enumerate(measured) if part.rate]
    if not rates:
        return out

    def pooled(side: Literal["group", "reference"], what: Literal["value", "size"]) -> Floats:
        return np.concatenate([getattr(measured[index], what)[list(getattr(pairs[index], side))] for index in rates])

    n1, n2, rate = pooled("group", "size"), pooled("reference", "size"), pooled("reference", "value")
    detectable = detectable_difference(rate, n1, n2)
    counts = np.stack([np.nan_to_num(pooled("group", "value")) * n1, n1, np.nan_to_num(rate) * n2, n2])
    near = np.rint(counts)
    k1, n1, k2, n2 = np.where(np.abs(counts - near) < 1e-6, near, counts)
    whole = np.concatenate([np.array(pairs[index].whole, dtype=bool) for index in rates])
    # against everyone: the group is part of the whole, so the test is against the others
    p_value = two_proportions(k1, n1, np.where(whole, k2 - k1, k2), np.where(whole, n2 - n1, n2))
    ends = np.cumsum([len(pairs[index].group) for index in rates])[:-1]
    for index, *tested in zip(rates, np.split(p_value, ends), np.split(detectable, ends), strict=True):
        out[index] = (tested[0], tested[1])
    return out


def _test(difference: Floats, error: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = normal_p(difference / error)
    return np.where((error == 0) & (difference == 0), 1.0, p)


def _reach() -> float:
    """How many standard errors a difference must span to be found with the usual power at the usual level."""
    return normal_quantile(1 - ALPHA) + normal_quantile(2 * POWER - 1)
