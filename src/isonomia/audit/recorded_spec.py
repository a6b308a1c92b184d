"""What an audit was asked, as its report keeps it: with it, the data and the model the audit can be repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any

from isonomia.audit.check_registry import Check, Options
from isonomia.data.bands import Bands
from isonomia.languages import encode
from isonomia.policies import Policy
from isonomia.subject import Subject

#: Settings of an audit, by the names of its keywords.
SETTINGS = ("seed", "n_boot", "level", "min_per_group", "missing", "reference")


def recorded_spec(subject: Subject, chosen: Sequence[Check], options: Options) -> dict[str, Any]:
    """Roles of the columns, options of the model, checks with their options, and settings.

    What is no plain value (a frame, an estimator) is left out and named under ``unrecorded``.
    """
    data, model = subject.dataset, subject.model
    roles: Mapping[str, Any] = {} if data is None else {**data.options(), "kinds": dict(data.given_kinds)}
    asked = {
        "dataset": {name: _banded(value) if name == "protected" else value for name, value in roles.items()},
        "model": {} if model is None else {"format": model.format, **model.options},
        "options": {code: dict(given) for code, given in options.items()},
        "settings": {name: getattr(subject.settings, name) for name in SETTINGS},
    }
    kept: dict[str, Any] = {"checks": [entry.id for entry in chosen]}
    lost: list[str] = []
    for part, values in asked.items():
        kept[part] = _plain_parts(values, part, lost)
    if data is None:
        lost.append("columns")
        if subject.task == "multiclass" and subject.favourable:
            kept["favourable"] = [str(label) for label in subject.favourable]
    return {**kept, "unrecorded": lost}


def spec_hash(spec: Mapping[str, Any], policy: Policy | None) -> str:
    """The SHA-256 of what was asked and of the policy."""
    text = json.dumps([encode(spec), None if policy is None else policy.record()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _banded(protected: Mapping[str, Any]) -> dict[str, Any]:
    """Protected attributes with the edges and names of their bands."""
    return {
        column: {"edges": list(bands.edges), "names": list(bands.names)} if isinstance(bands, Bands) else bands
        for column, bands in protected.items()
    }


def _plain_parts(values: Mapping[str, Any], at: str, lost: list[str]) -> dict[str, Any]:
    """The plain values of a mapping, and of the mappings in it; the names of the others are added to `lost`."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Path):
            kept[name] = str(value)
        elif _is_plain(value):
            kept[name] = value
        elif isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            kept[name] = _plain_parts(value, f"{at}.{name}", lost)
        else:
            lost.append(f"{at}.{name}")
    return kept


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float | date | time)
