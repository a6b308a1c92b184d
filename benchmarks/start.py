"""How long a user waits before anything happens, in fresh processes."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.bench import Row, Scale, Target, benchmark


@benchmark("start")
def start(scale: Scale) -> Iterator[Row]:
    """`isonomia --help` and `import isonomia`, each in a fresh process."""
    program = "import sys; from isonomia.cli import main; sys.argv = ['isonomia', '--help']; main()"
    bare = _seconds("pass", scale.repeats(9))
    for case, script, limit in (("isonomia --help", program, 0.3), ("import isonomia", "import isonomia", 0.5)):
        seconds = _seconds(script, scale.repeats(9))
        note = f"of it {bare:.3f} s for Python itself to start"
        yield Row(case, None, seconds, measure="seconds", value=seconds, target=Target("at most", limit), note=note)


def _seconds(script: str, repeats: int) -> float:
    """The shortest of several fresh processes, after one that fills the caches."""
    best = math.inf
    for turn in range(repeats + 1):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
        if turn:
            best = min(best, time.perf_counter() - begin)
    return best
