"""Installs made from the wheel: what each one holds, and the environment it lives in."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = "3.11"
#: Installs that are made with a newer Python, where this machine has it.
NEWER = {"polars": "3.13", "arrow": "3.12"}
#: What each install can do, by the extras it is made with. `table`: read and give frames; `model`: ask a scikit-learn
#: model, which wants columns with names; the rest are the libraries that single steps need.
INSTALLS: Mapping[str, frozenset[str]] = {
    "pandas": frozenset({"table", "model", "pandas"}),
    "all": frozenset({"table", "model", "pandas", "polars", "arrow", "excel", "plotly", "store", "paper", "fairlearn"}),
    "polars": frozenset({"table", "model", "polars"}),
    "arrow": frozenset({"table", "arrow"}),
    "core": frozenset(),
}


def run(*command: str | Path, at: Path = ROOT) -> str:
    """What a command prints; an error that holds all of it where it fails."""
    done = subprocess.run([str(word) for word in command], cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(str(word) for word in command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def build(uv: Path, at: Path, prepare: Callable[[Path], None] = lambda source: None) -> Path:
    """The wheel, built from the source distribution as an index would, of what git knows and nothing else."""
    source = at / "source"
    for name in run("git", "ls-files", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    prepare(source)
    run(uv, "build", "--quiet", "--python", PYTHON, "--out-dir", at / "dist", source)
    (wheel,) = (at / "dist").glob("*.whl")
    return wheel


def left_out(wheel: Path) -> list[str]:
    """The files of the source that the wheel does not hold."""
    tracked = run("git", "ls-files", "src").splitlines()
    with zipfile.ZipFile(wheel) as packed:
        return sorted({name.removeprefix("src/") for name in tracked} - set(packed.namelist()))


@cache
def python_of(uv: Path, name: str) -> str:
    """The Python of an install: of the oldest version that is declared, or a newer one where the machine has it."""
    newer = NEWER.get(name, PYTHON)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for wanted in (newer, *sorted(str(path) for path in pyenv.glob(f"versions/{newer}.*/bin/python"))):
        command = [uv, "python", "find", "--no-python-downloads", wanted]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return wanted
    return PYTHON


def version_of(at: Path, name: str) -> str:
    """The version of the Python in an install."""
    held = (at / f"env-{name}" / "pyvenv.cfg").read_text(encoding="utf-8")
    return next(line.split("=")[1].strip() for line in held.splitlines() if line.startswith("version_info"))


def install(uv: Path, wheel: Path, name: str, at: Path, *more: str) -> Path:
    """The Python of a new environment with the wheel and the extra of this name."""
    extra = "" if name == "core" else f"[{name}]"
    run(uv, "venv", "--quiet", "--python", python_of(uv, name), at)
    run(uv, "pip", "install", "--quiet", "--python", at / "bin" / "python", f"{wheel}{extra}", *more)
    return at / "bin" / "python"
