"""Files that a command writes are whole or absent: it is killed, the disk is full, or the reader goes away."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

import isonomia as iso

SOURCE = str(Path(iso.__file__).parents[1])
#: What shows that a file is whole.
Reader = Callable[[Path], object]


def isonomia_process(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "isonomia.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"},
    )


def html(path: Path) -> None:
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def markdown(path: Path) -> None:
    assert "## Traceability" in path.read_text(encoding="utf-8")


def table(path: Path) -> None:
    heads, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    assert rows
    assert {len(row) for row in rows} == {len(heads)}
    assert path.read_text(encoding="utf-8").endswith("\n")


def record(path: Path) -> None:
    json.loads(path.read_text(encoding="utf-8"))


ROLES = ["data.csv", "--target", "y", "--prediction", "p", "--protected", "sex"]
COMMANDS: Mapping[str, tuple[list[str], Mapping[str, Reader]]] = {
    "audit": (
        ["audit", *ROLES, "--checks", "group_fairness,weak_spots", "--out", "out/report", "--junit", "out/junit.xml"],
        {
            "report/report.html": html,
            "report/report.json": iso.Report.load,
            "report/report.md": markdown,
            "junit.xml": ElementTree.parse,
        },
    ),
    "run": (["run", "spec.json", "--junit", "out/junit.xml"], {"junit.xml": ElementTree.parse}),
    "discover": (["discover", "subgroups", *ROLES, "--out", "out/found.csv"], {"found.csv": table}),
    "synth": (
        ["synth", "out/people.csv", "--rows", "20000"],
        {"people.csv": table, "people.csv.truth.json": record, "people.truth.json": record},
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # some of the people of "a" are turned down wrongly, so that a search finds somebody
    people = ((i % 7, "abc"[i % 3], "FM"[i % 2], i % 7 > 2, i % 5 > 1 or i % 3 > 0) for i in range(2000))
    rows = "".join(f"{x},{z},{sex},{int(y)},{int(y and right)}\n" for x, z, sex, y, right in people)
    (tmp_path / "data.csv").write_text("x,z,sex,y,p\n" + rows)
    data = {"path": "data.csv", "prediction": "p"}
    spec = {"dataset": data, "target": "y", "protected": ["sex"], "checks": ["performance"]}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    (tmp_path / "out").mkdir()
    return tmp_path


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed otherwise on this system")
@pytest.mark.parametrize(("command", "moment"), [*((name, 1) for name in COMMANDS), ("audit", 0), ("audit", 2)])
def test_a_killed_command_leaves_whole_files_or_none(command: str, moment: int, folder: Path) -> None:
    """Killed when the first file appears, or some milliseconds later: while it writes."""
    arguments, readers = COMMANDS[command]
    with isonomia_process(*arguments, folder=folder) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if any(path.is_file() for path in (folder / "out").rglob("*")):
                time.sleep(random.Random(f"{command} {moment}").uniform(0, 0.02) if moment else 0)
                break
            time.sleep(0.001)
        process.kill()
        _, err = process.communicate(timeout=60)
    assert time.monotonic() < deadline
    assert process.returncode in (-signal.SIGKILL, 0, 1, 3), err.decode()
    left = [path for path in (folder / "out").rglob("*") if path.is_file()]
    assert left, "something was being written when it was killed"
    for path in left:
        if path.suffix != ".part":  # a temporary file has another name than what was asked for
            readers[path.relative_to(folder / "out").as_posix()](path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk of our own: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts a disk of its own")
def test_a_full_disk_leaves_no_half_file(folder: Path, small_disk: Path) -> None:
    arguments = ["audit", *ROLES, "--checks", "performance", "--out", str(small_disk / "report")]
    with isonomia_process(*arguments, folder=folder) as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode not in (0, 1)
    assert "No space left" in err.decode()
    assert "Traceback" not in err.decode()
    left = [path for path in small_disk.rglob("*") if path.is_file()]
    readers: Mapping[str, Reader] = {"report.html": html, "report.json": iso.Report.load, "report.md": markdown}
    assert not [path for path in left if path.suffix == ".part"]
    for path in left:
        readers[path.name](path)


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes break otherwise on this system")
def test_files_are_whole_when_the_reader_of_the_output_goes_away(folder: Path) -> None:
    arguments, readers = COMMANDS["audit"]
    with isonomia_process(*arguments, "--json", folder=folder) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read().decode()
        process.wait(timeout=120)
    assert process.returncode in (0, 141)
    assert "Traceback" not in err
    for name, read in readers.items():
        read(folder / "out" / name)
