"""Tables for tests of engines, put into every kind of source; and reports compared."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

#: What differs from source to source: when, how long, by whom, and the text that names the content.
APART = ("timings", "seconds", "created", "data_sha256", "engine", "backend", "sha256", "period")
#: Names and labels that break queries which are not quoted.
NASTY = ("a\"b'; DROP TABLE loans; --", "Sex", "sex", "select", "n", "row", "k0", "c0", "%s {x}", "äé 😀", "w2")
LABELS = ("it's", 'say "x"', "", "\\N", "a,b;c", "two\nlines", "NULL", "NaN", "😀")

Table = tuple[pl.DataFrame, dict[str, Any]]


def plain_table(n: int = 1500, seed: int = 0) -> Table:
    """Two attributes (one in bands), a score, weights, a date, missing values of everything but the predictions."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    score = np.clip(0.5 + 0.25 * (truth - 0.5) + 0.2 * rng.standard_normal(n), 0, 1).round(3)
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    frame = pl.DataFrame(
        {
            "sex": _with_gaps(np.array(["F", "M"])[rng.integers(0, 2, n)], rng, 0.05),
            "age": _with_gaps(rng.integers(18, 80, n), rng, 0.02),
            "income": _with_gaps(rng.normal(30, 8, n), rng, 0.1),
            "region": np.array(["north", "south", "west"])[rng.integers(0, 3, n)].tolist(),
            "member": rng.random(n) < 0.4,
            "paid": _with_gaps(truth, rng, 0.03),
            "granted": (score >= 0.5).astype(int),
            "score": score,
            "weight": rng.gamma(2.0, 1.0, n),
            "day": day,
        }
    )
    roles = {
        "target": "paid",
        "prediction": "granted",
        "score": "score",
        "protected": {"sex": None, "age": [30, 60]},
        "privileged": {"sex": "M"},
        "weight": "weight",
        "time": "day",
    }
    return frame, roles


def unweighted_table(n: int = 1500) -> Table:
    """The same without weights and without decisions of their own."""
    frame, roles = plain_table(n, seed=1)
    return frame.drop("granted", "weight"), {**roles, "prediction": None, "weight": None, "privileged": None}


def nasty_table(n: int = 1200) -> Table:
    """Names and labels that look like code."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({name: rng.normal(size=n) for name in NASTY[3:]})
    frame = frame.with_columns(
        pl.Series(NASTY[0], _with_gaps(np.array(LABELS, dtype=object)[rng.integers(0, len(LABELS), n)], rng, 0.05)),
        pl.Series(NASTY[1], np.array(["yes", "no", "it's"])[rng.integers(0, 3, n)].tolist()),
        pl.Series(NASTY[2], np.array(['"', "'"])[rng.integers(0, 2, n)].tolist()),
        pl.Series("%(y)s", np.array(["'1'", "--"])[rng.integers(0, 2, n)].tolist()),
    )
    roles = {"target": NASTY[2], "prediction": "%(y)s", "positive": '"', "protected": [NASTY[0], NASTY[1]]}
    return frame.with_columns(pl.col("%(y)s").replace({"'1'": '"', "--": "'"})), roles


def classes_table(n: int = 900) -> Table:
    """Three classes with a score each."""
    rng = np.random.default_rng(3)
    table = rng.dirichlet([2, 2, 2], n).round(6)
    table[:, 2] = 1 - table[:, 0] - table[:, 1]
    names = np.array(["a", "b", "c"])
    frame = pl.DataFrame(
        {
            "group": names[rng.integers(0, 3, n)].tolist(),
            "x": rng.normal(size=n),
            "y": names[[rng.choice(3, p=row / row.sum()) for row in table]].tolist(),
            "p": names[table.argmax(axis=1)].tolist(),
            **{f"s_{name}": table[:, code] for code, name in enumerate(names)},
        }
    )
    return frame, {
        "target": "y",
        "prediction": "p",
        "score": {name: f"s_{name}" for name in names.tolist()},
        "protected": ["group"],
    }


def numbers_table(n: int = 800) -> Table:
    """A regression."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=n)
    frame = pl.DataFrame(
        {
            "group": np.array(["a", "b"])[rng.integers(0, 2, n)].tolist(),
            "x": rng.normal(size=n),
            "y": y,
            "p": y + rng.normal(size=n) * 0.4,
        }
    )
    return frame, {"target": "y", "prediction": "p", "protected": ["group"]}


