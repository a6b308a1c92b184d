"""A spec with some of its values replaced: one file serves every release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isonomia.audit.check_registry import CHECKS, Check
from isonomia.config_files import read_value
from isonomia.data import is_database
from isonomia.errors import SpecError, did_you_mean

#: Keys that may be a plain path instead of a mapping with one.
_PATHS = ("dataset", "model")
#: Settings of an audit that may be changed without a spec.
SETTINGS = ("metric", "n_boot", "level", "min_per_group", "reference")
#: As people answer where an option is yes or no.
_ANSWERS = {"yes": True, "on": True, "no": False, "off": False}


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
    """Changes as the command line has them: ``key=value``, or ``check.option=value`` for an option of a check.

    The value of a key is read as YAML, that of an option as it declares; a file is one of the shell's folder.

    >>> read_changes(["seed=3", "options.drift.bins=5", "weak_spots.pairs=yes"])
    {'seed': 3, 'options.drift.bins': 5, 'options.weak_spots.pairs': True}
    """
    found: dict[str, Any] = {}
    for text in given or []:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not key:
            raise SpecError(f"--set takes key=value, such as seed=3 or drift.bins=5; got {text!r:.80}.")
        way = key.removeprefix("options.").split(".")
        if len(way) == 2 and way[0] in CHECKS:
            found[f"options.{way[0]}.{way[1]}"] = _option(CHECKS[way[0]], way[1], value)
        else:
            found[key] = read_value(value)
    return found


def changed_checks(changes: Mapping[str, Any]) -> list[str]:
    """The checks whose options are changed: naming one asks for it."""
    return list(dict.fromkeys(key.split(".")[1] for key in changes if key.startswith("options.")))


def audit_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Settings of an audit, and options of its checks.

    >>> audit_changes({"options.drift.bins": 5, "n_boot": 100})
    ({'n_boot': 100}, {'drift': {'bins': 5}})
    """
    settings: dict[str, Any] = {}
    options: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        first, _, rest = key.partition(".")
        if first == "options" and rest.count(".") == 1:
            code, name = rest.split(".")
            options.setdefault(code, {})[name] = value
        elif key in SETTINGS:
            settings[key] = value
        else:
            known = [*SETTINGS, *CHECKS.ids()]
            raise SpecError(
                f"`--set` takes check.option=value, such as drift.bins=5, or one of {', '.join(SETTINGS)}; got "
                f"{key!r}.{did_you_mean(first, known)}"
            )
    return settings, options


def _option(entry: Check, name: str, text: str) -> Any:
    """The first reading of a text that the option takes: as YAML, as it is, as a list; else that as YAML."""
    kind = next((one.kind for one in entry.parameters if one.name == name), None)
    value = read_value(text)
    if kind is None:
        return value  # the check says which options it has
    if name in entry.files:
        path = Path(text).expanduser()
        if not path.exists() and not is_database(text):
            raise SpecError(f"`--set {entry.id}.{name}` must name a file; there is no {text!r:.200}.")
        return str(path.resolve()) if path.exists() else text
    answer = _ANSWERS.get(text.lower(), value)
    for reading in (answer, value, text, [read_value(part) for part in text.split(",")]):
        try:
            kind.check(name, reading)
        except SpecError:
            continue
        return reading
    return value
