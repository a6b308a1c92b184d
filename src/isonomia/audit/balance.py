"""The balance sheet: which rows took part, which did not, and what is too small to rely on."""

from __future__ import annotations

from itertools import combinations

from isonomia.audit.multiplicity import Families
from isonomia.counting import tally
from isonomia.data import OTHER
from isonomia.evidence import Column, Result, Table, thresholds_table
from isonomia.languages import Message, msg
from isonomia.subject import Subject

TITLE = msg("Balance sheet")


def balance_sheet(subject: Subject, families: Families) -> Result:
    """Rows used, rows with missing protected values, groups too small, cells empty; how many tests were made."""
    lines = [
        (msg("rows given"), subject.n_given),
        (_left_out(subject), subject.n_dropped),
        (msg("rows used"), len(subject)),
    ]
    if subject.outcome.surface.other is not None:
        lines.append(_of_another_kind(subject))
    if subject.weights is not None:
        lines.append((msg("effective rows after weighting"), int(_effective(subject))))
    attributes = _attributes(subject)
    tables = {
        "rows": Table(
            (
                Column("what", [what for what, _ in lines], title=msg("what")),
                Column("n", [n for _, n in lines], format="int", title=msg("rows")),
            ),
            msg("Rows"),
            subject.backend,
        ),
    }
    if len(attributes):
        tables["attributes"] = attributes
    if len(subject.attributes) > 1:
        tables["cells"] = _cells(subject)
    if any(families.sizes.values()):
        tables["tests"] = families.table(subject.backend)
    tables["thresholds"] = thresholds_table(subject.backend)
    values = {"rows_given": subject.n_given, "rows_used": len(subject)}
    titles = {"rows_given": msg("rows given"), "rows_used": msg("rows used")}
    return Result("balance_sheet", TITLE, tables, values, titles=titles)


def _of_another_kind(subject: Subject) -> tuple[Message, int]:
    """How many answers are none of the known labels, and how they count."""
    surface = subject.outcome.surface
    n = int((surface.other if subject.counts is None else subject.counts[surface.other]).sum())  # type: ignore[union-attr]
    if OTHER in surface.classes:
        return msg("answers of another kind, counted apart"), n
    return msg("answers of another kind, counted as unfavourable"), n


def _left_out(subject: Subject) -> Message:
    if subject.weights is None:
        return msg("rows without a target, left out")
    return msg("rows without a target or of weight 0, left out")


def _attributes(subject: Subject) -> Table:
    rows = []
    for column in subject.attributes:
        counts = tally([column], counts=subject.counts).n
        rows.append(
            {
                "attribute": column.name,
                "groups": column.size,
                "missing": int(counts[column.missing]) if column.missing is not None else 0,
                "smallest": int(counts.min()),
                "small": int((counts < subject.settings.min_per_group).sum()),
            }
        )
    columns = (
        Column("attribute", title=msg("protected attribute")),
        Column("groups", format="int", title=msg("groups")),
        Column("missing", format="int", title=msg("rows with a missing value")),
        Column("smallest", format="int", title=msg("rows of the smallest group")),
        _small(subject),
    )
    return Table.from_rows(rows, columns, title=msg("Protected attributes"), backend=subject.backend)


def _cells(subject: Subject) -> Table:
    rows = []
    for pair in combinations(subject.attributes, 2):
        counts = tally(pair, counts=subject.counts).n
        rows.append(
            {
                "cells": " x ".join(column.name for column in pair),
                "possible": counts.size,
                "empty": int((counts == 0).sum()),
                "small": int(((counts > 0) & (counts < subject.settings.min_per_group)).sum()),
            }
        )
    columns = (
        Column("cells", title=msg("intersection")),
        Column("possible", format="int", title=msg("possible groups")),
        Column("empty", format="int", title=msg("without rows")),
        _small(subject),
    )
    return Table.from_rows(rows, columns, title=msg("Intersections"), backend=subject.backend)


def _small(subject: Subject) -> Column:
    title = msg("groups with fewer than {least:int} rows", least=subject.settings.min_per_group)
    return Column("small", format="int", title=title)


def _effective(subject: Subject) -> float:
    total = tally([], weights=subject.weights, counts=subject.counts)
    return float(total.w**2 / total.w2)
