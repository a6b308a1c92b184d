"""Do groups get answers outside the known labels, such as refusals, at the same rate?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.errors import NotApplicable
from isonomia.evidence import THRESHOLDS, Finding, Picture, Result, Table
from isonomia.fairness import GroupMetrics, group_metrics
from isonomia.languages import msg
from isonomia.subject import Subject

TITLE = msg("Answers of another kind")


@check(
    "other_answers",
    order=115,
    family="people",
    title=TITLE,
    question=msg("Do groups get answers outside the known labels, such as refusals, at the same rate?"),
    purpose="rates of answers outside the known labels by group; runs where other_answers counts them",
    within="named",
)
def other_answers(subject: Subject) -> Result:
    """The share of answers that are none of the target's values, by group and against the reference."""
    other = subject.surface.other
    if other is None or not other.any():
        raise NotApplicable(msg("every answer is one of the known labels"))
    columns = subject.needs_attributes()
    settings = subject.settings
    rates = group_metrics(
        None,
        np.asarray(other).astype(int),
        sensitive_features=tuple(columns),
        weights=subject.weights,
        metrics=["selection_rate"],
        by="each",
        positive=1,
        level=settings.level,
        n_boot=settings.n_boot,
        seed=settings.seed,
        min_per_group=settings.min_per_group,
        missing=settings.missing,
        reference=subject.reference,
    )
    tables = {
        "by_group": _renamed(rates.named_tables()["by_group"]),
        "comparisons": rates.named_tables()["comparisons"].without("metric"),
    }
    picture = Picture(
        "forest",
        "by_group",
        msg("Answers of another kind, by group"),
        {"labels": "group", "value": ["rate"], "color": "by", "flag": "small"},
    )
    return Result(
        "other_answers",
        TITLE,
        tables,
        {"n": int(np.count_nonzero(other)), "rate": rates.overall["selection_rate"]},
        tuple(_findings(rates)),
        (picture,),
        titles={"n": msg("answers of another kind"), "rate": msg("their share")},
        formats={"n": "int", "rate": "pct"},
    )


def _renamed(table: Table) -> Table:
    """The rates under their own name."""
    title = msg("answers of another kind")
    columns = tuple(
        replace(column, name="rate", title=title) if column.name == "selection_rate" else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _findings(rates: GroupMetrics) -> Iterator[Finding]:
    """A finding for each group whose rate differs from that of its reference."""
    limits, compared, shown = THRESHOLDS["missing_gap"], rates.tables["comparisons"], rates.tables["by_group"]
    assert rates.groups is not None
    places = {group.key: index for index, group in enumerate(rates.groups.groups)}
    names = {str(group.name): group for group in rates.groups.groups}
    for index, row in enumerate(compared.rows()):
        gap, reference = row["difference"], names.get(str(row["reference"]))
        if gap is None or reference is None or abs(gap) < limits.reported:
            continue
        group = names[str(row["group"])]
        more, fewer = (group, reference) if gap > 0 else (reference, group)
        size = int(rates.sizes[places[more.key]])
        if min(size, int(rates.sizes[places[fewer.key]])) < rates.min_per_group:
            continue
        rate = shown["selection_rate"].estimate(places[more.key], n=size, method="wilson")
        yield Finding(
            "other_answers.group",
            limits.severity(abs(gap)),
            msg(
                "{rate:pct} of the answers about {group} are of another kind, such as refusals; {others:pct} of those "
                "about {reference}.",
                rate=rate.value,
                group=more.name,
                others=shown["selection_rate"].values[places[fewer.key]],
                reference=fewer.name,
            ),
            rate,
            who=dict(more.key),
            reference=dict(fewer.key),
            n=size,
            magnitude=abs(gap) / limits.reported,
            p_value=row["p_value"],
            test=("other_answers", "comparisons", index),
            threshold=limits.reported,
            evidence="other_answers/comparisons",
            format="pct",
        )
