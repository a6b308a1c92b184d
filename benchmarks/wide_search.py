"""A search for subgroups over a wide file: the memory of the whole process stays within what is stated."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Row, Scale, Target, benchmark

MILLION, COLUMNS = 1_000_000, 200
#: MB that `--max-memory` gives the search by default, and that `--memory` gives rows and groups in the second case.
SEARCH, GIVEN = 512, 1000
#: MB of Python and the libraries.
LIBRARIES = 300


_ALONE = """
import resource, sys
from isonomia.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


@benchmark("wide_search")
def wide_search(scale: Scale) -> Iterator[Row]:
    """`isonomia discover subgroups wide.parquet --max-l 2`: a million rows of 200 columns, half numbers, half texts."""
    import duckdb

    rows, width = scale.rows(MILLION), 20 if scale.quick else COLUMNS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wide.parquet"
        numbers = [f"round(random() * 1000, 2) AS n{k}" for k in range(width // 2 - 1)]
        texts = [f"chr(97 + CAST(random() * 7 AS INTEGER)) AS t{k}" for k in range(width // 2 - 1)]
        roles = ["CAST(random() > 0.5 AS INTEGER) AS y", "CAST(random() > 0.5 AS INTEGER) AS p"]
        columns = ", ".join([*numbers, *texts, *roles])
        duckdb.sql(f"COPY (SELECT {columns} FROM range({rows})) TO '{file}'")
        rows_alone = 8 * width * rows / 1e6
        yield _searched("rows in memory", file, (rows, width), rows_alone + SEARCH)
        yield _searched("--memory 1GB", file, (rows, width), GIVEN + SEARCH + LIBRARIES, "--memory", "1GB")


def _searched(case: str, file: Path, shape: tuple[int, int], budget: float, *options: str) -> Row:
    """The command in a process of its own: CPU seconds, and the largest resident memory."""
    words = ["discover", "subgroups", str(file), "--target", "y", "--prediction", "p", "--max-l", "2", "--quiet"]
    done = subprocess.run([sys.executable, "-c", _ALONE, *words, *options], check=True, capture_output=True, text=True)
    seconds, peak = map(float, done.stdout.split()[-2:])
    note = f"{shape[1]} columns; CPU seconds; the largest resident memory, Python and its libraries included"
    unit = 1e6 if sys.platform == "darwin" else 1e3  # Linux counts in kilobytes
    target = Target("at most", budget)
    return Row(case, shape[0], seconds, measure="MB", value=peak / unit, target=target, note=note)
