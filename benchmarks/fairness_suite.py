"""The full suite over three attributes and their intersections, from a Parquet file; against Fairlearn and AIF360."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster, largest_difference
from benchmarks.peer import PeerError, ask
from benchmarks.people import people

MILLION, FINISHED = 1_000_000, 10_000
ATTRIBUTES = ["sex", "race", "age"]
REFERENCE = {"sex": "Male", "race": "White", "age": "25 to 60"}
BY = [list(way) for size in (1, 2, 3) for way in combinations(ATTRIBUTES, size)]
METRICS = ["selection_rate", "tpr", "fpr", "ppv", "npv", "accuracy"]
#: Replicates of the peers, which would take days over 1,000; ours always has 1,000.
PEER_REPLICATES = 20

_ALONE = """
import resource, sys
import isonomia as iso
data = iso.read(sys.argv[1], target="label", prediction="prediction", protected=["sex", "race", "age"])
columns = {name: data.column(name).to_native() for name in data.columns}
iso.fairness.suite(columns["label"], columns["prediction"], n_boot=1000,
                   sensitive_features={name: columns[name] for name in ("sex", "race", "age")})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@benchmark("fairness_suite")
def fairness_suite(scale: Scale) -> Iterator[Row]:
    """The full fairness suite over 3 attributes and their intersections, 1,000 replicates, from a Parquet file."""
    rows = scale.rows(MILLION)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        _people(rows).to_parquet(path, index=False)
        seconds, _ = best_of(lambda: _suite(path), scale.repeats(3))
        yield Row(
            "full suite from Parquet", rows, seconds, measure="seconds", value=seconds, target=Target("at most", 5)
        )
        yield Row(
            "full suite from Parquet, a process of its own",
            rows,
            None,
            measure="MB",
            value=_megabytes(path),
            target=Target("at most", 1500),
            note="largest resident memory, imports included",
        )
        yield _against_peers(Path(folder), scale)


def _against_peers(folder: Path, scale: Scale) -> Row:
    rows = min(scale.rows(FINISHED), 2_000 if scale.quick else FINISHED)
    frame, path = _people(rows), folder / "few.parquet"
    frame.to_parquet(path, index=False)
    seconds, found = best_of(lambda: _suite(path), scale.repeats(5))
    case = "full suite, values and intervals"
    replicates = 2 if scale.quick else PEER_REPLICATES
    try:
        answer = ask(
            "fairness_suite_peers",
            frame,
            repeats=1,
            attributes=ATTRIBUTES,
            by=BY,
            reference=REFERENCE,
            n_boot=replicates,
        )
    except PeerError as error:
        return Row(case, rows, seconds, "fairlearn + aif360", note=str(error))
    difference, compared = largest_difference(_values(found), answer.values)
    note = f"peers with {replicates} replicates, ours with 1,000 and reading the file"
    return faster(
        case,
        rows,
        seconds,
        f"fairlearn {answer.version} + aif360",
        answer.seconds,
        target=200,
        difference=difference,
        compared=compared,
        note=note,
    )


def _suite(path: Path) -> Any:
    """Read the file, run the suite, build the tables a user looks at."""
    import isonomia as iso

    data = iso.read(path, target="label", prediction="prediction", protected=ATTRIBUTES)
    columns = {name: data.column(name).to_native() for name in data.columns}
    found = iso.fairness.suite(
        columns["label"],
        columns["prediction"],
        sensitive_features={name: columns[name] for name in ATTRIBUTES},
        privileged=REFERENCE,
        n_boot=1000,
        min_per_group=1,
    )
    for table in found.tables.values():
        table.frame("pandas")
    return found


def _values(found: Any) -> dict[str, float | None]:
    named: dict[str, float | None] = {}
    for row in found.tables["by_group"].rows():
        who = "|".join(part.partition("=")[2] for part in row["group"].split(", "))
        named |= {f"{who}:{metric}": row[metric] for metric in METRICS}
    for row in found.metrics.tables["disparities"].rows():
        named[f"{row['by']}:{row['metric']}:difference"] = row["difference"]
        named[f"{row['by']}:{row['metric']}:ratio"] = row["ratio"]
    for (way, name), judged in found.criteria.items():
        if name in ("equalized_odds", "equalized_odds_mean"):
            named[f"{way}:{'average_odds' if name.endswith('mean') else name}"] = judged.figure.value
    for row in found.tables["comparisons"].rows():
        who = "|".join(part.partition("=")[2] for part in row["group"].split(", "))
        named[f"{who}:{row['metric']}:difference to reference"] = row["difference"]
        named[f"{who}:{row['metric']}:ratio to reference"] = row["ratio"]
    return named


def _people(rows: int) -> Any:
    frame = people(rows, columns="str")
    # small races are taken together: where a group has no positives Fairlearn says 0, and ours says that there is none
    frame["race"] = frame["race"].where(frame["race"].isin(["White", "Black"]), "Other")
    rng = np.random.default_rng(1)
    frame["age"] = rng.choice(["under 25", "25 to 60", "over 60"], rows, p=[0.2, 0.6, 0.2])
    return frame


def _megabytes(path: Path) -> float:
    """The largest resident memory of a process that does this and nothing else."""
    done = subprocess.run([sys.executable, "-c", _ALONE, str(path)], capture_output=True, text=True, check=True)
    unit = 1e6 if sys.platform == "darwin" else 1e3  # Linux counts in kilobytes
    return float(done.stdout.split()[-1]) / unit
