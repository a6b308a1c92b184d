"""Outputs that fail under a command: full disks, streams that went away, terminals that lack letters."""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import isonomia
from isonomia.atomic import atomic_write, write_whole
from isonomia.cli.app import app

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
SOURCE = str(Path(isonomia.__file__).parent.parent)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("people") / "people.csv"
    rows = "".join(f"{'FM'[i % 2]},{i % 7},{int(i % 5 > 1)},{int(i % 3 > i % 2)}\n" for i in range(200))
    file.write_text("sex,idáde,y,p\n" + rows, encoding="utf-8")
    return str(file)


def audit(table: str, *more: str) -> list[str]:
    roles = ["--target", "y", "--prediction", "p", "--protected", "sex", "--policy", "eeoc", "--positive", "1"]
    return ["audit", table, *roles, "--checks", "performance", *more]


def ended(
    words: list[str], *, most_bytes: int | None = None, redirect: str = "", **environment: str
) -> tuple[int, str, str]:
    """The exit code of a process and what it says; no file that it writes may be larger than `most_bytes`."""
    limit = None
    if most_bytes is not None:
        limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    command = ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "isonomia.cli", *words]
    given = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONIOENCODING": "utf-8", **environment}
    given.pop("ISONOMIA_FAULTS", None)
    ran = subprocess.run(
        command, capture_output=True, env=given, preexec_fn=limit, check=False, timeout=120, encoding="utf-8"
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("what", ["--json", "--no-color", "metrics", "metrics --json", "--help", "run --schema"])
def test_a_full_disk_behind_standard_output(what: str, table: str) -> None:
    words = audit(table, what) if what in ("--json", "--no-color") else what.split()
    code, _, said = ended(words, redirect="> /dev/full")
    assert (code, said) == (5, "No space left on device: 'standard output'.\n")


def test_a_full_disk_behind_the_messages_loses_nothing(table: str, tmp_path: Path) -> None:
    code, shown, _ = ended(audit(table, "--out", str(tmp_path / "out")), redirect="2> /dev/full")
    assert code in (0, 1, 3)
    assert "Audit of people" in shown
    assert (tmp_path / "out" / "report.json").is_file()
    code, _, _ = ended(["metrics", "acuracy"], redirect="2> /dev/full")
    assert code == 2


@pytest.mark.parametrize("redirect", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed(redirect: str, table: str, tmp_path: Path) -> None:
    code, _, said = ended(audit(table, "--out", str(tmp_path / "out")), redirect=redirect)
    assert code in (0, 1, 3), said
    assert said == ""
    assert (tmp_path / "out" / "report.json").is_file()


@pytest.mark.parametrize("words", [["metrics"], ["metrics", "--json"], ["run", "--schema"], ["--help"]])
def test_a_reader_that_goes_away_is_no_verdict(words: list[str]) -> None:
    command = [sys.executable, "-m", "isonomia.cli", *words]
    given = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=given, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        process.wait(timeout=120)
    assert process.returncode == 141
    assert said == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp850", "latin-1", "utf-8", "utf-16"])
@pytest.mark.parametrize("what", ["audit", "error", "metrics --json", "help"])
def test_a_terminal_that_lacks_letters(encoding: str, what: str, table: str) -> None:
    words = {
        "audit": audit(table),
        "error": audit(table, "--protected", "idade"),
        "metrics --json": ["metrics", "--json"],
        "help": ["audit", "--help"],
    }[what]
    command = [sys.executable, "-m", "isonomia.cli", *words, *([] if what == "help" else ["--lang", "pt-BR"])]
    given = {**os.environ, "PYTHONPATH": SOURCE, "PYTHONIOENCODING": encoding}
    ran = subprocess.run(command, capture_output=True, env=given, check=False, timeout=120)
    assert ran.returncode == {"audit": ran.returncode, "error": 2}.get(what, 0)
    assert ran.returncode != 5, ran.stderr
    shown = (ran.stdout + ran.stderr).decode(encoding)
    if what == "metrics --json":
        again = ended([*words, "--lang", "pt-BR"])[1]
        assert json.loads(ran.stdout.decode(encoding)) == json.loads(again)
    elif encoding == "ascii" and what == "error":
        assert "protegido" in shown or "coluna" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--out", "{folder}/out"], "File too large: '{folder}/out/report.json'."),
        (["--junit", "{folder}/junit.xml"], "File too large: '{folder}/junit.xml'."),
        (["--store", "{folder}/runs.db", "--analysis", "loans"], "The store {folder}/runs.db"),
    ],
)
def test_a_disk_that_fills_up_while_files_are_written(words: list[str], says: str, table: str, tmp_path: Path) -> None:
    """What does not fit is named, nothing half written is left, and the summary is shown."""
    given, most = [word.format(folder=tmp_path) for word in words], 512
    if "--store" in words:
        ended(audit(table, *given))
        most = 33_000  # its index of what is not in it yet fits, the run does not
    code, shown, said = ended(audit(table, *given), most_bytes=most)
    assert code == 5, said
    assert says.format(folder=tmp_path) in said
    assert "Audit of people" in shown
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and path.name != "runs.db"] == []


