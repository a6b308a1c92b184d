"""The grids: which settings, how often, with which budget. Declared data; a name is a promise about the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from isonomia._version import __version__
from isonomia.benchmark.settings import CENTRE, Setting, bias_by_size, nulls, one_at_a_time, sobol_points
from isonomia.registry import Registry

#: Raised when scores or methods change within a version, so that cells of an older form are computed again.
FORM = 4


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What every method may use, the same for all; the limit that is reached first ends a search.

    Attributes
    ----------
    id, purpose : str
    model_rows : int
        Rows that a search for pairs may send to the model.
    seconds : float
        Processor time of one search, by one thread: wall time on a machine with nothing else to do.
    memory_mb : int
        Resident memory of the process that runs it.
    grace : float
        Seconds after `seconds` until a process that goes on is ended from outside.
    """

    id: str
    purpose: str
    model_rows: int
    seconds: float
    memory_mb: int = 2048
    grace: float = 10.0


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Settings, each with several seeds of the data and of the methods.

    Attributes
    ----------
    id, purpose : str
    settings : tuple of Setting
    seeds : int
        Datasets per setting.
    budget : str
        Of `BUDGETS`.
    method_seeds : int
        Runs of every method on every dataset of the centre, to tell the variance of methods from that of data.
    """

    id: str
    purpose: str
    settings: tuple[Setting, ...]
    seeds: int
    budget: str
    method_seeds: int = 1

    def cells(self, methods: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The spec of every cell; `methods` by name with options."""
        for setting in self.settings:
            method_seeds = range(self.method_seeds if setting == self.settings[0] else 1)
            yield from cell_specs(setting, range(self.seeds), method_seeds, tuple(methods.items()), self.budget)


def cell_specs(
    setting: Setting,
    data_seeds: Iterable[int],
    method_seeds: Iterable[int],
    methods: Sequence[tuple[str, Mapping[str, Any]]],
    budget: str,
) -> Iterator[dict[str, Any]]:
    """The cells of a setting: what their figures depend on, and nothing else; `methods` by name with options."""
    limits = asdict(BUDGETS[budget])
    for data_seed, method_seed, (method, options) in product(data_seeds, method_seeds, methods):
        yield {
            **setting.to_dict(),
            **setting.stated,
            "method": method,
            "options": dict(options),
            "method_version": f"{__version__}/{FORM}",
            "budget": budget,
            "limits": limits,
            "data_seed": data_seed,
            "method_seed": method_seed,
        }


def scene_of(spec: Mapping[str, Any]) -> tuple[Setting, int]:
    """Which data a cell is about: cells with the same ones share data, model and fresh sample."""
    names = Setting.__dataclass_fields__
    return Setting(**{name: spec[name] for name in names}), int(spec["data_seed"])


BUDGETS: Registry[Budget] = Registry("benchmark_budget", word="budget")
BUDGETS.add(Budget(id="b10k", purpose="10,000 model rows, 60 s, 2 GB, one thread", model_rows=10_000, seconds=60.0))
BUDGETS.add(Budget(id="b10k_20s", purpose="10,000 model rows, 20 s, 2 GB, one thread", model_rows=10_000, seconds=20.0))


def _quick() -> tuple[Setting, ...]:
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"model": "oracle"},
        {"model": "logistic"},
        {"bias": -0.5},
        {"bias": -2.0},
        {"intersectionality": 1},
        {"intersectionality": 3},
        {"granularity": 0},
        {"group_rows": 100},
        {"epistemic": 0.6},
    )
    chosen = [replace(CENTRE, **change) for change in changes] + list(nulls(2))
    # a small population, and a smaller budget of time: what keeps the grid within ten minutes
    return tuple(replace(setting, background=2000, judged=20_000) for setting in chosen)


def _distinct(*parts: Iterable[Setting]) -> tuple[Setting, ...]:
    return tuple(dict.fromkeys(setting for part in parts for setting in part))


_STRONG_AND_WEAK = ((-0.25, -2.0), (50, 100, 250, 2000))
_FAVOURED = ((1.0,), (100, 2000))
GRIDS: Registry[Grid] = Registry("benchmark_grid", word="grid")
GRIDS.add(
    Grid(
        id="quick",
        purpose="12 settings, 5 seeds: at most 10 minutes on two cores",
        settings=_quick(),
        seeds=5,
        budget="b10k_20s",
    ),
    Grid(
        id="standard",
        purpose="every factor alone, the corners of bias by size, 8 nulls: 59 settings, 10 seeds",
        settings=_distinct(one_at_a_time(), bias_by_size(*_STRONG_AND_WEAK), bias_by_size(*_FAVOURED), nulls(8)),
        seeds=10,
        budget="b10k",
        method_seeds=5,
    ),
    Grid(
        id="paper",
        purpose="every factor alone, bias by size, 64 Sobol points, 20 nulls: about 150 settings, 20 seeds",
        settings=_distinct(
            one_at_a_time(),
            bias_by_size((-0.25, -0.5, -1.0, -2.0, 1.0), (50, 100, 250, 500, 2000)),
            sobol_points(64),
            nulls(20),
        ),
        seeds=20,
        budget="b10k",
        method_seeds=5,
    ),
)
