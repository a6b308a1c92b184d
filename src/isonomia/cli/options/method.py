"""Options of a method as a command names them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isonomia.parameters import Parameter

#: As Python writes them, beside true, false and null; and as people write them, where an option is yes or no.
_PYTHON = {"True": True, "False": False, "None": None}
_ANSWERS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


def read_options(given: Sequence[str] | None, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """``name=value`` with numbers, true, false and null read as such, everything else as text.

    >>> from isonomia.parameters import Boolean, Parameter
    >>> lift = Parameter("lift", Boolean(), True)
    >>> read_options(["alpha=0.9", "lift=no", "direction=high", "group1=no"], [lift])
    {'alpha': 0.9, 'lift': False, 'direction': 'high', 'group1': 'no'}
    """
    from isonomia.errors import SpecError
    from isonomia.parameters import Boolean

    yes_or_no = {one.name for one in parameters if isinstance(one.kind, Boolean)}
    named: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise SpecError(f"`--option` takes name=value, such as alpha=0.9; got {text!r}.")
        if name in yes_or_no and value.lower() in _ANSWERS:
            named[name] = _ANSWERS[value.lower()]
            continue
        try:
            named[name] = _PYTHON[value] if value in _PYTHON else json.loads(value)
        except json.JSONDecodeError:
            named[name] = value
    return named
