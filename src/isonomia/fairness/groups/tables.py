"""The tables of group metrics: each group, each comparison, each disparity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Backend
from isonomia.evidence import Column, Format, Table
from isonomia.evidence.intervals import bootstrap_interval
from isonomia.fairness.groups.comparisons import UNSTEADY, Compared, Stratum, adjust
from isonomia.fairness.groups.gaps import FEW_GROUPS, Gap, gap_of
from isonomia.fairness.groups.grouping import Group, Groups
from isonomia.languages import Message, msg
from isonomia.metrics import Measured

UNSTEADY_RATIO = msg("the ratio is undefined in most bootstrap replicates, so it has no interval")


def group_columns(groups: Sequence[Group]) -> tuple[Column, Column]:
    """What groups are called and which attributes define them, with their keys."""
    return (
        Column("group", [g.name for g in groups], title=msg("group"), keys=[tuple(g.texts.items()) for g in groups]),
        Column("by", [" x ".join(g.by) for g in groups], title=msg("by"), keys=[g.by for g in groups]),
    )


def by_group_table(
    groups: Groups, measured: Mapping[str, Measured], sizes: NDArray[np.int64], min_per_group: int, backend: Backend
) -> Table:
    """A row a group: attributes, rows, each metric with its interval, and what has to be known."""
    m = len(groups.groups)
    columns: dict[str, Any] = {}
    for column in groups.control:
        columns[column.name] = [group.control[column.name] for group in groups.groups]
    for name in groups.names:
        columns[name] = [_value(group.attributes, group.texts, name) for group in groups.groups]
    formats: dict[str, Format] = {"n": "int"}
    titles: dict[str, Message] = {"n": msg("rows"), "note": msg("note")}
    columns["n"] = sizes
    for name, part in measured.items():
        columns |= {name: part.value[:m], f"{name}_low": part.low[:m], f"{name}_high": part.high[:m]}
        formats |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), part.metric.format)
        titles |= {name: part.metric.title, f"{name}_low": msg("from"), f"{name}_high": msg("to")}
    columns["note"] = _remarks(measured, sizes, min_per_group)
    return Table.of(columns, formats, titles, msg("Metrics of each group"), backend)


def _remarks(measured: Mapping[str, Measured], sizes: NDArray[np.int64], min_per_group: int) -> list[Message | None]:
    """What to know about each group: few rows, values that are not defined."""
    remarks: list[Message | None] = [None] * sizes.size

    def add(index: int, remark: Message) -> None:
        before = remarks[index]
        remarks[index] = (
            remark if before is None else Message("{before}; {remark}", {"before": before, "remark": remark})
        )

    for index in np.flatnonzero(sizes < min_per_group).tolist():
        add(index, msg("fewer than {least:int} rows", least=min_per_group))
    for part in measured.values():
        for index in np.flatnonzero(np.isnan(part.value[: sizes.size])).tolist():
            add(index, Message("{metric}: {reason}", {"metric": part.metric.title, "reason": part.reasons[index]}))
        if part.draws is not None:
            low, value = part.low[: sizes.size], part.value[: sizes.size]
            for index in np.flatnonzero(np.isnan(low) & ~np.isnan(value)).tolist():
                add(index, Message("{metric}: {reason}", {"metric": part.metric.title, "reason": UNSTEADY}))
    return remarks


def _value(attributes: Mapping[str, Any], texts: Mapping[str, str], name: str) -> Any:
    if name not in attributes:
        return None
    value = attributes[name]
    return texts[name] if value is None or (isinstance(value, int) and texts[name] != str(value)) else value


def comparison_table(
    groups: Groups, compared: Sequence[Compared], measured: Mapping[str, Measured], backend: Backend
) -> Table:
    """A row a metric and group: difference, ratio, test and smallest detectable gap against the reference."""
    adjusted = adjust(compared)
    columns: dict[str, Any] = {
        "metric": [part.metric for part in compared for _ in part.group],
    }
    for held in groups.control:
        columns[held.name] = [groups.groups[i].control[held.name] for part in compared for i in part.group]
    columns["group"] = [groups.groups[i].name for part in compared for i in part.group]
    columns["reference"] = [name for part in compared for name in part.reference]
    for name in ("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "p_value"):
        columns[name] = np.concatenate([getattr(part, name) for part in compared])
    columns["p_adjusted"] = np.concatenate(adjusted)
    columns["detectable"] = np.concatenate([part.detectable for part in compared])
    columns["note"] = [note for part in compared for note in _reasons(part, measured[part.metric])]
    formats: dict[str, Format] = {"p_value": "p", "p_adjusted": "p"}
    formats |= dict.fromkeys(("ratio", "ratio_low", "ratio_high"), "num")
    formats |= dict.fromkeys(("difference", "difference_low", "difference_high", "detectable"), _gap_format(measured))
    titles = {
        "metric": msg("metric"),
        "group": msg("group"),
        "reference": msg("reference"),
        "difference": msg("difference"),
        "ratio": msg("ratio"),
        "difference_low": msg("from"),
        "difference_high": msg("to"),
        "ratio_low": msg("from"),
        "ratio_high": msg("to"),
        "p_value": msg("p-value"),
        "p_adjusted": msg("p adjusted"),
        "detectable": msg("smallest detectable gap"),
        "note": msg("note"),
    }
    return Table.of(columns, formats, titles, msg("Groups against their reference"), backend)


def _gap_format(measured: Mapping[str, Measured]) -> Format:
    """Differences of rates are points, as findings tell them; where other metrics stand among them, plain numbers."""
    return "points" if all(part.metric.format == "pct" for part in measured.values()) else "num"


def _reasons(part: Compared, measured: Measured) -> list[Message | str | None]:
    """Why a difference or a ratio is missing; that metrics which can be negative have no ratios is told once, apart."""
    notes: list[Message | str | None] = [None] * len(part.group)
    for index in np.flatnonzero(np.isnan(part.difference)).tolist():
        own = measured.reasons[part.group[index]] if measured.reasons else None
        notes[index] = own or msg("the reference has no value")
    if measured.draws is not None:
        for index in np.flatnonzero(np.isnan(part.difference_low) & ~np.isnan(part.difference)).tolist():
            notes[index] = UNSTEADY
        for index in np.flatnonzero(np.isnan(part.ratio_low) & ~np.isnan(part.ratio)).tolist():
            notes[index] = notes[index] or UNSTEADY_RATIO
    if measured.metric.range[0] >= 0:
        for index in np.flatnonzero(np.isnan(part.ratio) & ~np.isnan(part.difference)).tolist():
            notes[index] = msg("no ratio: the reference's value is 0")
    return notes


def disparity_table(
    groups: Groups,
    measured: Mapping[str, Measured],
    strata: Sequence[Stratum],
    sizes: NDArray[np.int64],
    min_per_group: int,
    level: float,
    backend: Backend,
) -> Table:
    """A row per metric and way of grouping: the largest less the smallest value, and their ratio."""
    rows: list[dict[str, Any]] = []
    found: list[tuple[dict[str, Any], Gap]] = []
    for name, part in measured.items():
        for stratum in strata:
            index = np.array(stratum.members)
            used = index[(sizes[index] >= min_per_group) & ~np.isnan(part.value[index])]
            rows.append({"metric": name, "by": " x ".join(stratum.by), **stratum.control, **dict.fromkeys(_GAP_KEYS)})
            if used.size < 2:
                rows[-1]["note"] = FEW_GROUPS
                continue
            found.append((rows[-1], gap_of(part, stratum.by, stratum.control, used)))
            if part.metric.range[0] >= 0 and np.isnan(found[-1][1].ratio):
                rows[-1]["note"] = msg("no ratio: the largest value is 0")
    for row, gap in found:
        row["lowest"], row["highest"] = groups.groups[gap.lowest].name, groups.groups[gap.highest].name
    _fill(found, "difference", UNSTEADY, level)
    _fill(found, "ratio", UNSTEADY_RATIO, level)
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    formats: dict[str, Format] = dict.fromkeys(
        ("difference", "difference_low", "difference_high"), _gap_format(measured)
    )
    formats |= dict.fromkeys(("ratio", "ratio_low", "ratio_high"), "num")
    return Table.of(columns, formats, _DISPARITY_TITLES, msg("Disparity between groups"), backend)


_DISPARITY_TITLES = {
    "metric": msg("metric"),
    "by": msg("by"),
    "difference": msg("largest - smallest"),
    "ratio": msg("smallest / largest"),
    "difference_low": msg("from"),
    "difference_high": msg("to"),
    "ratio_low": msg("from"),
    "ratio_high": msg("to"),
    "lowest": msg("smallest in"),
    "highest": msg("largest in"),
    "note": msg("note"),
}


_GAP_KEYS = (
    "difference",
    "difference_low",
    "difference_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "lowest",
    "highest",
    "note",
)


def _fill(
    found: Sequence[tuple[dict[str, Any], Gap]], what: Literal["difference", "ratio"], unsteady: Message, level: float
) -> None:
    """Write the gaps (or ratios) and their intervals into their rows, all intervals at once."""
    known = [(row, gap) for row, gap in found if not np.isnan(getattr(gap, what))]
    for row, gap in known:
        row[what] = getattr(gap, what)
    drawn = [(row, draws) for row, gap in known if (draws := getattr(gap, f"{what}_draws")) is not None]
    if not drawn:
        return
    value = np.array([row[what] for row, _ in drawn])
    ends = bootstrap_interval(value, np.stack([draws for _, draws in drawn]), level, hold=True)
    for (row, _), low, high in zip(drawn, *(end.tolist() for end in ends), strict=True):
        row[f"{what}_low"], row[f"{what}_high"] = low, high
        if np.isnan(low):
            row["note"] = row["note"] or unsteady
