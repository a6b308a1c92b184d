"""Whose values are missing: the same columns may be emptier for some groups than for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.counting import Codes, sum_by
from isonomia.data import Dataset, numbers
from isonomia.data.engines.engine import Key
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import (
    Column,
    Picture,
    Result,
    Table,
    agreeing,
    benjamini_hochberg,
    score_difference,
    two_proportions,
    wilson,
)
from isonomia.fairness.groups.grouping import BY, By, combinations_of, named_groups
from isonomia.languages import Message, msg
from isonomia.parameters import NAMES, Several, Text, validated
from isonomia.subject import Subject, SubjectOptions, dataset_attributes


@validated(
    attributes=NAMES.or_none("for all"),
    columns=NAMES.or_none("for all"),
    by=BY,
    blanks=Several(Text("a text that stands for a missing value")),
)
def missingness(
    data: Any,
    *,
    attributes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    by: By | Sequence[Sequence[str]] = "each",
    blanks: Sequence[str] = ("", "?", "NA", "N/A", "nan"),
    **given: Unpack[SubjectOptions],
) -> Result:
    """The share of missing values of each column by group, compared with everyone else.

    Parameters
    ----------
    data : Dataset, frame or Subject
        All rows are examined, also those whose target is missing.
    attributes : sequence of str, optional
        Protected attributes; all of the dataset's by default.
    columns : sequence of str, optional
        The columns examined; by default the features and the target that miss anything.
    by : "each", "intersection", "all" or lists of names
        The groups that are compared.
    blanks : sequence of str
        Texts that stand for a missing value.
    **given
        How to read the data, and settings (see `subject.Reading` and `subject.Settings`).

    Returns
    -------
    Result
        ``tables["missing"]``: a row per column and group: `column, group, n, rate, rate_low, rate_high, others,
        difference, difference_low, difference_high, p_value, p_adjusted`. Differences are group - all other rows, with
        Newcombe's interval (1998, Stat. Med. 17:873, method 10).

    Examples
    --------
    >>> data = Dataset({"sex": ["F"] * 50 + ["M"] * 50, "pay": [None] * 20 + [1.0] * 80}, protected=["sex"])
    >>> missingness(data).table["rate"].tolist()
    [0.4, 0.0]
    """
    subject = Subject.of(data, counted=True, **given).fitting()
    data, level = subject.data, subject.settings.level
    names_of = [column.name for column in _chosen(data, attributes)]
    wanted = (
        columns
        if columns is not None
        else [name for name in data.columns if name in data.features or name == data.target]
    )
    out: list[dict[str, Any]] = []
    complete = 0
    sets = combinations_of(names_of, by)
    for name, part, absent in _absences(data, wanted, blanks):
        if not absent.any():
            complete += 1
            continue
        for names, column in zip(sets, named_groups(_chosen(part, attributes), by), strict=True):
            if name not in names:
                _compare(name, absent, column, part, level, out)
    if not out:
        notes: tuple[Message, ...] = (
            msg("No value is missing in the {n:# column|# columns} examined.", n=len(wanted)),
        )
    else:
        notes = (
            (msg("{n:# column without missing values is|# columns without missing values are} not shown.", n=complete),)
            if complete
            else ()
        )
    p = benjamini_hochberg(np.array([row["p_value"] for row in out], dtype=float))
    table = Table.from_rows(
        out,
        (
            Column("column", title=msg("column")),
            Column("attribute", title=msg("protected attribute")),
            Column("group", title=msg("group")),
            Column("n", format="int", title=msg("rows")),
            Column("rate", format="pct", title=msg("missing")),
            Column("others", format="pct", title=msg("missing elsewhere")),
            Column("difference", format="points", title=msg("difference")),
            Column("p_value", format="p", title=msg("p-value")),
        ),
        title=msg("Missing values by group"),
        backend=data.backend,
    ).with_columns(Column("p_adjusted", p, format="p", title=msg("p adjusted")))
    pictures = (
        (
            Picture(
                "forest",
                "missing",
                msg("Share of missing values by group"),
                {"labels": ["column", "group"], "value": "rate", "color": "attribute"},
            ),
        )
        if out
        else ()
    )
    return Result(
        "missingness",
        msg("Missing values"),
        {"missing": table},
        {"columns_with_gaps": len(wanted) - complete},
        (),
        pictures,
        notes,
        titles={"columns_with_gaps": msg("columns with missing values")},
    )


def absent_values(column: nw.Series[Any], blanks: Sequence[str] = ()) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where a column is missing: null, NaN, or a text that stands for nothing."""
    absent: np.ndarray[Any, np.dtype[np.bool_]] = column.is_null().to_numpy().astype(bool)
    if column.dtype.is_float():
        return np.asarray(absent | np.isnan(numbers(column)))
    if blanks and not (column.dtype.is_numeric() or column.dtype == nw.Boolean or column.dtype.is_temporal()):
        codes = Codes.encode(column, name=column.name)
        blank = np.array([label is None or str(label).strip() in blanks for label in codes.labels], dtype=bool)
        return np.asarray(absent | blank[codes.codes])
    return absent


