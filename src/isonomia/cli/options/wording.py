"""Errors in the words of the command line: ``--encoding latin-1`` where Python writes ``encoding='latin-1'``.

They are in the language of the person who reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

from isonomia.cli.output.reader import reader_language
from isonomia.errors import IsonomiaError, SpecError
from isonomia.languages import error_text

#: Keywords of Python whose option has another name.
_OTHER_NAMES = {"na_values": "na", "y_pred": "prediction", "y_score": "score", "n_boot": "n-boot"}
_BANDS = re.compile(r"protected=\{'([^']*)': \[([^\]]*)\]\}")


class Command(TyperCommand):
    """A command whose errors name its options, not keywords of Python."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of Isonomia goes on in other words."""
        try:
            return super().invoke(ctx)
        except IsonomiaError as error:
            listed = isinstance(error, SpecError) and error.problems != (str(error),)
            options = {} if listed else options_of(self.params)  # what is wrong in a file is named by the file's keys
            error.args = (in_option_words(error_text(error, reader_language()), options),)
            raise


def options_of(params: Sequence[Any]) -> dict[str, str]:
    """The option of each keyword."""
    named = {
        one.name: next((text for text in one.opts if text.startswith("--")), "")
        for one in params
        if one.name is not None
    }
    named = {name: option for name, option in named.items() if option}
    return {**named, **{python: named[name] for python, name in _OTHER_NAMES.items() if name in named}}


def in_option_words(message: str, options: Mapping[str, str]) -> str:
    """A message that names options of a command.

    >>> names = ("encoding", "protected", "trust", "trust_only")
    >>> options = {name: f"--{name.replace('_', '-')}" for name in names}
    >>> in_option_words("`encoding` is odd. Pass encoding='latin-1', or trust=True.", options)
    '`--encoding` is odd. Pass --encoding latin-1, or --trust.'
    >>> in_option_words("Cut it into bands: protected={'age': [25, 60]}.", options)
    'Cut it into bands: --protected age:25,60.'
    >>> in_option_words("Trust them: trust=['a.B', 'a.C'].", options)
    'Trust them: --trust-only a.B,a.C.'
    """
    if not options:
        return message
    if "protected" in options:
        message = _BANDS.sub(lambda found: f"--protected {found[1]}:{found[2].replace(' ', '')}", message)
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    message = re.sub(rf"`({names})`", lambda found: f"`{options[found[1]]}`", message)
    value = r"(True|None|\.\.\.|'(?:[^'\\]|\\.)*'|\[[^\]]*\])"
    return re.sub(rf"(?<![\w.`-])({names})={value}", lambda found: _written(found[1], found[2], options), message)


def _written(name: str, value: str, options: Mapping[str, str]) -> str:
    """An option with a value as it is typed."""
    option = options[name]
    if value == "True":
        return option
    if value.startswith("["):
        listed = ",".join(part.strip().strip("'") for part in value[1:-1].split(","))
        return f"{options.get('trust_only', option) if name == 'trust' else option} {listed}"
    text = value[1:-1] if value.startswith("'") else value
    return f"{option} {text!r}" if not text or set(text) & set("; |\\&'\"*?<>()$`") else f"{option} {text}"
