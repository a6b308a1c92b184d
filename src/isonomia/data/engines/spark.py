"""Spark: several sets of groups in one scan, few jobs, and queries that its compiler can compile.

A query of Spark is compiled to Java, and Java compiles it again while it runs: a second or two for every part of a
union, whatever the number of rows. So sets of groups are not a union here: one scan gives every row once per set, and
one aggregation adds them up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.data.engines.engine import Key
from isonomia.data.engines.lazy_keys import pieced, shown_by, sums_of

#: Tasks of Spark that add up groups, at most.
_TASKS = 64
#: Bytes of a method that Java compiles; it interprets larger ones, many times slower than what Spark does without them.
_COMPILED = 8000
#: The numbers that Spark gives to rows are those within a partition, and this many times that of the partition.
_PART = 1 << 33
#: Texts, whole numbers and floats to group by, and what stands for those that a set does not group by.
_KINDS = {"t": nw.String(), "c": nw.Int64(), "x": nw.Float64()}
_CONSTANTS: Mapping[str, str | int | float] = {"t": "", "c": 0, "x": 0.0}


def collected(frame: Any) -> list[Any]:
    """The rows of a Spark DataFrame, in one job.

    Adaptive execution makes a job of every stage, and takes its time to plan each; here a query is a scan and a
    shuffle of groups, which a few tasks add up. Files are read in at least two parts per core: three parts on two
    cores would leave one idle for a third of the time. The settings of the session are put back.
    """
    session = frame.sparkSession
    tasks = min(int(session.conf.get("spark.sql.shuffle.partitions")), _TASKS)
    own = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": str(tasks),
        "spark.sql.codegen.hugeMethodLimit": str(_COMPILED),
        "spark.sql.files.minPartitionNum": str(2 * session.sparkContext.defaultParallelism),
    }
    before = {name: session.conf.get(name, None) for name in own}
    try:
        for name, value in own.items():
            session.conf.set(name, value)
        rows: list[Any] = frame.collect()
        return rows
    finally:
        for name, value in before.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)


def groups_of_sets(
    rows: nw.LazyFrame[Any],
    keys: Mapping[Key, str],
    sets: Sequence[Sequence[Key]],
    shared: Sequence[Key],
    schema: Mapping[str, nw.dtypes.DType],
    *,
    summed: tuple[int, bool],
    least: int,
    limit: int,
) -> nw.LazyFrame[Any]:
    """The groups of each set and the sums over them, as `group_tables.groups_of_each` reads them.

    Parameters
    ----------
    rows : lazy frame
        All keys under the names in `keys`, as `lazy_keys.with_keys` gives them.
    keys : mapping
    sets, shared, least
        See `Engine.grouped_each`.
    schema : mapping
    summed : (int, bool)
        How many numbers y0, y1, ... are summed, and whether there are weights w.
    limit : int
        How many groups of all sets together are returned, at most.
    """
    numbers, weighted = summed
    casts: dict[str, nw.Expr] = {}
    parts = [_slots(own, keys, schema, casts) for own in sets]
    beside = [*(keys[key] for key in shared), *(f"v{keys[key]}" for key in shared if key.form in ("bands", "bins"))]
    kept = dict.fromkeys([*beside, *(("w",) if weighted else ()), *(f"y{index}" for index in range(numbers))])
    frame = each_row_per_set(rows.select(*kept, *(expr.alias(name) for name, expr in casts.items())), parts, list(kept))
    slots = sorted({slot for part in parts for slot in part})
    own_keys = ["set", *(slot for slot in slots if slot[0] in "tcx")]
    total = sums_of(numbers, weighted=weighted)
    sums = [name for name in total if name != "n"]
    for slot in slots:
        if slot[0] in "lv":
            total[slot] = nw.col(slot).min()
        elif slot[0] == "m":
            total[slot] = nw.col(slot).mean()
            total |= {f"w{slot}": (nw.col("w") * nw.col(slot)).sum()} if weighted else {}
    shown = []
    for place, key in enumerate(shared):
        more, expr = shown_by(keys[key], key, weighted=weighted)
        total |= more
        shown.append(expr.alias(f"s{place}"))
    found = frame.group_by(*own_keys, *dict.fromkeys(keys[key] for key in shared)).agg(**total)
    if least > 1:
        together = nw.col("n").sum().over(*own_keys)
        found = found.with_columns(together.alias("together")).filter(nw.col("together") >= least)
    # a filter that all groups pass: Spark collects the first rows of a limit job by job
    found = found.head(limit).filter(nw.col("n") > 0)
    width = max(len(own) for own in sets)
    common = [expr for place in range(width) for expr in _common(place, parts, weighted=weighted)]
    return found.select("set", *common, *shown, nw.col("n").cast(nw.Int64), *sums)


def rows_by_part(rows: nw.LazyFrame[Any], number: str) -> nw.LazyFrame[Any]:
    """How many rows each partition has; `number` is the column of row numbers that Spark gave."""
    parts = rows.select((nw.col(number) // _PART).alias("part"))
    return parts.group_by("part").agg(n=nw.len())


def numbered_from_0(numbers: NDArray[np.int64], parts: Mapping[int, int]) -> NDArray[np.int64]:
    """Row numbers that Spark gave, which begin anew in every partition, as numbers of all rows.

    >>> numbered_from_0(np.array([1, (1 << 33) + 2]), {0: 10, 1: 5}).tolist()
    [1, 12]
    """
    before = dict(zip(sorted(parts), np.cumsum([0, *(parts[part] for part in sorted(parts))]).tolist(), strict=False))
    first = np.array([before[part] for part in (numbers // _PART).tolist()], dtype=np.int64)
    return first + numbers % _PART


def ranges_of_sets(
    rows: nw.LazyFrame[Any], pieces: Sequence[Sequence[tuple[float, float]]], bins: int, by: Sequence[str] = ()
) -> nw.LazyFrame[Any]:
    """Rows, smallest and largest number of each bin of the columns x0, x1, ..., as `group_tables.read_ranges` reads."""
    most = bins * max(len(own) for own in pieces)
    binned = [pieced(nw.col(f"x{index}"), own, bins) for index, own in enumerate(pieces)]
    if bins:  # one whole number: Spark spreads those in its table of groups, and floats that are whole fall together
        binned = [found.cast(nw.Int64) + index * most for index, found in enumerate(binned)]
    parts = [{"b": f"b{index}", "x": f"x{index}"} for index in range(len(pieces))]
    frame = rows.with_columns(*(found.alias(f"b{index}") for index, found in enumerate(binned)))
    frame = each_row_per_set(frame, parts, by).filter(~nw.col("b").is_null())
    groups = frame.group_by(*(("b",) if bins else ("set", "b")), *by)
    found = groups.agg(n=nw.len(), low=nw.col("x").min(), high=nw.col("x").max())
    return found.with_columns((nw.col("b") // most).alias("set")) if bins else found


def each_row_per_set(
    rows: nw.LazyFrame[Any], parts: Sequence[Mapping[str, str]], kept: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Every row once per part, numbered as `set`: the columns of a part under the names that it has for them.

    What is grouped by and not part of a set is a constant there, and not missing: Spark looks groups with missing keys
    up in its slower table. Columns are named by this package: no name is quoted.
    """
    if len(parts) == 1:
        return rows.select(
            nw.lit(0).alias("set"), *(nw.col(name).alias(slot) for slot, name in parts[0].items()), *kept
        )
    types = rows.collect_schema()
    kinds = {slot: types[column] for part in parts for slot, column in part.items()}
    numbers = [nw.lit(index).alias(f"set{index}") for index in range(len(parts))]
    constants = {slot: _CONSTANTS.get(slot[0]) for slot in kinds}
    absent = [nw.lit(constants[slot], dtype).alias(f"no_{slot}") for slot, dtype in kinds.items()]
    columns = [
        f"(set{index}, {', '.join(part.get(slot, f'no_{slot}') for slot in kinds)}) AS part{index}"
        for index, part in enumerate(parts)
    ]
    native = rows.with_columns(*numbers, *absent).to_native()
    query = (
        f"SELECT {', '.join(['set', *kinds, *kept])} FROM {{rows}} "
        f"UNPIVOT INCLUDE NULLS ((set, {', '.join(kinds)}) FOR part IN ({', '.join(columns)}))"
    )
    found: nw.LazyFrame[Any] = nw.from_native(native.sparkSession.sql(query, rows=native))
    return found


