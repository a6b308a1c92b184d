"""A search killed for real, at random moments, and gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from isonomia.discovery import find_pairs
from isonomia.probing import Domain, Ledger

SCRIPT = """
import sys, time
import numpy as np
from isonomia.discovery import find_pairs
from isonomia.probing import Domain

domain = Domain({"age": (18, 67), "sex": (0, 1), "hours": (1, 60), "pay": (0, 40)}, backend="polars")

def slow(frame):
    time.sleep(0.01)
    rows = domain.encode(frame)
    return (rows[:, 0] + rows[:, 3] + 9 * rows[:, 1] > 60).astype(int)

find_pairs(domain, slow, method="aequitas", protected="sex", max_tests=9000, max_global=300, ledger_dir=sys.argv[1])
"""
DOMAIN = Domain({"age": (18, 67), "sex": (0, 1), "hours": (1, 60), "pay": (0, 40)}, backend="polars")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not on Windows")
def test_killed_again_and_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "aequitas.ledger"
    asked: list[int] = []

    def quick(frame: object) -> np.ndarray:
        rows = DOMAIN.encode(frame)
        asked.append(len(rows))
        return (rows[:, 0] + rows[:, 3] + 9 * rows[:, 1] > 60).astype(int)

    options = {"method": "aequitas", "protected": "sex", "max_tests": 9000, "max_global": 300}
    whole = find_pairs(DOMAIN, quick, **options)
    for _ in range(3):
        running = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)])
        until = time.monotonic() + 120
        size = path.stat().st_size if path.exists() else 0
        while running.poll() is None and time.monotonic() < until:
            if path.exists() and path.stat().st_size > size + 2000:
                time.sleep(float(rng.uniform(0, 0.02)))
                break
            time.sleep(0.002)
        running.send_signal(signal.SIGKILL)
        running.wait()
    asked.clear()
    before = _recorded(path, tmp_path)
    rest = find_pairs(DOMAIN, quick, ledger_dir=tmp_path, **options)
    assert before > 0
    assert sum(asked) == 2 * (whole.metrics["TSN"] - before), "a recorded test was sent to the model again"
    assert rest.metrics["TSN"] == whole.metrics["TSN"]
    assert np.array_equal(rest.pairs.first, whole.pairs.first)


def _recorded(path: Path, folder: Path) -> int:
    """How many tests the ledger holds, read from a copy."""
    import json

    copy = folder / "copy"
    copy.write_bytes(path.read_bytes())
    header = int(np.frombuffer(copy.read_bytes()[8:16], dtype="<u8")[0])
    run = json.loads(copy.read_bytes()[32 : 32 + header])["run"]
    ledger = Ledger(path=copy, run=run)
    ledger.close()
    return len(ledger.cache)
