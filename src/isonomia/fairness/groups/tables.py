"""The tables of group metrics: each group, each comparison, each disparity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.evidence import Column, Format, Table, free_name
from isonomia.evidence.power import ALPHA
from isonomia.fairness.groups.comparisons import UNSTEADY, Compared, adjust
from isonomia.fairness.groups.detectable import detectable_columns
from isonomia.fairness.groups.gaps import FEW_GROUPS, Disparity, Ends
from isonomia.fairness.groups.grouping import Group, Groups
from isonomia.languages import Message, msg
from isonomia.metrics import Measured
from isonomia.typing import Floats

UNSTEADY_RATIO = msg("the ratio is undefined in most bootstrap replicates, so it has no interval")


def group_columns(groups: Sequence[Group]) -> tuple[Column, Column]:
    """What groups are called and which attributes define them, with their keys."""
    return (
        Column("group", [g.name for g in groups], title=msg("group"), keys=[g.key for g in groups]),
        Column("by", [" x ".join(g.by) for g in groups], title=msg("by"), keys=[g.by for g in groups]),
    )


def by_group_table(
    groups: Groups,
    measured: Mapping[str, Measured],
    sizes: NDArray[np.int64],
    min_per_group: int,
    backend: Backend | None,
) -> Table:
    """A row per group: attributes, rows, each metric with its interval, and what has to be known."""
    m = len(groups.groups)
    few = msg("fewer than {least:int} rows", least=min_per_group)
    columns = [
        Column(free_name(column.name, measured), [group.control[column.name] for group in groups.groups])
        for column in groups.control
    ]
    own = {"n", "small", *measured, *(column.name for column in columns)}
    columns += [
        Column(free_name(name, own), [_value(g.attributes, g.texts, name) for g in groups.groups])
        for name in groups.names
    ]
    small = [few if n < min_per_group else None for n in sizes.tolist()]
    columns.append(Column("n", sizes, reason=small, format="int", title=msg("rows")))
    for name, part in measured.items():
        metric = part.metric
        reasons = _undefined(part, m)
        columns.append(
            Column(
                name,
                part.value[:m],
                part.low[:m],
                part.high[:m],
                reasons,
                format=metric.format,
                title=part.metric.title,
            )
        )
    return Table(tuple(columns), msg("Metrics of each group"), backend)


def _undefined(part: Measured, m: int) -> list[Message | str | None]:
    """Group by group, why a metric has no value or no interval."""

    def about(reason: Any) -> Message:
        return Message("{metric}: {reason}", {"metric": part.metric.title, "reason": reason})

    reasons: list[Message | str | None] = [None] * m
    if not np.isnan(part.value[:m] + part.low[:m]).any():
        return reasons
    for index in np.flatnonzero(np.isnan(part.value[:m])).tolist():
        reasons[index] = about(part.reasons[index])
    for index in np.flatnonzero(np.isnan(part.low[:m]) & ~np.isnan(part.value[:m])).tolist():
        if part.unsure:
            reasons[index] = about(msg("no interval: {reason}", reason=part.unsure[index]))
        elif part.draws is not None:
            reasons[index] = about(UNSTEADY)
    return reasons


def _value(attributes: Mapping[str, Any], texts: Mapping[str, str], name: str) -> Any:
    if name not in attributes:
        return None
    value = attributes[name]
    return texts[name] if value is None or (isinstance(value, int) and texts[name] != str(value)) else value


def comparison_table(
    groups: Groups, compared: Sequence[Compared], measured: Mapping[str, Measured], backend: Backend | None
) -> Table:
    """A row per metric and group: difference, ratio, test and smallest detectable gap against the reference."""
    pairs = [(part.metric, groups.groups[i]) for part in compared for i in part.group]
    references = [name for part in compared for name in part.reference]
    reasons = [_reasons(part, measured[part.metric]) for part in compared]
    gap_style = _gap_format(measured)

    def joined(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in compared])

    def figure(name: str, reason: int, style: Format, title: Message) -> Column:
        ends = joined(f"{name}_low"), joined(f"{name}_high")
        notes = [one for part in reasons for one in part[reason]]
        return Column(name, joined(name), *ends, notes, format=style, title=title)

    keys = [group.key for _, group in pairs]
    tests = [
        ("group_metrics", metric, tuple(group.control.items()), key, reference)
        for (metric, group), key, reference in zip(pairs, keys, references, strict=True)
    ]
    behind = [tuple(row) for part in compared for row in part.behind.tolist()]
    made = int((~np.isnan(joined("p_value"))).sum())
    return Table(
        (
            Column("metric", [metric for metric, _ in pairs], title=msg("metric")),
            *(Column(factor.name, [group.control[factor.name] for _, group in pairs]) for factor in groups.control),
            Column("group", [group.name for _, group in pairs], title=msg("group"), keys=keys),
            Column("reference", references, title=msg("reference")),
            figure("difference", 0, gap_style, msg("difference")),
            figure("ratio", 1, "num", msg("ratio")),
            Column("p_value", joined("p_value"), format="p", title=msg("p-value"), keys=tests),
            Column("p_adjusted", np.concatenate(adjust(compared)), format="p", title=msg("p adjusted")),
            *detectable_columns(behind, ALPHA / max(made, 1), gap_style),
        ),
        msg("Groups compared with their reference"),
        backend,
    )


def _gap_format(measured: Mapping[str, Measured]) -> Format:
    """Differences of rates are points, as findings tell them; where other metrics stand among them, plain numbers."""
    return "points" if all(part.metric.format == "pct" for part in measured.values()) else "num"


def _reasons(part: Compared, measured: Measured) -> tuple[list[Message | str | None], list[Message | str | None]]:
    """Why a difference, or a ratio, is missing; that metrics which can be negative have no ratios is noted apart."""
    gaps: list[Message | str | None] = [None] * len(part.group)
    ratios: list[Message | str | None] = [None] * len(part.group)
    if not np.isnan(part.difference_low + part.ratio_low).any():
        return gaps, ratios
    for index in np.flatnonzero(np.isnan(part.difference)).tolist():
        own = measured.reasons[part.group[index]] if measured.reasons else None
        gaps[index] = own or msg("the reference has no value")
    if measured.unsure:
        for index in np.flatnonzero(np.isnan(part.difference_low) & ~np.isnan(part.difference)).tolist():
            gaps[index] = measured.unsure[part.group[index]] or msg("the reference's value has no interval")
    elif measured.draws is not None:
        for index in np.flatnonzero(np.isnan(part.difference_low) & ~np.isnan(part.difference)).tolist():
            gaps[index] = UNSTEADY
        for index in np.flatnonzero(np.isnan(part.ratio_low) & ~np.isnan(part.ratio)).tolist():
            ratios[index] = None if gaps[index] else UNSTEADY_RATIO
    if measured.metric.range[0] >= 0:
        for index in np.flatnonzero(np.isnan(part.ratio) & ~np.isnan(part.difference)).tolist():
            ratios[index] = msg("no ratio: the reference's value is 0")
    return gaps, ratios


def disparity_table(
    groups: Groups,
    measured: Mapping[str, Measured],
    gaps: Sequence[Disparity],
    ends: Sequence[Ends],
    backend: Backend | None,
) -> Table:
    """A row per metric and way of grouping: the largest less the smallest value, and their ratio.

    `ends` are those of the gaps that there are, in their order.
    """
    known = [row for row, one in enumerate(gaps) if one.gap is not None]
    found = [one.gap for one in gaps if one.gap is not None]
    low, high, ratio_low, ratio_high, difference, ratio = np.full((6, len(gaps)), np.nan)
    if found:
        low[known], high[known], ratio_low[known], ratio_high[known] = np.transpose(ends)
        difference[known], ratio[known] = np.transpose([(gap.difference, gap.ratio) for gap in found])
    for value, sides in ((difference, (low, high)), (ratio, (ratio_low, ratio_high))):
        for side in sides:
            side[np.isnan(value)] = np.nan
    unsteady = np.isnan(low) & ~np.isnan(difference), np.isnan(ratio_low) & ~np.isnan(ratio)
    reasons = [_of_gap(one, *(bool(part[row]) for part in unsteady)) for row, one in enumerate(gaps)]
    extremes = [("lowest", msg("smallest in")), ("highest", msg("largest in"))]
    names = [group.name for group in groups.groups]
    ways = [one.stratum.by for one in gaps]
    return Table(
        (
            Column("metric", [one.metric for one in gaps], title=msg("metric")),
            Column("by", [" x ".join(way) for way in ways], title=msg("by"), keys=ways),
            *(Column(factor.name, [one.stratum.control[factor.name] for one in gaps]) for factor in groups.control),
            Column(
                "difference",
                difference,
                low,
                high,
                [reason for reason, _ in reasons],
                format=_gap_format(measured),
                title=msg("largest - smallest"),
            ),
            Column(
                "ratio",
                ratio,
                ratio_low,
                ratio_high,
                [reason for _, reason in reasons],
                format="num",
                title=msg("smallest / largest"),
            ),
            *(
                Column(end, [None if one.gap is None else names[getattr(one.gap, end)] for one in gaps], title=title)
                for end, title in extremes
            ),
        ),
        msg("Disparity between groups"),
        backend,
    )


def _of_gap(one: Disparity, unsteady: bool, unsteady_ratio: bool) -> tuple[Message | None, Message | None]:
    """Why a gap, or a ratio, is missing or has no interval; what is noted about the gap is not repeated."""
    if one.gap is None:
        return FEW_GROUPS, None
    part = one.gap.part
    drawn = part.draws is not None
    difference = UNSTEADY if unsteady and drawn else None
    if part.metric.range[0] >= 0 and np.isnan(one.gap.ratio):
        return difference, msg("no ratio: the largest value is 0")
    return difference, UNSTEADY_RATIO if unsteady_ratio and drawn and difference is None else None
