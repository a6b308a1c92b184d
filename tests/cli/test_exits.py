"""How commands end: one code a kind of ending, a message for people, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
import typer
from typer.testing import CliRunner

from isonomia.cli.app import Door, app
from isonomia.errors import DataError, MissingExtraError, NotApplicable, SpecError, UntrustedError

runner = CliRunner()


def program(failing: Callable[[], None]) -> typer.Typer:
    """A program of the same make whose one command does what is asked."""
    made = typer.Typer(cls=Door, pretty_exceptions_enable=False)
    made.callback()(lambda: None)
    made.command("go")(failing)
    return made


def raising(error: BaseException) -> Callable[[], None]:
    def go() -> None:
        raise error

    return go


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DataError("The file is empty."), 2, "The file is empty."),
        (SpecError("`seed` must be whole; got 'x'."), 2, "`seed` must be whole"),
        (UntrustedError("A pickle can run anything."), 2, "A pickle can run anything."),
        (MissingExtraError("needs pyarrow"), 2, "needs pyarrow"),
        (NotApplicable("there are no positives"), 2, "there are no positives"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 2, "No such file or directory: 'a.csv'."),
        (PermissionError(13, "Permission denied", "out"), 2, "Permission denied: 'out'."),
        (ZeroDivisionError("division by zero"), 5, "Internal error, a fault of Isonomia: ZeroDivisionError"),
        (MemoryError(), 5, "MemoryError"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (typer.Exit(3), 3, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_ending_has_its_code_and_message(error: BaseException, code: int, said: str) -> None:
    ended = runner.invoke(program(raising(error)), ["go"])
    assert ended.exit_code == code
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_a_traceback_is_there_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISONOMIA_TRACEBACK", "1")
    ended = runner.invoke(program(raising(ZeroDivisionError("division by zero"))), ["go"])
    assert ended.exit_code == 5
    assert "Traceback" in ended.stderr


def test_a_message_cannot_command_the_terminal() -> None:
    ended = runner.invoke(program(raising(DataError("column \x1b[2J\x07 is odd"))), ["go"])
    assert "\x1b" not in ended.stderr
    assert "\x07" not in ended.stderr


@pytest.mark.parametrize("arguments", [["nothing"], ["metrics", "--nothing"], ["metrics", "a", "b"], ["--nothing"]])
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    ended = runner.invoke(app, arguments)
    assert ended.exit_code == 2
    assert "Usage" in ended.stderr


def test_version_and_help() -> None:
    import isonomia

    assert runner.invoke(app, ["--version"]).stdout.strip() == isonomia.__version__
    shown = runner.invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "metrics" in shown.stdout


def isonomia_process(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "isonomia.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_a_real_process_ends_with_the_same_codes() -> None:
    with isonomia_process("metrics", "acuracy") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "Did you mean 'accuracy'" in err


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes break otherwise on this system")
def test_a_reader_that_goes_away_is_no_verdict() -> None:
    with isonomia_process("metrics", "--json") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode in (0, 141)
    assert err == ""


def test_help_needs_nothing_heavy() -> None:
    heavy = ("numpy", "pandas", "polars", "sklearn", "plotly", "duckdb", "scipy", "pydantic", "rich.console", "jinja2")
    script = (
        "import sys\nfrom isonomia.cli.app import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip().splitlines()[-1] == "[]"
