"""Groups against reference groups: differences, ratios, their intervals, tests and what could have been seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError, close_to
from isonomia.evidence import (
    agreeing,
    holm,
    normal_p,
    odds_difference,
    score_odds_ratio,
    two_proportions,
)
from isonomia.evidence.intervals import (
    difference_error,
    difference_interval,
    difference_p,
    normal_quantile,
    normal_quantiles,
    or_zero,
    quotient,
    ratio_interval,
)
from isonomia.evidence.score_intervals import Asking, RatePairs
from isonomia.evidence.simultaneous import pair_level, stretched, stretched_ratio
from isonomia.fairness.groups.grouping import Group, Groups
from isonomia.languages import Message, msg
from isonomia.metrics import Measured
from isonomia.subject import BestOff
from isonomia.typing import Floats

ReferenceRule = Literal["largest", "overall"]
#: Control values without anybody of the reference are named up to this many.
MAX_NAMED = 5
#: Why a figure has no interval although there was a bootstrap.
UNSTEADY = msg("undefined in most bootstrap replicates, so there is no interval")
Reference = ReferenceRule | BestOff | str | int | float | bool | Mapping[str, Any]


@dataclass(frozen=True)
class Stratum:
    """Groups that are compared with one another: of the same attributes, at the same control values."""

    by: tuple[str, ...]
    control: Mapping[str, str]
    members: tuple[int, ...]
    #: the index of the reference among all sets; None where nobody here is of it
    reference: int | None
    reference_name: str = ""
    #: members that are part of the reference: it is made of several groups, or of all
    within: frozenset[int] = frozenset()
    #: nobody here is of the reference that was given: groups of several attributes are compared with the largest one,
    #: those of a control value with none
    absent: bool = False
    #: members from which the reference was picked by looking at the data; none where it was named
    candidates: frozenset[int] = frozenset()
    #: where it was picked, the members with enough rows
    large: frozenset[int] = frozenset()


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
    #: what detectable gaps are computed from (`detectable.Behind`), a row per group
    behind: Floats


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
        name, absent = "", False
        within: list[int] = []
        if reference == "overall":
            base, name, within = len(groups.groups) + len(extra), "overall", members
            extra.append(np.concatenate([groups.groups[i].cells for i in members]))
        elif reference == "largest":
            base = max(members, key=lambda i: int(sizes[i]))
            name = groups.groups[base].name
        else:
            chosen = _matching(groups, members, reference, sizes)
            absent = not chosen
            if absent:
                base = None if control else max(members, key=lambda i: int(sizes[i]))
                name = "" if base is None else groups.groups[base].name
            elif len(chosen) == 1:
                base, name = chosen[0], groups.groups[chosen[0]].name
            else:
                base, within = len(groups.groups) + len(extra), chosen
                name = " or ".join(groups.groups[i].name for i in chosen)
                extra.append(np.concatenate([groups.groups[i].cells for i in chosen]))
        candidates, large = _picked_from(groups, members, sizes, reference)
        strata.append(
            Stratum(
                by=by,
                control=dict(control),
                members=tuple(members),
                reference=base,
                reference_name=name,
                within=frozenset(within),
                absent=absent,
                candidates=candidates,
                large=large,
            )
        )
    return strata, extra


def _picked_from(
    groups: Groups, members: Sequence[int], sizes: NDArray[np.int64], reference: Reference
) -> tuple[frozenset[int], frozenset[int]]:
    """The groups that the reference was picked from, and those with enough rows; none where it was named."""
    by = groups.groups[members[0]].by
    picked = reference.candidates(by) if isinstance(reference, BestOff) else frozenset()
    if not isinstance(reference, BestOff) or len(picked) < 2:
        return frozenset(), frozenset()
    candidates = (i for i in members if tuple(groups.groups[i].attributes.values()) in picked)
    return frozenset(candidates), frozenset(i for i in members if sizes[i] >= reference.least)


def absence_notes(strata: Sequence[Stratum]) -> tuple[Message, ...]:
    """That nobody is of the reference, for some attributes together or at some control values."""
    lacking = [stratum for stratum in strata if stratum.absent]
    notes = [
        msg(
            "The data have nobody of the reference by {by}: these groups are compared with the largest of them.",
            by=" x ".join(stratum.by),
        )
        for stratum in lacking
        if not stratum.control
    ]
    places = {", ".join(map(str, stratum.control.values())) for stratum in lacking if stratum.control}
    if places:
        notes.append(
            msg(
                "Nobody is of the reference in {named}, so there are no gaps to show there.",
                named=", ".join(sorted(places)[:MAX_NAMED]) + (", ..." if len(places) > MAX_NAMED else ""),
            )
        )
    return tuple(notes)


def comparing(
    measured: Sequence[Measured],
    strata: Sequence[Stratum],
    groups: Groups,
    *,
    level: float,
) -> Asking[list[Compared]]:
    """Every group of every stratum against its reference, for every metric.

    Rates: score intervals of the difference and the ratio, and the score test that agrees with them. Where the group is
    part of its reference (everyone, or a union of groups) the interval is that against the others, put on the scale of
    the reference. Odds: the score interval of their ratio. Other metrics: replicates or standard errors.

    Where the reference is the best-off of several groups, picked by looking, the intervals of all pairs of groups with
    enough rows hold together (`pair_level`), so also that of the group that came out lowest. The p-value p of one
    comparison becomes 1 - (1 - p)^m with m other groups that could have been the reference (Sidak).
    """
    pairs = _pairs(strata, groups)
    rates = [index for index, part in enumerate(measured) if part.rate]
    compared = yield from _compare_rates([(measured[i], pairs) for i in rates], level)
    of_rates = dict(zip(rates, compared, strict=True))
    return [
        of_rates[index]
        if part.rate
        else _compare_odds(part, pairs, level)
        if part.odds
        else _compare(part, pairs, level)
        for index, part in enumerate(measured)
    ]


@dataclass(frozen=True)
class _Pairs:
    """Who is compared with whom: indices of sets, references' names, who is part of one.

    `looks` are the other groups that could have been the reference, `together` the groups whose pairs were looked at.
    """

    group: tuple[int, ...]
    reference: tuple[int, ...]
    names: tuple[str, ...]
    within: tuple[bool, ...]
    looks: tuple[int, ...]
    together: tuple[int, ...]

    def levels(self, level: float) -> Floats:
        """The level of each interval: that of all pairs of so many groups."""
        return np.array([pair_level(level, groups) for groups in self.together])

    def allowing(self, p_value: Floats) -> Floats:
        """P-values that allow for the references that were looked at."""
        looks = np.array(self.looks, dtype=float)
        with np.errstate(divide="ignore"):
            return np.where(looks > 1, -np.expm1(looks * np.log1p(-p_value)), p_value)


def _pairs(strata: Sequence[Stratum], groups: Groups) -> _Pairs:
    rows: list[tuple[int, int, str, bool, int, int]] = []
    for stratum in strata:
        base = stratum.reference
        if base is None:
            continue
        name = stratum.reference_name or groups.groups[base].name
        rows += [
            (
                member,
                base,
                name,
                member in stratum.within,
                max(len(stratum.candidates - {member}), 1),
                len(stratum.large | {member, base}) if stratum.candidates else 2,
            )
            for member in stratum.members
            if member != base
        ]
    group, reference, names, within, looks, together = zip(*rows, strict=True) if rows else ((),) * 6
    return _Pairs(group, reference, names, within, looks, together)


def _compare_rates(parts: Sequence[tuple[Measured, _Pairs]], level: float) -> Asking[list[Compared]]:
    """All rates at once."""
    if not parts:
        none = np.zeros(0)
        yield RatePairs(none, none, none, none, none, none > 0)
        return []
    starts = np.cumsum([0, *(len(part.value) for part, _ in parts)]).tolist()
    sides = np.array(
        [
            [start + index for (_, pairs), start in zip(parts, starts, strict=False) for index in getattr(pairs, side)]
            for side in ("group", "reference")
        ],
        dtype=np.intp,
    )
    p1, p2 = np.concatenate([part.value for part, _ in parts])[sides]
    n1, n2 = or_zero(np.concatenate([part.size for part, _ in parts]))[sides]
    difference, ratio = p1 - p2, quotient(p1, p2)
    within = np.array([one for _, pairs in parts for one in pairs.within], dtype=bool)
    part = np.zeros(within.shape)
    if within.any():  # against the others of the reference
        w1, w2 = or_zero(np.concatenate([part.weight for part, _ in parts]))[sides]
        part = np.where(within, or_zero(quotient(w1, w2)), 0.0)
        rest, rest_n = _others(p1, n1, w1, p2, n2, w2)
        p2, n2 = np.where(within, rest, p2), np.where(within, rest_n, n2)
    counts = _near_whole(or_zero(p1) * n1), _near_whole(n1), _near_whole(or_zero(p2) * n2), _near_whole(n2)
    tested, levels = np.ones(within.shape, dtype=bool), np.concatenate([pairs.levels(level) for _, pairs in parts])
    low, high, ratio_low, ratio_high, p_value = yield RatePairs(*counts, levels, tested)
    if within.any():
        low, high = low * (1 - part), high * (1 - part)
        with np.errstate(divide="ignore", invalid="ignore"):
            # group / (part x group + (1 - part) x others), which grows with group / others
            ratio_low, ratio_high = (
                np.where(np.isinf(end), 1 / part, end / (part * end + 1 - part)) for end in (ratio_low, ratio_high)
            )
    nothing = np.isnan(difference)
    columns = (
        difference,
        *(np.where(nothing, np.nan, end) for end in (low, high)),
        ratio,
        *(np.where(np.isnan(ratio), np.nan, end) for end in (ratio_low, ratio_high)),
        np.where(nothing, np.nan, p_value),
        np.stack([p2, n2, n1, 1 - part], axis=1),
    )
    compared, start = [], 0
    for one, pairs in parts:
        end = start + len(pairs.group)
        compared.append(_compared(one, pairs, *(column[start:end] for column in columns)))
        start = end
    return compared


def _others(p1: Floats, n1: Floats, w1: Floats, p2: Floats, n2: Floats, w2: Floats) -> tuple[Floats, Floats]:
    """The rate and the effective number of those in the reference who are not in the group."""
    weight = w2 - w1
    weight = np.where(weight > 1e-9 * w2, weight, 0.0)
    rate = quotient(or_zero(p2) * w2 - or_zero(p1) * w1, weight)
    squares = or_zero(quotient(w2 * w2, n2)) - or_zero(quotient(w1 * w1, n1))
    return np.clip(rate, 0.0, 1.0), or_zero(quotient(weight * weight, squares))


def _near_whole(counts: Floats) -> Floats:
    """Counts without the rounding of rate x rows."""
    near = np.rint(counts)
    return np.where(np.abs(counts - near) < 1e-6, near, counts)


def _compared(measured: Measured, pairs: _Pairs, *columns: Floats) -> Compared:
    """With the p-values, and what detectable gaps follow from, as they allow for the picking of the reference."""
    *figures, p_value, behind = columns
    looks = np.array(pairs.looks, dtype=float)[:, None]
    found = *figures, pairs.allowing(p_value), np.hstack([behind, looks])
    return Compared(measured.metric.id, pairs.group, pairs.names, *found)


def _compare_odds(measured: Measured, pairs: _Pairs, level: float) -> Compared:
    """Odds of a proportion: their proportions are tested."""
    g, r = np.array(pairs.group, dtype=int), np.array(pairs.reference, dtype=int)
    (p1, n1), (p2, n2) = ((measured.share[index], measured.size[index]) for index in (g, r))
    counts = _near_whole(p1 * n1), _near_whole(n1), _near_whole(p2 * n2), _near_whole(n2)
    known = ~np.isnan(p1 + p2)
    levels = pairs.levels(level)
    ends = agreeing(odds_difference(p1, n1, p2, n2, levels), 0.0, *counts, levels)
    ratios = agreeing(score_odds_ratio(*counts, levels), 1.0, *counts, levels)
    figures = measured.figures
    return _compared(
        measured,
        pairs,
        measured.value[g] - measured.value[r],
        *(np.where(known, end, np.nan) for end in ends),
        quotient(measured.value[g], measured.value[r]),
        *(np.where(known & (p2 > 0), end, np.nan) for end in ratios),
        np.where(known, two_proportions(*(or_zero(count) for count in counts)), np.nan),
        difference_error(figures.take(g), figures.take(r))[:, None],
    )


def _compare(measured: Measured, pairs: _Pairs, level: float) -> Compared:
    """Any other metric, tested by its standard errors."""
    one, other = (measured.figures.take(np.array(index, dtype=int)) for index in (pairs.group, pairs.reference))
    difference = one.value - other.value
    together = _correlation(measured, pairs)
    factor = normal_quantiles(pairs.levels(level)) / normal_quantile(level)
    low, high = stretched(difference, *difference_interval(one, other, level, together), factor)
    if measured.metric.range[0] < 0:  # no ratio of numbers that can be negative
        ratio = ratio_low = ratio_high = np.full(difference.shape, np.nan)
    else:
        ratio = quotient(one.value, other.value)
        ratio_low, ratio_high = stretched_ratio(ratio, *ratio_interval(one, other, level, together), factor)
    error = difference_error(one, other)
    return _compared(
        measured,
        pairs,
        difference,
        low,
        high,
        ratio,
        ratio_low,
        ratio_high,
        _test(difference, error) if one.ends is None else difference_p(one, other, together),
        error[:, None],
    )


def _correlation(measured: Measured, pairs: _Pairs) -> Floats:
    """How a group's figure and the reference's vary together: not at all, unless the group is part of the reference.

    A mean over everyone moves with the mean of a group as the group's share of the rows: r = n_g s_g / (n s).
    """
    group, reference = np.array(pairs.group, dtype=int), np.array(pairs.reference, dtype=int)
    error = measured.spread()
    share = quotient(measured.size[group], measured.size[reference])
    together = or_zero(share * quotient(error[group], error[reference]))
    return np.where(np.array(pairs.within, dtype=bool), np.minimum(together, 1.0), 0.0)


def adjust(compared: Sequence[Compared]) -> list[Floats]:
    """Holm's correction over all comparisons of all metrics."""
    if not compared:
        return []
    flat = holm(np.concatenate([part.p_value for part in compared]))
    return list(np.split(flat, np.cumsum([part.p_value.size for part in compared])[:-1]))


