"""Simultaneous intervals of changes: one critical value for all gaps and groups of all fixes (max-t)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from isonomia.errors import DataError, SpecError, close_to
from isonomia.evidence.intervals import spread_of
from isonomia.fairness import Groups
from isonomia.fairness.criteria.named import CRITERIA, criteria_of_metrics
from isonomia.fairness.judging.questions import without
from isonomia.mitigation.judging.paired import Measures
from isonomia.typing import Bools, Floats, Indices

#: Of more groups than this only those near the ends are paired.
MAX_PAIRED = 12


@dataclass(frozen=True, eq=False)
class Band:
    """Estimates with their simultaneous intervals; arrays of one shape.

    `value` is NaN where the figure is not defined.
    """

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Pairs:
    """Differences of one metric between pairs of groups: values before (P,) and after M fixes (M, P).

    For ratios the differences are those of logarithms. `errors` are the standard errors before, after and of the
    change; `largest` is, for each replicate, the largest |replicate - mean| / error over all of them.
    """

    before: Floats
    after: Floats
    errors: tuple[Floats, Floats, Floats]
    largest: Floats


@dataclass(frozen=True, eq=False)
class GapChanges:
    """The gap of every criterion for each way of grouping: values before (F,) and after (M, F), and the pairs behind.

    `keys` are (criterion, attributes) for each figure, `least` the rows that a group must have to be
    compared. The first `plain` figures are those that tables show; the others compare larger
    groups only, for rules that say so.
    """

    keys: tuple[tuple[str, tuple[str, ...]], ...]
    least: tuple[int, ...]
    plain: int
    ratio: Bools
    before: Floats
    after: Floats
    pairs: tuple[Pairs, ...]

    def find(self, criterion: str, by: tuple[str, ...], least: int | None = None) -> int | None:
        """Where a figure stands: that of groups of at least so many rows, or the one that tables show; None without."""
        for number, key in enumerate(self.keys):
            if key == (criterion, by) and least in (None, self.least[number]):
                return number
        return None

    def index(self, criterion: str, by: tuple[str, ...], least: int | None = None) -> int:
        """Where a figure stands (see `find`); an error where there is none."""
        number = self.find(criterion, by, least)
        if number is not None:
            return number
        if criterion not in CRITERIA:
            raise SpecError(f"There is no figure for the criterion {criterion!r}.{close_to(criterion, CRITERIA)}")
        raise DataError(
            f"Groups by {' x '.join(by)} cannot be compared by {criterion}: fewer than two of them have "
            f"{'enough' if least is None else least} rows and a value (a group without an outcome has no rate of it). "
            "Merge groups, or choose another goal."
        )


def criteria_of(measures: Measures) -> dict[str, tuple[tuple[int, ...], str]]:
    """The criteria that the metrics allow, with the indices of their metrics.

    Of several classes one index for each, or for each favourable one where these are named.
    """
    names = [metric.base_id if metric.favourable is not False else "" for metric in measures.metrics]
    allowed = criteria_of_metrics(names, numbers="mean_prediction" in names)
    return {
        criterion: (tuple(i for i, name in enumerate(names) if name in wanted), CRITERIA[criterion].measure)
        for criterion, wanted in allowed.items()
    }


def gaps_of(
    measures: Measures, groups: Groups, min_per_group: int, larger: Sequence[int] = (), aside: Collection[str] = ()
) -> GapChanges:
    """Largest less smallest value over the groups of each way of grouping; the worst of several metrics.

    `larger` are rows that groups must have in further figures, beside the `min_per_group` of those that tables show.
    People without a value of the attributes `aside` are left out, as the judge leaves them out.
    """
    ways: dict[tuple[str, ...], list[int]] = {}
    for number, group in enumerate(groups.groups):
        if not without(group, aside):
            ways.setdefault(group.by, []).append(number)
    keys, ratio, pairs, leasts = [], [], [], []
    plain = 0
    for least in dict.fromkeys((min_per_group, *larger)):
        known: dict[tuple[int, str, tuple[str, ...]], Pairs | None] = {}  # criteria share rates
        for by, members in ways.items():
            for criterion, (metrics, how) in criteria_of(measures).items():
                for q in metrics:
                    if (q, how, by) not in known:
                        known[q, how, by] = _compared(measures, q, np.array(members), least, how == "ratio")
                parts = [part for q in metrics if (part := known[q, how, by]) is not None]
                if parts:
                    keys.append((criterion, by))
                    ratio.append(how == "ratio")
                    pairs.append(_joined(parts))
                    leasts.append(least)
        plain = plain or len(keys)
    if not pairs:
        raise DataError(
            "No two groups have enough rows to be compared. Give larger groups, or a smaller `min_per_group`."
        )
    before = np.array([np.abs(part.before).max() for part in pairs])
    after = np.stack([np.abs(part.after).max(axis=-1) for part in pairs], axis=-1)
    flags = np.array(ratio)
    return GapChanges(
        keys=tuple(keys),
        least=tuple(leasts),
        plain=plain,
        ratio=flags,
        before=np.where(flags, np.exp(-before), before),
        after=np.where(flags, np.exp(-after), after),
        pairs=tuple(pairs),
    )


def _compared(measures: Measures, q: int, index: Indices, least: int, ratio: bool) -> Pairs | None:
    """The differences between the groups with enough rows and a value; None where there are fewer than two.

    Of many groups those that come near an end before or after.
    """
    values = np.vstack([measures.before[q, index][None], measures.after[:, q, index]])
    known = ~np.isnan(values).any(axis=0) & (measures.size[q, index] >= least)
    if ratio:
        known &= (values > 0).all(axis=0)
    if known.sum() > MAX_PAIRED:
        rank = np.where(known, values, np.nan).argsort(axis=1).argsort(axis=1)
        near = ((rank < MAX_PAIRED // 2) | (rank >= known.sum() - MAX_PAIRED // 2)).any(axis=0)
        known &= near
    used = np.asarray(index[known], dtype=np.intp)
    return _pairs(measures, q, used, ratio) if used.size >= 2 else None


def _pairs(measures: Measures, q: int, used: Indices, ratio: bool) -> Pairs:
    one, other = (used[part] for part in np.triu_indices(used.size, 1))
    parts = (measures.before[q], measures.after[:, q], measures.before_draws[q], measures.after_draws[:, q])
    if ratio:
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = tuple(np.where(part > 0, np.log(part), np.nan) for part in parts)  # type: ignore[assignment]
    before, after, before_draws, after_draws = parts
    least = np.zeros(one.size)
    if measures.metrics[q].of_decisions:
        least = np.hypot(1 / measures.size[q, one], 1 / measures.size[q, other])
        if ratio:
            least = least / np.minimum(np.exp(before[one]), np.exp(before[other]))
    before_draws, after_draws = before_draws[one] - before_draws[other], after_draws[:, one] - after_draws[:, other]
    paired = after_draws - before_draws
    errors = _errors(before_draws, 0.0), _errors(after_draws, 0.0), _errors(paired, least)
    tops = [_largest(d, e) for d, e in zip((before_draws, after_draws, paired), errors, strict=True)]
    return Pairs(
        before=before[one] - before[other],
        after=after[:, one] - after[:, other],
        errors=errors,
        largest=np.maximum.reduce(tops),
    )


def _joined(parts: Sequence[Pairs]) -> Pairs:
    if len(parts) == 1:
        return parts[0]
    before, after, change = (np.concatenate([part.errors[i] for part in parts], axis=-1) for i in range(3))
    return Pairs(
        before=np.concatenate([part.before for part in parts]),
        after=np.concatenate([part.after for part in parts], axis=1),
        errors=(before, after, change),
        largest=np.maximum.reduce([part.largest for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Bands:
    """The simultaneous intervals of M fixes: of each group's change, and of gaps before, after and their change."""

    groups: Band
    before: Band
    after: Band
    change: Band
    critical: float
    raised: Bools
    lowered: Bools


