"""Running a grid: cells from the store, each answered once, whoever shares the work and however often it stops."""

from __future__ import annotations

import platform
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isonomia.benchmark.cells import STATUSES
from isonomia.benchmark.contestants import CONTESTANTS, contestant
from isonomia.benchmark.grids import GRIDS, Grid, scene_of
from isonomia.benchmark.pool import Pool
from isonomia.benchmark.settings import CENTRE
from isonomia.benchmark.tuning import best_options, tuning_id, tuning_specs
from isonomia.data import catalog
from isonomia.errors import DataError, LeaseLost, SpecError
from isonomia.events import Clock, Progress, ProgressLike
from isonomia.languages import msg
from isonomia.parameters import Boolean, Integer, Number, Several, Text, validated

if TYPE_CHECKING:
    from isonomia.store import Lease, Store

#: Seconds for which a cell belongs to this run; it is renewed while the cell is under way.
LEASE = 60.0
#: Seconds between two looks whether others have finished.
_PATIENCE = 0.5
#: Figures of a row that are columns of the store.
_COLUMNS = ("precision", "recall", "f1", "ap", "mrr", "best_jaccard", "coverage", "validity")
_COSTS = ("model_rows", "model_calls", "peak_mb")


@validated(
    methods=Several(Text("the id of a contestant"), single=True).or_none("for all"),
    jobs=Integer(1),
    max_seconds=Number(above=0).or_none("for no limit"),
    datasets=Integer(1).or_none("for those of the grid"),
    tuned=Boolean(),
    backend=Text("a backend of joblib, such as 'loky' or 'dask'").or_none("for processes of this machine"),
)
def run_benchmark(
    grid: str | Grid,
    store: Store,
    *,
    methods: Sequence[str] | None = None,
    jobs: int = 2,
    shard: tuple[int, int] | None = None,
    max_seconds: float | None = None,
    datasets: int | None = None,
    tuned: bool = False,
    backend: str | None = None,
    progress: ProgressLike = None,
) -> dict[str, int]:
    """Run the cells of a grid that are not done yet; returns how many have which status.

    Every cell runs in a process of its own with the limits of the grid's budget, and is recorded in one transaction: a
    run that is stopped, by whatever, loses at most what was under way, and goes on with the same call. Several runs on
    one store share the work.

    Parameters
    ----------
    grid : str or Grid
        Of `GRIDS`, or your own.
    store : Store
        Where cells are kept: `isonomia.store.open`.
    methods : names, optional
        Of `CONTESTANTS`, or your own as ``module:name``; all by default.
    jobs : int
        Processes.
    shard : (int, int), optional
        ``(3, 20)``: only the third of twenty parts; for machines that share no store.
    max_seconds : float, optional
        No cell is begun after this time.
    datasets : int, optional
        At most so many datasets per setting: 1 covers all settings of a large grid; a later run adds the others.
    tuned : bool
        Whether every method runs with the best of 20 settings (`tuning`), tried first at the centre of the grid with
        other data seeds. Trials are kept as the benchmark ``<grid>-tuning``, the cells as ``<grid>-tuned``.
    backend : str, optional
        A backend of joblib that starts `jobs` runs, each with a process for its cells, which share the store: on other
        machines, where the backend reaches them and the store is a database that they reach.
    progress : callable or Progress, optional
        Receives an event per cell; a `Progress` can cancel the run. With a backend, one event per run that has ended.
    """
    chosen = GRIDS[grid] if isinstance(grid, str) else grid
    chosen = chosen if datasets is None else replace(chosen, seeds=min(datasets, chosen.seeds))
    part = _check_shard(shard)
    if backend is not None:
        _parallel(jobs, backend)  # refused before anything runs
    names = tuple(CONTESTANTS.ids() if methods is None else methods)
    clock = Clock(max_seconds, Progress.of(progress))
    options = {name: contestant(name).options for name in names}
    if tuned:
        if part is not None:
            raise SpecError("Trials have to be complete before the best is known; leave out `shard`, or `tuned`.")
        trials = list(tuning_specs(chosen, names))
        _run_all(store, tuning_id(chosen), trials, jobs, None, clock, backend)
        if clock.over:
            return statuses(store, tuning_id(chosen))
        options = best_options(store, chosen, names)
        chosen = replace(chosen, id=f"{chosen.id}-tuned")
    _run_all(store, chosen.id, planned(chosen, options), jobs, part, clock, backend)
    return statuses(store, chosen.id)


