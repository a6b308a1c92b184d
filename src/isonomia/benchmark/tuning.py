"""The second track: every method with its best settings, chosen in 20 trials on data that the grid does not use."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from isonomia.benchmark.contestants import contestant
from isonomia.benchmark.grids import Grid, cell_specs
from isonomia.benchmark.summary import PRIMARY, row_of
from isonomia.errors import DataError

if TYPE_CHECKING:
    from isonomia.store import Store

#: Settings tried per method, the usual ones among them.
TRIALS = 20
#: Data seeds of trials; those of grids start at 0.
SEEDS = (1_000_000, 1_000_001)
#: What is tried of each method of `METHODS`, by option; methods that are not named have nothing to choose.
CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "biasscan": {"penalty": (0.0, 0.5, 1.0, 2.0, 5.0, 10.0), "max_l": (2, 3, None), "bias_scan_num_iters": (10, 50)},
    "divexplorer": {
        "rank_by": ("divergence", "t"),
        "min_support": (0.01, 0.02, 0.05, 0.1),
        "max_overlap": (None, 0.4, 0.6),
        "one_by_one": (False, True),
    },
    "gerryfair": {"gamma": (0.0, 0.001, 0.005, 0.01)},
    "naivebayes": {"delta": (0.001, 0.01, 0.05), "ranking": ("discrimination", "divergence"), "smoothing": (0.0, 1.0)},
    "random": {
        "draws": (300, 1000, 3000),
        "max_l": (2, 3),
        "max_overlap": (None, 0.4, 0.6),
        "one_by_one": (False, True),
    },
    "slicefinder": {
        "epsilon": (0.1, 0.2, 0.3, 0.4),
        "min_effect_size": (0.1, 0.2, 0.3, 0.4),
        "approach": ("both", "lattice", "decision_tree"),
        "one_by_one": (False, True),
    },
    "sliceline": {
        "alpha": (0.9, 0.95, 0.98, 0.99, 0.995),
        "min_support": (0.01, 0.02, 0.05),
        "max_overlap": (None, 0.4, 0.6),
        "one_by_one": (False, True),
    },
    "adf": {"first_phase": (0.1, 0.25, 0.5), "cluster_num": (4, 10, 20), "step_size": (1.0, 2.0)},
    "aequitas": {
        "first_phase": (0.1, 0.25, 0.5),
        "mode": ("random", "semi", "full"),
        "nominal_moves": ("unit", "any"),
    },
    "auto": {"exact": (True, False), "lift": (True, False), "natural": (True, False)},
    "expga": {"population": (50, 100, 200), "mutation_rate": (0.01, 0.05, 0.2), "cross_rate": (0.5, 0.9)},
    "kosei": {"first_phase": (0.1, 0.25, 0.5), "nominal_moves": ("unit", "any")},
    "limi": {"lambda_val": (0.1, 0.3, 0.6, 1.0), "confidence": (0.5, 0.7, 0.9), "n_approx_samples": (300, 1000, 3000)},
    "sg": {"cluster_num": (2, 4, 8), "confidence": (0.1, 0.3, 0.5), "max_seeds": (100, 1000)},
}


def trials(name: str) -> list[dict[str, Any]]:
    """The options tried of a contestant: its own first, then others drawn without repetition.

    >>> [options["gamma"] if options else None for options in trials("gerryfair")]
    [None, 0.0, 0.001, 0.005, 0.01]
    """
    who = contestant(name)
    choices = CHOICES.get(who.method, {})
    if not choices:
        return [dict(who.options)]
    size = math.prod(map(len, choices.values()))
    places = set(random.Random(name).sample(range(size), min(size, TRIALS - 1)))
    others = [
        {**who.options, **dict(zip(choices, values, strict=True))}
        for place, values in enumerate(product(*choices.values()))
        if place in places
    ]
    return [dict(who.options), *others]


def tuning_id(grid: Grid) -> str:
    """The name under which the trials of a grid are kept."""
    return f"{grid.id}-tuning"


def tuning_specs(grid: Grid, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The cells of all trials, at the centre of a grid with other data seeds; a method without choices has none."""
    tried = [(name, options) for name in names if len(found := trials(name)) > 1 for options in found]
    yield from cell_specs(grid.settings[0], SEEDS, (0,), tried, grid.budget)


def best_options(store: Store, grid: Grid, names: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The options of each contestant with the highest mean of what methods are ranked by; of equal ones the first."""
    scores: dict[tuple[str, str], list[float]] = {}
    for cell in store.cells.list(tuning_id(grid), state="done"):
        name, row = str(cell.spec["method"]), row_of(cell.spec, cell.record)
        scores.setdefault((name, _key(cell.spec["options"])), []).append(float(row[PRIMARY[contestant(name).finds]]))
    found: dict[str, Mapping[str, Any]] = {}
    for name in names:
        tried = trials(name)
        means = [_mean(scores.get((name, _key(options)), []), name) for options in tried] if len(tried) > 1 else [0.0]
        found[name] = tried[means.index(max(means))]
    return found


def _key(options: Mapping[str, Any]) -> str:
    return repr(sorted(options.items()))


def _mean(values: list[float], name: str) -> float:
    if len(values) < len(SEEDS):
        raise DataError(f"Trials of '{name}' are not done yet; run the benchmark to the end of its trials first.")
    return sum(values) / len(values)