def credit_table(n: int = 1200) -> Table:
    """The people of the demo, with decisions by a rule of thumb."""
    from isonomia.data.synthetic import credit

    made = credit(n).dataset
    frame = pl.DataFrame({name: made.frame[name].to_list() for name in (*made.features, "decision")})
    score = (1 - pl.col("debt_ratio").clip(0, 1)) * (0.8 - 0.1 * pl.col("late_payments").clip(0, 4))
    frame = frame.with_columns(score.round(6).alias("score"))
    decided = pl.when(pl.col("score") >= 0.5).then(pl.lit("granted")).otherwise(pl.lit("refused"))
    roles = {
        "target": "decision",
        "positive": "granted",
        "prediction": "decided",
        "score": "score",
        "protected": {"sex": None, "ethnicity": None, "age": [25, 60]},
        "privileged": {"sex": "male"},
    }
    return frame.with_columns(decided.alias("decided")), roles


def adult_table(folder: Path, n: int | None = None) -> Table:
    """The Adult data (the first `n` rows), with a decision by hours of work; "?" are left as they are."""
    frame = pl.read_csv(gzip.decompress((folder / "adult.csv.gz").read_bytes()), infer_schema_length=None)
    decided = pl.when(pl.col("hours-per-week") > 45).then(pl.lit(">50K")).otherwise(pl.lit("<=50K"))
    roles = {"target": "income", "positive": ">50K", "prediction": "predicted", "protected": ["sex", "race"]}
    frame = frame if n is None else frame.head(n)
    return frame.with_columns(decided.alias("predicted")), roles


TABLES = {
    "plain": plain_table,
    "unweighted": unweighted_table,
    "nasty": nasty_table,
    "classes": classes_table,
    "numbers": numbers_table,
    "credit": credit_table,
}

_SQL_TYPES = {
    pl.String(): "text",
    pl.Int64(): "bigint",
    pl.Float64(): "double precision",
    pl.Boolean(): "boolean",
    pl.Date(): "date",
}


def load_postgres(url: str, frame: pl.DataFrame, table: str = "loans") -> None:
    """Put a table into a database, row by row: any text arrives as it is."""
    create_table(url, frame[:0], table)
    import psycopg
    from psycopg import sql

    statement = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
    with psycopg.connect(url) as connection, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in frame.iter_rows():
            copy.write_row(row)


def create_table(url: str, frame: pl.DataFrame, table: str) -> None:
    """Put a table of numbers and plain texts into a database, all at once."""
    import psycopg
    from psycopg import sql

    columns = [
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(_SQL_TYPES[dtype]))
        for name, dtype in frame.schema.items()
    ]
    name = sql.Identifier(table)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(name, sql.SQL(", ").join(columns)))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(name)) as copy:
            if frame.height:
                copy.write(frame.write_csv(include_header=False))


def assert_same(one: Any, other: Any, where: str = "", tolerance: float = 1e-12) -> None:
    """Two reports as JSON: the same but for what is said in `APART`; numbers to a relative tolerance."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert set(one) - set(APART) == set(other) - set(APART), where
        for key in one:
            if key not in APART:
                assert_same(one[key], other[key], f"{where}/{key}", tolerance)
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), where
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{index}]", tolerance)
    elif isinstance(one, float) and isinstance(other, int | float):
        assert math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance), f"{where}: {one} and {other}"
    else:
        assert one == other, where


def _with_gaps(values: Any, rng: np.random.Generator, share: float) -> list[Any]:
    gone = rng.random(len(values)) < share
    return [None if absent else value for value, absent in zip(values.tolist(), gone, strict=True)]
