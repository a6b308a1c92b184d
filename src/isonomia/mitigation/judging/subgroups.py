"""Whom a fix hits: subgroups with many people who lose a right or favourable decision."""

from __future__ import annotations

from dataclasses import replace

from isonomia.discovery import find_subgroups
from isonomia.evidence import Table
from isonomia.languages import msg
from isonomia.mitigation.judging.judge import Judged


def refused_subgroups(judged: Judged) -> Table | None:
    """Subgroups with many newly refused people under the fix that is shown in detail.

    Of several classes: people whose decision was right before and is wrong after. None where nobody is, where no fix
    was tried, or where there are no features to describe people by.
    """
    comparison, name = judged.comparison, judged.leading
    subject = comparison.subject
    if name == "none" or subject.dataset is None or subject.task == "regression" or not subject.data.features:
        return None
    was, now = comparison.was, comparison.after[name]
    binary = len(subject.surface.classes) == 2
    worse = (was == 1) & (now == 0) if binary else (was == subject.truth) & (now != subject.truth)
    if not worse.any():
        return None
    found = find_subgroups(subject.known, errors=worse.astype(float), method="sliceline")
    table = next(iter(found.tables.values()))
    title = msg("Subgroups with many newly refused people") if binary else msg("Subgroups with many new errors")
    return replace(table, title=title)
