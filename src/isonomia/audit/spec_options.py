"""Which keys of a spec are options of which checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isonomia.audit.check_registry import CHECKS, Check, Options, choose_checks
from isonomia.audit.spec import Spec


def checks_and_options(spec: Spec) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The codes of the checks that a spec asks for, and the options of each.

    What a check is given under `options` goes before the keys at the top. `scenarios` asks for the whole stress test;
    an empty list for all of it but the scenarios.
    """
    codes = {entry.id for entry in choose_checks(spec.checks)}
    codes.update(entry.id for entry in CHECKS if entry.asked_by and getattr(spec, entry.asked_by) is not None)
    if spec.scenarios is not None and not spec.scenarios:
        playing = {entry.id for entry in CHECKS if "scenarios" in entry.keys}
        codes -= {entry.id for entry in CHECKS if entry.id in playing or entry.like in playing}
    chosen = [entry for entry in CHECKS if entry.id in codes]
    return [entry.id for entry in chosen], with_keys(chosen, spec.options, vars(spec))


def with_keys(chosen: Sequence[Check], options: Options, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The options of checks, and what is given for all of them at once: `metric` for those that have a metric."""
    found = {code: dict(own) if isinstance(own, Mapping) else own for code, own in options.items()}
    for entry in chosen:
        for name, key in entry.keys.items():
            if given.get(key) is not None:
                found.setdefault(entry.id, {}).setdefault(name, given[key])
    return found
