"""Audits of rows that stay where they are: Parquet through DuckDB, PostgreSQL, Spark.

Every measurement runs in a process of its own, so that its CPU time and its peak of memory are its own:
``python -m benchmarks.engines WORK PATH`` prints what one of them took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Row, Scale, Target, benchmark

#: Checks that need counts alone.
COUNTING = ["representation", "performance", "group_fairness", "fairness_suite", "incompatibility"]
ROLES: dict[str, Any] = {"target": "y", "prediction": "p", "protected": ["sex", "race", "region"]}
MEMORY = "512MB"
#: Enough for the codes of 10^7 rows.
FOR_CODES = "2500MB"
#: Rows of the Parquet file of the counting checks (3.3 GB on disk); ISONOMIA_ENGINE_ROWS asks for fewer. Others have
#: a tenth.
ROWS = int(float(os.environ.get("ISONOMIA_ENGINE_ROWS", "1e8")))

_TABLE = """
    SELECT ['F', 'M'][1 + floor(random() * 2)::int] AS sex,
    ['a', 'b', 'c', 'd', 'e'][1 + floor(random() * 5)::int] AS race,
    (18 + floor(random() * 60))::smallint AS age, ['n', 's', 'e', 'w'][1 + floor(random() * 4)::int] AS region,
    (random() < 0.4)::smallint AS y, (random() < 0.45)::smallint AS p, random() AS s, random() * 2 AS w,
    random() * 100 AS income, floor(random() * 40)::smallint AS hours, random() AS debt,
    ['x', 'y', 'z'][1 + floor(random() * 3)::int] AS job, (random() < 0.1) AS member FROM range({rows})
"""
_ROLES_ALONE = """
    SELECT ['F', 'M'][1 + ((h >> 3) & 1)::int] AS sex, ['a', 'b', 'c', 'd', 'e'][1 + ((h >> 8) & 255) % 5] AS race,
    ['n', 's', 'e', 'w'][1 + ((h >> 20) & 3)::int] AS region, (((h >> 24) & 255) < 102)::tinyint AS y,
    (((h >> 34) & 255) < 115)::tinyint AS p FROM (SELECT (hash(range) >> 1)::bigint AS h FROM range({begin}, {end}))
