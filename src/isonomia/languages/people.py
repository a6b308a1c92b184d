"""People, columns and outcomes in a sentence: parts that keep what they are about, so that labels can rename them.

"Black, Female" is written for ``{"race": "Black", "sex": "Female"}``: a value that says enough stands alone, another
one beside the name of its column ("race Other", "age below 25").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from isonomia.languages.encoding import Record
from isonomia.languages.message import Message, msg
from isonomia.languages.naming import Name

#: A value that says yes: what it means is said by the name of its column.
AFFIRMATIVE = {"1", "1.0", "true", "yes", "y", "sim", "s", "t"}
_NEGATIVE = {"0", "0.0", "false", "no", "n", "não", "nao", "f"}
#: Words that say nothing without the name of their column.
BARE = AFFIRMATIVE | _NEGATIVE | {"none", "other", "others", "outro", "outra", "outros", "outras", "unknown"}
_RANGE = re.compile(r"\[\s*(?P<low>\S+?),\s*(?P<high>\S+?)\s*(?P<end>[)\]])")
_EDGE = re.compile(r"(?P<side><|>=|≥)\s*(?P<edge>[-+.]?\d\S*)")

#: Values that people share, and what such people are called.
Group = tuple[tuple[tuple[str, str], ...], str]


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Display names: of columns, of the values of a column, and of people who share several values."""

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()

    def column(self, name: str) -> str:
        """What a column is called.

        >>> Labels(columns={"dti": "debt to income"}).column("dti"), Labels().column("loan_status")
        ('debt to income', 'loan status')
        """
        return self.columns.get(name) or plain(name)

    def value(self, column: str, value: str) -> Message:
        """What a value is called, without the name of its column."""
        label = self.values.get(column, {}).get(str(value))
        if label is not None:
            return text_of_data(label)
        return value.message if isinstance(value, Name) else text_of_data(plain(str(value)))

    def people(self, who: Mapping[str, str], *, named: bool = False) -> Message:
        """The people who share these values; with `named` every value stands beside its column.

        >>> labels = Labels(groups=(((("race", "Black"), ("sex", "F")), "Black women"),), columns={"age_band": "age"})
        >>> str(labels.people({"race": "Black", "sex": "F", "age_band": "< 25"}))
        'Black women, age below 25'
        >>> labels.people({"age_band": ">= 60"}).text("pt-BR")
        'age a partir de 60'
        """
        left = {str(column): value for column, value in who.items()}
        parts: list[Message] = []
        for shared, label in sorted(self.groups, key=lambda group: -len(group[0])):
            if all(str(left.get(column)) == value for column, value in shared):
                parts.append(text_of_data(label))
                left = {column: value for column, value in left.items() if column not in dict(shared)}
        parts += [self._with_value(column, value, named) for column, value in left.items()]
        if not parts:
            return msg("everyone")
        joined, *rest = parts
        for part in rest:
            joined = Message("{people}, {part}", {"people": joined, "part": part})
        return joined

    def _with_value(self, column: str, value: str, named: bool) -> Message:
        if str(value) in self.values.get(column, {}) and not named:
            return self.value(column, value)
        name, text = self.column(column), str(value)
        if str(value) in self.values.get(column, {}):
            return Message("{column} {value}", {"column": name, "value": self.value(column, value)})
        if (span := _RANGE.fullmatch(text)) is not None:
            return _between(name, value, span)
        if (side := _EDGE.fullmatch(text)) is not None:
            ends = {"column": name, "edge": _end(value, "edge", side["edge"])}
            if side["side"] == "<":
                return msg("{column} below {edge}", **ends)
            return msg("{column} {edge} or more", **ends)
        if _says_enough(text) and not named and not isinstance(value, Name):
            return self.value(column, value)
        if text.startswith("{") and text.endswith("}"):  # one of several values
            return Message("{column} {values}", {"column": name, "values": plain(text[1:-1])})
        return Message("{column} {value}", {"column": name, "value": self.value(column, value)})


