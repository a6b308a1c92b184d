"""A worker: reads one cell per line from its input, writes phases and rows to its output. Started by `pool`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import IO, Any


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer cells until the input ends."""
    from isonomia.benchmark.cells import run_cell

    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, allow_nan=False) + "\n")
        answers.flush()

    send({"phase": "ready"})
    for line in requests:
        row = run_cell(json.loads(line), lambda phase: send({"phase": phase}))
        send({"row": row})


def main() -> None:
    """Serve on the standard streams; what a method prints goes to the error stream.

    Searches measure their limits by `time.perf_counter`. Here that is processor time: a worker has one thread, so on a
    machine with nothing else to do both are the same, and on a busy one the answers do not depend on the load.
    """
    time.perf_counter = time.process_time
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
