"""What `gap` returns: tables, findings and sentences about contributions of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from isonomia.evidence import Column, Estimate, Finding, Picture, Result, Table, benjamini_hochberg, simultaneous_level
from isonomia.evidence.column import Format
from isonomia.explain.attribute_use import spread
from isonomia.explain.between_groups import Between
from isonomia.explain.compared import Compared
from isonomia.explain.outputs import MEAN_NAMES, OUTPUT_NAMES
from isonomia.explain.prepare import Prepared
from isonomia.languages import ColumnName, Message, People, msg, once
from isonomia.typing import Floats

#: Whose mean outputs are compared: everyone's, or those of people with a positive (negative) true outcome.
GapCriterion = Literal["demographic_parity", "equal_opportunity", "predictive_equality"]
#: Contributions add up to the gap within this.
_ROUNDING = 1e-12
_SAMPLED = msg("Contributions are sampled; their intervals include the sampling error.")


@dataclass(frozen=True)
class GapDecomposition(Result):
    """What makes the gap between groups (see `gap`).

    ``tables["contributions"]``: a row per group and column. ``tables["groups"]``: a row per group with its gap.

    Attributes
    ----------
    gaps : mapping of Estimate
        The mean output of each group less that of the reference.
    parts : mapping of Between
        For each group, the contributions as arrays in the order of `columns`.
    columns : tuple of str
        The columns that the model takes.
    attribute, reference, method, output : str
    additivity : float
        The largest |sum of contributions - gap|.
    model_rows : int
        How many rows the model was asked about.
    label : str or None
        The class explained where it is one of several.
    """

    gaps: Mapping[str, Estimate] = field(default_factory=dict, kw_only=True)
    parts: Mapping[str, Between] = field(default_factory=dict, kw_only=True)
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    attribute: str = field(default="", kw_only=True)
    reference: str = field(default="", kw_only=True)
    method: str = field(default="", kw_only=True)
    output: str = field(default="", kw_only=True)
    additivity: float = field(default=0.0, kw_only=True)
    model_rows: int = field(default=0, kw_only=True)
    label: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Decomposed:
    """Contributions to the gap of each group (but the reference, 0); sizes and mean outputs of all groups."""

    parts: dict[int, Between]
    sizes: list[int]
    means: list[float]
    method: str


def gap_result(
    prepared: Prepared, groups: Compared, found: Decomposed, *, criterion: GapCriterion, threshold: float
) -> GapDecomposition:
    """The result with its tables and findings."""
    level, names = prepared.subject.settings.level, prepared.space.players.names
    format_: Format = "points" if prepared.output in ("probability", "decision", "rescaled") else "num4"
    adjusted = benjamini_hochberg(np.stack([part.p_value for part in found.parts.values()]))
    teller = _Findings(prepared, groups, threshold=threshold, tests=adjusted.size, format_=format_)
    gaps: dict[str, Estimate] = {}
    rows, totals, findings = [], [], []
    for (group, part), p_adjusted in zip(found.parts.items(), adjusted, strict=True):
        name, size = groups.names[group], found.sizes[group]
        gaps[name] = part.total_estimate(size, level)
        rows += _rows(part, p_adjusted, name, names, gaps[name])
        totals.append(
            {"group": name, "n": size, "mean": found.means[group], "reference": found.means[0], "gap": gaps[name]}
        )
        findings += teller.of(part, p_adjusted, name, size)
    off = max(abs(part.total - (found.means[group] - found.means[0])) for group, part in found.parts.items())
    notes = once(note for part in found.parts.values() for note in part.notes)
    pictures = tuple(_waterfall(prepared, groups, groups.names[group], found.means[0]) for group in found.parts)
    return prepared.subject.noted(
        GapDecomposition(
            "explain_gap",
            prepared.about(msg("What makes up the gap between groups of {column}", column=groups.attribute)),
            _tables(prepared, groups, rows, totals, format_),
            {"additivity": off},
            tuple(findings),
            pictures,
            (_who(criterion), *((_SAMPLED,) if found.method == "sampling" else ()), *notes),
            titles={"additivity": msg("sum of the contributions less the gap")},
            formats={"additivity": "num"},
            gaps=gaps,
            parts={groups.names[group]: part for group, part in found.parts.items()},
            columns=names,
            attribute=groups.attribute,
            reference=groups.names[0],
            method=found.method,
            output=prepared.output,
            additivity=off,
            model_rows=prepared.space.model_rows,
            label=prepared.label,
        )
    )


def _waterfall(prepared: Prepared, groups: Compared, group: str, start: float) -> Picture:
    """From the mean output of the reference to that of a group, column by column."""
    reference, people = (People.of({groups.attribute: name}) for name in (groups.names[0], group))
    return Picture(
        "waterfall",
        "contributions",
        prepared.about(
            msg("From {reference} to {group}: what each column adds to the gap", reference=reference, group=people)
        ),
        {
            "labels": "column",
            "value": "contribution",
            "where": {"group": group},
            "start": start,
            "start_label": msg("mean of {group}", group=reference),
            "end_label": msg("mean of {group}", group=people),
            "x_title": OUTPUT_NAMES[prepared.output],
        },
    )


def _rows(
    part: Between, p_adjusted: Floats, name: str, columns: tuple[str, ...], whole: Estimate
) -> list[dict[str, Any]]:
    """A row per column, the largest contribution first."""
    low, high = part.ends(whole.level)
    return [
        {
            "group": name,
            "column": columns[at],
            "contribution": (float(part.value[at]), float(low[at]), float(high[at])),
            "share": _share(part, int(at), whole),
            "p_value": known_p(part.p_value[at]),
            "p_adjusted": known_p(p_adjusted[at]),
        }
        for at in np.argsort(-np.abs(part.value), kind="stable")
    ]


def _tables(
    prepared: Prepared, groups: Compared, rows: list[dict[str, Any]], totals: list[dict[str, Any]], format_: Format
) -> dict[str, Table]:
    what, backend = OUTPUT_NAMES[prepared.output], prepared.subject.backend
    title = prepared.about(msg("What each column adds to the gap in the {what}", what=what))
    return {
        "contributions": Table.from_rows(rows, _contribution_columns(format_), title=title, backend=backend),
        "groups": Table.from_rows(
            totals,
            _group_columns(format_, People.of({groups.attribute: groups.names[0]})),
            title=prepared.about(msg("Mean {what} of each group", what=what)),
            backend=backend,
        ),
    }


class _Findings:
    """Columns whose contribution differs from 0 after adjusting, and is large enough to matter."""

    def __init__(self, prepared: Prepared, groups: Compared, *, threshold: float, tests: int, format_: Format) -> None:
        self.groups, self.threshold, self.format = groups, threshold, format_
        self.columns, self.about = prepared.space.players.names, prepared.about
        self.what = MEAN_NAMES[prepared.output]
        self.alpha = 1 - prepared.subject.settings.level
        self.level = simultaneous_level(prepared.subject.settings.level, tests)
        self.scale = 1.0 if format_ == "points" else spread(prepared)

    def of(self, part: Between, p_adjusted: Floats, name: str, n: int) -> list[Finding]:
        """The findings about one group."""
        low, high = part.ends(self.level)
        size = np.abs(part.value) / self.scale
        # without a p-value the contribution is the same for everyone: it is what it is
        sure = (p_adjusted < self.alpha) | np.isnan(part.p_value)
        return [
            self._finding(part, int(at), (float(low[at]), float(high[at])), known_p(p_adjusted[at]), name, n)
            for at in np.argsort(-size, kind="stable")
            if sure[at] and size[at] >= self.threshold
        ]

    def _finding(
        self, part: Between, at: int, ends: tuple[float, float], p_adjusted: float | Message, name: str, n: int
    ) -> Finding:
        attribute, reference, column, value = *self._who(), self.columns[at], float(part.value[at])
        tested = not np.isnan(part.p_value[at])
        return Finding(
            code="explain_gap.contribution",
            severity="notice",
            message=self.about(
                _sentence(
                    self.format,
                    value,
                    part.total,
                    what=self.what,
                    column=ColumnName(column),
                    group=People.of({attribute: name}),
                    reference=People.of({attribute: reference}),
                )
            ),
            estimate=Estimate(value, *ends, n=n, method="simultaneous", level=self.level),
            who={attribute: name},
            n=n,
            magnitude=abs(value) / self.scale / self.threshold,
            p_value=float(part.p_value[at]) if tested else None,
            p_adjusted=p_adjusted if isinstance(p_adjusted, float) else None,
            threshold=self.threshold,
            reference={attribute: reference},
            remedy="remove_attribute" if column == attribute else "examine_proxies",
            evidence="explain_gap/contributions",
            format=self.format,
            columns=(column,),
            topic="use",
        )

    def _who(self) -> tuple[str, str]:
        return self.groups.attribute, self.groups.names[0]


def _sentence(format_: Format, value: float, total: float, **facts: Any) -> Message:
    """How much of a gap comes from a column; one may work the other way, or be more than the whole gap."""
    lower = msg("lower") if total < 0 else msg("higher")
    given = {"value": abs(value), "total": abs(total), "lower": lower, **facts}
    widens, points = (value < 0) == (total < 0), format_ == "points"
    if not widens and points:
        return msg(
            "{what:first} is {total:points} points {lower} for {group} than for {reference}; {column} works the other "
            "way, by {value:points} points.",
            **given,
        )
    if not widens:
        return msg(
            "{what:first} is {total:num} {lower} for {group} than for {reference}; {column} works the other way, by "
            "{value:num}.",
            **given,
        )
    if abs(value) > abs(total) and points:
        return msg(
            "{what:first} is {total:points} points {lower} for {group} than for {reference}; {column} alone would make "
            "it {value:points} points.",
            **given,
        )
    if abs(value) > abs(total):
        return msg(
            "{what:first} is {total:num} {lower} for {group} than for {reference}; {column} alone would make it "
            "{value:num}.",
            **given,
        )
    if points:
        return msg(
            "{what:first} is {total:points} points {lower} for {group} than for {reference}; {value:points} of them "
            "come from {column}.",
            **given,
        )
    return msg(
        "{what:first} is {total:num} {lower} for {group} than for {reference}; {value:num} of that comes from "
        "{column}.",
        **given,
    )


def _share(part: Between, at: int, whole: Estimate) -> float | Message:
    """The share of the gap; none where the gap may be 0, since then shares mean nothing.

    A gap of the size of rounding errors, as a model that gives everyone the same output has, is 0.
    """
    if whole.low is None or whole.high is None or (whole.low <= _ROUNDING and whole.high >= -_ROUNDING):
        return msg("the gap may be 0")
    return float(part.value[at] / part.total)


def known_p(p: float) -> float | Message:
    return msg("it is the same for everyone") if np.isnan(p) else float(p)


def _who(criterion: GapCriterion) -> Message:
    if criterion == "equal_opportunity":
        return msg("People whose true outcome is positive are compared.")
    if criterion == "predictive_equality":
        return msg("People whose true outcome is negative are compared.")
    return msg("Everyone is compared, whatever the true outcome.")


def _contribution_columns(format_: Format) -> tuple[Column, ...]:
    return (
        Column("group", title=msg("group")),
        Column("column", title=msg("column")),
        Column("contribution", format=format_, title=msg("contribution to the gap")),
        Column("share", format="pct", title=msg("share of the gap")),
        Column("p_value", format="p", title=msg("p-value")),
        Column("p_adjusted", format="p", title=msg("adjusted p-value")),
    )


def _group_columns(format_: Format, reference: People) -> tuple[Column, ...]:
    plain: Format = "pct" if format_ == "points" else "num4"
    return (
        Column("group", title=msg("group")),
        Column("n", format="int", title=msg("rows")),
        Column("mean", format=plain, title=msg("mean")),
        Column("reference", format=plain, title=msg("mean of {group}", group=reference)),
        Column("gap", format=format_, title=msg("gap")),
    )
