"""From cells to figures: one row per cell, means with intervals over data seeds, who is best where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from isonomia.benchmark.contestants import contestant
from isonomia.benchmark.grids import scene_of
from isonomia.benchmark.settings import LEVELS, Setting
from isonomia.errors import DataError
from isonomia.evidence import Estimate
from isonomia.languages import msg
from isonomia.typing import Floats

if TYPE_CHECKING:
    from isonomia.store import Store

#: Replicates of the bootstrap over data seeds.
N_BOOT = 1000
Finds = Literal["subgroups", "pairs"]
#: What methods of a kind are ranked by.
PRIMARY: dict[Finds, str] = {"subgroups": "f1", "pairs": "recall"}
#: Columns of `cells.csv` that differ from run to run.
TIMES = ("seconds", "wall", "model_seconds", "model_calls", "peak_mb", "dss", "machine")
#: Scores of the summary, by kind; means over seeds, then over settings.
SCORES: dict[str, tuple[str, ...]] = {
    "subgroups": (
        "f1",
        "precision",
        "recall",
        "f1_realised",
        "recall_realised",
        "f1_10",
        "ap",
        "mrr",
        "best_jaccard",
        "coverage",
        "row_precision",
        "confirmed",
        "redundancy",
        "decision",
        "seconds",
    ),
    "pairs": (
        "recall",
        "recall_many",
        "recall_realised",
        "f1",
        "precision",
        "validity",
        "dsr",
        "attributed",
        "rows_per_pair",
        "naturalness",
        "area",
        "seconds",
    ),
}
_LISTS = ("recall_by_jaccard", "pairs_at", "descriptions")


@dataclass(frozen=True, eq=False)
class Cells:
    """The finished cells of a benchmark.

    Attributes
    ----------
    benchmark : str
    rows : list of dict
        One per cell: its spec, status, scores and costs.
    waiting : int
        Cells that are not done.
    """

    benchmark: str
    rows: Sequence[Mapping[str, Any]]
    waiting: int = 0
    _scores: dict[Any, Scores] = field(default_factory=dict, repr=False)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """The settings in the order of the factors."""
        return tuple(sorted({scene_of(row)[0] for row in self.rows}, key=_order))

    @cached_property
    def seeds(self) -> int:
        """How many data sets a setting has."""
        return len({row["data_seed"] for row in self.rows})

    @cached_property
    def centre(self) -> Setting:
        """The centre of the grid: of every factor the level that most settings have."""
        common = {name: Counter(getattr(s, name) for s in self.settings).most_common(1)[0][0] for name in LEVELS}
        return Setting(**common, judged=self.settings[0].judged)

    @cached_property
    def _names(self) -> list[str]:
        return sorted({str(row["method"]) for row in self.rows})

    def methods(self, finds: Finds, *, ranked: bool = True) -> list[str]:
        """The methods of a kind."""
        return [n for n in self._names if (who := contestant(n)).finds == finds and (who.ranked or not ranked)]

    def of(self, finds: Finds) -> list[Mapping[str, Any]]:
        """The rows of methods of a kind."""
        names = set(self.methods(finds, ranked=False))
        return [row for row in self.rows if row["method"] in names]

    def scores(self, finds: Finds, name: str, settings: Iterable[Setting], *, ranked: bool = True) -> Scores:
        """A score by setting, data seed and method, NaN where it is missing; method seeds are averaged."""
        chosen = tuple(settings)
        key = finds, name, chosen, ranked
        if key not in self._scores:
            self._scores[key] = self._tabulated(finds, name, list(chosen), self.methods(finds, ranked=ranked))
        return self._scores[key]

    def _tabulated(self, finds: Finds, name: str, chosen: list[Setting], methods: list[str]) -> Scores:
        seeds = sorted({int(row["data_seed"]) for row in self.rows})
        sums = np.zeros((len(chosen), len(seeds), len(methods)))
        counts = np.zeros_like(sums)
        index = {setting: number for number, setting in enumerate(chosen)}
        for row in self.of(finds):
            value = row.get(name)
            if value is None or row["method"] not in methods:
                continue
            setting, seed = scene_of(row)
            if setting in index:
                at = index[setting], seeds.index(seed), methods.index(str(row["method"]))
                sums[at] += float(value)
                counts[at] += 1
        with np.errstate(invalid="ignore"):
            return Scores(methods=methods, settings=chosen, values=np.where(counts > 0, sums / counts, np.nan))

    def to_find(self) -> list[Setting]:
        """The settings in which there is something to find."""
        return [setting for setting in self.settings if setting.bias and setting.n_pairs]

    def nulls(self) -> list[Setting]:
        """The settings in which whatever is claimed is false."""
        return [setting for setting in self.settings if setting.null]


@dataclass(frozen=True, eq=False)
class Scores:
    """One score: settings x data seeds x methods; NaN where it is missing."""

    methods: list[str]
    settings: list[Setting]
    values: Floats

    @cached_property
    def by_setting(self) -> Floats:
        """Means over seeds, shape (settings, methods)."""
        return _mean(self.values, 1)

    @cached_property
    def blocks(self) -> Floats:
        """`by_setting` where every method has a value: what ranks are compared on."""
        return self.by_setting[~np.isnan(self.by_setting).any(axis=1)]

    @cached_property
    def draws(self) -> Floats:
        """Bootstrap means over settings, shape (`N_BOOT`, methods): data seeds are drawn anew within settings.

        All methods see the same draws, since they saw the same data. Of n seeds n - 1 are drawn, which makes the
        variance of the means that of the unbiased s^2 / n; with n of n it would be a fifth too small for five seeds.

        References
        ----------
        P. J. McCarthy, C. B. Snowden (1985), The bootstrap and finite population sampling.
        """
        settings, seeds, _ = self.values.shape
        drawn = max(1, seeds - 1)
        times = np.random.default_rng(0).multinomial(drawn, np.full(seeds, 1 / seeds), size=(settings, N_BOOT))
        known = ~np.isnan(self.values)
        total = times @ np.where(known, self.values, 0.0)
        with np.errstate(invalid="ignore"):
            return _mean(total / (times @ known.astype(float)), 0)

    @cached_property
    def means(self) -> list[Estimate]:
        """The mean of each method over settings, with its 95% interval over data seeds (none with a single seed)."""
        centres = _mean(self.by_setting, 0)
        n, several = len(self.settings), self.values.shape[1] > 1
        found = []
        for centre, draws in zip(centres, self.draws.T, strict=True):
            if np.isnan(centre):
                found.append(Estimate.missing(msg("no figure"), n=n))
            else:
                low, high = _middle(draws) if several else (None, None)
                found.append(Estimate(float(centre), low, high, n, "bootstrap"))
        return found

    def not_worse(self, best: int) -> list[int]:
        """Methods whose mean is not below that of the best one, by the 95% interval of the paired difference."""
        return [
            index
            for index in range(len(self.methods))
            if not np.isnan(self.draws[:, index]).all() and _middle(self.draws[:, best] - self.draws[:, index])[0] <= 0
        ]


def read_cells(store: Store | Sequence[Store], benchmark: str) -> Cells:
    """The finished cells of a benchmark, from one store or from those of several shards."""
    stores = store if isinstance(store, Sequence) else [store]
    rows: dict[str, dict[str, Any]] = {}
    known: set[str] = set()
    for one in stores:
        for cell in one.cells.list(benchmark):
            known.add(cell.key)
            if cell.state == "done":
                rows[cell.key] = row_of(cell.spec, cell.record)
    if not rows:
        raise DataError(f"No cell of the benchmark '{benchmark}' is done. Run `isonomia benchmark run {benchmark}`.")
    ordered = sorted(rows.values(), key=lambda row: (_order(scene_of(row)[0]), _place(row)))
    return Cells(benchmark, ordered, waiting=len(known) - len(rows))


def seconds_per_cell(store: Store, benchmark: str) -> float | None:
    """Seconds from cell to cell over the last hundred that ended, whoever ran them; None with fewer than two."""
    ends = sorted(cell.finished for cell in store.cells.list(benchmark, state="done") if cell.finished is not None)[
        -100:
    ]
    return (ends[-1] - ends[0]).total_seconds() / (len(ends) - 1) if len(ends) > 1 else None


def row_of(spec: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as one flat row: spec, status, scores, costs."""
    facts = {name: value for name, value in spec.items() if name not in ("limits", "options")}
    row = {**facts, "status": record["status"], "reason": record["reason"], "complete": record["complete"]}
    row.setdefault("similarity_reached", scene_of(spec)[0].similarity_rounded)
    row |= record["scores"] | record["costs"] | {"machine": record.get("machine")}
    pairs = row.get("valid")
    row["dss"] = row["seconds"] / pairs if pairs and row.get("seconds") is not None else None
    return row


