"""A question that was investigated: its answer, what shows it, how sure it is, and what was measured.

A benchmark or a study is no audit: nobody is affected by it, no policy decides it and nobody signs it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from isonomia._version import __version__
from isonomia.display import Shown
from isonomia.evidence import Result
from isonomia.languages import Message, encode


@dataclass(frozen=True)
class Inquiry(Shown):
    """What an investigation shows.

    Attributes
    ----------
    question : Message
        What was asked; the title of its page.
    answer : tuple of Message
        What was found, the first sentence being the answer; or that there is none yet, and why.
    sure : tuple of Message
        What the answer rests on.
    lead : Result, optional
        The figure and the table that show the answer; none where there is no answer.
    results : tuple of Result
        Everything that was measured.
    purposes : mapping of Message
        The question that each result answers, by its code.
    about : tuple of (Message, value)
        What was run: names and values in the order they are to be shown.

    Examples
    --------
    >>> from isonomia.languages import msg
    >>> asked = Inquiry(msg("Is it so?"), (msg("No conclusion yet."),), about=((msg("cells"), 3),))
    >>> asked.to_dict()["answer"][0]["text"]
    'No conclusion yet.'
    """

    question: Message
    answer: tuple[Message, ...]
    sure: tuple[Message, ...] = ()
    lead: Result | None = None
    results: tuple[Result, ...] = ()
    purposes: Mapping[str, Message] = field(default_factory=dict)
    about: tuple[tuple[Message, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The inquiry as JSON-safe values."""
        return {
            "isonomia_version": __version__,
            "question": self.question.to_dict(),
            "answer": [one.to_dict() for one in self.answer],
            "sure": [one.to_dict() for one in self.sure],
            "about": {name.text(): encode(value) for name, value in self.about},
            "lead": None if self.lead is None else Result.to_dict(self.lead),
            "results": {one.code: Result.to_dict(one) for one in self.results},
        }

    def to_json(self) -> str:
        """The inquiry as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False, separators=(",", ":")) + "\n"
