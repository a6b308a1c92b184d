"""May this run code? The person at the keyboard decides, and nobody else; one resolver for every door."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from isonomia import ModelError, SpecError, UntrustedError, load_model
from isonomia.benchmark.contestants import contestant
from isonomia.models import Model, Trust, import_object

MINE = """
import os
import sys
def decide(rows):
    return (rows['x'] > 0).to_numpy()
def leave(rows):
    sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a module of one's own, and a package installed below it, as an environment would be."""
    (tmp_path / "my_bank.py").write_text(MINE)
    (tmp_path / "my_exit.py").write_text("raise SystemExit(9)\n")
    (tmp_path / "my_fault.py").write_text("1 / 0\n")
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "their_bank.py").write_text("import pathlib\n" + MINE + "pathlib.Path('imported').write_text('')\n")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("my_bank", "my_exit", "my_fault", "their_bank"):
        sys.modules.pop(name, None)


def test_ones_own_functions_run_where_they_are_named_directly(folder: Path) -> None:
    model = load_model("my_bank:decide")
    assert (model.source, model.trusted) == ("my_bank:decide", False)


@pytest.mark.parametrize("source", ["subprocess:check_output", "sys:exit", "os:system", "builtins:exec", "numpy:load"])
def test_functions_from_elsewhere_are_named_by_their_module(folder: Path, source: str) -> None:
    module = source.partition(":")[0]
    for trust in (False, True, ["my_bank"], [module + "x"]):
        with pytest.raises(UntrustedError, match=rf"outside of the working folder.*trust=\['{module}'\]"):
            load_model(source, trust=trust)


def test_what_is_installed_below_the_working_folder_is_not_ones_own(folder: Path) -> None:
    with pytest.raises(UntrustedError, match="outside of the working folder"):
        load_model("their_bank:decide", trust=True)
    assert not (folder / "imported").exists(), "nothing is imported to decide it"
    model = load_model("their_bank:decide", trust=["their_bank"])
    assert model.trusted
    assert (folder / "imported").exists()


def test_the_working_folder_is_that_of_the_person(folder: Path, tmp_path_factory, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(UntrustedError, match="outside of the working folder"):
        load_model("my_bank:decide")
    assert "my_bank" not in sys.modules


@pytest.mark.parametrize("source", ["my_bank:os.system", "my_bank:sys.exit", "my_bank:os.path.join"])
def test_ones_own_module_does_not_lead_into_others(folder: Path, source: str) -> None:
    with pytest.raises(UntrustedError, match="outside of the working folder"):
        load_model(source)


def test_a_module_already_imported_is_asked_for_like_any_other(folder: Path, monkeypatch) -> None:
    made = ModuleType("made_in_memory")
    made.decide = lambda rows: rows  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_in_memory", made)
    with pytest.raises(UntrustedError):
        load_model("made_in_memory:decide")
    assert load_model("made_in_memory:decide", trust=["made_in_memory"]).trusted


def test_a_file_that_asks_needs_the_word_of_the_person(folder: Path) -> None:
    asked = Trust().asked_by("spec")
    with pytest.raises(UntrustedError, match=r"The spec asks to run code: 'my_bank:decide'.*trust=True.*\['my_bank'\]"):
        import_object("my_bank:decide", asked)
    with pytest.raises(UntrustedError, match="The spec asks to run code: 'no_such_module:x'"):
        import_object("no_such_module:x", asked)
    assert "my_bank" not in sys.modules
    assert callable(import_object("my_bank:decide", Trust(names=("my_bank",)).asked_by("spec")))
    yes = Trust(True).asked_by("spec")
    assert callable(import_object("my_bank:decide", yes))
    with pytest.raises(UntrustedError, match="outside of the working folder"):
        import_object("os:system", yes)
    with pytest.raises(UntrustedError, match=r"The spec asks to connect to 'https://bank\.example/predict'"):
        asked.allow_address("https://ann:secret@bank.example/predict?key=1")
    Trust(names=("https://bank.example/predict",)).asked_by("spec").allow_address("https://bank.example/predict?k=1")
    Trust().allow_address("https://bank.example/predict")
    for out in ("..", "/", str(folder.parent / "x"), "a/../../b"):
        with pytest.raises(UntrustedError, match="asks to write into"):
            asked.allow_folder(out)
        yes.allow_folder(out)
    (folder / "link").symlink_to(folder.parent)
    with pytest.raises(UntrustedError, match="asks to write into"):
        asked.allow_folder("link/x")
    asked.allow_folder("out/../out2")


def test_code_of_others_does_not_end_the_program(folder: Path) -> None:
    import pandas as pd

    with pytest.raises(ModelError, match="failed on 1 rows: SystemExit: 7"):
        load_model("my_bank:leave").predict_frame(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(ModelError, match=r"tried to end the program \(SystemExit: 9\)"):
        load_model("my_exit:model")
    with pytest.raises(ModelError, match="could not be imported: ZeroDivisionError"):
        load_model("my_fault:model")
    with pytest.raises(ModelError, match="failed on 1 rows: SystemExit: bye"):
        Model.of(lambda rows: sys.exit("bye")).predict_frame(pd.DataFrame({"x": [1.0]}))


class Leaving:
    """Unpickling it ends the program."""

    def __reduce__(self):
        return sys.exit, (3,)


def test_a_trusted_pickle_does_not_end_the_program(tmp_path: Path) -> None:
    import pickle

    (tmp_path / "m.pkl").write_bytes(pickle.dumps(Leaving()))
    with pytest.warns(UserWarning, match="runs whatever code"), pytest.raises(ModelError, match="SystemExit: 3"):
        load_model(tmp_path / "m.pkl", trust=True)


def test_a_store_that_names_a_contestant_runs_nothing_from_elsewhere(folder: Path) -> None:
    with pytest.raises(SpecError, match="'os:system' is code from outside of the working folder"):
        contestant("os:system")
    with pytest.raises(SpecError, match="'my_bank:decide' is a function, not a Contestant"):
        contestant("my_bank:decide")
