"""What a spec may ask for by itself, and what it needs the word of the person who runs it for."""

from __future__ import annotations

import json
import pickle
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import isonomia as iso
from isonomia import SpecError, UntrustedError
from isonomia.audit import read_spec
from isonomia.cli.app import app
from isonomia.study import read_study_spec

runner = CliRunner()
MINE = """
import pathlib
def decide(rows):
    pathlib.Path('ran').write_text('')
    return (rows['x'] > 0).to_numpy() * 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a table, a module and a pickle."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "x": rng.normal(size=200)})
    frame["y"] = (frame["x"] + rng.normal(0, 0.4, 200) > 0).astype(int)
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(LogisticRegression().fit(frame[["x"]], frame["y"])))
    (tmp_path / "my_model.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_model", None)


def spec(folder: Path, **more: Any) -> Path:
    given = {"dataset": "people.csv", "target": "y", "protected": ["sex"], "features": ["x"], "checks": ["performance"]}
    (folder / "spec.json").write_text(json.dumps({**given, "n_boot": 20, **more}), encoding="utf-8")
    return folder / "spec.json"


def ran(*words: str) -> tuple[int, str]:
    done = runner.invoke(app, list(words))
    return done.exit_code, done.stderr


@pytest.mark.parametrize("listed", [False, True])
def test_a_spec_runs_no_command(folder: Path, listed: bool) -> None:
    """Names of columns are the words of a command, and any function that can be imported is called with the rows."""
    command = ["sh", "-c", "echo gone > pwned"]
    pd.DataFrame({**{name: [1, 2] * 50 for name in command}, "y": [0, 1] * 50}).to_csv("people.csv", index=False)
    model: Any = {"path": "subprocess:check_output", "features": command}
    path = spec(folder, model=model, protected=[], features=command)
    for trust in (False, True, ["subprocess.Popen"]):
        with pytest.raises(UntrustedError, match=r"subprocess:check_output"):
            iso.run(json.loads(path.read_text()) if listed else path, trust=trust)
    code, said = ran("run", str(path))
    assert (code, "--trust" in said, "trust=" in said) == (2, True, False)
    assert "--trust-only subprocess" in said
    assert ran("run", str(path), "--trust")[0] == 2
    assert not (folder / "pwned").exists()


def test_a_spec_cannot_trust_itself(folder: Path) -> None:
    for word in (True, ["a.B"], False):
        path = spec(folder, model={"path": "m.pkl", "trust": word})
        with pytest.raises(SpecError, match="a spec cannot trust itself"):
            iso.run(path, trust=True)
    with pytest.raises(SpecError, match="a spec cannot trust itself"):
        read_spec({"dataset": "people.csv", "model": "m.pkl"}, {"model.trust": True})


def test_a_pickle_of_a_spec_needs_the_word_of_the_person(folder: Path) -> None:
    path = spec(folder, model="m.pkl")
    with pytest.raises(UntrustedError, match=r"The spec asks to run code: 'm.pkl' is a pickle.*trust=True"):
        iso.run(path)
    code, said = ran("run", str(path))
    assert code == 2
    assert "The spec asks to run code: 'm.pkl' is a pickle" in said
    assert "pass --trust" in said
    with pytest.warns(UserWarning, match="runs whatever code"):
        report = iso.run(path, trust=True)
    assert report.document.subject["trusted"]


def test_a_function_of_a_spec_needs_the_word_of_the_person(folder: Path) -> None:
    path = spec(folder, model="my_model:decide")
    with pytest.raises(UntrustedError, match="The spec asks to run code: 'my_model:decide'"):
        iso.run(path)
    assert ran("run", str(path))[0] == 2
    assert not (folder / "ran").exists()
    for trust in (True, ["my_model"]):
        report = iso.run(path, trust=trust)
        assert report.document.subject["trusted"]
    assert ran("run", str(path), "--trust-only", "my_model")[0] == 0


def test_what_is_named_at_the_keyboard_instead_is_as_in_audit(folder: Path) -> None:
    path = spec(folder, model="no.skops")
    assert ran("run", str(path), "--model", "my_model:decide") == (0, "")
    assert ran("run", str(path), "--set", "model.path=my_model:decide") == (0, "")
    roles = ["people.csv", "--target", "y", "--features", "x", "--checks", "performance"]
    for words in (["run", str(path)], ["audit", *roles]):
        code, said = ran(*words, "--model", "subprocess:check_output")
        assert (code, "outside of the working folder" in said, "--trust-only subprocess" in said) == (2, True, True)
        code, said = ran(*words, "--model", "m.pkl")
        assert (code, "--trust" in said) == (2, True)
        code, said = ran(*words, "--model", "sys:exit", "--trust-only", "sys")
        assert (code, "SystemExit" in said) == (2, True)


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "http://127.0.0.1:9/predict"},
        {"model": {"path": "HTTPS://127.0.0.1:9/predict", "endpoint": {"headers": {"a": "b"}}}},
        {"dataset": {"path": "postgresql://127.0.0.1:9/x", "query": "SELECT 1 AS y"}, "target": "y"},
    ],
)
def test_a_spec_connects_to_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *args: pytest.fail("connected"))
    path = spec(folder, **asked)
    with pytest.raises(UntrustedError, match=r"The spec asks to connect to '\w+://127.0.0.1:9/"):
        iso.run(path)
    with pytest.raises(UntrustedError, match="The spec asks to connect to"):
        iso.run(path, trust=["http://127.0.0.1:10/predict", "my_model"])
    assert "--trust-only" in ran("run", str(path))[1]


def test_a_spec_writes_below_the_working_folder(folder: Path) -> None:
    (folder / "sub").mkdir()
    before = sorted(folder.parent.iterdir())
    for out in ("../x", str(folder.parent / "x"), "sub/../../x"):
        path = spec(folder, prediction="x", task="regression", out=out)
        with pytest.raises(UntrustedError, match="asks to write into"):
            iso.run(path)
        code, said = ran("run", str(path))
        assert (code, "asks to write into" in said) == (2, True)
    assert sorted(folder.parent.iterdir()) == before
    path = spec(folder, prediction="x", task="regression", out="sub/x")
    iso.run(path)
    assert (folder / "sub" / "x" / "report.json").exists()
    elsewhere = folder.parent / f"{folder.name}-named"
    path = spec(folder, prediction="x", task="regression", out="../x")
    assert ran("run", str(path), "--out", str(elsewhere))[0] == 0
    assert (elsewhere / "report.json").exists()


def test_a_study_is_asked_about_its_code(folder: Path) -> None:
    for name in ("models", "measures"):
        path = folder / "study.yaml"
        path.write_text(f"{name}: {{mine: 'my_model:decide', theirs: 'os:system'}}\n", encoding="utf-8")
        with pytest.raises(SpecError, match=r"The study asks to run code: 'my_model:decide'[\s\S]*'os:system'"):
            read_study_spec(path)
        with pytest.raises(SpecError, match=r"'os:system' is code from outside"):
            read_study_spec(path, trust=True)
        path.write_text(f"{name}: {{mine: 'my_model:decide'}}\n", encoding="utf-8")
        assert callable(read_study_spec(path, trust=["my_model"])[name]["mine"])
    (folder / "study.yaml").write_text("models: {mine: 'my_model:decide'}\n", encoding="utf-8")
    code, said = ran("study", "run", "out", "--spec", "study.yaml")
    assert (code, "The study asks to run code" in said) == (2, True)


def test_an_estimator_is_of_a_known_library_or_ones_own(folder: Path) -> None:
    words = ["mitigate", "people.csv", "--target", "y", "--protected", "sex", "--estimator"]
    code, said = ran(*words, "subprocess:Popen")
    assert (code, "--trust-only subprocess" in said) == (2, True)
