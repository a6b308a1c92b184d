"""The cells of a benchmark: one question to one method each, shared by processes and machines, answered once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from isonomia.errors import StoreError
from isonomia.store import tables
from isonomia.store.keys import check_slug, digest
from isonomia.store.leases import SECONDS, Lease, LeasedRows, State

#: What a cell asks, each a column: the factors of the grid, the method, the seeds and the budget.
FACTORS = (
    "intersectionality",
    "granularity",
    "similarity",
    "bias",
    "aleatoric",
    "epistemic",
    "group_rows",
    "background",
    "n_pairs",
    "model",
    "task",
    "falls_on",
    "source",
    "method",
    "method_version",
    "budget",
    "data_seed",
    "method_seed",
)
#: What an answer cost and how good it was, each a column.
COSTS = ("seconds", "cpu", "model_rows", "model_calls", "peak_mb")
SCORES = ("precision", "recall", "f1", "ap", "mrr", "best_jaccard", "coverage", "validity")


@dataclass(frozen=True)
class BenchmarkCell:
    """A cell and, once it is done, its answer.

    Attributes
    ----------
    key : str
        See `cell_key`.
    benchmark : str
    state : "waiting", "running", "done" or "failed"
    spec : mapping
        The question, as it was added.
    figures : mapping
        Costs and scores; None where there is none.
    record : object
        Found items, curves, the machine: what `finish` was given.
    error : mapping or None
        Why it failed: ``reason`` and what else `fail` was given.
    attempts : int
    finished : datetime or None
    """

    key: str
    benchmark: str
    state: State
    spec: Mapping[str, Any]
    figures: Mapping[str, float | None]
    record: Any
    error: Mapping[str, Any] | None
    attempts: int
    finished: datetime | None


class BenchmarkCells(LeasedRows):
    """The cells of a store's benchmarks: add them, claim one, renew the claim, finish or fail it, list them.

    Examples
    --------
    >>> import tempfile
    >>> import isonomia as iso
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = iso.store.open(f"{folder.name}/runs.db")
    >>> store.cells.add("quick", [{"method": "sliceline", "bias": -1.0, "data_seed": seed} for seed in range(2)])
    2
    >>> lease = store.cells.claim("quick", seconds=60)
    >>> store.cells.finish(lease, figures={"f1": 0.8, "seconds": 1.2}, record={"found": ["sex=F"]})
    >>> store.cells.counts("quick")
    {'waiting': 1, 'running': 0, 'done': 1, 'failed': 0}
    >>> store.cells.list("quick", state="done")[0].figures["f1"]
    0.8
    >>> store.close(); folder.cleanup()
    """

    table = tables.cell
    part = "benchmark"

    def add(self, benchmark: str, specs: Iterable[Mapping[str, Any]]) -> int:
        """Add the cells that are not there yet, to be claimed in the order given; returns how many are new.

        A spec is JSON: keys among `FACTORS` become columns, and every key is part of the cell's identity.
        """
        slug = check_slug(benchmark, "benchmark")
        given = {cell_key(slug, spec): spec for spec in specs}

        def work(connection: Connection) -> int:
            known = set(connection.execute(select(self.table.c.key).where(self._of(slug))).scalars())
            rows = self._new(connection, slug, {key: spec for key, spec in given.items() if key not in known})
            if rows:
                factors = ({name: row["spec"].get(name) for name in FACTORS} for row in rows)
                connection.execute(self.table.insert(), [row | own for row, own in zip(rows, factors, strict=True)])
            return len(rows)

        return self.database.write(work)

    def claim(
        self,
        benchmark: str,
        *,
        owner: str | None = None,
        seconds: float = SECONDS,
        shard: tuple[int, int] | None = None,
    ) -> Lease | None:
        """A cell that nobody works on, for `seconds`; None where none is left.

        Parameters
        ----------
        benchmark : str
        owner : str, optional
            Who claims it, for people who look; by default the machine and the process.
        seconds : float
            After that others may claim it, unless it is renewed.
        shard : (int, int), optional
            ``(3, 20)``: only cells of the third of twenty parts.
        """
        where = [self._of(benchmark)]
        if shard is not None:
            part, parts = shard
            where.append(self.table.c.position % parts == part % parts)
        return self._claim(*where, owner=owner, seconds=seconds)

    def finish(self, lease: Lease, *, figures: Mapping[str, float | None], record: Any = None) -> None:
        """Record the answer: `figures` among `COSTS` and `SCORES`, `record` as JSON. `LeaseLost` as in `renew`."""
        self._settle(lease, "done", {**_figures(figures), "record": record, "error": None})

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        figures: Mapping[str, float | None] | None = None,
        record: Any = None,
        **facts: Any,
    ) -> None:
        """Record that there is no answer, and why: a crash, a time-out, too little memory. `facts` are JSON."""
        error = {"reason": reason, **facts}
        self._settle(lease, "failed", {**_figures(figures or {}), "record": record, "error": error})

    def release(self, lease: Lease) -> None:
        """Give a cell back unanswered: the next claim finds it. The attempt is counted."""
        self._settle(lease, "waiting")

    def again(self, benchmark: str, *, states: Sequence[State] = ("failed",)) -> int:
        """Let cells of these states wait again; returns how many."""
        chosen = self._of(benchmark) & self.table.c.state.in_(states)
        fresh = self.table.update().where(chosen).values(state="waiting", attempts=0, lease_token=None, finished=None)
        return self.database.write(lambda connection: int(connection.execute(fresh).rowcount))

    def benchmarks(self) -> list[str]:
        """The benchmarks that have cells."""
        query = select(self.table.c.benchmark).distinct().order_by(self.table.c.benchmark)
        return list(self.database.read(lambda connection: connection.execute(query).scalars().all()))

    def list(self, benchmark: str, *, state: State | None = None) -> list[BenchmarkCell]:
        """The cells of a benchmark in the order they were added, or those of one state."""
        query = select(self.table).where(self._of(benchmark))
        if state is not None:
            query = query.where(self.table.c.state == state)
        rows = self.database.read(lambda connection: connection.execute(query.order_by(self.table.c.position)).all())
        return [
            BenchmarkCell(
                key=row.key,
                benchmark=row.benchmark,
                state=row.state,
                spec=row.spec,
                figures={name: getattr(row, name) for name in (*COSTS, *SCORES)},
                record=row.record,
                error=row.error,
                attempts=row.attempts,
                finished=row.finished,
            )
            for row in rows
        ]


def cell_key(benchmark: str, spec: Mapping[str, Any]) -> str:
    """The identity of a cell: the SHA-256 of the canonical JSON of its benchmark and spec."""
    return digest([benchmark, dict(spec)])


def _figures(given: Mapping[str, float | None]) -> dict[str, float | None]:
    unknown = [name for name in given if name not in (*COSTS, *SCORES)]
    if unknown:
        raise StoreError(
            f"A cell has no figure '{unknown[0]}'. It has: {', '.join((*COSTS, *SCORES))}. Put others into `record`."
        )
    return {name: None if value is None else float(value) for name, value in given.items()}