def _run_all(
    store: Store,
    benchmark: str,
    specs: list[dict[str, Any]],
    jobs: int,
    part: tuple[int, int] | None,
    clock: Clock,
    backend: str | None,
) -> None:
    """Add the cells that are not there yet, and run all that are not done."""
    store.cells.add(benchmark, specs)
    store.cells.again(benchmark)  # failed: whoever had them died; failures of methods are rows that are done
    if backend is not None:
        _run_by_joblib(store, benchmark, jobs, part, clock, backend)
        return
    counts = store.cells.counts(benchmark)
    with clock.progress.stage("benchmark", msg("Running the benchmark"), total=sum(counts.values())) as stage:
        stage.at(counts["done"])
        _run_waiting(store, benchmark, jobs, part, clock, stage)


def _run_waiting(
    store: Store, benchmark: str, jobs: int, part: tuple[int, int] | None, clock: Clock, stage: Any
) -> None:
    with Pool(jobs) as pool:
        _work(_Claims(store, benchmark, part), pool, clock, stage)


def _run_by_joblib(
    store: Store, benchmark: str, jobs: int, part: tuple[int, int] | None, clock: Clock, backend: str
) -> None:
    """As many runs as jobs, each with one process for its cells, started by a backend of joblib."""
    from joblib import delayed

    left = None if clock.max_seconds is None else max(clock.max_seconds - clock.seconds, 1e-9)
    with clock.progress.stage("benchmark", msg("Running the benchmark"), total=jobs) as stage:
        start = _parallel(jobs, backend)
        for _ in start(delayed(_one_run)(store, benchmark, part, left) for _ in range(jobs)):
            stage.advance()


def _parallel(jobs: int, backend: str) -> Any:
    from joblib import Parallel

    try:
        return Parallel(n_jobs=jobs, backend=backend, return_as="generator_unordered", batch_size=1)
    except (ValueError, ImportError) as error:
        raise SpecError(f"joblib cannot use the backend {backend!r}: {error}. Name another `backend`.") from error


def _one_run(store: Store, benchmark: str, part: tuple[int, int] | None, max_seconds: float | None) -> None:
    clock = Clock(max_seconds)
    with clock.progress.stage("benchmark", msg("Running the benchmark")) as stage:
        _run_waiting(store, benchmark, 1, part, clock, stage)