def simultaneous(measures: Measures, gaps: GapChanges, level: float, levelled: Sequence[int]) -> Bands:
    """Intervals value +- c se with one c: the `level` quantile of max |replicate - mean| / se over all figures.

    The figures are the changes of all groups, and the differences between groups before, after and their changes; all
    are linear in the groups' values. Intervals of gaps (the largest difference) follow from those of the differences,
    so that they cover also where groups are nearly equal. Standard errors come from the replicates; a rate in which
    nobody changed still has the error of one person, 1 / n. `raised` and `lowered` (M, L, S) say which groups' metrics
    among `levelled` rise or fall by one-sided tests with a common critical value each.
    """
    moved = measures.after_draws - measures.before_draws
    change = measures.after - measures.before
    floor = np.array([1.0 if metric.of_decisions else 0.0 for metric in measures.metrics])[:, None]
    with np.errstate(divide="ignore"):
        floor = np.where(measures.size > 0, floor / measures.size, 0.0)
    own = _errors(moved, floor)
    tops = [_largest(moved, own), *(part.largest for part in gaps.pairs)]
    critical = float(np.quantile(np.maximum.reduce(tops), level))
    ends = [_gap_ends(part, critical) for part in gaps.pairs]
    before, after, moves = (_stack(gaps, [one[number] for one in ends], number) for number in range(3))
    raised, lowered = _one_sided(change[:, levelled, :-1], moved[:, levelled, :-1], own[:, levelled, :-1], level)
    return Bands(_band(change, own, critical), before, after, moves, critical, raised, lowered)