def _matching(groups: Groups, members: Sequence[int], reference: Any, sizes: NDArray[np.int64]) -> list[int]:
    """The groups that a given reference names; attributes it does not name take their largest such group.

    Empty where nobody has all the values it names, each of which somebody has.
    """
    by = groups.groups[members[0]].by
    if isinstance(reference, BestOff):
        best = reference.together(by)
        return [i for i in members if all(_is(groups.groups[i], name, tuple(best[name])) for name in by)]
    named_values = dict(reference) if isinstance(reference, Mapping) else dict.fromkeys(by[:1], reference)
    if not isinstance(reference, Mapping) and len(by) > 1:
        raise SpecError(
            f"For groups by {' x '.join(by)} the reference must give a value for each attribute, such as "
            f"{{{by[0]!r}: ..., {by[1]!r}: ...}}; got {reference!r}."
        )
    unknown = [name for name in named_values if name not in groups.names]
    if unknown:
        raise SpecError(
            f"`reference` names {unknown[0]!r}, which is not an attribute.{close_to(unknown[0], groups.names)}"
        )
    allowed = {name: _values(value) for name, value in named_values.items() if name in by}
    for name, values in allowed.items():
        column = next(column for column in groups.columns if column.name == name)
        for value in values:
            if column.code_of(value) is None and value not in column.texts:
                raise SpecError(
                    f"`reference` must be a value of '{name}'; got {value!r}.{close_to(value, column.texts)}"
                )
    fits = [i for i in members if all(_is(groups.groups[i], name, values) for name, values in allowed.items())]
    open_attributes = [name for name in by if name not in allowed]
    if not open_attributes or not fits:
        return fits
    return [max(fits, key=lambda i: int(sizes[i]))]


def _values(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | set) else (value,)


def _is(group: Group, name: str, values: tuple[Any, ...]) -> bool:
    own = group.attributes[name]
    return any(own == value or group.texts[name] == str(value) for value in values)


def _test(difference: Floats, error: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = normal_p(difference / error)
    return np.where((error == 0) & (difference == 0), 1.0, p)
