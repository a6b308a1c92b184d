"""What a terminal shows, and what it never gets to see."""

from __future__ import annotations

import io
import json
import time

import pytest

from isonomia.cli.output import progress_bar
from isonomia.cli.output.progress_bar import ProgressBar
from isonomia.cli.output.screen import Screen, printable
from isonomia.evidence import Column, Table
from isonomia.languages import msg


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def test_control_characters_are_replaced() -> None:
    assert printable("a\x1b]0;x\x07\r\nb\u202e") == "a�]0;x���b�"
    assert printable("two\nlines", lines=True) == "two\nlines"
    assert printable("São Paulo 🙂") == "São Paulo 🙂"


def test_tables_take_texts_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table.of(
        {"[bold]sex[/]": ["[red]F[/red] :smile:", "M\x1b[31m"], "rate": [0.25, None]}, [Column("rate", format="pct")]
    )
    Screen().table(table)
    shown = capsys.readouterr().out
    assert "[bold]sex[/]" in shown
    assert "[red]F[/red] :smile:" in shown
    assert "25.0%" in shown
    assert "not available" in shown
    assert "\x1b" not in shown


def test_empty_tables_have_no_head(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().table(Table.of({"sex": [], "rate": []}), title="Rates")
    Screen().table(Table.of({"sex": [], "rate": []}))
    assert capsys.readouterr().out == "Rates\n"


def test_tables_speak_the_language(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(language="pt-BR").table(Table.of({"rate": [0.25]}, [Column("rate", format="pct", title=msg("yes"))]))
    shown = capsys.readouterr().out
    assert "25,0%" in shown
    assert "sim" in shown


@pytest.mark.parametrize("screen", [Screen(quiet=True), Screen(json=True)])
def test_quiet_and_json_say_nothing_to_people(screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
    screen.say("hello")
    screen.table(Table.of({"a": [1]}))
    assert capsys.readouterr().out == ""


def test_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(json=True).data({"ação": [1, None, "\x1b"]})
    out = capsys.readouterr().out
    assert json.loads(out) == {"ação": [1, None, "\x1b"]}
    assert "\x1b" not in out


def test_no_color_is_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for color in (True, False):
        terminal = Terminal()
        monkeypatch.setattr("sys.stdout", terminal)
        Screen(color=color).say("meets the policy", style="green")
        assert ("\x1b[" in terminal.getvalue()) is color


def test_nothing_is_shown_to_those_who_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    bar = ProgressBar(Screen(), msg("Reading"))
    with bar as progress:
        progress.stage("reading", msg("Reading"), total=2).at(1)
        assert not bar.shown
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("parts", [0, 4])
def test_a_bar_comes_after_a_while_and_goes(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    bar = ProgressBar(Screen(), msg("{name}", name="reading [red]x"))
    with bar as progress:
        deadline = time.monotonic() + 60
        while not bar.shown and time.monotonic() < deadline:
            time.sleep(0.01)
        assert bar.shown
        for done in range(parts):
            progress.stage("counting", msg("Counting conjunctions"), total=parts).at(done)
        wanted = "Counting conjunctions" if parts else "reading [red]x"
        while wanted not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert not bar.shown
    assert wanted in terminal.getvalue()


def test_stages_have_bars_of_their_own_in_the_language_of_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    bar = ProgressBar(Screen(language="pt-BR"), msg("Reading"))

    def described() -> list[tuple[str, float, float | None]]:
        assert bar._bars is not None
        return [(task.description, task.completed, task.total) for task in bar._bars.tasks]

    with bar as progress:
        while not bar.shown:
            time.sleep(0.01)
        with progress.stage("audit", msg("Running checks"), total=3) as checks:
            checks.at(1)
            progress.stage("pairs", msg("Searching for pairs"), total=0).at(40)
            assert described() == [("Executando as verificações", 1, 3), ("  Buscando pares", 40, None)]
            checks.at(2)
            assert described() == [("Executando as verificações", 2, 3)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Running checks: 1 of 3 · Searching for pairs"),
        ("pt-BR", "Executando as verificações: 1 de 3 · Buscando pares"),
    ],
)
def test_a_log_says_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch, language: str, line: str) -> None:
    monkeypatch.setattr(progress_bar, "LINE_AFTER", 0.02)
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    deadline = time.monotonic() + 60
    bar = ProgressBar(Screen(language=language), msg("Reading"))
    with bar as progress, progress.stage("audit", msg("Running checks"), total=3) as checks:
        checks.at(1)
        progress.stage("pairs", msg("Searching for pairs"), total=0).at(40)
        while line not in log.getvalue().splitlines() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert line in log.getvalue().splitlines()
    told = log.getvalue()
    time.sleep(0.1)
    assert log.getvalue() == told  # nothing after the end


@pytest.mark.parametrize(("stream", "screen"), [(io.StringIO, Screen()), (Terminal, Screen(quiet=True))])
def test_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], screen: Screen) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    page = stream()
    monkeypatch.setattr("sys.stderr", page)
    with ProgressBar(screen, msg("Reading")):
        time.sleep(0.1)
    assert page.getvalue() == ""


def test_whole_rows_show_the_columns_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    """Thirty columns of data in a terminal: words stay whole, and what is left out is named."""
    wide = Table.of({f"column_{k}": ["a few words", "more"] for k in range(30)})
    Screen(language="en").table(wide)
    shown = capsys.readouterr().out
    assert " column_0 " in shown
    assert "more columns do not fit: column_" in shown
    Screen(language="en").table(Table.of({f"column_{k}": ["a"] for k in range(12)}))
    assert "not fit" not in capsys.readouterr().out
