"""Whom groups are compared with where nobody named a privileged group, as a report names them once."""

from __future__ import annotations

from isonomia.languages import Message, People
from isonomia.subject import BestOff, Subject


def compared_with(subject: Subject) -> dict[str, Message]:
    """The best-off group with its size, by attribute; without those that have a privileged group by name."""
    reference = subject.reference
    if not isinstance(reference, BestOff):
        return {}
    found = {}
    for column in subject.attributes:
        if column.name not in reference.named:
            texts = dict(zip(column.labels, column.texts, strict=True))
            who = People.of({column.name: texts[reference[column.name][0]]})
            group = Message("{group} ({n:int})", {"group": who, "n": reference.size([column.name])})
            found[column.name] = subject.words.spoken(group)
    return found
