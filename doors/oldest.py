"""The oldest versions that the package declares: the quick part of the tests runs with them as well."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from doors.installs import PYTHON, run

#: The rooms whose tests are quick and reach every library that rows, models and files go through.
QUICK = ("tests/data", "tests/metrics", "tests/evidence", "tests/policies", "tests/models")
OPTIONS = ("-q", "-n", "2", "-p", "no:cacheprovider", "-W", "default")
TOOLS = (
    "pytest>=8.3",
    "pytest-randomly>=3.16",
    "pytest-xdist>=3.6",
    "hypothesis>=6.120",
    "syrupy>=4.8",
    "babel>=2.16",
    "jsonschema>=4.23",
    "skl2onnx>=1.20",
)


def browser(at: Path) -> list[str]:
    """The tests that open pages: a browser and its tools are left to the newest versions."""
    return [
        str(file.relative_to(at))
        for folder in QUICK
        for file in sorted((at / folder).rglob("*.py"))
        if "playwright" in file.read_text(encoding="utf-8")
    ]


def oldest(uv: Path, wheel: Path, at: Path) -> list[str]:
    """Install the oldest versions and run the quick part; what failed."""
    python, source = at / "env-oldest" / "bin" / "python", at / "source"
    pip = [uv, "pip", "install", "--quiet", "--python", python]
    run(uv, "venv", "--quiet", "--python", PYTHON, at / "env-oldest")
    # the declared versions are direct ones in the project's file alone, not in a wheel
    run(*pip, "--resolution", "lowest-direct", "--extra", "all", "-r", source / "pyproject.toml")
    run(*pip, "--no-deps", wheel)
    run(*pip, *TOOLS)
    done = subprocess.run(
        [python, "-m", "pytest", *OPTIONS, *(f"--ignore={file}" for file in browser(source)), *QUICK],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if not done.returncode:
        return []
    return [f"the quick tests with the oldest versions:\n{done.stdout[-3000:]}{done.stderr[-1000:]}"]
