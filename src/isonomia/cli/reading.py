"""The table, the model and the options that a command names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isonomia.cli.roles import read_privileged, read_protected, read_score

if TYPE_CHECKING:
    from isonomia.data import Dataset
    from isonomia.models import Model
    from isonomia.parameters import Parameter

#: As Python writes them, beside true, false and null; and as people write them, where an option is yes or no.
_PYTHON = {"True": True, "False": False, "None": None}
_ANSWERS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}


def read_table(
    source: str,
    *,
    na: Sequence[str] | None = None,
    protected: Sequence[str] | None = None,
    privileged: Sequence[str] | None = None,
    score: Sequence[str] | None = None,
    **roles: Any,
) -> Dataset:
    """A file; or, where there is none of that name, a dataset of the catalog with its own roles and those given.

    `protected`, `privileged` and `score` are as written on the command line, the other roles as `read` takes them.
    """
    from isonomia.data import catalog, read

    given = {
        **roles,
        "protected": read_protected(protected or []),
        "privileged": read_privileged(privileged or []),
        "score": read_score(score or []),
    }
    given = {name: value for name, value in given.items() if value}
    if not Path(source).exists() and source in catalog.names():
        found = catalog.load(source)
        return found.with_roles(**given) if given else found
    return read(source, na_values=list(na or ()), **given)


def read_model(source: str | None, *, trust: bool) -> Model | None:
    """The model of a file, `module:callable` or an address; none where none is named."""
    if source is None:
        return None
    from isonomia.models import load_model

    return load_model(source, trust=trust)


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
