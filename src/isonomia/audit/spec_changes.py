"""A spec with some of its values replaced: one file serves every release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.config_files import read_value
from isonomia.errors import SpecError

#: Keys that may be a plain path instead of a mapping with one.
_PATHS = ("dataset", "model")


def changed(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The content with each dotted key set to its value; what is on the way there is made.

    Raises
    ------
    SpecError
        Where a key leads through something that has no keys.

    Examples
    --------
    >>> changed({"model": "a.skops", "seed": 1}, {"model.path": "b.skops", "options.drift.bins": 5})
    {'model': {'path': 'b.skops'}, 'seed': 1, 'options': {'drift': {'bins': 5}}}
    """
    out = dict(content)
    for dotted, value in changes.items():
        *way, last = dotted.split(".")
        branch = out
        for depth, key in enumerate(way):
            inner = branch.get(key)
            if depth == 0 and key in _PATHS and isinstance(inner, str):
                inner = {"path": inner}
            if not isinstance(inner, Mapping | None):
                raise SpecError(f"`{dotted}` cannot be set: `{'.'.join(way[: depth + 1])}` is not a mapping.")
            branch[key] = branch = dict(inner or {})
        if dotted == "dataset.path":
            branch.pop("catalog", None)
        branch[last] = value
    return out


def read_changes(given: list[str] | None) -> dict[str, Any]:
    """Changes as the command line has them: ``key=value``, the value as YAML.

    >>> read_changes(["seed=3", "options.drift.bins=5"])
    {'seed': 3, 'options.drift.bins': 5}
    """
    found: dict[str, Any] = {}
    for text in given or []:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise SpecError(f"--set takes key=value, such as seed=3 or options.drift.bins=5; got {text!r:.80}.")
        found[key.strip()] = read_value(value)
    return found
