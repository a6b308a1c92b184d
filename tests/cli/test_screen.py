"""What a terminal shows, and what it never gets to see."""

from __future__ import annotations

import io
import json
import time

import pytest

from isonomia.cli import progress_bar
from isonomia.cli.progress_bar import Waiting
from isonomia.cli.screen import Screen, printable
from isonomia.evidence import Table
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
    table = Table.of({"[bold]sex[/]": ["[red]F[/red] :smile:", "M\x1b[31m"], "rate": [0.25, None]}, {"rate": "pct"})
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
    Screen(language="pt-BR").table(Table.of({"rate": [0.25]}, {"rate": "pct"}, {"rate": msg("yes")}))
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
    with Waiting(Screen(), "reading") as progress:
        progress("reading", 1, 2)
        assert not progress.shown
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("parts", [0, 4])
def test_a_bar_comes_after_a_while_and_goes(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Waiting(Screen(), "reading [red]x") as progress:
        deadline = time.monotonic() + 60
        while not progress.shown and time.monotonic() < deadline:
            time.sleep(0.01)
        assert progress.shown
        for done in range(parts):
            progress("counting", done, parts)
        wanted = "counting" if parts else "reading [red]x"
        while wanted not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert not progress.shown
    assert wanted in terminal.getvalue()


@pytest.mark.parametrize(("stream", "screen"), [(io.StringIO, Screen()), (Terminal, Screen(quiet=True))])
def test_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], screen: Screen) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    page = stream()
    monkeypatch.setattr("sys.stderr", page)
    with Waiting(screen, "reading"):
        time.sleep(0.1)
    assert page.getvalue() == ""
