"""Who is in the data: the share of each group, and how often its true outcome is favourable."""

from __future__ import annotations

import numpy as np

from isonomia.audit.checking import check
from isonomia.audit.subject import Subject
from isonomia.evidence import Estimate, Finding, Picture, Result, Table, wilson
from isonomia.fairness import form_groups
from isonomia.languages import msg

#: A group with a smaller share of the rows than this is worth telling.
THIN_SHARE = 0.01


@check(
    "representation",
    title=msg("Representation"),
    question=msg("Who is in the data, and who is hardly there?"),
    purpose="share and size of every group, and its base rate",
    within="quick",
)
def representation(subject: Subject) -> Result:
    """Rows and share of every group of each attribute, with the rate (or mean) of its true outcomes."""
    columns = subject.needs_attributes()
    groups = form_groups(columns, by="each")
    cells = np.bincount(groups.cells.codes, minlength=groups.cells.size)
    sizes = (cells @ groups.indicator([group.cells for group in groups.groups])).astype(int)
    total = len(subject.outcome)
    low, high = wilson(sizes, np.full(sizes.size, total), subject.level)
    table: dict[str, object] = {
        "attribute": [group.by[0] for group in groups.groups],
        "group": [next(iter(group.texts.values())) for group in groups.groups],
        "n": sizes,
        "share": sizes / total,
        "share_low": low,
        "share_high": high,
    }
    findings = []
    for group, size in zip(groups.groups, sizes.tolist(), strict=True):
        if size < subject.min_per_group or size / total < THIN_SHARE:
            findings.append(
                Finding(
                    "representation.thin_group", "notice",
                    msg("{group} has only {n:int} rows ({share:pct} of the data): figures about it are unsure.",
                        group=group.name, n=size, share=size / total),
                    Estimate(size / total, n=total, method="count"), who=dict(group.texts), n=size,
                    magnitude=min(THIN_SHARE * total / max(size, 1), 10.0), threshold=THIN_SHARE, format="pct",
                    advice=msg("Collect more rows of this group before leaning on figures about it."),
                    evidence="representation/groups",
                )
            )  # fmt: skip
    titles = {
        "attribute": msg("protected attribute"), "group": msg("group"), "n": msg("rows"), "share": msg("share"),
        "share_low": msg("from"), "share_high": msg("to"),
    }  # fmt: skip
    shown = Table(table, {"n": "int", "share": "pct", "share_low": "pct", "share_high": "pct"}, titles,  # type: ignore[arg-type]
                  msg("Groups in the data"), subject.data.backend)  # fmt: skip
    picture = Picture(
        "bars", "groups", msg("Share of each group"), {"labels": "group", "value": "share", "facet": "attribute"}
    )
    return Result(
        "representation", msg("Representation"), {"groups": shown}, {"groups": len(groups.groups)}, tuple(findings),
        (picture,), titles={"groups": msg("groups")},
    )  # fmt: skip
