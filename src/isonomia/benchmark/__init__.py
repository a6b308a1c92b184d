"""Which method finds what is there: all discovery methods on data whose biases are known, at equal budgets."""

from typing import TYPE_CHECKING

from isonomia.benchmark.contestants import CONTESTANTS, Answer, Claim, Contestant
from isonomia.benchmark.grids import BUDGETS, GRIDS, Budget, Grid
from isonomia.benchmark.models import BENCHMARK_MODELS, BenchmarkModel
from isonomia.benchmark.reading import Benchmark, read_benchmark
from isonomia.benchmark.running import run_benchmark
from isonomia.benchmark.settings import CENTRE, LEVELS, Setting
from isonomia.parameters import face

__all__ = [
    "Answer",
    "BENCHMARK_MODELS",
    "BUDGETS",
    "Benchmark",
    "BenchmarkModel",
    "Budget",
    "CENTRE",
    "CONTESTANTS",
    "Claim",
    "Contestant",
    "GRIDS",
    "Grid",
    "LEVELS",
    "Setting",
    "read_benchmark",
    "run_benchmark",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