def _slots(
    own: Sequence[Key], keys: Mapping[Key, str], schema: Mapping[str, nw.dtypes.DType], casts: dict[str, nw.Expr]
) -> dict[str, str]:
    """The columns of a set: texts t, whole numbers c and floats x to group by; numbers of bands (l, v) and of bins (m).

    Adds what these columns are to `casts`.
    """
    out: dict[str, str] = {}
    for place, key in enumerate(own):
        name, dtype = keys[key], key.type_in(schema)
        cut = key.form in ("bands", "bins")
        whole = cut or dtype.is_integer() or dtype == nw.Boolean
        letter = "c" if whole else "x" if dtype.is_float() else "t"
        casts[f"e{name}"] = nw.col(name).cast(_KINDS[letter])
        out[f"{letter}{place}"] = f"e{name}"
        if cut:
            shown = "m" if key.form == "bins" else "v" if dtype.is_float() else "l"
            casts[f"f{name}"] = nw.col(f"v{name}").cast(nw.Int64() if shown == "l" else nw.Float64())
            out[f"{shown}{place}"] = f"f{name}"
    return out


def _common(place: int, parts: Sequence[Mapping[str, str]], *, weighted: bool) -> list[nw.Expr]:
    """The text t and the number x that a key of any set is shown by."""
    shown = {slot: nw.col(slot) for part in parts for slot in part if slot[1:] == str(place)}
    mean = f"m{place}"
    if weighted and mean in shown:
        shown[mean] = nw.when(nw.col("w") > 0).then(nw.col(f"w{mean}") / nw.col("w")).otherwise(nw.col(mean))
    out = []
    for name, letters, dtype in (("t", "ltc", nw.String()), ("x", "vmx", nw.Float64())):
        expr: nw.Expr = nw.lit(None, dtype)
        used: set[int] = set()
        for slot in (f"{letter}{place}" for letter in letters):
            own = [index for index, part in enumerate(parts) if slot in part and index not in used]
            used.update(own)  # the number of a band shows it, not its index
            if own:
                expr = nw.when(nw.col("set").is_in(own)).then(shown[slot].cast(dtype)).otherwise(expr)
        out.append(expr.alias(f"{name}{place}"))
    return out
