"""The words of the file in the sentences of the report: people, columns, the outcome and its favourable value.

Code that writes a sentence puts `People`, `ColumnName` and `OutcomeName` into its gaps, and one of the phrases below
where it speaks of the favourable decision. They read well by themselves ("Black women are selected ..."). An audit,
which knows the outcome and the user's labels, passes each sentence through `Words.spoken` ("Black women are approved").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from isonomia.languages.encoding import Record
from isonomia.languages.labels import AFFIRMATIVE, BARE, Labels, text_of_data
from isonomia.languages.message import Message, msg
from isonomia.languages.people import ColumnName, OutcomeName, People

#: What a model does to people, in a sentence whose subject is a group: "women are selected less often than men".
ARE_SELECTED = msg("are selected")
#: The same after "would".
BE_SELECTED = msg("be selected")
#: People by what really happened to them: "of people whose true outcome is favourable".
TRULY_FAVOURABLE = msg("whose true outcome is favourable")
TRULY_UNFAVOURABLE = msg("whose true outcome is unfavourable")
#: What a regression predicts.
PREDICTION = msg("predicted value")
OUTCOME = msg("true outcome")

_PARTICIPLE = re.compile(r"[a-z]{3,}ed|paid|given|sold|chosen")
_NOT_PARTICIPLES = {"speed", "breed", "bleed", "greed", "indeed", "exceed", "proceed", "succeed", "weed"}


@dataclass(frozen=True, kw_only=True)
class Words(Labels, Record, kind="words"):
    """What the columns, values and outcomes of one file are called.

    Attributes
    ----------
    columns : mapping
        Display names of columns.
    values : mapping
        By column, display names of its values.
    groups : tuple
        Display names of people who share several values: ``((("race", "Black"), ("sex", "F")), "Black women")``.
    target : str
        The column of true outcomes; empty where it has no name.
    favourable, unfavourable : str
        The two values of the outcome; empty where it is not binary.

    Examples
    --------
    >>> words = Words(target="loan_status", favourable="approved", values={"sex": {"F": "ladies"}})
    >>> wording = Message("{who:first} {are} less.", {"who": People.of({"sex": "F"}), "are": ARE_SELECTED})
    >>> str(wording), str(words.spoken(wording))
    ('Women are selected less.', 'Ladies are approved less.')
    """

    target: str = ""
    favourable: str = ""
    unfavourable: str = ""

    def spoken(self, message: Message) -> Message:
        """The sentence in these words."""
        named = {name: self._spoken(value) for name, value in message.params.items()}
        return replace(message, params=named)

    def _spoken(self, value: Any) -> Any:
        if isinstance(value, People):
            return self.people(dict(value.values))
        if isinstance(value, ColumnName):
            return text_of_data(self.column(value.name))
        if isinstance(value, OutcomeName):
            return self.value(self.target, value.value)
        if isinstance(value, Message):
            return self._phrases.get(value.template) or self.spoken(value)
        return value

    @cached_property
    def _phrases(self) -> Mapping[str, Message]:
        """What stands for the phrases that speak of the outcome, by their template."""
        wording: dict[str, Message] = {}
        if self.target:
            wording[PREDICTION.template] = msg("predicted {target}", target=self.column(self.target))
            wording[OUTCOME.template] = text_of_data(self.column(self.target))
        if not self.favourable:
            return wording
        good, bad = (self.value(self.target, value) for value in (self.favourable, self.unfavourable))
        verb = next((word for word in (good.text(), self._affirmed(good.text())) if _is_participle(word)), None)
        if verb is not None:
            wording[ARE_SELECTED.template] = msg("are {outcome}", outcome=verb.lower())
            wording[BE_SELECTED.template] = msg("be {outcome}", outcome=verb.lower())
        elif good.text().lower() not in BARE:
            wording[ARE_SELECTED.template] = msg('get the decision "{outcome}"', outcome=good)
            wording[BE_SELECTED.template] = msg('receive the decision "{outcome}"', outcome=good)
        if self.target:
            named = self.column(self.target)
            wording[TRULY_FAVOURABLE.template] = msg('whose {target} is "{value}"', target=named, value=good)
            wording[TRULY_UNFAVOURABLE.template] = msg('whose {target} is "{value}"', target=named, value=bad)
        return wording

    def _affirmed(self, value: str) -> str:
        """The name of the target where the favourable value only says yes: "hired: yes"."""
        return self.column(self.target) if self.target and value.lower() in AFFIRMATIVE else ""


def _is_participle(word: str) -> bool:
    text = word.lower()
    return _PARTICIPLE.fullmatch(text) is not None and text not in _NOT_PARTICIPLES
