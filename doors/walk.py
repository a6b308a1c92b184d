"""Runs inside an install: each step in a process of its own, forked from one that has read the slow imports already.

usage: python walk.py STEPS RESULTS, in the folder of the walk. It imports nothing but what is installed.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

SECONDS = 120


def _work(step: dict[str, Any]) -> int:
    """The exit code of a step, in the process that it has for itself."""
    try:
        if step["script"]:
            return _script(step)
        from isonomia.cli import main

        sys.argv = ["isonomia", *step["command"]]
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except ModuleNotFoundError as error:
        traceback.print_exc()
        return 98 if error.name in step["needs"] else 99
    except BaseException:
        traceback.print_exc()
        return 99
    return 0


def _script(step: dict[str, Any]) -> int:
    """A script from its first line to its last; what the install lacks for it is said as the program would say it."""
    from isonomia import MissingExtraError

    try:
        exec(compile(step["script"], step["name"], "exec"), {"__name__": "__main__"})
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _child(step: dict[str, Any], out: Path, err: Path) -> int:
    code = 99
    with out.open("w", encoding="utf-8") as one, err.open("w", encoding="utf-8") as two:
        os.dup2(one.fileno(), 1)
        os.dup2(two.fileno(), 2)
        with (
            io.TextIOWrapper(os.fdopen(os.dup(1), "wb"), "utf-8") as shown,
            io.TextIOWrapper(os.fdopen(os.dup(2), "wb"), "utf-8") as said,
            redirect_stdout(shown),
            redirect_stderr(said),
        ):
            code = _work(step)
    return code


def walk(step: dict[str, Any]) -> dict[str, Any]:
    """How one step ended, what it said, the files it wrote, and how long it took."""
    out, err = Path(step["into"] or ".out"), Path(".err")
    before, started = _files(), time.perf_counter()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            code = _child(step, out, err)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    wrote = sorted(dict(_files().items() - before.items()).keys())
    return {
        "code": code,
        "said": err.read_text(encoding="utf-8", errors="replace")[-4000:],
        "shown": out.read_text(encoding="utf-8", errors="replace")[-2000:],
        "wrote": [name for name in wrote if name != step["into"]],
        "missing": [name for name in step["writes"] if not any(f"{path}/".startswith(f"{name}/") for path in wrote)],
        "seconds": round(time.perf_counter() - started, 2),
    }


def _files() -> dict[str, int]:
    """The files below this folder and when each was written, but for those of the walk itself and bytecode."""
    here = (path for path in Path().rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path): path.stat().st_mtime_ns for path in here if path.name not in (".out", ".err")}


def main(steps: str, results: str) -> None:
    """Walk all steps and write how they ended, and with which Isonomia."""
    import sklearn.ensemble
    import sklearn.linear_model  # noqa: F401

    import isonomia

    found = [walk(step) for step in json.loads(Path(steps).read_text(encoding="utf-8"))]
    record = {"isonomia": isonomia.__file__, "results": found}
    Path(results).write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
