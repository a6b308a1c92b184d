"""Which method finds what is there: all discovery methods on data whose biases are known, at equal budgets."""

from isonomia.benchmark.contestants import CONTESTANTS, Answer, Claim, Contestant
from isonomia.benchmark.grids import BUDGETS, GRIDS, Budget, Grid
from isonomia.benchmark.models import BENCHMARK_MODELS, BenchmarkModel
from isonomia.benchmark.reading import Benchmark, read_benchmark
from isonomia.benchmark.running import run_benchmark
from isonomia.benchmark.settings import CENTRE, LEVELS, Setting

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
