"""docs/extend.md: its examples run as they are printed, in a script and from another package, with the same figures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "docs" / "extend.md").read_text(encoding="utf-8"), re.M | re.S)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
MODULE = [text for text in PYTHON if text.startswith("# house_rules.py\n")]
ADDED = [text for text in PYTHON if text.startswith("# once, in a script\n")]


SPEC = {
    "dataset": "german.csv",
    "target": "credit_risk",
    "positive": 1,
    "protected": ["sex"],
    "model": "model.skops",
    "checks": ["small_loans", "hidden_subgroups"],
    "options": {"hidden_subgroups": {"methods": ["worst_values"]}, "small_loans": {"below": 2000}},
    "policy": "policy.json",
}


def child(script: str, folder: Path, path: Path | None = None) -> str:
    """What a script of its own prints, with the folder `path` among those that Python looks into."""
    file = folder / "script.py"
    file.write_text(script, encoding="utf-8")
    paths = [str(path)] if path else []
    paths += [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(file)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the page prints, from its first block to its last."""
    return child("\n".join(PYTHON), tmp_path_factory.mktemp("script"))


def test_there_are_five_examples_of_a_screen_each() -> None:
    assert len(MODULE) == len(ADDED) == 4  # and a rule, which needs no code
    assert all(len(text.splitlines()) <= 32 for text in PYTHON)


def test_examples_run_as_printed(printed: str) -> None:
    assert "cost_per_loan_low" in printed
    assert "Cost per loan, dtype" in printed
    assert "Of people with loans below 1500, 8" in printed
    assert re.search(r"no_age +0\.\d+", printed)
    outcomes = dict(re.findall(r"^(cost gap|cost ratio|cost|small loans) (\w+)", printed, re.M))
    assert list(outcomes) == ["cost gap", "cost ratio", "cost", "small loans"]
    assert outcomes["cost"] == outcomes["small loans"] == "meets"


def test_another_package_brings_them_by_entry_points(printed: str, tmp_path: Path) -> None:
    """The same lines without those that add entries give the same figures; lists of the program have the entries."""
    site, folder = tmp_path / "site", tmp_path / "elsewhere"
    info = site / "house_rules-1.0.dist-info"
    info.mkdir(parents=True)
    folder.mkdir()
    (site / "house_rules.py").write_text("\n".join(MODULE), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n", encoding="utf-8")
    (table,) = (text for kind, text in BLOCKS if kind == "toml")
    groups = tomllib.loads(table)["project"]["entry-points"]
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in named.items()) for group, named in groups.items()]
    (info / "entry_points.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    used = [text for text in PYTHON if text not in MODULE and text not in ADDED]
    assert child("\n".join(used), folder, site) == printed
    shown = "from isonomia.cli.app import app\nfor name in ('metrics', 'checks', 'methods', 'mitigations'):\n"
    listed = child(shown + "    app([name, '--json'], standalone_mode=False)\n", folder, site)
    for name in ("cost_per_loan", "small_loans", "worst_values", "no_age"):
        assert f'"{name}"' in listed
    # a spec and a policy in files name them too
    given = """
import json
iso.models.save_model(model, "model.skops")
data.frame.to_csv("german.csv", index=False)
open("policy.json", "w").write(json.dumps({**policy, "rules": policy["rules"][1:]}))  # the first is about age
open("spec.json", "w").write(json.dumps(SPEC))
from isonomia.cli.app import app
app(["run", "spec.json", "--json"], standalone_mode=False)
""".replace("SPEC", repr(SPEC))
    lines = [used[0], next(text for text in used if text.startswith("policy = ")).partition("report = ")[0], given]
    report = json.loads(child("\n".join(lines), folder, site))
    assert [one["metric"] for one in report["verdict"]["criteria"]][:1] == ["cost_per_loan"]
    assert {"small_loans", "hidden_subgroups"} <= set(report["checks"])
