"""Runs in the peers' environment: reads the frame, times the work, writes what came out.

This file and its neighbours import nothing of Isonomia.
"""

from __future__ import annotations

import json
import math
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
    best, result = math.inf, None
    if request["repeats"] > 1:
        work(prepared)
    for _ in range(request["repeats"]):
        start = time.perf_counter()
        result = work(prepared)
        best = min(best, time.perf_counter() - start)
    named = {name: _plain(value) for name, value in values(result).items()}
    (place / "answer.json").write_text(
        json.dumps({"seconds": best, "values": named, "version": version(package)}), encoding="utf-8"
    )


def _plain(value):
    value = float(value)
    return value if math.isfinite(value) else None