@dataclass(frozen=True)
class People(Record, kind="people"):
    """Some people in a sentence: the values that they share, and whether the columns of all of them are named.

    Examples
    --------
    >>> str(People.of({"race": "Black", "sex": "Female"}).message)
    'Black, Female'
    >>> str(People.of({"age": "[25, 60)", "disabled": "yes"}).message)
    'age 25 to below 60, disabled yes'
    >>> str(People((("workclass", "Private"),), named=True).message)
    'workclass Private'
    """

    values: tuple[tuple[str, str], ...]
    named: bool = False

    @classmethod
    def of(cls, who: Mapping[str, str]) -> People:
        """The people with these values, column by column."""
        return cls(tuple((str(column), value) for column, value in who.items()))

    @property
    def message(self) -> Message:
        """The people as a sentence names them, without labels."""
        return Labels().people(dict(self.values), named=self.named)


@dataclass(frozen=True)
class ColumnName(Record, kind="column_name"):
    """A column in a sentence.

    >>> str(ColumnName("payment_to_income").message)
    'payment to income'
    """

    name: str

    @property
    def message(self) -> Message:
        """The column as a sentence names it, without labels."""
        return text_of_data(plain(self.name))


@dataclass(frozen=True)
class OutcomeName(Record, kind="outcome_name"):
    """A value of the outcome in a sentence: one class of several.

    >>> str(OutcomeName("very_recom").message)
    'very recom'
    """

    value: str

    @property
    def message(self) -> Message:
        """The value as a sentence names it, without labels."""
        return text_of_data(plain(self.value))


def column_names(names: Iterable[str]) -> Message:
    """Several columns in a sentence.

    >>> str(column_names(["hours_per_week", "age"]))
    'hours per week, age'
    """
    first, *rest = [Message("{column}", {"column": ColumnName(name)}) for name in names] or [Message("—")]
    for name in rest:
        first = Message("{names}, {name}", {"names": first, "name": name})
    return first


def with_people(message: Message) -> Message:
    """The sentence with `People` where tables name groups and slices.

    >>> from isonomia.languages.naming import is_in, is_value, together
    >>> where = together([is_value("sex", "Female"), is_in("age", "[25, 60)")])
    >>> str(with_people(msg("{group} are hired.", group=where)))
    'Female, age 25 to below 60 are hired.'
    """
    return replace(message, params={name: _part(value) for name, value in message.params.items()})


def _part(value: Any) -> Any:
    if isinstance(value, Name):
        return _people_of(value) or value
    return with_people(value) if isinstance(value, Message) else value


def _people_of(name: Any) -> People | None:
    """What a name of a group or a slice is about; None for names of something else."""
    if not isinstance(name, Name):
        return None
    template, params = name.message.template, name.message.params
    if template == "{column}{sign}{value}":
        return People(((str(params["column"]), params["value"]),), named=str(params["sign"]) == " = ")
    if template == "{column} in {values}":
        return People(((str(params["column"]), params["values"]),), named=str(params["values"]).startswith("{"))
    if template == "{part}":
        return _people_of(params["part"])
    if template == "{message}{between}{part}" and str(params["between"]) == ", ":
        first, last = _people_of(Name(params["message"])), _people_of(params["part"])
        if first is not None and last is not None:
            return People((*first.values, *last.values), named=first.named or last.named)
    return None


def plain(name: str) -> str:
    """A name of code as words.

    >>> plain("payment_to_income")
    'payment to income'
    """
    return re.sub(r"_+", " ", name).strip() or name


def text_of_data(text: str) -> Message:
    """A text of the data: escaped where it is shown."""
    return Message("{text}", {"text": text})


def _says_enough(value: str) -> bool:
    return value.strip().lower() not in BARE and len(re.findall(r"[^\W\d_]", value)) >= 2


def _between(name: str, value: str, span: re.Match[str]) -> Message:
    ends = {"column": name, "low": _end(value, "low", span["low"]), "high": _end(value, "high", span["high"])}
    if span["end"] == "]":
        return msg("{column} {low} to {high}", **ends)
    return msg("{column} {low} to below {high}", **ends)


def _end(value: str, name: str, text: str) -> Message:
    """An end of a range, written as the reader's language writes numbers where it is known to be one."""
    number = value.message.params.get(name) if isinstance(value, Name) else None
    if not isinstance(number, int | float):
        return text_of_data(text)
    return Message("{number:,.0f}" if abs(number) >= 10_000 else "{number:.4g}", {"number": number})