def planned(grid: Grid, methods: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The specs of a grid's cells in the order in which they are run; `methods` by name with options.

    The first dataset of every setting comes before the second one of any, so that a run that is stopped has covered
    all settings alike. Within a seed scenes are shuffled, so that the load of a machine falls on all settings, and
    taken two by two, so that two processes can each keep one. Settings on data that this machine does not have are left
    out.
    """
    scenes: dict[Any, list[dict[str, Any]]] = {}
    missing = missing_sources(grid)
    for spec in grid.cells(methods):
        if spec["source"] not in missing:
            scenes.setdefault(scene_of(spec), []).append(spec)
    if not scenes:
        raise DataError(f"No setting of the grid '{grid.id}' can be run: its data are not on this machine.")
    order = list(scenes.values())
    shuffle = random.Random(0).shuffle
    shuffle(order)
    order.sort(key=lambda cells: int(cells[0]["data_seed"]))
    for cells in order:
        shuffle(cells)
    found: list[dict[str, Any]] = []
    for index in range(0, len(order), 2):
        both = order[index : index + 2]
        longest = max(map(len, both))
        found += [cells[place] for place in range(longest) for cells in both if place < len(cells)]
    return found


def missing_sources(grid: Grid) -> list[str]:
    """The sources of a grid's settings whose data are not on this machine: these settings are left out."""
    return [source for source in dict.fromkeys(setting.source for setting in grid.settings) if not _available(source)]


def _available(source: str) -> bool:
    if source == CENTRE.source:
        return True
    try:
        catalog.load(source)
    except DataError:
        return False
    return True


def statuses(store: Store, benchmark: str) -> dict[str, int]:
    """How many cells ended how, wait, or are under way."""
    counts = store.cells.counts(benchmark)
    found: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for cell in store.cells.list(benchmark, state="done"):
        found[cell.record["status"]] += 1
    return {**found, "running": counts["running"], "waiting": counts["waiting"]}


class _Claims:
    """Cells claimed from the store: those under way, and a few ahead to choose from."""

    def __init__(self, store: Store, benchmark: str, shard: tuple[int, int] | None) -> None:
        self.store, self.benchmark, self.shard = store, benchmark, shard
        self.ahead: list[Lease] = []
        self.running: dict[str, Lease] = {}
        self._renewed = time.monotonic()

    def next(self, scenes: Sequence[Any]) -> Lease | None:
        """A cell to run: of the scene that an idle process has, if one of the next cells is."""
        while len(self.ahead) < 2:
            lease = self.store.cells.claim(self.benchmark, seconds=LEASE, shard=self.shard)
            if lease is None:
                break
            self.ahead.append(lease)
        for scene in scenes:
            for lease in self.ahead:
                if scene_of(lease.spec) == scene:
                    return self._start(lease)
        return self._start(self.ahead[0]) if self.ahead else None

    def _start(self, lease: Lease) -> Lease:
        self.ahead.remove(lease)
        self.running[lease.key] = lease
        return lease

    def finish(self, key: str, row: Mapping[str, Any]) -> None:
        """Record a row; what somebody else has recorded meanwhile stays."""
        lease = self.running.pop(key)
        figures = {name: row["scores"].get(name) for name in _COLUMNS}
        figures |= {name: row["costs"].get(name) for name in _COSTS}
        figures |= {"cpu": row["costs"].get("seconds"), "seconds": row["costs"].get("wall")}
        try:
            self.store.cells.finish(lease, figures=figures, record={**row, "machine": platform.node()})
        except LeaseLost:
            return

    def renew(self) -> None:
        """Keep the claims, now and then."""
        if time.monotonic() - self._renewed < LEASE / 3:
            return
        self._renewed = time.monotonic()
        self.running = {key: self.store.cells.renew(lease, seconds=LEASE) for key, lease in self.running.items()}
        self.ahead = [self.store.cells.renew(lease, seconds=LEASE) for lease in self.ahead]

    def release(self) -> None:
        """Give back what was not answered."""
        for lease in [*self.ahead, *self.running.values()]:
            self.store.cells.release(lease)
        self.ahead, self.running = [], {}

    def others(self) -> bool:
        """Whether somebody else is at work on cells of this part, so that they may come back."""
        return self.shard is None and self.store.cells.counts(self.benchmark)["running"] > 0


def _work(claims: _Claims, pool: Pool, clock: Clock, stage: Any) -> None:
    try:
        while True:
            while pool.free and not clock.over:
                lease = claims.next(pool.scenes())
                if lease is None:
                    break
                pool.start(lease.spec, lease.key)
            if not pool.busy:
                if clock.over or not claims.others():
                    return
                time.sleep(_PATIENCE)
            for key, row in pool.wait():
                claims.finish(key, row)
                stage.advance()
            claims.renew()
    finally:
        claims.release()


def _check_shard(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    if shard is None:
        return None
    part, parts = shard
    if not 1 <= part <= parts:
        raise SpecError(f"`shard` must be (part, parts) with part from 1 to parts; got ({part}, {parts}).")
    return part, parts
