"""The list: what a first user does, what it takes, and how it ends in each install.

A step ends as written where the install holds what the step needs. Where it does not, it must end with 2 and one
sentence that holds the command that helps, before any work is done: nothing is written. No step may end with 5.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from doors.installs import ROOT

#: Exit codes of commands that state a verdict: it meets, it exceeds, not enough evidence.
VERDICT = (0, 1, 3)
#: Commands that read reports and policies, and no table.
FILES_ALONE = ("isonomia compare", "isonomia policies")


@dataclass(frozen=True)
class Step:
    """One command of the program, or one script; what it needs, how it ends, what it writes."""

    name: str
    command: tuple[str, ...] = ()
    script: str = ""
    into: str = ""
    needs: frozenset[str] = frozenset({"table"})
    ends: tuple[int, ...] = (0,)
    writes: tuple[str, ...] = ()
    #: Whether the step is left out where something is missing: a script that imports a library for itself.
    own: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The step as JSON can hold it."""
        return {**asdict(self), "needs": sorted(self.needs)}


def command(line: str, needs: str = "table", ends: tuple[int, ...] = (0,), writes: str = "") -> Step:
    """A line as a reader types it; `>` and a file at its end take what it prints."""
    words = shlex.split(line, comments=True)
    into = words[words.index(">") + 1] if ">" in words else ""
    words = words[1 : words.index(">") if into else None]
    return Step(line, tuple(words), into=into, needs=frozenset(needs.split()), ends=ends, writes=tuple(writes.split()))


def blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of code of a page, each with its language."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def lines(page: Path) -> list[str]:
    """The commands of a page, one line each."""
    plain = (text.replace("\\\n", " ") for kind, text in blocks(page) if kind in ("", "sh", "bash"))
    return [line for text in plain for line in text.splitlines() if line.startswith("isonomia ")]


def _libraries(text: str) -> set[str]:
    """The frame libraries that a script imports for itself."""
    return {
        name.replace("pyarrow", "arrow")
        for name in ("pandas", "polars", "pyarrow")
        if re.search(rf"^\s*import {name}", text, re.M)
    }


def script(name: str, text: str, needs: str = "table") -> Step:
    """A script, left out where a library that it imports for itself is not there."""
    own = _libraries(text)
    return Step(name, script=text, needs=frozenset(needs.split()) | own, own=bool(own))


def _page(name: str, needs: str) -> list[Step]:
    """A page as printed: its Python from top to bottom, then its commands in their order."""
    page = ROOT / name
    python = "\n".join(text for kind, text in blocks(page) if kind == "python")
    return [
        *([script(name, python, needs)] if python else []),
        *(command(line, "" if line.startswith(FILES_ALONE) else needs, VERDICT) for line in lines(page)),
    ]


def _example(name: str) -> list[Step]:
    """An example as its README says: the script makes data and a model, the program examines them."""
    make = f"import runpy; runpy.run_path('examples/{name}/make.py', run_name='__main__')"
    own = _libraries((ROOT / "examples" / name / "make.py").read_text(encoding="utf-8"))
    needs = frozenset({"table"}) | own
    run = command(
        f"isonomia run examples/{name}/spec.yaml --out out/{name}", " ".join(needs), VERDICT, f"out/{name}/report.html"
    )
    return [Step(f"examples/{name}/make.py", script=make, needs=needs, own=bool(own)), run]


def _notebook() -> Step:
    """The cells of the notebook, one after the other."""
    import json

    path = ROOT / "examples" / "notebooks" / "first_audit.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return script("examples/notebooks/first_audit.ipynb", text)


def _gate() -> list[Step]:
    """A gate in continuous integration: the files to copy, run as they are, beside a spec and a policy of one's own."""
    workflow = (ROOT / "examples" / "ci" / "github-actions.yaml").read_text(encoding="utf-8")
    hooks = (ROOT / "examples" / "ci" / "pre-commit.yaml").read_text(encoding="utf-8")
    typed = [" ".join(found.split()) for found in re.findall(r"isonomia (?:[^\n]|\n {10}(?=\S))*", workflow)]
    typed += re.findall(r"entry: (isonomia .*)", hooks)
    found = [line for line in typed if not line.startswith("isonomia policies show")]
    prepare = f"""
from pathlib import Path
import shutil
for name in ("audit", "models"):
    Path(name).mkdir(exist_ok=True)
shutil.copy("out/demo/model.skops", "models/candidate.skops")
shutil.copytree("out/demo", "audit/baseline", dirs_exist_ok=True)
Path("audit/spec.yaml").write_text('''{SPEC}''', encoding="utf-8")
"""
    own = """
from pathlib import Path
policy = Path("audit/policy.yaml")
policy.write_text(policy.read_text(encoding="utf-8").replace("race", "ethnicity"), encoding="utf-8")
"""
    return [
        script("examples/ci: spec and model", prepare, ""),
        command("isonomia policies template > audit/policy.yaml", "", writes="audit/policy.yaml"),
        script("examples/ci: attributes of the policy", own, ""),
        command("isonomia policies show audit/policy.yaml", ""),
        *(command(line, "" if line.startswith(FILES_ALONE) else "table model", VERDICT) for line in found),
    ]


SPEC = """dataset: {path: ../out/demo/applications.csv}
target: decision
positive: granted
protected: [sex, ethnicity]
model: ../out/demo/model.skops
checks: quick
"""


def _commands() -> list[Step]:
    """The commands of `commands.toml`."""
    listed = tomllib.loads((ROOT / "doors" / "commands.toml").read_text(encoding="utf-8"))
    found = []
    for entry in listed["command"]:
        for line in entry["lines"]:
            for word, text in reversed(listed["words"].items()):
                line = re.sub(rf"\b{word}\b", text, line)
            ends = VERDICT if entry.get("ends") == "verdict" else (0,)
            found.append(command(f"isonomia {line}", entry.get("needs", ""), ends, entry.get("writes", "")))
    return found


def steps() -> list[Step]:
    """Everything, in the order in which it is done."""
    functions = "import runpy; runpy.run_path('functions.py', run_name='__main__')"
    return [
        *_commands(),
        *_page("README.md", "table model"),
        *_page("docs/tutorial.md", "table model")[1:],
        *(step for page in sorted((ROOT / "docs").glob("guide-*.md")) for step in _page(f"docs/{page.name}", "table")),
        *(step for name in ("loans", "pay", "triage") for step in _example(name)),
        _notebook(),
        *_gate(),
        Step("every public function", script=functions),
    ]