"""


@benchmark("engines")
def engines(scale: Scale) -> Iterator[Row]:
    """Audits of Parquet and PostgreSQL, in seconds of CPU: against reading the columns; memory, statements, bytes."""
    rows = scale.rows(ROWS)
    with tempfile.TemporaryDirectory(prefix="isonomia-bench-") as folder:
        file = make_table(Path(folder) / "rows.parquet", rows)
        yield from _against_reading(str(file), rows, "counting checks", "counting", Target("at most", 3))
        file.unlink()
        file = make_table(Path(folder) / "tenth.parquet", rows // 10)
        yield from _against_reading(str(file), rows // 10, "counting checks with scores", "scores")
        yield from _beyond_memory(str(file), rows // 10)
        small = str(make_table(Path(folder) / "small.parquet", scale.rows(1_000_000)))
        yield from _postgres(small, scale.rows(1_000_000))
        yield from _subgroups_of_postgres(small, scale.rows(1_000_000))


@benchmark("engines_billion")
def engines_billion(scale: Scale) -> Iterator[Row]:
    """Counting checks of 10^9 rows in ten Parquet files (1 GB): seconds of CPU against reading them, memory."""
    rows = scale.rows(1_000_000_000)
    with tempfile.TemporaryDirectory(prefix="isonomia-bench-") as folder:
        files = make_parts(Path(folder), rows)
        read, found = measured("read", files), measured("counting", files)
    for measure, value, most in (("times as long", found["cpu"] / read["cpu"], 3), ("MB", found["mb"], 2000)):
        yield Row(
            "Parquet, counting checks",
            rows,
            found["cpu"],
            peer_name="reading the columns",
            peer=read["cpu"],
            measure=measure,
            value=value,
            target=Target("at most", most),
            difference=abs(found["rows"] - rows),
            compared=1,
            note="seconds of CPU; the rows counted are compared with those written",
        )


@benchmark("engines_spark")
def engines_spark(scale: Scale) -> Iterator[Row]:
    """A standard audit of a Spark DataFrame, local[2]: jobs and seconds."""
    rows = scale.rows(ROWS // 10)
    with tempfile.TemporaryDirectory(prefix="isonomia-bench-") as folder:
        yield from _spark(str(make_table(Path(folder) / "rows.parquet", rows)), rows)


#: Megabytes that a process may take at `MEMORY`.
LIMIT = Target("at most", 512 + 100)


def _against_reading(file: str, rows: int, name: str, work: str, target: Target | None = None) -> Iterator[Row]:
    reading, found = measured("read", file)["cpu"], measured(work, file)
    yield Row(
        f"Parquet, {name}",
        rows,
        found["cpu"],
        peer_name="reading the columns",
        peer=reading,
        measure="times as long",
        value=found["cpu"] / reading,
        target=target,
        note="seconds of CPU; the audit's own part, about half a second, is the same for any number of rows",
    )
    yield Row(f"Parquet, {name}, memory 512MB", rows, None, measure="MB", value=found["mb"], target=LIMIT)


def _beyond_memory(file: str, rows: int) -> Iterator[Row]:
    works = {
        "standard": ("standard audit", 512, "all rows are counted, also for slices of features"),
        "subgroups": ("SliceLine, level by level", 512, "all rows are counted, for every set of features"),
        "codes": ("SliceLine, as codes", 2500, "columns are read once, and searched here"),
    }
    for work, (name, memory, note) in works.items():
        found = measured(work, file)
        yield Row(
            f"Parquet, {name}, memory {memory}MB",
            rows,
            found["cpu"],
            measure="MB",
            value=None if found.get("rows_fit") else found["mb"],
            target=Target("at most", memory + 100),
            note=f"{note}: not so here, since the rows fit" if found.get("rows_fit") else f"seconds of CPU; {note}",
        )


def _subgroups_of_postgres(file: str, rows: int) -> Iterator[Row]:
    found = measured("postgres_codes", file)
    yield Row(
        f"PostgreSQL, SliceLine, as codes, memory {MEMORY}",
        rows,
        found["cpu_both"],
        measure="MB",
        value=found["mb_received"],
        note=f"seconds of CPU of both sides, {found['cpu_own']:.1f} of them the search's own; MB received",
    )


def _postgres(file: str, rows: int) -> Iterator[Row]:
    found = measured("postgres", file)
    cpu = f"{found['cpu_both']:.1f} s of CPU, {found['cpu_own']:.1f} of them the audit's own"
    notes = {"seconds": cpu, "MB": "received from the server"}
    for measure, key, most in (("statements", "statements", 8), ("seconds", "took", 5), ("MB", "mb_received", 5)):
        yield Row(
            f"PostgreSQL, counting checks and calibration, {measure}",
            rows,
            found["took"],
            measure=measure,
            value=found[key],
            target=Target("at most", most),
            note=notes.get(measure, ""),
        )


def _spark(file: str, rows: int) -> Iterator[Row]:
    found = measured("spark", file)
    for measure, most in (("jobs", 8), ("seconds", 60)):
        yield Row(
            f"Spark local[2], standard audit, {measure}",
            rows,
            found["seconds"],
            measure=measure,
            value=found[measure],
            target=Target("at most", most),
            note=f"without the start of the session ({found['start']:.0f} s); {found['cpu_both']:.0f} s of CPU",
        )


def make_table(file: Path, rows: int) -> Path:
    """A Parquet file of random people."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "1GB"})
    connection.execute("SELECT setseed(0.5)")
    query = _TABLE.format(rows=rows)
    connection.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 500000)")
    return file


def make_parts(folder: Path, rows: int, parts: int = 10) -> str:
    """Parquet files of random people with nothing but the columns of roles: a byte per row. The pattern of their names.

    What is random is a hash of the number of the row.
    """
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "1GB"})
    for part in range(parts):
        begin, end = part * rows // parts, (part + 1) * rows // parts
        query = _ROLES_ALONE.format(begin=begin, end=end)
        connection.execute(f"COPY ({query}) TO '{folder}/part-{part}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 500000)")
    return f"{folder}/*.parquet"


