"""Moments as periods: days, weeks, months, quarters, years, or stretches of a number."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, quantiles
from isonomia.data import to_numpy
from isonomia.errors import DataError, NotApplicable, SpecError
from isonomia.fairness.time.date_texts import days_of
from isonomia.languages import Message, msg
from isonomia.languages.naming import number
from isonomia.parameters import Choice, Integer

Every = Literal["day", "week", "month", "quarter", "year"]
EVERY: tuple[Every, ...] = get_args(Every)

#: A column with more values than this is not a column of periods.
MAX_PERIODS = 400
#: By default, the finest division with at most this many periods is taken.
USUAL_PERIODS = 24
#: Numbers of many values are cut into this many stretches with as many rows each.
STRETCHES = 12
#: Periods that a note lists.
SHOWN = 5
#: "jan" or "T1 2024", not "2024 Q1".
_WORD = re.compile(r"^[^\W\d_]|[^\W\d_]{2}")


def periods_of(
    time: Any, *, every: Every | int | None = None, name: str = "period", counts: NDArray[np.int64] | None = None
) -> tuple[Codes, NDArray[np.bool_]]:
    """The period of each row in order of time, and which rows have one.

    Dates (and texts that are dates) are grouped by `every`; numbers of few values are periods themselves, of many are
    cut into stretches with as many rows each; other texts are periods in their sorted order. `counts` says how many
    identical rows each row stands for.

    >>> codes, known = periods_of(["2024-01-05", "2024-02-01", None, "2024-01-31"], every="month")
    >>> codes.labels, codes.codes.tolist(), known.tolist()
    (('2024-01', '2024-02'), [0, 1, 0], [True, True, False, True])
    """
    if isinstance(every, int | np.integer):
        every = Integer(2, hint=f" (how many stretches), or one of {', '.join(EVERY)}").check("every", every)
    elif every is not None:
        Choice(EVERY, hint=", or how many stretches (at least 2)").check("every", every)
    moments = _as_dates(time)
    if moments is not None:
        known = ~np.isnat(moments)
        codes = _dated(moments[known], every, name, None if counts is None else counts[known])
    else:
        column = Codes.encode(time, name=name)
        known = np.ones(len(column), bool) if column.missing is None else column.codes != column.missing
        codes = _numbered(column.take(known).observed(), every, name, None if counts is None else counts[known])
    if not known.any():
        raise DataError("Every time is missing, so nothing can be compared over time.")
    if codes.size < 2:
        raise NotApplicable(
            msg("all rows fall into one period ({period}), so nothing can be compared over time", period=codes.texts[0])
        )
    if codes.size > MAX_PERIODS:
        raise DataError(f"There are {codes.size:,} periods (at most {MAX_PERIODS}). Take longer ones with every=...")
    return codes, known


def _as_dates(time: Any) -> NDArray[Any] | None:
    series = nw.from_native(time, series_only=True, pass_through=True) if not isinstance(time, nw.Series) else time
    if isinstance(series, nw.Series) and series.dtype.is_temporal():
        if series.dtype == nw.Date:
            series = series.cast(nw.Datetime)
        return series.to_numpy().astype("datetime64[D]")
    array = to_numpy(time) if not isinstance(time, nw.Series) else time.to_numpy()
    if array.dtype.kind == "M":
        return array.astype("datetime64[D]")
    if array.dtype.kind in "OUT":
        column = Codes.encode(time)
        days = days_of([_as_text(value) for value in column.labels])
        return None if days is None else days[column.codes]
    return None


def days_between(time: Any) -> tuple[str, str] | None:
    """The first and the last day of moments, in ISO form; None where they are not dates.

    >>> days_between(["2024-02-01", None, "2023-12-31"]), days_between([1, 2])
    (('2023-12-31', '2024-02-01'), None)
    """
    moments = _as_dates(time)
    if moments is None or np.isnat(moments).all():
        return None
    known = moments[~np.isnat(moments)]
    return str(known.min()), str(known.max())


def order_note(periods: Codes) -> Message | None:
    """That periods are in the order of the alphabet, where their names are words."""
    if not any(_WORD.search(str(label)) for label in periods.labels):
        return None
    return msg(
        "The times are neither dates nor numbers: the periods are in alphabetical order ({periods}).",
        periods=", ".join(map(str, periods.texts[:SHOWN])) + (", ..." if periods.size > SHOWN else ""),
    )


def _as_text(value: Any) -> str | None:
    """A text or a date as a text; None where it is missing."""
    if value is None or type(value).__name__ == "NAType" or value != value:  # pandas' NA has no truth
        return None
    return str(value).strip()


def _dated(moments: NDArray[Any], every: Every | int | None, name: str, counts: NDArray[np.int64] | None) -> Codes:
    if isinstance(every, int):
        return _stretches(moments.astype("datetime64[D]").astype(float), every, name, counts, dated=True)
    usual: list[Every] = [one for one in EVERY if np.unique(_cut(moments, one)).size <= USUAL_PERIODS]
    step: Every = every or (usual[0] if usual else "year")
    starts, inverse = np.unique(_cut(moments, step), return_inverse=True)
    return Codes(name, inverse.astype(np.uint16), tuple(_text(start, step) for start in starts))


def _cut(moments: NDArray[Any], step: Every) -> NDArray[Any]:
    if step == "week":  # weeks begin on Mondays; the epoch was a Thursday
        days = moments.astype("datetime64[D]").astype(np.int64)
        return ((days + 3) // 7 * 7 - 3).astype("datetime64[D]")
    if step == "quarter":
        months = moments.astype("datetime64[M]").astype(np.int64)
        return (months // 3 * 3).astype("datetime64[M]")
    return moments.astype({"day": "datetime64[D]", "month": "datetime64[M]", "year": "datetime64[Y]"}[step])


def _text(start: Any, step: Every) -> str:
    if step == "quarter":
        return f"{str(start)[:4]} Q{(int(str(start)[5:7]) + 2) // 3}"
    return str(start)


def _numbered(column: Codes, every: Every | int | None, name: str, counts: NDArray[np.int64] | None) -> Codes:
    number = all(isinstance(label, int | float) and not isinstance(label, bool) for label in column.labels)
    if isinstance(every, str):
        raise SpecError(f"`every` = {every!r} is for dates; the times hold {'numbers' if number else 'texts'}.")
    if number and (every is not None or column.size > USUAL_PERIODS):
        values = np.array(column.labels, dtype=float)[column.codes]
        return _stretches(values, every or STRETCHES, name, counts)
    return Codes(name, column.codes, tuple(column.texts))


def _stretches(
    values: NDArray[np.float64], count: int, name: str, counts: NDArray[np.int64] | None, *, dated: bool = False
) -> Codes:
    edges = np.unique(quantiles(values, np.linspace(0, 1, count + 1), counts))
    if edges.size < 2:
        return Codes(name, np.zeros(values.size, np.uint8), (number(float(edges[0])),))
    cut = Codes.cut(values, edges.tolist(), name=name).observed()
    texts = cut.texts
    if dated:
        texts = tuple(
            f"{np.datetime64(int(edges[i]), 'D')} – {np.datetime64(int(edges[i + 1]), 'D')}"
            for i in range(edges.size - 1)
        )
        texts = tuple(texts[label] for label in cut.labels)
    return Codes(name, cut.codes, tuple(texts))
