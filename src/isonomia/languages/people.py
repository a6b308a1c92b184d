"""People, columns and outcomes in a sentence: parts that keep what they are about, so that labels can rename them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from isonomia.languages.encoding import Record
from isonomia.languages.labels import Labels, plain, text_of_data
from isonomia.languages.message import Message
from isonomia.languages.naming import Name


@dataclass(frozen=True)
class People(Record, kind="people"):
    """Some people in a sentence: the values that they share.

    Examples
    --------
    >>> str(People.of({"race": "Black", "sex": "Female"}).message)
    'Black women'
    >>> from isonomia.languages.naming import between
    >>> str(People.of({"age": between(25, 60), "disabled": "yes"}).message)
    'people with age 25 to below 60 and disabled yes'
    """

    values: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, who: Mapping[str, str]) -> People:
        """The people with these values, column by column."""
        return cls(tuple((str(column), value) for column, value in who.items()))

    @property
    def message(self) -> Message:
        """The people as a sentence names them, without labels."""
        return Labels().people(dict(self.values))


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

    >>> from isonomia.languages import msg
    >>> from isonomia.languages.naming import between, is_in, is_value, together
    >>> where = together([is_value("sex", "Female"), is_in("age", between(25, 60))])
    >>> str(with_people(msg("{group:first} are hired.", group=where)))
    'Women with age 25 to below 60 are hired.'
    """
    return replace(message, params={name: _part(value) for name, value in message.params.items()})


def _part(value: Any) -> Any:
    if isinstance(value, Name):
        return people_of(value) or value
    return with_people(value) if isinstance(value, Message) else value


def called(name: object, labels: Labels | None = None) -> Message | None:
    """What the people of a name of a group or a slice share, as tables and pictures show them; also of several names.

    >>> from isonomia.languages.naming import is_value, together
    >>> women, men = is_value("sex", "Female"), is_value("sex", "Male")
    >>> str(called(women)), str(called(together([women, men], "; ")))
    ('Female', 'Female; Male')
    """
    if (who := people_of(name)) is not None:
        return (labels or Labels()).shared(dict(who.values))
    if not isinstance(name, Name) or name.message.template != "{message}; {part}":
        return None
    parts = name.message.params
    first, last = called(Name(parts["message"]), labels), called(parts["part"], labels)
    return None if first is None or last is None else Message("{message}; {part}", {"message": first, "part": last})


def people_of(name: object) -> People | None:
    """What a name of a group or a slice is about; None for names of something else."""
    if not isinstance(name, Name):
        return None
    template, params = name.message.template, name.message.params
    if template in ("{column}={value}", "{column} {value}", "{column} = {value}"):
        return People(((str(params["column"]), params["value"]),))
    if template == "{column} in {values}":
        return People(((str(params["column"]), params["values"]),))
    if template == "{part}":
        return people_of(params["part"])
    if template == "{message}, {part}":
        first, last = people_of(Name(params["message"])), people_of(params["part"])
        if first is not None and last is not None:
            return People((*first.values, *last.values))
    return None
