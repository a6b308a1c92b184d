"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "isonomia"
ROOMS = sorted(path.parent for path in SOURCE.glob("*/__init__.py"))
#: Names that say nothing about what is inside.
NAMELESS = re.compile(r"^_?(utils?|helpers?|common|misc|stuff)$|_(old|new|v\d+|simple|fixed|refactored|backup)$")
#: Paths of somebody's machine.
MACHINE_PATH = re.compile(r"(?<![\w.~])/(home|Users|root|work|mnt|opt)/\w|[A-Z]:\\\\?Users")
#: What `import isonomia` must leave for later.
HEAVY = ("pandas", "polars", "sklearn", "plotly", "duckdb", "scipy.stats", "pyarrow", "pydantic", "typer", "rich")


def tracked(*patterns: str) -> list[Path]:
    """Files under the source, test and benchmark trees."""
    trees = [SOURCE, ROOT / "tests", ROOT / "benchmarks"]
    return sorted(path for tree in trees for pattern in patterns for path in tree.rglob(pattern))


def test_every_file_is_named_after_its_idea() -> None:
    assert [str(path.relative_to(ROOT)) for path in tracked("*.py") if NAMELESS.search(path.stem)] == []


def test_no_room_is_named_after_nothing() -> None:
    assert [str(room) for room in tracked("*/") if NAMELESS.search(room.name)] == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_has_a_public_face(room: Path) -> None:
    tree = ast.parse((room / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{room.name}/__init__.py says in its docstring which question the room answers"
    targets = [
        target for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) for target in _targets(node)
    ]
    assert "__all__" in targets, f"{room.name}/__init__.py lists its public names in __all__"


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    nodes = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in nodes if isinstance(target, ast.Name)]


def test_no_path_of_a_machine_is_written_down() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("*.py", "*.md", "*.toml", "*.txt", "*.json", "*.po", "*.yaml", "*.html")
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert found == []


def test_rows_are_counted_in_one_room() -> None:
    """`np.bincount` outside `counting/` needs a comment above it that says why."""
    bare = []
    for path in sorted(SOURCE.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if "counting" in path.relative_to(SOURCE).parts[:1]:
            continue
        for number, line in enumerate(lines):
            above = [one.strip() for one in lines[max(0, number - 2) : number]]
            if "np.bincount(" in line and not any(one.startswith("#") and "`counting`" in one for one in above):
                bare.append(f"{path.relative_to(SOURCE)}:{number + 1}: {line.strip()}")
    assert not bare, "use `count_by`, `sum_by`, `mean_by` or `tally`:\n" + "\n".join(bare)


def test_every_module_has_a_docstring() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCE.rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = f"import sys, isonomia; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
