"""Who is in the data: the share of each group, and how often its true outcome is favourable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.counting import tally
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Picture, Result, Table, wilson
from isonomia.fairness import Group, Representation, form_groups
from isonomia.fairness import representation as compare_with_population
from isonomia.languages import ColumnName, Message, People, msg
from isonomia.parameters import Anything, Choice, Either, Keyed, Parameter
from isonomia.subject import Subject

#: An attribute with more thin groups than this has one finding about all of them.
MANY = 8


@check(
    "representation",
    counted=True,
    order=10,
    family="people",
    title=msg("Representation"),
    question=msg("Which groups are in the data, and which are barely represented?"),
    purpose="share and size of every group, and its base rate",
    within="quick",
    parameters=(
        Parameter(
            "population",
            Either(Choice(("uniform",)), Keyed(Anything("shares of the groups"))).or_none(),
            None,
            "the shares that groups should have: {attribute: {group: share}}",
            own="uniform",
        ),
    ),
)
def representation(subject: Subject, *, population: Any) -> Result:
    """Rows and share of every group of each attribute, with the rate (or mean) of its true outcomes."""
    columns = subject.needs_attributes()
    groups = form_groups(columns, by="each")
    cells = tally([groups.cells], counts=subject.counts).n
    sizes = (cells @ groups.indicator([group.cells for group in groups.groups])).astype(int)
    total = len(subject)
    low, high = wilson(sizes, np.full(sizes.size, total), subject.settings.level)
    least = max(THRESHOLDS["thin_share"].reported, subject.settings.min_per_group / total)
    thin = [(group, size) for group, size in zip(groups.groups, sizes.tolist(), strict=True) if size / total < least]
    findings = []
    for attribute in dict.fromkeys(group.by[0] for group, _ in thin):
        here = [(group, size) for group, size in thin if group.by[0] == attribute]
        if len(here) > MANY:
            findings.append(_many_thin(attribute, [size for _, size in here], total, least))
        else:
            findings += [_thin(group, size, total, least) for group, size in here]
    table = Table(
        (
            Column("attribute", [group.by[0] for group in groups.groups], title=msg("protected attribute")),
            Column("group", [next(iter(group.texts.values())) for group in groups.groups], title=msg("group")),
            Column("n", sizes, format="int", title=msg("rows")),
            Column("share", sizes / total, low, high, format="pct", title=msg("share")),
        ),
        msg("Groups in the data"),
        subject.backend,
    )
    picture = Picture(
        "bars", "groups", msg("Share of each group"), {"labels": "group", "value": "share", "facet": "attribute"}
    )
    tables = {"groups": table}
    notes: tuple[Message, ...] = ()
    if population is not None:
        against = compare_with_population(subject, population=population)
        tables |= {"population": against.tables["groups"], "population_tests": against.tables["tests"]}
        notes = against.notes
        findings += _against_population(against, subject)
    return Result(
        "representation",
        msg("Representation"),
        tables,
        {"groups": len(groups.groups)},
        tuple(findings),
        (picture,),
        notes,
        titles={"groups": msg("groups")},
    )


def _thin(group: Group, size: int, total: int, least: float) -> Finding:
    """A group that is barely in the data."""
    return Finding(
        "representation.thin_group",
        "notice",
        msg(
            "The data have only {n:# record|# records} of {group} ({share:pct}): figures about them are uncertain.",
            group=group.name,
            n=size,
            share=size / total,
        ),
        Estimate(size / total, n=total, method="count"),
        who=dict(group.texts),
        n=size,
        magnitude=min(least * total / max(size, 1), 10.0),
        threshold=least,
        format="pct",
        remedy="collect_rows",
        evidence="representation/groups",
    )


def _many_thin(attribute: str, sizes: list[int], total: int, least: float) -> Finding:
    """An attribute with many values, such as a date of birth or a postcode: its groups are one finding."""
    share = sum(sizes) / total
    return Finding(
        "representation.many_thin_groups",
        "notice",
        msg(
            "By {attribute}, {groups:int} groups have fewer than {least:int} records each, {n:int} in all "
            "({share:pct}): figures about them are uncertain.",
            attribute=ColumnName(attribute),
            groups=len(sizes),
            least=math.ceil(least * total),
            n=sum(sizes),
            share=share,
        ),
        Estimate(share, n=total, method="count"),
        columns=(attribute,),
        n=sum(sizes),
        magnitude=min(least * total / (sum(sizes) / len(sizes)), 10.0),
        format="pct",
        remedy="merge_groups",
        evidence="representation/groups",
    )


def _against_population(against: Representation, subject: Subject) -> list[Finding]:
    """Groups with a much smaller share than in the reference population."""
    found = []
    limits = THRESHOLDS["population_ratio"]
    for index, row in enumerate(against.tables["groups"].rows()):
        if row["ratio"] is None or row["ratio"] >= limits.reported:
            continue
        share = Estimate(
            row["share"],
            row["share_low"],
            row["share_high"],
            n=len(subject),
            method="wilson",
            level=subject.settings.level,
        )
        who = {row["attribute"]: row["group"]}
        found.append(
            Finding(
                "representation.under_represented",
                limits.severity(row["ratio"]),
                msg(
                    "{group:first} are {share:pct} of the data and {expected:pct} of the population.",
                    group=People.of(who),
                    share=row["share"],
                    expected=row["expected"],
                ),
                share,
                who=who,
                n=row["n"],
                magnitude=min(limits.reported / max(row["ratio"], 0.01), 10.0),
                threshold=row["expected"],
                p_value=row["p_value"],
                test=("representation", "population", index),
                evidence="representation/population",
                format="pct",
                remedy="collect_rows",
            )
        )
    return found
