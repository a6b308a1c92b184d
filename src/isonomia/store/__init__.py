"""What did we find before: runs, their figures and benchmark cells in SQLite or PostgreSQL."""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.store import _extra  # noqa: F401  before the modules that import these packages
from isonomia.store.analyses import Analysis
from isonomia.store.benchmark_cells import COSTS, FACTORS, SCORES, BenchmarkCell, BenchmarkCells, cell_key
from isonomia.store.jobs import Job, Jobs
from isonomia.store.keys import people_of, who_key
from isonomia.store.leases import Lease
from isonomia.store.log import LogLine
from isonomia.store.opening import open  # noqa: A004  the word users know
from isonomia.store.over_time.charts import Chart, chart_of
from isonomia.store.over_time.watches import Alert, Watch
from isonomia.store.runs import Run
from isonomia.store.store import Store

__all__ = [
    "COSTS",
    "FACTORS",
    "SCORES",
    "Alert",
    "Analysis",
    "BenchmarkCell",
    "BenchmarkCells",
    "Chart",
    "Job",
    "Jobs",
    "Lease",
    "LogLine",
    "Run",
    "Store",
    "Watch",
    "cell_key",
    "chart_of",
    "open",
    "people_of",
    "who_key",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