def _absences(
    data: Dataset, names: Sequence[str], blanks: Sequence[str]
) -> Iterator[tuple[str, Dataset, np.ndarray[Any, np.dtype[np.bool_]]]]:
    """For each column the rows and where it is missing; an engine counts both by the protected attributes."""
    here = names if data.engine is None else [name for name in names if name in (*data.protected, data.target)]
    apart = [name for name in names if name not in here]
    counted: dict[str, Dataset | None] = {}
    if apart:
        keys = [[Key(column=name, form="absent", blanks=tuple(blanks))] for name in apart]
        counted = dict(zip(apart, data.beside(keys, outcomes=False, protected=True), strict=True))
    for name in names:
        part = counted.get(name)
        if part is None:
            yield name, data, absent_values(data.column(name), blanks)
        else:
            yield name, part, part.column(name).to_numpy().astype(bool)


def _chosen(data: Dataset, attributes: Sequence[str] | None) -> tuple[Codes, ...]:
    known = dataset_attributes(data)
    if not known:
        raise NotApplicable(msg("the data have no protected attribute"))
    if attributes is None:
        return known
    names = [column.name for column in known]
    for name in attributes:
        if name not in names:
            raise SpecError(f"`attributes` names {name!r}, which is not protected.{close_to(name, names)}")
    return tuple(column for column in known if column.name in attributes)


def _compare(name: str, absent: Any, column: Codes, data: Dataset, level: float, out: list[dict[str, Any]]) -> None:
    c = np.ones(len(column)) if data.counts is None else data.counts.astype(float)
    w = np.ones(len(column)) if data.weights is None else data.weights
    rows, size, size2, gone = (sum_by(column.codes, c * x, column.size) for x in (1.0, w, w * w, w * absent))
    with np.errstate(divide="ignore", invalid="ignore"):
        # effective rows: as many as unweighted data of the same precision would have
        n = np.nan_to_num(size * size / size2)
        k = np.nan_to_num(gone / size) * n
    low, high = wilson(k, n, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = size.sum() - size
        rest_n = np.nan_to_num(rest * rest / (size2.sum() - size2))
        others = np.where(rest > 0, (gone.sum() - gone) / rest, np.nan)
        rest_k = np.nan_to_num(others) * rest_n
        rate = gone / size
    p = two_proportions(k, n, rest_k, rest_n)
    gap = rate - others
    counts = k, n, rest_k, rest_n
    gap_low, gap_high = agreeing(score_difference(*counts, level), 0.0, *counts, level)
    figures = zip(rows, rate, low, high, others, gap, gap_low, gap_high, p, strict=True)
    out += [
        {
            "column": name,
            "attribute": column.name,
            "group": group,
            "n": n_rows,
            "rate": ends,
            "others": elsewhere,
            "difference": difference,
            "p_value": p_value,
        }
        for group, (n_rows, ends, elsewhere, difference, p_value) in zip(
            column.labels,
            ((int(n), (a, b, c), d, (e, f, g), q) for n, a, b, c, d, e, f, g, q in figures),
            strict=True,
        )
    ]
