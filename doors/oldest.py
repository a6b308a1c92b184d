"""The oldest versions that the package declares: the quick part of the tests runs with them as well."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from doors.installs import install

#: The rooms whose tests are quick and reach every library that rows, models, figures and files go through.
QUICK = ("tests/data", "tests/metrics", "tests/evidence", "tests/policies", "tests/report", "tests/models")
#: What needs a browser and its tools is left to the newest versions.
BROWSER = ("tests/report/test_browser.py", "tests/report/test_in_jupyterlab.py")
OPTIONS = ("-q", "-n", "2", "-p", "no:cacheprovider", "-W", "default")
TOOLS = (
    "pytest>=8.3",
    "pytest-randomly>=3.16",
    "pytest-xdist>=3.6",
    "hypothesis>=6.120",
    "syrupy>=4.8",
    "babel>=2.16",
    "jsonschema>=4.23",
)


def oldest(uv: Path, wheel: Path, at: Path) -> list[str]:
    """Install the oldest versions and run the quick part; what failed."""
    python = install(uv, wheel, "all", at / "env-oldest", "--resolution", "lowest-direct", *TOOLS)
    done = subprocess.run(
        [python, "-m", "pytest", *OPTIONS, *(f"--ignore={file}" for file in BROWSER), *QUICK],
        cwd=at / "source",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return (
        [f"the quick tests with the oldest versions:\n{done.stdout[-3000:]}{done.stderr[-1000:]}"]
        if done.returncode
        else []
    )
