"""Selection rates (for scores: scoring rates) and impact ratios of every category and intersection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.audit.check_registry import check
from isonomia.counting import tally
from isonomia.errors import NotApplicable
from isonomia.evidence import Column, Result, Table, wilson
from isonomia.evidence.intervals import quotient
from isonomia.evidence.simultaneous import ratios_to_best
from isonomia.fairness import Group, form_groups
from isonomia.languages import Message, msg
from isonomia.parameters import Choice, Number, Parameter
from isonomia.subject import Subject
from isonomia.typing import Bools, Floats

Rate = Literal["auto", "selection", "scoring"]


@check(
    "impact_ratios",
    order=75,
    family="people",
    title=msg("Impact ratios"),
    question=msg("At what rate is each category selected, compared with the category that has the highest rate?"),
    purpose="selection (or scoring) rate and impact ratio of every category and intersection: 6 RCNY 5-301",
    within="named",
    parameters=(
        Parameter(
            "rate",
            Choice(("auto", "selection", "scoring")),
            "auto",
            "selection: decisions; scoring: scores above the median of the sample; auto: decisions where there are any",
        ),
        Parameter(
            "min_share",
            Number(at_least=0, below=1),
            0.02,
            "categories with a smaller share of the people have no ratio; their count and rate stay",
        ),
    ),
)
def impact_ratios(subject: Subject, *, rate: Rate, min_share: float) -> Result:
    """A row per category: people, how many were selected, the rate and its ratio to the highest rate.

    The impact ratio of a category is its rate over the highest rate among the categories of the same attribute (or the
    same intersection) that are at least `min_share` of the people. People of unknown category are counted apart.

    References
    ----------
    6 RCNY 5-301(b) (selection rates), (c) (scoring rates), (d) (categories below 2%).
    """
    columns = subject.needs_attributes()
    selected, median = _selected(subject, rate)
    groups = form_groups(columns, by="all")
    counted = tally([groups.cells], values={"selected": selected.astype(float)})
    member = groups.indicator([group.cells for group in groups.groups])
    sizes, hits = counted.n @ member, counted.sums["selected"] @ member
    known = np.array([None not in group.attributes.values() for group in groups.groups], dtype=bool)
    kept = [group for group, one in zip(groups.groups, known, strict=True) if one]
    table = _table(kept, sizes[known].astype(int), hits[known], subject, min_share, scoring=median is not None)
    unknown = _unknown(subject)
    notes: list[Message] = [
        msg(
            "Categories that are less than {share:pct} of the people have no impact ratio; their count and rate are "
            "shown.",
            share=min_share,
        ),
        msg(
            "The highest rate is the one that came out highest. The intervals of the impact ratios allow for that, and "
            "hold for all categories of an attribute together."
        ),
    ]
    if median is not None:
        notes.append(
            msg(
                "The scoring rate is the share of people whose score is above the sample's median, {median:num}.",
                median=median,
            )
        )
    return Result(
        "impact_ratios",
        msg("Impact ratios"),
        {"impact_ratios": table, "unknown": unknown},
        {"people": len(subject), "unknown": int(unknown["n"].values[-1])},
        notes=tuple(notes),
        titles={"people": msg("people"), "unknown": msg("people of unknown category")},
    )


def _selected(subject: Subject, rate: Rate) -> tuple[Bools, float | None]:
    """Who was selected, or whose score is above the median, and that median."""
    surface = subject.surface
    if subject.task == "multiclass" and not subject.favourable:
        raise NotApplicable(msg("an impact ratio needs two classes, of which one is favourable, or a score"))
    if rate != "scoring" and surface.label is not None and subject.favourable:
        return np.isin(surface.label, [surface.classes.index(label) for label in subject.favourable]), None
    if subject.task == "multiclass":
        raise NotApplicable(msg("several classes have a rate of favourable decisions, but no one score"))
    if rate == "selection":
        raise NotApplicable(msg("there are scores but no decisions"))
    numbers = next(
        (part for part in (surface.score, surface.probability, surface.continuous) if part is not None), None
    )
    if numbers is None:
        raise NotApplicable(msg("there are decisions but no scores"))
    scores: NDArray[np.float64] = np.asarray(numbers, dtype=float)
    median = float(np.median(scores))
    return scores > median, median


def _table(
    groups: Sequence[Group],
    sizes: NDArray[np.int64],
    hits: Floats,
    subject: Subject,
    min_share: float,
    *,
    scoring: bool,
) -> Table:
    level = subject.settings.level
    large = sizes >= min_share * len(subject)
    rate = quotient(hits, sizes.astype(float))
    best = _best(groups, np.where(large, rate, np.nan))
    valued = (best >= 0) & large
    at = np.maximum(best, 0)
    ratio = np.where(valued, quotient(rate, rate[at]), np.nan)
    low, high = np.full((2, len(groups)), np.nan)
    for one in np.unique(best[valued]):
        alike = np.flatnonzero(valued & (best == one) & ~np.isnan(ratio))
        low[alike], high[alike] = ratios_to_best(hits[alike], sizes[alike].astype(float), level)
    small = msg("less than {share:pct} of the people: left out of the ratio", share=min_share)
    nobody = msg("nobody was selected in any category")
    reasons = [
        None if not np.isnan(value) else small if not enough else nobody
        for value, enough in zip(ratio, large, strict=True)
    ]
    return Table(
        (
            Column("by", [" x ".join(g.by) for g in groups], title=msg("by"), keys=[g.by for g in groups]),
            Column("group", [g.name for g in groups], title=msg("category"), keys=[g.key for g in groups]),
            Column("n", sizes, format="int", title=msg("people")),
            Column(
                "selected",
                hits.astype(int),
                format="int",
                title=msg("above the median") if scoring else msg("selected"),
            ),
            Column(
                "rate",
                rate,
                *wilson(hits, sizes, level),
                format="pct",
                title=msg("scoring rate") if scoring else msg("selection rate"),
            ),
            Column("ratio", ratio, low, high, reason=reasons, format="num", title=msg("impact ratio")),
        ),
        msg("Impact ratios by category and intersection"),
        subject.backend,
    )


def _best(groups: Sequence[Group], rate: Floats) -> NDArray[np.intp]:
    """For each category the one with the highest rate among those of the same attributes; -1 without one."""
    found: dict[tuple[str, ...], int] = {}
    for index, group in enumerate(groups):
        first = found.get(group.by)
        if not np.isnan(rate[index]) and (first is None or rate[index] > rate[first]):
            found[group.by] = index
    return np.array([found.get(group.by, -1) for group in groups], dtype=np.intp)


def _unknown(subject: Subject) -> Table:
    """How many people have no known category, by attribute and in any of them."""
    absent = [np.zeros(len(subject), bool) if c.missing is None else c.codes == c.missing for c in subject.attributes]
    names: list[Message | str] = [column.name for column in subject.attributes]
    parts = [*absent, np.logical_or.reduce(absent)]
    n = np.array([int(part.sum()) for part in parts])
    total = np.full(n.size, len(subject))
    return Table(
        (
            Column("attribute", [*names, msg("any of them")], title=msg("protected attribute")),
            Column("n", n, format="int", title=msg("people of unknown category")),
            Column("share", n / total, *wilson(n, total, subject.settings.level), format="pct", title=msg("share")),
        ),
        msg("People of unknown category"),
        subject.backend,
    )
