"""What works with which frame libraries: each script runs in a process that has the packages of ours but for some."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import isonomia

#: How names in the folder of packages begin that belong to what a plain install of Isonomia does not bring.
ABSENT = {
    "polars": ("polars", "_polars"),
    "pyarrow": ("pyarrow",),
    "plotly": ("plotly", "_plotly"),
    "pandas": ("pandas",),
}

PANDAS_ALONE = """
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import isonomia as iso

rng = np.random.default_rng(0)
sex, age = rng.choice(["F", "M"], 600), rng.integers(18, 70, 600)
pay = 2.0 * (sex == "M") + age / 20 + rng.normal(size=600)
frame = pd.DataFrame({"sex": sex, "age": age, "pay": pay, "hired": pay > 3.5})
frame.to_csv("people.csv", index=False)
duckdb.sql("COPY (FROM read_csv('people.csv')) TO 'people.parquet'")

roles = {"target": "hired", "positive": True, "protected": ["sex"]}
data, same = (iso.read(name, **roles) for name in ("people.csv", "people.parquet"))
assert data.backend == same.backend == "pandas"
assert data.fingerprint == same.fingerprint

coded = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
model = make_pipeline(coded, LogisticRegression(max_iter=1000)).fit(data.frame[["sex", "age", "pay"]], frame["hired"])
report = iso.audit(data, model, checks="standard", seed=0)
assert [section.reason for section in report if section.outcome == "failed"] == []
assert report.findings
report.save("out")
assert "<svg" in Path("out/report.html").read_text(encoding="utf-8")
assert type(iso.Report.load("out")["group_fairness"].table) is pd.DataFrame

assert len(iso.discovery.find_pairs(data, model, max_tests=2000).witnesses)
assert len(iso.discovery.find_subgroups(data, model).table)

for counted in (lambda: iso.read("people.parquet", engine="duckdb", **roles), lambda: iso.read(duckdb.sql("SELECT 1"))):
    try:
        counted()
    except iso.MissingExtraError as error:
        print(error)
"""

ARRAYS_ALONE = """
from pathlib import Path

import isonomia as iso
from isonomia.cli import main

decided, sex = [0, 1, 1, 0] * 50, ["F", "F", "M"] * 66 + ["M", "M"]
found = iso.fairness.group_metrics([0, 1] * 100, decided, sensitive_features=sex)
print(found)
for asked in (lambda: found.table, lambda: iso.read("people.csv", target="hired")):
    Path("people.csv").write_text("sex,hired\\nF,1\\nM,0\\n")
    try:
        asked()
    except iso.MissingExtraError as error:
        print(error)
sys.argv = ["isonomia", "audit", "people.csv", "--target", "hired", "--protected", "sex"]
main()
"""


def run(folder: Path, script: str, *, without: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """What a script does without some packages; they are left out of a folder of links to all that are installed."""
    left_out = tuple(start for name in without for start in ABSENT[name])
    packages, here = folder / "packages", folder / "here"
    packages.mkdir()
    here.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("isonomia", *left_out)):
            (packages / entry.name).symlink_to(entry)
    (packages / "isonomia").symlink_to(Path(isonomia.__file__).parent)
    start = f"import sys\nsys.path.insert(0, {str(packages)!r})\n"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", f"{start}{script}"]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, check=False, timeout=300)


def test_with_pandas_alone_everything_works_but_counting_rows_where_they_are(tmp_path: Path) -> None:
    done = run(tmp_path, PANDAS_ALONE, without=("polars", "pyarrow", "plotly"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "here" / "out" / "report.md").stat().st_size > 1000
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("Counting rows where they are needs the package 'polars'")
        assert line.endswith("Install it with: pip install 'isonomia[polars]'")


def test_without_any_of_them_arrays_are_measured_and_files_are_refused(tmp_path: Path) -> None:
    done = run(tmp_path, ARRAYS_ALONE, without=tuple(ABSENT))
    sentence = (
        "Tables need pandas, Polars or PyArrow, and none of them is installed. Install one: pip install "
        "'isonomia[pandas]'"
    )
    assert (done.returncode, done.stderr.strip()) == (2, sentence)
    title, *shown, first, second = done.stdout.splitlines()
    assert title == "Metrics by group"
    assert any(line.startswith("F  ") for line in shown)
    assert [first, second] == [sentence, sentence]
