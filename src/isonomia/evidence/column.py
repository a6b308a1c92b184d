"""Columns: values with their intervals, the reasons why some are missing, their format and title."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from isonomia.errors import DataError
from isonomia.evidence.estimate import Estimate
from isonomia.languages import Encoded, Message, Name, decode, encode, msg, take_texts
from isonomia.languages.encoding import encode_column
from isonomia.languages.field_types import check_fields, fits
from isonomia.languages.message import write_interval, write_number

#: How a column is written: share (0.12 as 12.0%), signed points (0.12 as 12.0), number, count, p-value, text.
Format = Literal["pct", "points", "num", "num4", "int", "p", "text"]

Values = Sequence[Any] | np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Column(Encoded, kind="column"):
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name in frames and JSON.
    values : sequence or array
        A missing value is None (or NaN in a float array). Without values the column describes what a table's rows
        are to be put into (`Table.from_rows`).
    low, high : sequence or array, optional
        Ends of the values' intervals.
    reason : sequence, optional
        For each row why its value is missing, or what to be careful about; None where there is nothing to say.
    format : Format, optional
        How it is written; text, or a number where the value is one, where left out.
    title : Message, optional
        Its heading, for which a plain text will do; its name where left out.
    names : mapping of Message
        How codes in it are read ("tpr" as "true positive rate"); frames and JSON keep the codes.
    keys : sequence of tuples, optional
        What the values stand for: ``(("sex", "F"), ("race", "B"))`` for a group, ``("sex", "race")`` for an
        intersection. Code looks rows up by these, never by a text that was made to be read.

    Examples
    --------
    >>> rate = Column("rate", [0.25, None], [0.18, None], [0.34, None], ["", "no positives"], format="pct")
    >>> rate.estimate(0, n=120), rate.estimate(1)
    (0.25 [0.18, 0.34] (n=120), not available: no positives)
    >>> rate.text(0), rate.text(1, "pt-BR")
    ('25.0% [18.0%, 34.0%]', 'não disponível')
    """

    name: str
    values: Values = ()
    low: Values | None = None
    high: Values | None = None
    reason: Sequence[Message | str | None] | None = None
    format: Format | None = None
    title: Message | None = None
    names: Mapping[str, Message] = field(default_factory=dict)
    keys: Sequence[tuple[Any, ...]] | None = None

    def __post_init__(self) -> None:
        take_texts(self, "title", "names")
        for part in ("low", "high", "reason", "keys"):
            given = getattr(self, part)
            if given is not None and len(given) != len(self.values):
                raise ValueError(f"Column {self.name!r} has {len(self.values)} values but {len(given)} of {part!r}.")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"Column {self.name!r} has one end of its intervals and not the other.")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ends(self) -> tuple[str, str]:
        """What the ends of the intervals are called in a frame.

        >>> Column("rate").ends, Column("value").ends
        (('rate_low', 'rate_high'), ('low', 'high'))
        """
        return ("low", "high") if self.name == "value" else (f"{self.name}_low", f"{self.name}_high")

    def filled(self, values: Sequence[Any]) -> Column:
        """The same column with other values; an `Estimate`, or (value, low, high), brings its interval.

        In a column of numbers a message stands for a number that is missing, and is the reason.

        >>> Column("rate", format="pct").filled([Estimate(0.5, 0.4, 0.6), (0.2, 0.1, 0.3), None]).low
        [0.4, 0.1, None]
        >>> rate = Column("rate", format="pct").filled([0.5, msg("no positives")])
        >>> rate.values, rate.low, str(rate.reason[1])
        ([0.5, None], None, 'no positives')
        """
        intervals = any(isinstance(value, Estimate | tuple) for value in values)
        numbers = self.format not in (None, "text")
        if not intervals and not (numbers and any(isinstance(value, Message) for value in values)):
            return replace(self, values=values, low=None, high=None, reason=None, keys=None)
        parts = [_parts(value, numbers) for value in values]
        figure, low, high, notes = (list(part) for part in zip(*parts, strict=True))
        ends = {"low": low, "high": high} if intervals else {"low": None, "high": None}
        return replace(self, values=figure, **ends, reason=notes if any(notes) else None, keys=None)

    def take(self, rows: Sequence[int]) -> Column:
        """The rows asked for."""
        parts: dict[str, Any] = {
            part: given[rows] if isinstance(given, np.ndarray) else [given[row] for row in rows]
            for part in ("values", "low", "high", "reason", "keys")
            if (given := getattr(self, part)) is not None
        }
        return replace(self, **parts)

    @classmethod
    def stack(cls, columns: Sequence[Column]) -> Column:
        """Columns of one kind, one below the other; a part that only some of them have is missing in the others' rows.

        >>> stacked = Column.stack([Column("x", [None], reason=["no rows"]), Column("x", [1.0])])
        >>> stacked.values, stacked.reason
        ([None, 1.0], ['no rows', None])
        """
        parts: dict[str, Any] = {}
        for part in ("values", "low", "high", "reason", "keys"):
            given = [getattr(column, part) for column in columns]
            if any(each is not None for each in given):
                filled = (
                    [None] * len(column) if own is None else own for column, own in zip(columns, given, strict=True)
                )
                parts[part] = [value for each in filled for value in each]
        return replace(columns[0], **parts)

    def flat(self) -> dict[str, Values]:
        """The values, and the ends of their intervals as columns of their own: what a frame shows."""
        if self.low is None or self.high is None:
            return {self.name: self.values}
        return {self.name: self.values, self.ends[0]: self.low, self.ends[1]: self.high}

    def estimate(self, row: int, *, n: int = 0, method: str = "", level: float = 0.95) -> Estimate:
        """One value as an estimate."""
        reason = None if self.reason is None else self.reason[row]
        value = plain(self.values[row])
        if value is None:
            return Estimate.missing(reason or msg("not available"), n=n)
        low, high = (None if end is None else plain(end[row]) for end in (self.low, self.high))
        note = Name(reason) if isinstance(reason, Message) else reason
        return Estimate(value, low, high, n=n, method=method, note=note, level=level)

    def read(self, value: Any) -> Any:
        """A code in words, where the column has words for it; any other value as it is."""
        return self.names.get(value, value) if isinstance(value, str) else value

    def style(self, value: Any) -> Format:
        """How a value of this column is written."""
        return self.format or ("num" if isinstance(value, float | np.floating) else "text")

    def written(self, value: Any, language: str = "en") -> str:
        """One value as a person reads it, without its interval."""
        value = self.read(value)
        if isinstance(value, Message | Name):
            return value.text(language)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return write_number(None, "num", language) if self.format not in (None, "text") else ""
        style = self.style(value)
        return str(value) if style == "text" else write_number(value, style, language)

    def interval(self, row: int, language: str = "en") -> str:
        """The interval of one value as a person reads it; empty where there is none."""
        value = plain(self.values[row])
        if value is None or self.low is None or self.high is None:
            return ""
        return write_interval(plain(self.low[row]), plain(self.high[row]), self.style(value), language)

    def text(self, row: int, language: str = "en") -> str:
        """One value with its interval as a person reads it."""
        return f"{self.written(plain(self.values[row]), language)} {self.interval(row, language)}".rstrip()

    def heading(self, language: str = "en") -> str:
        """The title; that the numbers are percentage points is stated with it."""
        title = self.name if self.title is None else self.title.text(language)
        return msg("{title} (points)", title=title).text(language) if self.format == "points" else title

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; parts that the column does not have are left out."""
        parts: dict[str, Any] = {"name": self.name, "values": _listed(self.values)}
        for part in ("low", "high", "reason", "keys"):
            given = getattr(self, part)
            if given is not None:
                parts[part] = _listed(given)
        if self.format is not None:
            parts["format"] = self.format
        if self.title is not None:
            parts["title"] = encode(self.title)
        if self.names:
            parts["names"] = encode(dict(self.names))
        return parts

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Column:
        """The column that `to_dict` wrote."""
        parts = ("name", "values", "low", "high", "reason", "keys", "format", "title", "names")
        read = {part: decode(given[part]) for part in parts if part in given}
        check_fields(cls, read)
        for part in ("values", "low", "high"):
            if read.get("format") not in (None, "text") and not fits(Sequence[float | None], read.get(part, ())):
                raise DataError(f"the column {read['name']!r:.40} of numbers has something else among them")
        if not isinstance(read.get("keys", []), list) or not all(map(_is_key, read.get("keys", []))):
            raise DataError(f"the rows of the column {read['name']!r:.40} stand for nothing that can be looked up")
        return cls(**read)


def _is_key(given: Any) -> bool:
    """Whether it can stand for a row: names, or names with values."""
    try:
        hash(given)
    except TypeError:
        return False
    return isinstance(given, tuple)


def _parts(value: Any, numbers: bool) -> tuple[Any, Any, Any, Message | str | None]:
    """A value, the ends of its interval, and the reason why it is missing or what to be careful about."""
    if isinstance(value, Estimate):
        return value.value, value.low, value.high, value.note
    if isinstance(value, tuple):
        return (*value, None)
    if numbers and isinstance(value, Message):
        return None, None, None, value
    return value, None, None, None


def plain(value: Any) -> Any:
    """A value as Python has it: no scalar of NumPy, and None instead of NaN."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _listed(values: Values) -> Any:
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return encode(values)
    return encode_column(map(plain, values))
