"""The file's words in tables and pictures: groups and slices by their labels instead of "sex=Female"."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from isonomia.evidence import Column, Result, Table
from isonomia.languages import Name, Words, with_people
from isonomia.languages.people import called
from isonomia.report.document import Document, Section

T = TypeVar("T")


def in_file_words(part: T, words: Words | None = None) -> T:
    """A report, or a part of one, whose tables and pictures name groups and slices as the file does.

    Only what is shown changes: frames and JSON keep the names that are keys.

    >>> from isonomia.languages import msg
    >>> from isonomia.languages.naming import is_value
    >>> result = Result("c", msg("yes"), {"t": Table((Column("group", [is_value("sex", "Female")]),))})
    >>> table = in_file_words(result, Words(values={"sex": {"Female": "women"}})).tables["t"]
    >>> table["group"].written("sex=Female"), table["group"].values
    ('women', ['sex=Female'])
    """
    file_words = words or Words()
    if isinstance(part, Document):
        sections = tuple(in_file_words(section, part.words) for section in part.sections)
        return replace(part, sections=sections)
    if isinstance(part, Section):
        return replace(part, result=None if part.result is None else in_file_words(part.result, file_words))
    if isinstance(part, Result):
        tables = {name: in_file_words(table, file_words) for name, table in part.tables.items()}
        return replace(part, tables=tables, notes=tuple(file_words.spoken(with_people(note)) for note in part.notes))
    if isinstance(part, Table):
        return replace(part, columns=tuple(_with_names(column, file_words) for column in part.columns))
    return part


def _with_names(column: Column, words: Words) -> Column:
    names = {str(value): value for value in column.values if isinstance(value, Name)}
    found = {text: message for text, name in names.items() if (message := called(name, words)) is not None}
    return replace(column, names={**found, **column.names}) if found else column