def test_one_output_that_fails_keeps_the_others(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, said = ended(audit(table, "--out", str(tmp_path / "out"), "--json"), redirect="> /dev/full")
    assert code == 5
    assert "standard output" in said
    assert (tmp_path / "out" / "report.json").is_file()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "here")

    monkeypatch.setattr("isonomia.report.saving.write_whole", full)
    lost = ["--store", str(tmp_path / "runs.db"), "--analysis", "loans", "--out", str(tmp_path / "out2")]
    with monkeypatch.context() as patch:
        patch.setattr("isonomia.cli.output.store.Keeping.keep", full)
        run = CliRunner().invoke(app, audit(table, *lost, "--junit", str(tmp_path / "junit.xml")))
    assert run.exit_code == 5
    assert run.stderr.count("No space left on device: 'here'.") == 2
    assert "Audit of people" in run.stdout
    assert (tmp_path / "junit.xml").is_file()


def test_what_cannot_be_written_is_refused_before_the_work(table: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for words in (["--out", "file/out"], ["--out", "file"], ["--junit", "file/a.xml"], ["--junit", "."]):
        given = [words[0], str(tmp_path / words[1])]
        run = CliRunner().invoke(app, [*audit(table, *given), "--model", "no_such_model.skops"])
        assert run.exit_code == 2
        assert "no_such_model" not in run.stderr
        assert str(tmp_path) in run.stderr


def test_a_missing_browser_keeps_what_was_written(table: str, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexit 1\n")
    browser.chmod(0o755)
    words = audit(table, "--out", str(tmp_path / "out"), "--pdf", "--junit", str(tmp_path / "junit.xml"))
    code, shown, said = ended(words, ISONOMIA_CHROMIUM=str(browser))
    assert code == 5
    assert "printed nothing" in said
    assert "Audit of people" in shown
    assert (tmp_path / "out" / "report.json").is_file()
    assert (tmp_path / "junit.xml").is_file()


def test_files_are_on_the_disk_before_they_get_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    real = os.fsync, Path.replace
    monkeypatch.setattr("isonomia.atomic.os.fsync", lambda handle: (done.append("fsync"), real[0](handle))[1])
    monkeypatch.setattr(Path, "replace", lambda self, target: (done.append("rename"), real[1](self, target))[1])
    write_whole(tmp_path / "a.txt", "whole")
    assert done[:2] == ["fsync", "rename"]
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_an_error_in_writing_names_the_file(tmp_path: Path) -> None:
    def fill() -> None:
        with atomic_write(tmp_path / "a.txt") as part:
            assert part.parent == tmp_path
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        fill()
    assert caught.value.filename == str(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []
