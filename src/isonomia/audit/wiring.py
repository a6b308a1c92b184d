"""Which keys of a spec are options of which checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.audit.checking import CHECKS, choose_checks
from isonomia.audit.spec import Spec
from isonomia.errors import SpecError, close_to

#: For each key of a spec: the checks that take it, and what they call it.
KEYS: Mapping[str, Mapping[str, str]] = {
    "scenarios": {"scenarios": "scenarios"},
    "n_trials": {"scenarios": "n_trials", "perturb": "n_trials"},
    "metric": {"scenarios": "metric", "perturb": "metric"},
    "reference_dataset": {"drift": "reference"},
    "train_dataset": {"overfit": "train"},
}
#: Keys that say by themselves that a check is wanted.
WANTED: Mapping[str, str] = {"scenarios": "scenarios", "reference_dataset": "drift", "train_dataset": "overfit"}


def wired(spec: Spec) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The codes of the checks that a spec asks for, and the options of each.

    What a check is given under `options` goes before the keys at the top; an empty list of scenarios plays none.
    """
    _check_metric(spec.metric)
    codes = {entry.id for entry in choose_checks(spec.checks)}
    for key, code in WANTED.items():
        if getattr(spec, key) is not None:
            codes.add(code)
    if spec.scenarios is not None and not spec.scenarios:
        codes.discard("scenarios")
    options = {code: dict(given) for code, given in spec.options.items()}
    for key, takers in KEYS.items():
        value = getattr(spec, key)
        for code, name in takers.items():
            if value is not None and code in codes:
                options.setdefault(code, {}).setdefault(name, value)
    return [code for code in CHECKS.ids() if code in codes], options


def _check_metric(metric: str | None) -> None:
    from isonomia.metrics import METRICS

    if metric is not None and metric not in METRICS:
        raise SpecError(f"`metric`: there is no metric called {metric!r}.{close_to(metric, METRICS.ids())}")
