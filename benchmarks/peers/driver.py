"""Runs in the peers' environment: reads the frame, times the work, writes what came out.

This file and its neighbours import nothing of Isonomia.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path


def answer(package, *, prepare, work, values):
    """Answer the request in the folder named on the command line.

    ``prepare(frame, options)`` is outside the clock: it brings the data into the form the library wants.
    ``work(prepared)`` is timed. ``values(result)`` names the numbers that are compared.
    """
    import pandas as pd

    warnings.simplefilter("ignore")
    place = Path(sys.argv[1])
    request = json.loads((place / "request.json").read_text(encoding="utf-8"))
    prepared = prepare(pd.read_parquet(place / "frame.parquet"), request["options"])
    clock = {"wall": time.perf_counter, "cpu": time.process_time}[request.get("clock", "wall")]
    best, result = math.inf, None
    before = _peak_megabytes()
    if request["repeats"] > 1:
        work(prepared)
    for _ in range(request["repeats"]):
        start = clock()
        result = work(prepared)
        best = min(best, clock() - start)
    named = {name: _plain(value) for name, value in values(result).items()}
    told = {"seconds": best, "values": named, "version": version(package), "megabytes": _peak_megabytes() - before}
    (place / "answer.json").write_text(json.dumps(told), encoding="utf-8")


def _peak_megabytes():
    """The most memory that this process has had so far; the growth of it is what the work needed beyond."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _plain(value):
    value = float(value)
    return value if math.isfinite(value) else None
