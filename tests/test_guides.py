"""The guides tell the truth: their Python examples run one after the other, their commands and specs as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomia.audit import read_spec
from isonomia.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["guide-files.md", "guide-python.md"])
def test_examples_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))
    variables: dict[str, object] = {}
    assert any(kind == "python" for kind, _ in blocks)
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, name, "exec"), variables)
        elif kind == "yaml":
            (tmp_path / "spec.yaml").write_text(text, encoding="utf-8")
            assert read_spec(tmp_path / "spec.yaml").dataset.path is not None
        for line in text.splitlines() if not kind else ():
            ended = CliRunner().invoke(app, shlex.split(line)[1:])
            assert ended.exit_code == 0, ended.output
    shown = capsys.readouterr().out
    for words in {"guide-files.md": ("Windows-1252", "decimal comma", "identifier"), "guide-python.md": ("exceeds",)}[
        name
    ]:
        assert words in shown
