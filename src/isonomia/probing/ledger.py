"""What was tested, what was found, what is left of the budget; kept on disk so that a killed run goes on."""

from __future__ import annotations

import json
import math
import os
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import DataError, SpecError
from isonomia.events import Progress
from isonomia.parameters import Integer, Number
from isonomia.probing.key_map import KeyMap
from isonomia.probing.keys import Keys
from isonomia.typing import Floats

_MAGIC = b"ISOLEDG2"
#: Numbers kept about every test: margin, gap, lowest and highest variant.
OUTCOMES = 4
_MAX_HEADER = 1 << 24
_DTYPES = {"<f8", "<i8", "<u8"}


class Ledger:
    """Counts of a search, its findings, its budget; with `path` also an append-only file.

    A record is written (and handed to the operating system) after every batch. Opening the same path again for the
    same run reads every whole record and drops a torn last one; the search starts over with the same seed, is given
    the recorded answers without asking the model, and goes on where it was cut off.

    Parameters
    ----------
    max_tests : int, optional
        Distinct people to test.
    max_seconds : float, optional
        Seconds in all, time before a resume included.
    max_model_rows : int, optional
        Rows to send to the model, including predictions outside tests.
    path : path, optional
        The file. Its folder must exist.
    run : mapping, optional
        What identifies the run (method, options, domain); another run's file is refused.
    progress : Progress, optional
        Where the search reports, and is cancelled: the budget cannot be asked about after that.

    Attributes
    ----------
    tsn, dsn : int
        Distinct tests, and those that found someone treated differently.
    """

    def __init__(
        self,
        *,
        max_tests: int | None = None,
        max_seconds: float | None = None,
        max_model_rows: int | None = None,
        path: str | os.PathLike[str] | None = None,
        run: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        none = ", or None for no limit"
        self.max_tests = None if max_tests is None else Integer(1, hint=none).check("max_tests", max_tests)
        self.max_seconds = None if max_seconds is None else Number(above=0, hint=none).check("max_seconds", max_seconds)
        self.max_model_rows = (
            None if max_model_rows is None else Integer(1, hint=none).check("max_model_rows", max_model_rows)
        )
        self.progress = Progress.of(progress)
        #: Rows of one test, and how often the model is sent each: the loop that uses the ledger says both.
        self.test_rows = self.times_asked = 1
        self.tests = KeyMap(OUTCOMES)
        self.cache = KeyMap(OUTCOMES)
        self.answers: dict[str, dict[str, NDArray[Any]]] = {}
        self.classes: list[Any] = []
        self._replayed = 0
        self._found: list[dict[str, NDArray[Any]]] = []
        #: Rows sent to the model, and findings by then, after every batch that found someone.
        self.trace: list[tuple[int, int]] = []
        self.dsn = self.n_rows = self.n_calls = 0
        self.model_seconds = 0.0
        self._before = 0.0
        self._began = time.perf_counter()
        self._ended: float | None = None
        self._file: BinaryIO | None = None
        if path is not None:
            self._open(Path(path), dict(run or {}))

    # counts -----------------------------------------------------------------------------------------------------

    @property
    def tsn(self) -> int:
        """Distinct tests, those of the run before a resume included."""
        return len(self.tests) + len(self.cache) - self._replayed

    @property
    def elapsed(self) -> float:
        """Seconds in all."""
        return self._before + (self._ended or time.perf_counter()) - self._began

    @property
    def tests_left(self) -> int:
        """Tests that may still be sent to the model."""
        return 2**62 if self.max_tests is None else max(0, self.max_tests - self.tsn)

    def rows_left(self, variants: int) -> int:
        """Tests of that many variants that the budget of model rows still allows."""
        if self.max_model_rows is None:
            return 2**62
        return max(0, (self.max_model_rows - self.n_rows) // (variants * self.times_asked))

    @property
    def late(self) -> bool:
        """Whether the seconds are over; raises `Cancelled` where the caller wants the search to end."""
        self.progress.check()
        return self.max_seconds is not None and self.elapsed >= self.max_seconds

    @property
    def spent(self) -> bool:
        """Whether the search has to end."""
        full = self.max_tests is not None and len(self.tests) >= self.max_tests
        out_of_rows = self.max_model_rows is not None and self.rows_left(self.test_rows) == 0
        replaying = len(self.tests) < len(self.cache)
        return self.late or full or (out_of_rows and not replaying)

    def metrics(self) -> dict[str, Any]:
        """TSN, DSN, SUR = DSN / TSN, DSS = seconds per finding (None without one), and the usage of the model."""
        total = self.elapsed
        return {
            "TSN": self.tsn,
            "DSN": self.dsn,
            "SUR": self.dsn / self.tsn if self.tsn else None,
            "DSS": total / self.dsn if self.dsn else None,
            "total_time": total,
            "n_model_rows": self.n_rows,
            "n_model_calls": self.n_calls,
            "model_seconds": self.model_seconds,
        }

    def findings(self) -> dict[str, NDArray[Any]]:
        """All findings in the order they were made, as arrays (see `ProbeResult.found`)."""
        if not self._found:
            return {}
        return {name: np.concatenate([part[name] for part in self._found]) for name in self._found[0]}

    # recording --------------------------------------------------------------------------------------------------

    def recall(self, keys: Keys) -> tuple[NDArray[np.bool_], Floats]:
        """Outcomes recorded before a resume, which now count as tests."""
        if len(self.cache) == 0:
            return np.zeros(len(keys), dtype=bool), np.full((len(keys), OUTCOMES), np.nan)
        known, outcomes = self.cache.look(keys)
        self.tests.add(keys[known], outcomes[known])
        self._replayed += int(known.sum())
        return known, outcomes

    def record(
        self, keys: Keys, outcomes: Floats, found: Mapping[str, NDArray[Any]], usage: tuple[int, int, float]
    ) -> None:
        """Write down one batch of tests: keys, outcomes, findings, and (rows, calls, seconds) of the model."""
        self.tests.add(keys, outcomes)
        arrays = {"keys": keys, "outcomes": outcomes, **{f"found_{k}": v for k, v in found.items() if k != "at"}}
        self._take(arrays, usage)
        self._write({"kind": "tests"}, arrays, usage)

    @property
    def on_disk(self) -> bool:
        """Whether it is written to a file."""
        return self._file is not None

    def use(self, usage: tuple[int, int, float]) -> None:
        """Count (rows, calls, seconds) of the model."""
        self.n_rows += usage[0]
        self.n_calls += usage[1]
        self.model_seconds += usage[2]

    def remember(self, digest: str, arrays: dict[str, NDArray[Any]], usage: tuple[int, int, float]) -> None:
        """Record predictions outside tests; `usage` is what they took, counted by then (see `use`)."""
        self._write({"kind": "question", "digest": digest}, arrays, usage)

    def _take(self, arrays: Mapping[str, NDArray[Any]], usage: tuple[int, int, float]) -> None:
        self.use(usage)
        found = {name.removeprefix("found_"): part for name, part in arrays.items() if name.startswith("found_")}
        if found and len(found["a"]):
            self._found.append(found)
            self.dsn += len(found["a"])
            self.trace.append((self.n_rows, self.dsn))

    # the file ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the clock, and close the file, if there is one."""
        self._ended = self._ended or time.perf_counter()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, path: Path, run: dict[str, Any]) -> None:
        wanted = json.loads(json.dumps(run, default=str))
        if path.exists() and path.stat().st_size:
            good = self._read(path, wanted)
            self._file = path.open("r+b")
            self._file.truncate(good)
            self._file.seek(good)
            return
        if not path.parent.is_dir():
            raise DataError(f"There is no folder {path.parent} for the ledger. Create it, or choose another.")
        self._file = path.open("wb")
        self._file.write(_MAGIC)
        self._write({"kind": "run", "run": wanted}, {}, (0, 0, 0.0))

    def _write(self, header: dict[str, Any], arrays: Mapping[str, NDArray[Any]], usage: tuple[int, int, float]) -> None:
        if self._file is None:
            return
        plain = {name: _storable(part) for name, part in arrays.items()}
        header = {
            **header,
            "asked": usage,
            "elapsed": self.elapsed,
            "classes": self.classes,
            "arrays": [[name, part.dtype.str, list(part.shape)] for name, part in plain.items()],
        }
        head = json.dumps(header, default=str).encode()
        body = head + b"".join(part.tobytes() for part in plain.values())
        sizes = np.array([len(head), len(body), zlib.crc32(body)], dtype="<u8").tobytes()
        self._file.write(sizes + body)
        self._file.flush()

    def _read(self, path: Path, wanted: dict[str, Any]) -> int:
        """Read every whole record; the offset of the next one."""
        with path.open("rb") as stream:
            mark = stream.read(len(_MAGIC))
            if not _MAGIC.startswith(mark):  # a prefix: killed while writing the very first bytes
                raise DataError(f"{path} is not a ledger of this version. Give another path.")
            good, first = stream.tell(), True
            while (record := _next_record(stream)) is not None:
                header, arrays = record
                if first and header.get("run") != wanted:
                    if _next_record(stream) is None:  # of a run that was refused before its first test
                        break
                    raise SpecError(
                        f"The ledger {path} belongs to another run ({_difference(header.get('run'), wanted)} differs). "
                        "Give the same options and data to go on with it, or another path or analysis id."
                    )
                first = False
                self._absorb(header, arrays)
                good = stream.tell()
        if first:  # not even the header survived
            path.write_bytes(_MAGIC)
            self._file = path.open("r+b")
            self._file.seek(len(_MAGIC))
            self._write({"kind": "run", "run": wanted}, {}, (0, 0, 0.0))
            good = self._file.tell()
            self._file.close()
        return good

    def _absorb(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        rows, calls, seconds = header["asked"]
        self._before = float(header["elapsed"])
        self.classes = list(header["classes"])
        if header["kind"] == "tests":
            self.cache.add(arrays["keys"], arrays["outcomes"])
            self._take(arrays, (rows, calls, seconds))
        elif header["kind"] == "question":
            self.answers[header["digest"]] = arrays
            self._take({}, (rows, calls, seconds))


def _storable(part: NDArray[Any]) -> NDArray[Any]:
    kind = {"f": "<f8", "u": "<u8"}.get(part.dtype.kind, "<i8")
    return np.ascontiguousarray(part, dtype=kind)


def _next_record(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """One record, or None at the end or where the last one is torn."""
    sizes = stream.read(24)
    if len(sizes) < 24:
        return None
    head_size, body_size, checksum = (int(value) for value in np.frombuffer(sizes, dtype="<u8"))
    if head_size > min(_MAX_HEADER, body_size):
        return None
    body = stream.read(body_size) if body_size < 1 << 40 else b""
    if len(body) < body_size or zlib.crc32(body) != checksum:
        return None
    header = json.loads(body[:head_size])
    arrays: dict[str, NDArray[Any]] = {}
    index = head_size
    for name, dtype, shape in header["arrays"]:
        if dtype not in _DTYPES:
            raise DataError(f"The ledger contains an array of an unknown dtype ({dtype!r}).")
        count = math.prod(shape)
        arrays[name] = np.frombuffer(body, dtype=dtype, count=count, offset=index).reshape(shape).copy()
        index += 8 * count
    return header, arrays


def _difference(before: Any, now: Any) -> str:
    names = sorted({*(before or {}), *now}, key=str)
    return ", ".join(str(name) for name in names if (before or {}).get(name) != now.get(name)) or "the header"
