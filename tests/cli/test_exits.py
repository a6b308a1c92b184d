"""How commands end: one code a kind of ending, a message for people, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import isonomia
from isonomia.cli.app import Guarded, app
from isonomia.errors import Cancelled, DataError, MissingExtraError, NotApplicable, SpecError, UntrustedError

runner = CliRunner()
SOURCE = str(Path(isonomia.__file__).parent.parent)


def program(failing: Callable[[], None]) -> typer.Typer:
    """A program of the same make whose one command does what is asked."""
    made = typer.Typer(cls=Guarded, pretty_exceptions_enable=False)
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
        (ZeroDivisionError("division by zero"), 5, "Internal error in Isonomia: ZeroDivisionError"),
        (MemoryError(), 5, "MemoryError"),
        (KeyboardInterrupt(), 130, "Interrupted: the work was ended"),
        (Cancelled(), 130, "Interrupted: the work was ended"),
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
    assert runner.invoke(app, ["--version"]).stdout.strip() == isonomia.__version__
    shown = runner.invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "metrics" in shown.stdout
    assert runner.invoke(app, ["-h"]).stdout == shown.stdout
    assert "--protected" in runner.invoke(app, ["audit", "-h"]).stdout


def isonomia_process(*arguments: str, folder: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "isonomia.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": SOURCE},
    )


def test_a_real_process_ends_with_the_same_codes() -> None:
    with isonomia_process("metrics", "acuracy") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "Did you mean 'accuracy'" in err


@pytest.fixture
def _listening() -> Iterator[None]:
    """Processes listen to Ctrl-C, also those of tests that a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_listening")
@pytest.mark.parametrize("command", ["audit", "discover pairs", "discover subgroups", "run"])
def test_ctrl_c_leaves_nothing_half_written(command: str, tmp_path: Path) -> None:
    """SIGINT in the middle of the work of a real process: its code, one line, no file, and the ledger can go on.

    The model, which takes 0.2 seconds, is asked ten times more at most: two seconds, however busy the machine is.
    """
    slow = tmp_path / "slow_model.py"
    slow.write_text(
        "import pathlib, time\n"
        "def predict(frame):\n"
        "    with pathlib.Path(__file__).with_name('asked').open('a') as asked:\n"
        "        asked.write('.')\n"
        "    time.sleep(0.2)\n"
        "    return (frame['x'].to_numpy() > 3).astype(int)\n"
    )
    rows = "".join(f"{i % 7},{'FM'[i % 2]},{int(i % 7 > 2)}\n" for i in range(400))
    (tmp_path / "data.csv").write_text("x,sex,y\n" + rows)
    (tmp_path / "spec.json").write_text(
        '{"dataset": "data.csv", "target": "y", "protected": ["sex"], "model": "slow_model:predict", '
        '"checks": ["perturb"], "options": {"perturb": {"n_trials": 1000}}, "out": "out"}'
    )
    model = ["--model", "slow_model:predict", "--trust"]
    roles = ["data.csv", "--target", "y", "--protected", "sex", *model]
    arguments = {
        "audit": ["audit", *roles, "--checks", "full", "--out", "out", "--junit", "out.xml"],
        "discover pairs": ["discover", "pairs", *roles, "--out", "out.csv", "--method", "themis"],
        "discover subgroups": ["discover", "subgroups", *roles, "--out", "out.csv", "--method", "verifair"],
        "run": ["run", "spec.json", "--trust"],
    }[command]
    with isonomia_process(*arguments, folder=tmp_path) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "asked").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        before = (tmp_path / "asked").stat().st_size
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert (tmp_path / "asked").stat().st_size <= before + 10
    assert err.endswith("Interrupted: the work was ended before it was finished.\n")
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"slow_model.py", "data.csv", "spec.json", "asked"}


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


@pytest.mark.filterwarnings("default:The policy:FutureWarning")
def test_a_warning_is_its_text_alone(tmp_path: Path) -> None:
    table = tmp_path / "decided.csv"
    table.write_text("sex,p\n" + "F,0\nM,1\nF,1\nM,1\n" * 50, encoding="utf-8")
    words = ["audit", str(table), "--prediction", "p", "--positive", "1", "--protected", "sex", "--checks", "quick"]
    said = runner.invoke(app, [*words, "--policy", "ecoa", "--lang", "pt-BR"])
    assert "A política 'ecoa' agora se chama 'us-lending'; use esse nome.\n" in said.stderr
    assert "FutureWarning" not in said.output
