"""Asking another library, in its own environment: a frame and options go out as files, seconds and values come back."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[1]
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


def python_of(environment: str = "") -> Path:
    """The Python of an environment that `make bench` sets up; ISONOMIA_PEERS[_NAME] names another one."""
    suffix = f"-{environment}" if environment else ""
    place = os.environ.get("ISONOMIA_PEERS" + suffix.replace("-", "_").upper(), ROOT / f".venv-peers{suffix}")
    return Path(place) / "bin" / "python"


def ask(
    script: str,
    frame: Any,
    *,
    repeats: int,
    timeout: float = 1800,
    environment: str = "",
    clock: Literal["wall", "cpu"] = "wall",
    **options: Any,
) -> Answer:
    """Run ``peers/<script>.py`` on a pandas frame.

    Parameters
    ----------
    script : str
        A file in ``benchmarks/peers`` that ends with ``answer(prepare, work, values)`` of ``driver.py``.
    frame : pandas.DataFrame
        Handed over as Parquet, so the peer starts from the same frame.
    repeats : int
        How many times the peer's work is timed, after one to warm up (none where `repeats` is 1).
    timeout : float
        Seconds after which the peer is stopped.
    environment : str
        For a peer whose pins fit no other: the name of its own environment.
    clock : "wall" or "cpu"
        Seconds on the wall, or of the processor: the latter where other work runs on the machine.
    **options
        JSON-safe, passed to the script.
    """
    python = python_of(environment)
    if not python.exists():
        raise PeerError(f"There is no environment of peers at {python.parents[1].name}; `make bench` sets it up.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        request = {"repeats": repeats, "clock": clock, "options": options}
        frame.to_parquet(place / "frame.parquet", index=False)
        (place / "request.json").write_text(json.dumps(request), encoding="utf-8")
        try:
            done = subprocess.run(
                [str(python), str(SCRIPTS / f"{script}.py"), str(place)],
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                env=_environment(),
            )
        except subprocess.TimeoutExpired:
            raise PeerError(f"{script} did not end within {timeout:,.0f} seconds.") from None
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise PeerError(f"{script} ended with {done.returncode}: {lines[-1]}")
        return Answer(**json.loads((place / "answer.json").read_text(encoding="utf-8")))


def _environment() -> dict[str, str]:
    """The caller's, without what would lead Python to the caller's own packages."""
    return {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
