"""A gate in continuous integration: what failed first, one exit code, one spec for every release."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import isonomia as iso
from isonomia.audit import read_changes, read_spec
from isonomia.cli.app import app

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec, two data files and a policy of one's own."""
    made = tmp_path_factory.mktemp("gate")
    rng = np.random.default_rng(0)
    n = 2000
    sex = rng.choice(["women", "men"], n)
    for name, gap in (("unequal", 0.3), ("equal", 0.0)):
        decided = rng.random(n) < 0.5 + gap * ((sex == "men") - 0.5)
        pd.DataFrame({"sex": sex, "hired": np.where(decided, "yes", "no")}).to_csv(made / f"{name}.csv", index=False)
    (made / "spec.yaml").write_text(
        "dataset: unequal.csv\nprediction: hired\npositive: yes\nprotected: [sex]\npolicy: eeoc\n"
        "checks: group_fairness\n",
        encoding="utf-8",
    )
    (made / "loose.yaml").write_text(
        "id: loose\ntitle: Loose\nrules:\n  - {name: ratio, metric: selection_rate, measure: ratio, at_least: 0.1}\n",
        encoding="utf-8",
    )
    return made


def test_the_log_names_the_criteria_that_failed_first(folder: Path) -> None:
    done = runner.invoke(app, ["run", str(folder / "spec.yaml")])
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert lines[1].startswith("Exceeds the policy's limits")
    assert re.match(r"Of women, \d\d% are hired; of men, \d\d%: a ratio of 0\.\d\d\.", lines[2]), lines[2]
    assert "the limit is 0.80." in " ".join(lines[2:4])
    table = next(at for at, line in enumerate(lines) if line.startswith("Outcome"))
    assert "selection-rate-ratio[sex]" in lines[table + 1]
    assert lines[table + 1].startswith("exceeds")
    assert table < next(at for at, line in enumerate(lines) if line.startswith("Severity"))


def test_one_spec_serves_every_release(folder: Path) -> None:
    spec = str(folder / "spec.yaml")
    assert runner.invoke(app, ["run", spec, "--data", str(folder / "equal.csv"), "-q"]).exit_code == 0
    assert runner.invoke(app, ["run", spec, "--policy", str(folder / "loose.yaml"), "-q"]).exit_code == 0
    assert runner.invoke(app, ["run", spec, "--set", "policy=engineering", "-q"]).exit_code == 1
    assert (
        runner.invoke(app, ["run", spec, "--set", "checks=[representation]", "--set", "policy=null", "-q"]).exit_code
        == 0
    )


def test_findings_fail_a_run_without_a_policy_where_they_are_asked_to(folder: Path) -> None:
    words = [
        "audit",
        str(folder / "unequal.csv"),
        "--prediction",
        "hired",
        "--positive",
        "yes",
        "--protected",
        "sex",
        "-q",
    ]
    codes = [
        runner.invoke(app, [*words, "--checks", "group_fairness", "--fail-on", on]).exit_code
        for on in ("verdict", "critical", "warning")
    ]
    assert codes == [0, 1, 1]
    assert runner.invoke(app, [*words, "--fail-on", "everything"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "seed"], "key=value"),
        (["--set", "=3"], "key=value"),
        (["--set", "sed=3"], "Did you mean 'seed'"),
        (["--set", "data=b.csv"], "Unknown key `data` in the spec"),
        (["--set", "checks.a=3"], "`checks` is not a mapping"),
        (["--set", "seed=[1"], "cannot be read as a value"),
        (["--set", "seed=!!python/name:os.system"], "cannot be read as a value"),
        (["--policy", "eoec"], "Did you mean 'eeoc'"),
        (["--data", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_a_wrong_change_is_a_clear_error(folder: Path, words: list[str], says: str) -> None:
    done = runner.invoke(app, ["run", str(folder / "spec.yaml"), *words])
    assert done.exit_code == 2, done.output
    assert says in done.stderr


def test_changes_reach_into_a_spec() -> None:
    content = {"dataset": {"catalog": "adult", "target": "income"}, "model": "a.skops"}
    spec = read_spec(content, {"dataset.path": "b.csv", "model.path": "b.skops", "options.drift.bins": 5})
    assert (spec.dataset.path, spec.dataset.catalog, spec.dataset.target) == ("b.csv", None, "income")
    assert spec.model is not None
    assert spec.model.path == "b.skops"
    assert spec.options == {"drift": {"bins": 5}}
    assert content["model"] == "a.skops", "the given mapping is left alone"
    assert read_changes(["a.b=x=y", "c=true"]) == {"a.b": "x=y", "c": True}
    with pytest.raises(iso.SpecError):
        read_spec(content, {"options.drift.bins": "many"})
