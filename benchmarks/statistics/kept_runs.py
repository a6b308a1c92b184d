"""Runs of long simulations, kept one by one: a simulation that was stopped goes on where it was.

Runs are kept in ``build/statistics``, in files named after the simulation and the source code that they ran with, so
that runs of different code are never mixed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "statistics"
SOURCE = Path(__file__).parents[2] / "src" / "isonomia"


@cache
def fingerprint(source: Path = SOURCE) -> str:
    """A hash of the source code."""
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*.py")):
        digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def kept_runs(
    name: str, runs: int, run: Callable[[int], dict[str, bool]], *, folder: Path = FOLDER
) -> dict[str, list[bool]]:
    """What each of so many runs gave; those that the folder has are read, every other one is run and added to it."""
    path = folder / f"{name} {fingerprint()}.jsonl"
    done = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for index in range(len(done), runs):
            done.append(run(index))
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
    return {key: [one[key] for one in done[:runs]] for key in done[0]}
