"""How long a user waits before anything happens, in fresh processes."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.bench import Row, Scale, Target, benchmark


@benchmark("start")
def start(scale: Scale) -> Iterator[Row]:
    """`isonomia --help` and `import isonomia`, each in a fresh process."""
    program = "import sys; from isonomia.cli import main; sys.argv = ['isonomia', '--help']; main()"
    bare = _seconds("pass", scale.repeats(9))
    for case, script, limit in (("isonomia --help", program, 0.3), ("import isonomia", "import isonomia", 0.1)):
        seconds = _seconds(script, scale.repeats(9))
        note = f"of it {bare:.3f} s for Python itself to start"
        yield Row(case, None, seconds, measure="CPU seconds", value=seconds, target=Target("at most", limit), note=note)


def _seconds(script: str, repeats: int) -> float:
    """CPU seconds of the quickest of several fresh processes, after one that fills the caches."""
    best = math.inf
    for turn in range(repeats + 1):
        begin = os.times()
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
        end = os.times()
        if turn:
            best = min(best, end.children_user + end.children_system - begin.children_user - begin.children_system)
    return best
