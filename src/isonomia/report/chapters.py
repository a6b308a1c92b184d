"""Chapters of the annex: checks that ask one question stand together under it, with its answer in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isonomia.languages import Message, msg
from isonomia.report.document import Document, Section

#: The questions, by the topic that checks and findings share.
QUESTIONS: Mapping[str, Message] = {"use": msg("Does the model use a protected attribute?")}
_NOTHING: Mapping[str, Message] = {
    "use": msg("No check found that it does, either directly or through other columns."),
}


@dataclass(frozen=True)
class Chapter:
    """Checks that ask one question.

    Attributes
    ----------
    topic : str
    title : Message
        The question.
    lead : Message
        Its answer: the first finding about it, that nothing was found, or that no check has a result.
    """

    topic: str
    title: Message
    lead: Message


def arranged(document: Document) -> list[tuple[Chapter | None, Section]]:
    """The sections in reading order, those of a chapter together; the first of a chapter comes with it."""
    placed: list[tuple[Chapter | None, Section]] = []
    begun: set[str] = set()
    for section in document.sections:
        together = [other for other in document.sections if other.topic == section.topic]
        if section.topic not in QUESTIONS or len(together) < 2:
            placed.append((None, section))
        elif section.topic not in begun:
            begun.add(section.topic)
            chapter = Chapter(section.topic, QUESTIONS[section.topic], _lead(document, section.topic, together))
            placed += [(chapter if index == 0 else None, other) for index, other in enumerate(together)]
    return placed


def _lead(document: Document, topic: str, sections: list[Section]) -> Message:
    found = next((finding for finding in document.findings if finding.topic == topic), None)
    if found is not None:
        return found.message
    if any(section.result is not None for section in sections):
        return _NOTHING[topic]
    return msg("No check on this question has a result; each states why.")
