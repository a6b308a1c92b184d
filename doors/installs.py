"""Installs made from the wheel: what each one holds, and the environment it lives in."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = "3.11"
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


def build(uv: Path, at: Path) -> Path:
    """The wheel, built from the source distribution as an index would, of what git knows and nothing else."""
    source = at / "source"
    for name in run("git", "ls-files").splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    run(uv, "build", "--quiet", "--python", PYTHON, "--out-dir", at / "dist", source)
    (wheel,) = (at / "dist").glob("*.whl")
    return wheel


def left_out(wheel: Path) -> list[str]:
    """The files of the source that the wheel does not hold."""
    tracked = run("git", "ls-files", "src").splitlines()
    with zipfile.ZipFile(wheel) as packed:
        return sorted({name.removeprefix("src/") for name in tracked} - set(packed.namelist()))


def install(uv: Path, wheel: Path, name: str, at: Path, *more: str) -> Path:
    """The Python of a new environment with the wheel and the extra of this name."""
    extra = "" if name == "core" else f"[{name}]"
    run(uv, "venv", "--quiet", "--python", PYTHON, at)
    run(uv, "pip", "install", "--quiet", "--python", at / "bin" / "python", f"{wheel}{extra}", *more)
    return at / "bin" / "python"