def measured(work: str, file: str) -> dict[str, float]:
    """What one work took, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.engines", work, file], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _clocked(work: Callable[[], dict[str, float] | None]) -> dict[str, float]:
    import resource

    with tempfile.TemporaryDirectory() as folder:  # imports, and what is made once, are not of the rows
        _counting(str(make_table(Path(folder) / "few.parquet", 1000)), score="s")
    began, wall = time.process_time(), time.perf_counter()
    found = work() or {}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = {"cpu": time.process_time() - began, "seconds": time.perf_counter() - wall, "mb": usage.ru_maxrss / 1024}
    return {**spent, **found}


def _read(file: str) -> None:
    import duckdb

    duckdb.execute(f"SELECT max(sex), max(race), max(region), sum(y), sum(p) FROM '{file}'").fetchall()


def _counting(file: str, **more: Any) -> dict[str, float]:
    import isonomia as iso

    data = iso.read(file, engine="duckdb", memory=MEMORY, **ROLES, **more)
    iso.audit(data, checks=COUNTING)
    return {"rows": float(len(data))}


def _standard(file: str) -> None:
    import isonomia as iso

    iso.audit(iso.read(file, engine="duckdb", memory=MEMORY, **ROLES, score="s"))


def _subgroups(file: str, memory: str = MEMORY) -> dict[str, float]:
    import isonomia as iso

    data = iso.read(file, engine="duckdb", memory=memory, **ROLES)
    result = iso.discovery.find_subgroups(data)
    assert not any("were examined" in str(note) for note in result.notes)
    return {"rows_fit": float(data.rows_fit)}


def _audited(url: str) -> Any:
    """The engine of a standard audit."""
    import isonomia as iso

    data = iso.read(url, table="loans", **ROLES, score="s")
    iso.audit(data, checks=[*COUNTING, "calibration"])
    return data.engine


def _searched(url: str) -> Any:
    """The engine of a search for subgroups."""
    import isonomia as iso

    data = iso.read(url, table="loans", memory=MEMORY, **ROLES)
    iso.discovery.find_subgroups(data)
    return data.engine


def _in_postgres(file: str, work: Callable[[str], Any]) -> dict[str, float]:
    import polars as pl
    from polars import selectors
    from tests.engine_sources import create_table
    from tests.postgres_cluster import postgres_cluster

    with postgres_cluster() as cluster, cluster.database() as url:
        create_table(url, pl.read_parquet(file).with_columns(selectors.integer().cast(pl.Int64)), "loans")
        cluster.execute("VACUUM ANALYZE loans", url.split("/")[-1].split("?")[0])  # not while the clock runs
        server = int((cluster.data / "postmaster.pid").read_text().split()[0])
        time.sleep(1)  # until the server has noted what loading took
        spent, began, wall = _cpu_of(server, children=True), time.process_time(), time.perf_counter()
        engine = work(url)
        statements, received = engine.statements, engine.bytes_received / 1e6
        own, took = time.process_time() - began, time.perf_counter() - wall
        engine.close()
        time.sleep(1)  # until the server has noted what its process took
        return {
            "cpu_own": own,
            "took": took,
            "cpu_both": own + _cpu_of(server, children=True) - spent,
            "statements": statements,
            "mb_received": received,
        }


def _cpu_of(process: int, *, children: bool = False) -> float:
    """Seconds of CPU of a process, or of those of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    first = 13 if children else 11
    return sum(map(int, fields[first : first + 2])) / os.sysconf("SC_CLK_TCK")


def _in_spark(file: str) -> dict[str, float]:
    from pyspark.sql import SparkSession

    import isonomia as iso

    began = time.perf_counter()
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    start = time.perf_counter() - began
    session.sparkContext.setJobGroup("audit", "audit")
    java = int(session._jvm.java.lang.ProcessHandle.current().pid())
    began, started, own = time.perf_counter(), _cpu_of(java), time.process_time()
    iso.audit(iso.Dataset(session.read.parquet(file), **ROLES))
    seconds = time.perf_counter() - began
    cpu = _cpu_of(java) - started + time.process_time() - own
    jobs = len(session.sparkContext.statusTracker().getJobIdsForGroup("audit"))
    session.stop()
    return {"seconds": seconds, "cpu_both": cpu, "jobs": float(jobs), "start": start}


_WORKS: dict[str, Callable[[str], dict[str, float] | None]] = {
    "read": _read,
    "counting": _counting,
    "scores": lambda file: _counting(file, score="s"),
    "standard": _standard,
    "subgroups": _subgroups,
    "codes": lambda file: _subgroups(file, FOR_CODES),
    "postgres": lambda file: _in_postgres(file, _audited),
    "postgres_codes": lambda file: _in_postgres(file, _searched),
    "spark": _in_spark,
}

if __name__ == "__main__":
    print(json.dumps(_clocked(lambda: _WORKS[sys.argv[1]](sys.argv[2]))))
