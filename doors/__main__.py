"""Walk through every door: `python -m doors [INSTALL ...]`.

The wheel is built and installed as a user would, with nothing, one library for tables, or all extras; in each install
every step of `steps.py` is walked, away from the checkout. `demo` is the README's first command in a fresh clone,
`oldest` the quick part of the tests with the oldest versions that the package declares.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from doors.installs import INSTALLS, ROOT, build, install, left_out, run, version_of
from doors.oldest import oldest
from doors.steps import Step, steps

#: The install whose files those that can do less are given.
STOCK = "pandas"
#: A refusal is one sentence or two, with a command to copy.
LONGEST_REFUSAL = 400


def problems(step: Step, found: dict[str, Any], holds: frozenset[str]) -> list[str]:
    """What is wrong with how a step ended in an install; nothing where it ended as it must."""
    lacking = step.needs - holds
    if lacking and step.own and found["code"] == 98:
        return []
    if found["code"] in (5, 98, 99) or found["code"] < 0:
        return [f"ended with {found['code']}"]
    if not lacking:
        if found["code"] not in step.ends:
            return [f"ended with {found['code']}, not {' or '.join(map(str, step.ends))}"]
        return [f"did not write {name}" for name in found["missing"]]
    said = found["said"].strip()
    checks = {
        f"ended with {found['code']}, not 2": found["code"] != 2,
        "does not say what to install": "pip install" not in said,
        "says more than a sentence": len(said) > LONGEST_REFUSAL,
        f"wrote {', '.join(found['wrote'][:3])} before it was refused": bool(found["wrote"]) and not step.script,
    }
    return [text for text, wrong in checks.items() if wrong]


def walk(uv: Path, wheel: Path, name: str, at: Path) -> list[str]:
    """Everything that is wrong in one install."""
    python = install(uv, wheel, name, at / f"env-{name}")
    folder = at / name
    if "model" not in INSTALLS[name]:
        shutil.copytree(at / STOCK, folder)  # what this install cannot make, somebody else made
    else:
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("out"))
        shutil.copy(ROOT / "doors" / "functions.py", folder)
    wanted = steps()
    (at / f"{name}.json").write_text(json.dumps([step.to_dict() for step in wanted]), encoding="utf-8")
    results = at / f"{name}-results.json"
    run(python, "-I", ROOT / "doors" / "walk.py", at / f"{name}.json", results, at=folder)
    record = json.loads(results.read_text(encoding="utf-8"))
    if not Path(record["isonomia"]).is_relative_to(at):
        return [f"the walk used {record['isonomia']}, not the wheel"]
    told = []
    for step, found in zip(wanted, record["results"], strict=True):
        for problem in problems(step, found, INSTALLS[name]):
            last = "\n".join(f"      {line}" for line in (found["said"] or found["shown"]).strip().splitlines()[-6:])
            told.append(f"{step.name}: {problem}\n{last}")
    return told


def demo(at: Path) -> list[str]:
    """The README's first command, in a fresh clone of what is committed."""
    clone = at / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make", "demo"], cwd=clone, capture_output=True, text=True, check=False, env=kept)
    if done.returncode:
        return [f"make demo: ended with {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}"]
    wanted = ("report.html", "report.json", "applications.csv", "model.skops")
    return [f"make demo: did not write {name}" for name in wanted if not (clone / "out" / "demo" / name).is_file()]


def main(names: list[str]) -> int:
    """The exit code: 0 where every door opens."""
    uv = Path(os.environ.get("UV") or shutil.which("uv") or "uv")
    at = Path(tempfile.mkdtemp(prefix="isonomia-doors-"))
    started = time.perf_counter()
    wheel = build(uv, at)
    missing = left_out(wheel)
    for name in missing:
        print(f"== The wheel does not hold {name}", flush=True)
    tasks: dict[str, Callable[[], list[str]]] = {
        **{name: lambda name=name: walk(uv, wheel, name, at) for name in INSTALLS},
        "demo": lambda: demo(at),
        "oldest": lambda: oldest(uv, wheel, at),
    }
    wrong = set(names) - set(tasks)
    if wrong:
        raise SystemExit(f"Unknown: {', '.join(sorted(wrong))}. There are: {', '.join(tasks)}.")

    def timed(name: str) -> tuple[list[str], float]:
        if name in INSTALLS and "model" not in INSTALLS[name]:
            wait([walked[STOCK]])
        begun = time.perf_counter()
        return tasks[name](), time.perf_counter() - begun

    failed = len(missing)
    walked: dict[str, Future[tuple[list[str], float]]] = {}
    with ThreadPoolExecutor(2) as pool:
        for name in (STOCK, *(name for name in names or tasks if name != STOCK)):
            walked[name] = pool.submit(timed, name)
        for name, done in walked.items():
            told, seconds = done.result()
            failed += len(told)
            title = f"{name}, Python {version_of(at, name)}" if name in INSTALLS else name
            print(f"== {title}: {f'{len(told)} doors do not open' if told else 'open'} ({seconds:.0f} s)", flush=True)
            for text in told:
                print(f"   {text}")
    print(f"== Doors: {failed} wrong, {time.perf_counter() - started:.0f} s")
    if failed:
        print(f"   What was walked is kept in {at}.")
        return 1
    shutil.rmtree(at)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
