"""True outcomes as numbers that can be averaged: the favourable class, each of several, or the number itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.counting import Codes
from isonomia.data import Backend, Dataset
from isonomia.evidence import Column, Table, benjamini_hochberg
from isonomia.fairness.groups.grouping import Group
from isonomia.fairness.groups.metric_choice import MAX_SPELT_CLASSES
from isonomia.fairness.groups.tables import group_columns
from isonomia.languages import Message, msg
from isonomia.typing import Floats


def worths(data: Dataset, label: Codes) -> tuple[tuple[str | None, Floats], ...]:
    """What a label is worth, row by row: pairs of a class (None where one figure says it all) and numbers.

    Two classes: 1 for the favourable one. Several: a figure per class, 1 where the label is that class (one against the
    rest), the most frequent `MAX_SPELT_CLASSES` of them. A regression: the number (0 where it is missing).
    """
    if data.task == "regression":
        numbers = np.asarray(data.column(label.name).to_numpy(), dtype=float)
        return ((None, np.nan_to_num(numbers)),)
    if data.task == "binary":
        return ((None, np.asarray(label.codes == label.code_of(data.positive), dtype=float)),)
    counts = label.counts().astype(float)
    if label.missing is not None:
        counts[label.missing] = -1.0
    indices = np.sort(np.argsort(-counts, kind="stable")[:MAX_SPELT_CLASSES])
    return tuple(
        (label.texts[index], (label.codes == index).astype(float))
        for index in indices.tolist()
        if index != label.missing and counts[index] > 0
    )


def left_out_classes(data: Dataset, label: Codes) -> tuple[Message, ...]:
    """That not all classes are spelt out, where they are not."""
    known = label.size - (label.missing is not None)
    if data.task != "multiclass" or known <= MAX_SPELT_CLASSES:
        return ()
    return (msg("Of {all:int} classes the {n:int} most frequent are compared.", all=known, n=MAX_SPELT_CLASSES),)


def outcomes_table(
    rows: Sequence[dict[str, Any]],
    members: Sequence[Group],
    figures: Sequence[Column],
    title: Message,
    backend: Backend,
) -> Table:
    """A row per group (and class): its own outcomes beside those of others, with adjusted p-values."""
    p = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=float))
    classes = (Column("class", title=msg("class")),) if any(row["class"] is not None for row in rows) else ()
    table = Table.from_rows(
        [{**row, "p_adjusted": adjusted} for row, adjusted in zip(rows, p, strict=True)],
        (
            *classes,
            Column("n", format="int", title=msg("rows")),
            Column("own", format="num", title=msg("mean true outcome")),
            *figures,
            Column("p_value", format="p", title=msg("p-value")),
            Column("p_adjusted", format="p", title=msg("p adjusted")),
            Column("note", title=msg("note")),
        ),
        title=title,
        backend=backend,
    )
    return replace(table, columns=(group_columns(members)[0], *table.columns))
