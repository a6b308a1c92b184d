"""Display names of columns, values and groups, and how people who share some values are called.

In a table or a heading people are what they share: "Black, Female, age below 25". In a sentence they are a noun phrase
that takes a plural verb: "Black women with age below 25".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from isonomia.languages.message import Message, msg
from isonomia.languages.naming import Name, Span, members, span_of

#: A value that says yes: what it means is said by the name of its column.
AFFIRMATIVE = {"1", "1.0", "true", "yes", "y", "sim", "s", "t"}
_NEGATIVE = {"0", "0.0", "false", "no", "n", "não", "nao", "f"}
#: Words that say nothing without the name of their column.
BARE = AFFIRMATIVE | _NEGATIVE | {"none", "other", "others", "outro", "outra", "outros", "outras", "unknown"}

#: Columns whose usual values are nouns, and those whose values stand before "people", by a word of their names.
_SEX = {"sex", "gender", "sexo", "genero", "gênero"}
_ORIGIN = {"race", "ethnicity", "ethnic", "raca", "raça", "cor", "etnia", "colour", "color"}
_WOMEN = {"female", "f", "woman", "women", "feminino", "feminina", "mulher", "mulheres"}
_MEN = {"male", "m", "man", "men", "masculino", "masculina", "homem", "homens"}

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

    def shared(self, who: Mapping[str, str]) -> Message:
        """The values that people share, for a table: one that says enough stands without the name of its column.

        >>> from isonomia.languages.naming import below
        >>> labels = Labels(groups=(((("race", "Black"), ("sex", "F")), "Black women"),), columns={"age_band": "age"})
        >>> str(labels.shared({"race": "Black", "sex": "F", "age_band": below(25)}))
        'Black women, age below 25'
        >>> str(Labels().shared({"race": "Black", "sex": "Female", "housing": "yes"}))
        'Black, Female, housing yes'
        """
        called, left = self._labelled(who)
        parts = [*called, *(self._standing(column, value) for column, value in left.items())]
        return _joined(parts) if parts else msg("everyone")

    def people(self, who: Mapping[str, str]) -> Message:
        """The people who share these values, for a sentence: a noun phrase that takes a plural verb.

        >>> from isonomia.languages.naming import below
        >>> str(Labels().people({"sex": "Female", "race": "Black", "age": below(25)}))
        'Black women with age below 25'
        >>> str(Labels().people({"job": "cook", "housing": "rent"})), str(Labels().people({}))
        ('people with job cook and housing rent', 'everyone')
        """
        if not who:
            return msg("everyone")
        called, left = self._labelled(who)
        noun = _joined(called) if called else self._noun(left)
        for column in [column for column, value in left.items() if _stands_before(column, value)]:
            value = self.value(column, left.pop(column))
            noun = msg("{value} {people}", value=value, people=noun, column=self.column(column))
        parts = [self._with_column(column, given) for column, given in left.items()]
        for part in parts[:1]:
            noun = msg("{people} with {part}", people=noun, part=part)
        for part in parts[1:]:
            noun = msg("{people} and {part}", people=noun, part=part)
        return noun

    @staticmethod
    def _noun(left: dict[str, str]) -> Message:
        """Women, men or people; the value that says which is taken out."""
        for column, value in left.items():
            if (noun := _by_sex(column, value)) is not None:
                del left[column]
                return noun
        return msg("people")

    def _labelled(self, who: Mapping[str, str]) -> tuple[list[Message], dict[str, str]]:
        """What people are called by their labels, and the values that no label covers."""
        left = {str(column): value for column, value in who.items()}
        called: list[Message] = []
        for shared, label in sorted(self.groups, key=lambda group: -len(group[0])):
            if all(str(left.get(column)) == value for column, value in shared):
                called.append(text_of_data(label))
                left = {column: value for column, value in left.items() if column not in dict(shared)}
        named = [column for column, value in left.items() if str(value) in self.values.get(column, {})]
        called += [self.value(column, left.pop(column)) for column in named]
        return called, dict(self._plainly(column, left) for column in left)

    def _plainly(self, column: str, who: Mapping[str, str]) -> tuple[str, str]:
        """A column of zeros and ones that names a value, as the column that it is of; others as they are.

        >>> str(Labels().people({"race_Black": "1", "sex_Male": "1"})), str(Labels().shared({"sex_Male": "1"}))
        ('Black men', 'Male')
        """
        value = who[column]
        about = None if column in self.columns else _indicated(column, value)
        if about is None or about[0] in who or str(value).strip().lower() not in AFFIRMATIVE:
            return column, value
        return about

    def _standing(self, column: str, value: str) -> Message:
        """A value, beside the name of its column where it does not say enough."""
        if _says_enough(str(value)) and not isinstance(value, Name):
            return self.value(column, value)
        return self._with_column(column, value)

    def _with_column(self, column: str, value: str) -> Message:
        """A value beside the name of its column, which is quoted where its number could be taken for the value's.

        >>> str(Labels().people({"pay_0": "2"})), str(Labels().people({"pay_0": "late"}))
        ('people with “pay 0” 2', 'people with pay 0 late')
        >>> str(Labels().people({"sex_Male": "0"}))
        'people with sex other than Male'
        """
        about = None if column in self.columns else _indicated(column, value)
        if about is not None and str(value).strip().lower() in _NEGATIVE:
            return msg("{column} other than {value}", column=plain(about[0]), value=text_of_data(plain(about[1])))
        name = self.column(column)
        if name[-1:].isdigit() and (isinstance(value, Name) or str(value)[:1].isdigit()):
            name = f"“{name}”"
        if (span := span_of(value)) is not None:
            return _within(name, span)
        if (listed := members(value)) is not None:
            return _listed(name, *listed)
        return Message("{column} {value}", {"column": name, "value": self.value(column, value)})


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


def _words_of(column: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+", column.lower()))


def _by_sex(column: str, value: str) -> Message | None:
    """Women and men, where a column of sexes or genders has one of the usual values for them."""
    if not _words_of(column) & _SEX or isinstance(value, Name):
        return None
    text = str(value).strip().lower()
    return msg("women") if text in _WOMEN else msg("men") if text in _MEN else None


def _indicated(column: str, value: str) -> tuple[str, str] | None:
    """The column and the value that a column of zeros and ones is about: ``sex_Male``, ``race_Black``."""
    base, _, own = column.partition("_")
    if isinstance(value, Name) or str(value).strip().lower() not in AFFIRMATIVE | _NEGATIVE or not own:
        return None
    is_origin = _stands_before(base, own) and base.islower() and own[0].isupper()
    return (base, own) if _by_sex(base, own) is not None or is_origin else None


def _stands_before(column: str, value: str) -> bool:
    """Whether a value stands before the people: "Black people"; not a range, a set or a word such as "Other"."""
    return bool(_words_of(column) & _ORIGIN) and not isinstance(value, Name) and _says_enough(str(value))


def _joined(parts: list[Message]) -> Message:
    joined, *rest = parts
    for part in rest:
        joined = Message("{people}, {part}", {"people": joined, "part": part})
    return joined


def _listed(name: str, values: str, more: int) -> Message:
    shown = values if isinstance(values, Name) else plain(values)
    if more:
        return msg("{column} {values} and {n:int} more", column=name, values=shown, n=more)
    return Message("{column} {values}", {"column": name, "values": shown})


def _within(name: str, span: Span) -> Message:
    low, high = _end(span.low), _end(span.high)
    if low is None:
        return msg("{column} below {edge}", column=name, edge=high)
    if high is None:
        return msg("{column} {edge} or more", column=name, edge=low)
    ends = {"column": name, "low": low, "high": high}
    return msg("{column} {low} to {high}", **ends) if span.closed else msg("{column} {low} to below {high}", **ends)


def _end(number: float | None) -> Message | None:
    if number is None:
        return None
    return Message("{number:,.0f}" if abs(number) >= 10_000 else "{number:.4g}", {"number": number})
