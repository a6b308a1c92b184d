"""The guides tell the truth: their Python examples run one after the other, their commands and specs as written."""

from __future__ import annotations

import json
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


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell; what a cell ends with shows itself, without a script."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((DOCS.parent / "examples" / "notebooks" / "first_audit.ipynb").read_text(encoding="utf-8"))
    variables: dict[str, object] = {}
    shown = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile(text, "first_audit.ipynb", "exec"), variables)
            last = variables.get(text.splitlines()[-1])
            shown += [last._repr_html_()] if hasattr(last, "_repr_html_") else []
    assert len(shown) >= 5
    assert not any("<script" in page for page in shown)
    assert (tmp_path / "out" / "invitations" / "report.html").is_file()
