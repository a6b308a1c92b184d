"""Text files with many columns: read within little memory, or refused once the header is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import isonomia as iso
from isonomia.data.formats import csv_files
from isonomia.errors import DataError

KINDS = ("7", "1.5", "text", "2024-01-31", "true", "")
READ = """
import sys
import isonomia as iso
data = iso.read(sys.argv[1], backend=sys.argv[2])
with open("/proc/self/status") as file:  # `getrusage` tells the most of the process that started this one, too
    most = next(line.split()[1] for line in file if line.startswith("VmHWM"))
print(len(data.columns), int(most) // 1024)
"""


def wide(path: Path, columns: int, rows: int = 5) -> Path:
    """A file whose columns are whole numbers, fractions, texts, dates, truth values and nothing, by turns."""
    header = ",".join(f"c{index}" for index in range(columns))
    line = ",".join(KINDS[index % len(KINDS)] for index in range(columns))
    path.write_text("\n".join([header, *[line] * rows]) + "\n")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="the most memory of a process is read as Linux tells it")
@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_a_wide_file_takes_no_memory_for_each_pattern_of_each_column(tmp_path: Path, backend: str) -> None:
    """3,000 columns once took 1.2 GB, 10,000 took 3.5 GB."""
    path = wide(tmp_path / "wide.csv", 3000)
    done = subprocess.run([sys.executable, "-c", READ, str(path), backend], capture_output=True, text=True, check=True)
    columns, megabytes = map(int, done.stdout.split())
    assert columns == 3000
    assert megabytes < 600


def test_each_column_of_a_wide_file_has_its_own_kind(tmp_path: Path) -> None:
    data = iso.read(wide(tmp_path / "wide.csv", 600), backend="pyarrow")
    assert [data.kinds[f"c{index}"] for index in range(594, 600)] == [data.kinds[f"c{index}"] for index in range(6)]
    row = [data.column(f"c{index}").to_list()[4] for index in range(6)]
    assert [str(value) for value in row] == ["7", "1.5", "text", "2024-01-31", "True", "None"]


def test_more_columns_than_can_be_read_are_refused_at_the_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "MAX_COLUMNS", 20)
    path = wide(tmp_path / "wide.csv", 21)
    with pytest.raises(DataError, match=r"has 21 columns; at most 20 are read at once.*columns=\[\.\.\.\]"):
        iso.read(path)
    assert iso.read(path, columns=["c3", "c20"]).columns == ("c3", "c20"), "some of them can be read"
