"""Which keys of a spec are options of which checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.audit.check_registry import CHECKS, choose_checks
from isonomia.audit.spec import Spec
from isonomia.errors import SpecError, close_to

#: For each key of a spec: the checks that take it, and what they call it.
KEYS: Mapping[str, Mapping[str, str]] = {
    "scenarios": {"scenarios": "scenarios"},
    "n_trials": {"scenarios": "n_trials", "sensitivity": "n_trials", "perturb": "n_trials"},
    "metric": {"scenarios": "metric", "perturb": "metric", "subgroup_diagnostics": "metric"},
    "reference_dataset": {"drift": "reference"},
    "train_dataset": {"overfit": "train"},
}
#: The checks that play scenarios, and those that belong to a stress test beside them.
PLAYING = ("scenarios", "dashboard")
STRESS = ("failure_modes", "sensitivity", "threshold_sweep", "metric_disagreement", "subgroup_diagnostics")
#: Keys that say by themselves which checks are wanted.
WANTED: Mapping[str, tuple[str, ...]] = {
    "scenarios": (*PLAYING, *STRESS),
    "reference_dataset": ("drift",),
    "train_dataset": ("overfit",),
}


def wired(spec: Spec) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """The codes of the checks that a spec asks for, and the options of each.

    What a check is given under `options` goes before the keys at the top. `scenarios` asks for the whole stress test;
    an empty list for all of it but the scenarios.
    """
    _check_metric(spec.metric)
    codes = {entry.id for entry in choose_checks(spec.checks)}
    for key, wanted in WANTED.items():
        if getattr(spec, key) is not None:
            codes.update(wanted)
    if spec.scenarios is not None and not spec.scenarios:
        codes.difference_update(PLAYING)
    options = {code: dict(given) for code, given in spec.options.items()}
    for key, takers in KEYS.items():
        value = getattr(spec, key)
        for code, name in takers.items():
            if value is not None and code in codes:
                options.setdefault(code, {}).setdefault(name, value)
    if "dashboard" in codes and "dashboard" not in options and "scenarios" in options:
        options["dashboard"] = dict(options["scenarios"])  # the same scenarios, which are then played once
    return [code for code in CHECKS.ids() if code in codes], options


def _check_metric(metric: str | None) -> None:
    from isonomia.metrics import METRICS

    if metric is not None and metric not in METRICS:
        raise SpecError(f"`metric`: unknown metric {metric!r}.{close_to(metric, METRICS.names())}")
