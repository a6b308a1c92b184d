"""The ledger: resuming after a kill at any byte, refusing another run's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia import Cancelled, DataError, Progress, SpecError
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe, Script, Search

DOMAIN = Domain({"age": (0, 40), "pay": (0, 40), "sex": ["F", "M"]}, backend="polars")
ASKED: list[np.ndarray] = []


def model(frame: Any) -> Any:
    rows = DOMAIN.encode(frame)
    ASKED.append(rows)
    return ((rows[:, 0] + rows[:, 1] + 6 * rows[:, 2]) > 45).astype(int)


def search(seed: int) -> Search:
    rng = np.random.default_rng(seed)
    rows = DOMAIN.sample(30, rng)
    for _ in range(15):
        answer = yield rows
        seeds = answer.rows[answer.found & answer.fresh]
        near = np.repeat(seeds, 3, axis=0) + rng.integers(-2, 3, (3 * len(seeds), 3)) * [1, 1, 0]
        rows = np.concatenate([near, DOMAIN.sample(10, rng)])


def run(path: Path | None, seed: int = 0, **limits: Any) -> Loop:
    loop = Loop(Probe(Oracle(model, DOMAIN), ["sex"]), Ledger(path=path, run={"seed": seed}, max_tests=300, **limits))
    loop.drive(Script(search(seed)))
    loop.ledger.close()
    return loop


@given(cut=st.floats(0, 1), seed=st.integers(0, 3))
def test_a_killed_run_goes_on_and_ends_as_if_it_never_stopped(cut: float, seed: int, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("ledger") / "run.ledger"
    whole = run(path, seed)
    written = path.read_bytes()
    path.write_bytes(written[: int(cut * len(written))] or b"")
    kept = Ledger(path=path, run={"seed": seed})
    before, found_before = len(kept.cache), kept.dsn
    kept.close()
    ASKED.clear()
    again = run(path, seed)
    assert sum(map(len, ASKED)) == 2 * (whole.ledger.tsn - before), "a recorded test was sent to the model again"
    assert again.ledger.dsn >= found_before
    assert again.ledger.tsn == whole.ledger.tsn
    a, b = whole.ledger.findings(), again.ledger.findings()
    assert all(np.array_equal(a[name], b[name], equal_nan=True) for name in a if name != "at")


def test_another_runs_ledger_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "x", seed=0)
    with pytest.raises(SpecError, match="another run \\(seed differs\\)"):
        Ledger(path=tmp_path / "x", run={"seed": 1})
    (tmp_path / "y").write_bytes(b"something else entirely")
    with pytest.raises(DataError, match="is not a ledger of this version"):
        Ledger(path=tmp_path / "y")
    with pytest.raises(DataError, match="There is no folder"):
        Ledger(path=tmp_path / "no" / "z")


def test_limits_and_cancelling() -> None:
    progress = Progress()
    progress.cancel()
    with pytest.raises(Cancelled):
        run(None, progress=progress)
    assert run(None, max_seconds=1e-9).ledger.tsn == 0
    for name in ("max_tests", "max_seconds", "max_model_rows"):
        with pytest.raises(SpecError, match=name):
            Ledger(**{name: 0})


def test_rates_are_missing_without_tests() -> None:
    metrics = Ledger().metrics()
    assert (metrics["TSN"], metrics["SUR"], metrics["DSS"]) == (0, None, None)
    done = run(None).ledger.metrics()
    assert done["SUR"] == done["DSN"] / done["TSN"]
    assert done["DSS"] == pytest.approx(done["total_time"] / done["DSN"])


def test_questions_are_recorded_and_not_asked_twice(tmp_path: Path) -> None:
    for _ in range(2):
        ledger = Ledger(path=tmp_path / "q", run={})
        loop = Loop(Probe(Oracle(model, DOMAIN), ["sex"]), ledger)
        ASKED.clear()
        said = loop.consult(DOMAIN.sample(20, np.random.default_rng(0)))
        ledger.close()
    assert not ASKED
    assert len(said) == 20
    assert ledger.n_rows == 20
    assert ledger.tsn == 0