Ends = tuple[Floats, Floats]


def _gap_ends(pairs: Pairs, c: float) -> tuple[Ends, Ends, Ends]:
    """Ends of max |difference| before (,) and after (M,), and of the change of the maximum.

    For a pair that can be the widest afterwards, gap_after - gap_before is at most its own change, and at most its
    upper end afterwards less the lower end of the gap before; the mirror image gives the lower end.
    """
    d = np.concatenate([pairs.before, -pairs.before])
    a = np.concatenate([pairs.after, -pairs.after], axis=-1)
    se_before, se_after, se_change = (c * np.concatenate([error, error], axis=-1) for error in pairs.errors)
    low_before, high_before = d - se_before, d + se_before
    low_after, high_after = a - se_after, a + se_after
    low_gap, high_gap = low_before.max().clip(min=0.0), high_before.max()
    low_gap_after, high_gap_after = low_after.max(axis=-1).clip(min=0.0), high_after.max(axis=-1)
    widest_before = high_before >= low_gap
    widest_after = high_after >= low_gap_after[:, None]
    upper = np.minimum(a - d + se_change, high_after - low_gap)
    lower = np.maximum(a - d - se_change, low_gap_after[:, None] - high_before)
    return (
        (np.asarray(low_gap), np.asarray(high_gap)),
        (low_gap_after, high_gap_after),
        (np.where(widest_before, lower, np.inf).min(axis=-1), np.where(widest_after, upper, -np.inf).max(axis=-1)),
    )


def _stack(gaps: GapChanges, ends: Sequence[Ends], which: int) -> Band:
    """Ends of all figures as one band; those of ratios are put back on their scale."""
    low, high = (np.stack([one[side] for one in ends], axis=-1) for side in (0, 1))
    if which < 2:
        ratio_low, ratio_high = np.exp(-high), np.exp(-low)
        value = (gaps.before, gaps.after)[which]
    else:  # the change of a logarithm, times the value it starts from
        value = gaps.after - gaps.before
        ratio_low, ratio_high = (gaps.before * np.expm1(np.clip(-end, None, 50.0)) for end in (high, low))
        ratio_high = np.minimum(ratio_high, 1.0)  # no ratio is above 1
    return Band(value, np.where(gaps.ratio, ratio_low, low), np.where(gaps.ratio, ratio_high, high))


def _errors(draws: Floats, least: Floats | float) -> Floats:
    return np.sqrt(np.nan_to_num(spread_of(draws)) ** 2 + np.square(least))


def _standardised(draws: Floats, error: Floats) -> Floats:
    """(replicate - mean) / se, one row per figure; undefined replicates and figures without error count as 0."""
    if np.isfinite(draws).all() and (error > 0).all():
        every: Floats = (draws - draws.mean(axis=-1, keepdims=True)) / error[..., None]
        return every.reshape(-1, draws.shape[-1])
    known = np.isfinite(draws)
    n = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    mean = np.where(known, draws, 0.0).sum(axis=-1, keepdims=True) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (draws - mean) / error[..., None]
    return np.where(np.isfinite(t), t, 0.0).reshape(-1, draws.shape[-1])


def _largest(draws: Floats, error: Floats) -> Floats:
    t = _standardised(draws, error)
    return np.maximum(t.max(axis=0), -t.min(axis=0))  # type: ignore[no-any-return]


def _band(value: Floats, error: Floats, critical: float) -> Band:
    half = np.where(np.isnan(value), np.nan, critical * error)
    return Band(value, value - half, value + half)


def _one_sided(change: Floats, moved: Floats, error: Floats, level: float) -> tuple[Bools, Bools]:
    t = _standardised(moved, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.where(error > 0, change / error, 0.0)
    up = np.quantile(t.max(axis=0), level)
    down = np.quantile((-t).max(axis=0), level)
    return observed > up, observed < -down
