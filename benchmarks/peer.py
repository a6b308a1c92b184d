"""Asking another library, in its own environment: a frame and options go out as files, seconds and values come back."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: The environment that `make bench` sets up; another can be named for trying things out.
PYTHON = Path(os.environ.get("ISONOMIA_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
SCRIPTS = Path(__file__).parent / "peers"


class PeerError(RuntimeError):
    """A peer could not be asked, or failed; the message's last line says why."""


@dataclass(frozen=True)
class Answer:
    """What a peer said: its best seconds, its values by name, its version."""

    seconds: float
    values: Mapping[str, float | None]
    version: str
    megabytes: float | None = None


def ask(script: str, frame: Any, *, repeats: int, timeout: float = 1800, **options: Any) -> Answer:
    """Run ``peers/<script>.py`` on a pandas frame.

    Parameters
    ----------
    script : str
        A file in ``benchmarks/peers`` that ends with ``answer(prepare, work, values)`` of ``driver.py``.
    frame : pandas.DataFrame
        Handed over as Parquet, so the peer starts from the same frame.
    repeats : int
        How many times the peer's work is timed, after one to warm up (none where `repeats` is 1).
    **options
        JSON-safe, passed to the script.
    """
    if not PYTHON.exists():
        raise PeerError(f"There is no environment of peers at {PYTHON.parents[1].name}; `make bench` sets it up.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        frame.to_parquet(place / "frame.parquet", index=False)
        (place / "request.json").write_text(json.dumps({"repeats": repeats, "options": options}), encoding="utf-8")
        done = subprocess.run(
            [str(PYTHON), str(SCRIPTS / f"{script}.py"), str(place)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=_environment(),
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise PeerError(f"{script} ended with {done.returncode}: {lines[-1]}")
        return Answer(**json.loads((place / "answer.json").read_text(encoding="utf-8")))


def _environment() -> dict[str, str]:
    """The caller's, without what would lead Python to the caller's own packages."""
    return {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
