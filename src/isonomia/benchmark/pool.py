"""Warm processes that run cells, with limits of time and memory that are enforced from outside."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from isonomia.benchmark.cells import without_answer
from isonomia.benchmark.grids import Budget, scene_of
from isonomia.benchmark.processes import cpu_seconds, resident_mb

#: Seconds between two looks at a process that is at work.
LOOK = 0.05
#: Seconds for data and model, and for scoring: far more than either takes.
PREPARING, SCORING = 1800.0, 600.0
#: A process that uses less than this share of a processor for as long as its limit hangs; no search takes longer than
#: so many times its limit, however busy the machine is.
_IDLE, _LONGEST = 0.005, 50
#: One thread for every library that has its own.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class Worker:
    """One process and the cell it is at."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the worker
        self.process = subprocess.Popen(
            [sys.executable, "-m", "isonomia.benchmark.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,  # Ctrl-C reaches the run alone, which ends its workers
        )
        self.scene: Any = None
        self.job: Job | None = None
        self._read = b""

    def start(self, job: Job) -> None:
        """Give it a cell; a process that has ended already is noticed at the next look."""
        self.job, self.scene = job, scene_of(job.spec)
        job.cpu = cpu_seconds(self.process.pid)  # what it took for earlier cells does not count
        assert self.process.stdin is not None  # a pipe
        try:
            self.process.stdin.write(json.dumps(job.spec).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def messages(self) -> Iterator[dict[str, Any]]:
        """What it has written since the last look."""
        assert self.process.stdout is not None  # a pipe
        self._read += os.read(self.process.stdout.fileno(), 1 << 20)
        *lines, self._read = self._read.split(b"\n")
        for line in lines:
            yield json.loads(line)

    def last_words(self) -> str:
        """The end of what it wrote to its error stream."""
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def end(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()


@dataclass
class Job:
    """A cell that is being run; `token` is what its starter knows it by."""

    spec: Mapping[str, Any]
    token: Any
    phase: str = "preparing"
    since: float = field(default_factory=time.monotonic)
    cpu: float = 0.0


class Pool:
    """Some workers; a cell that exceeds a limit, or ends its process, is a row, and a new process takes over.

    Parameters
    ----------
    size : int
        Processes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in list(self.workers):
            self._drop(worker)
        self._selector.close()

    @property
    def busy(self) -> list[Job]:
        """The cells under way."""
        return [worker.job for worker in self.workers if worker.job is not None]

    @property
    def free(self) -> int:
        """How many more cells can be started."""
        return self.size - len(self.busy)

    def scenes(self) -> list[Any]:
        """The scene that each idle worker has in memory, then those of busy ones."""
        return [worker.scene for worker in sorted(self.workers, key=lambda one: one.job is not None)]

    def start(self, spec: Mapping[str, Any], token: Any) -> None:
        """Run a cell: by an idle worker that has its scene, else by a new one, else by any idle one."""
        idle = [worker for worker in self.workers if worker.job is None]
        fitting = [worker for worker in idle if worker.scene == scene_of(spec)]
        if not fitting and len(self.workers) < self.size:
            fitting = [self._hire()]
        (fitting or idle)[0].start(Job(spec, token))

    def wait(self) -> list[tuple[Any, dict[str, Any]]]:
        """Look once, for at most `LOOK` seconds: (token, row) of the cells that have ended."""
        ended: list[tuple[Any, dict[str, Any]]] = []
        for key, _ in self._selector.select(timeout=LOOK):
            worker: Worker = key.data
            for message in worker.messages():
                self._take(worker, message, ended)
        for worker in [one for one in self.workers if one.job is not None]:
            self._enforce(worker, ended)
        return ended

    def _take(self, worker: Worker, message: Mapping[str, Any], ended: list[tuple[Any, dict[str, Any]]]) -> None:
        job = worker.job
        if job is None or message.get("phase") == "ready":
            return
        if "row" in message:
            ended.append((job.token, message["row"]))
            worker.job = None
        else:
            job.phase, job.since = str(message["phase"]), time.monotonic()
            job.cpu = cpu_seconds(worker.process.pid)

    def _enforce(self, worker: Worker, ended: list[tuple[Any, dict[str, Any]]]) -> None:
        job = worker.job
        assert job is not None  # a busy worker
        budget = Budget(**job.spec["limits"])
        limits = {"preparing": PREPARING, "searching": budget.seconds + budget.grace, "scoring": SCORING}
        limit = limits[job.phase]
        wall, spent = time.monotonic() - job.since, cpu_seconds(worker.process.pid) - job.cpu
        late = spent > limit or wall > _LONGEST * limit or (wall > limit and spent < _IDLE * wall)
        memory = resident_mb(worker.process.pid)
        if worker.process.poll() is not None:
            words = worker.last_words()
            row = without_answer(job.spec, "failed", f"the process ended with {worker.process.returncode}. {words}")
        elif late:
            row = without_answer(job.spec, "timeout", f"still {job.phase} after {limit:g} s", seconds=spent)
        elif memory > budget.memory_mb:
            row = without_answer(job.spec, "memory", f"more than {budget.memory_mb} MB while {job.phase}")
        else:
            return
        ended.append((job.token, row))
        self._drop(worker)

    def _hire(self) -> Worker:
        worker = Worker()
        self.workers.append(worker)
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
        return worker

    def _drop(self, worker: Worker) -> None:
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        self.workers.remove(worker)
        worker.end()