def csv_rows(cells: Cells) -> list[dict[str, Any]]:
    """The rows of `cells.csv`: lists as columns of their own, the same columns in every row, times last."""
    flat = [_flattened(row) for row in cells.rows]
    names = dict.fromkeys(name for row in flat for name in row)
    order = [*(name for name in names if name not in TIMES), *(name for name in TIMES if name in names)]
    return [{name: row.get(name) for name in order} for row in flat]


def _flattened(row: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in row.items():
        if name not in _LISTS:
            out[name] = value
        elif isinstance(value, Mapping):
            out |= {f"{name}_{key.replace(' ', '_')}": number for key, number in value.items()}
        else:
            out |= {f"{name}_{index}": number for index, number in enumerate(value or ())}
    return out


def _mean(values: Floats, axis: int) -> Floats:
    """The mean of what is there; NaN where nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis), dtype=float)


def _middle(draws: Floats) -> tuple[float, float]:
    """The middle 95% of draws."""
    low, high = np.quantile(draws[~np.isnan(draws)], [0.025, 0.975])
    return float(low), float(high)


def _order(setting: Setting) -> tuple[Any, ...]:
    """Settings in the order of factors and levels; those between levels (Sobol points) by size."""
    return tuple(
        (levels.index(value), 0.0) if (value := getattr(setting, name)) in levels else (len(levels), float(value))
        for name, levels in LEVELS.items()
    )


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return int(row["data_seed"]), int(row["method_seed"]), str(row["method"])
