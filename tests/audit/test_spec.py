"""Specs: the keys, the checks they are options of, paths relative to the file, hostile files, the schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

import isonomia as iso
from isonomia import SpecError
from isonomia.audit import CHECKS, read_spec, spec_schema
from isonomia.audit.spec import Spec
from isonomia.audit.spec_options import checks_and_options
from isonomia.cli.app import app
from isonomia.models import save_model

STRESS = ("failure_modes", "sensitivity", "threshold_sweep", "metric_disagreement", "subgroup_diagnostics")
ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(spec_schema())

GOOD: list[dict[str, Any]] = [
    {"dataset": "people.csv", "target": "y", "prediction": "p"},
    {"dataset": {"catalog": "adult"}, "model": "m.skops", "protected": ["sex"], "task": "binary_classification"},
    {
        "name": "all",
        "dataset": {"path": "x.csv", "target": "y", "na_values": ["?"]},
        "metric": "auc",
        "model": {
            "path": "https://host/v2/models/m",
            "endpoint": {"protocol": "v2", "headers": {"a": "b"}},
            "classes": ["no", "yes"],
            "features": ["a"],
            "threshold": 0.4,
            "output": "probability",
        },
        "sensitive_feature": "sex",
        "privileged": {"sex": "male"},
        "checks": ["drift", "scenarios"],
        "scenarios": ["label_noise", {"type": "score_noise", "noise_level": 0.05}],
        "n_trials": 3,
        "seed": 42,
        "reference_dataset": "old.csv",
        "train_dataset": "train.csv",
        "policy": "eeoc",
        "level": 0.9,
        "options": {"drift": {"joint": False}},
    },
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "`dataset` is missing"),
    ({"dataset": 3}, "`dataset`"),
    ({"dataset": "x.csv", "protcted": ["sex"]}, "Unknown key `protcted` in the spec. Did you mean 'protected'"),
    ({"dataset": "x.csv", "sensitive_featur": "s"}, "Did you mean 'sensitive_feature'"),
    ({"dataset": "x.csv", "model": {"path": "m", "endpint": {}}}, "Unknown key `model.endpint`.*'endpoint'"),
    ({"dataset": "x.csv", "model": {"path": "http://h", "endpoint": {"retries": 99}}}, "`model.endpoint.retries`"),
    ({"dataset": "x.csv", "n_trials": 0}, "`n_trials`.*got 0"),
    ({"dataset": "x.csv", "n_trials": 10**9}, "`n_trials`"),
    ({"dataset": "x.csv", "seed": -1}, "`seed`"),
    ({"dataset": "x.csv", "task": "clustering"}, "`dataset.task`.*'clustering'"),
    ({"dataset": "x.csv", "scenarios": [1]}, "`scenarios.0"),
    ({"dataset": "x.csv", "scenarios": ["label_noise"] * 101}, "`scenarios`"),
    ({"dataset": "x.csv", "checks": 5}, "`checks"),
    ({"dataset": "x.csv", "level": 1.0}, "`level`"),
]
#: Wrong in a way that a schema cannot tell.
CROOKED: list[tuple[dict[str, Any], str]] = [
    ({"dataset": {"target": "y"}}, "needs either a `path` or a name of the `catalog`"),
    ({"dataset": {"path": "x.csv", "catalog": "adult"}}, "needs either"),
    (
        {"dataset": {"path": "x.csv", "target": "y"}, "target": "z"},
        "`target` is given both beside the dataset and in it",
    ),
    ({"dataset": "x.csv", "protected": ["a"], "sensitive_feature": "b"}, "mean the same"),
    ({"dataset": "x.csv", "model": {"path": "m.onnx", "endpoint": {}}}, "`endpoint` is for a model behind"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of people with predictions, of two times."""
    rng = np.random.default_rng(1)
    for name, shift in (("now", 0.0), ("before", 1.0)):
        n = 400
        frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.normal(shift, 1, n), "z": rng.normal(0, 1, n)})
        frame["p"] = 1 / (1 + np.exp(-frame["x"]))
        frame["y"] = np.where(rng.random(n) < frame["p"], "yes", "no")
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def written(folder: Path, text: str, name: str = "spec.yaml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("spec", GOOD)
def test_good_specs_are_read_and_valid(spec):
    read_spec(spec)
    VALIDATOR.validate(spec)


@pytest.mark.parametrize(("spec", "message"), BAD)
def test_bad_specs_are_refused_by_both(spec, message):
    with pytest.raises(SpecError, match=message):
        read_spec(spec)
    assert not VALIDATOR.is_valid(spec)


@pytest.mark.parametrize(("spec", "message"), CROOKED)
def test_crooked_specs_are_refused(spec, message):
    with pytest.raises(SpecError, match=message):
        read_spec(spec)


def test_all_problems_come_together():
    with pytest.raises(SpecError) as caught:
        read_spec({"dataset": {"path": "a", "target": "y"}, "target": "z", "n_trials": 0, "polcy": "eeoc"})
    assert len(caught.value.problems) == 3


def test_longer_names_of_tasks():
    spec = read_spec({"dataset": "x.csv", "task": "multiclass_classification", "sensitive_feature": ["a", "b"]})
    assert spec.dataset.task == "multiclass"
    assert spec.dataset.protected == ["a", "b"]


def test_the_committed_schema_is_the_exported_one():
    """`isonomia run --schema > docs/spec.schema.json` writes it again."""
    committed = (ROOT / "docs" / "spec.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(spec_schema())
    assert json.loads(committed) == spec_schema()
    ended = CliRunner().invoke(app, ["run", "--schema"])
    assert ended.exit_code == 0
    assert json.loads(ended.stdout) == spec_schema()


def test_run_without_a_spec():
    ended = CliRunner().invoke(app, ["run"])
    assert ended.exit_code == 2
    assert "needs a spec file" in ended.stderr


# which checks keys are options of ------------------------------------------------------------------------------------


def test_every_wire_ends_at_a_check():
    for entry in CHECKS:
        assert set(entry.keys) <= {one.name for one in entry.parameters}
        assert {*entry.keys.values(), entry.asked_by} <= {*Spec.model_fields, ""}
        assert entry.like in {*CHECKS.ids(), ""}


def test_keys_bring_their_checks_and_options():
    spec = {
        "dataset": "x.csv",
        "checks": ["performance"],
        "reference_dataset": "old.csv",
        "scenarios": ["label_noise"],
        "n_trials": 4,
        "metric": "f1",
        "options": {"scenarios": {"n_trials": 9}},
    }
    codes, options = checks_and_options(read_spec(spec))
    assert set(codes) == {"performance", "drift", "scenarios", "dashboard", *STRESS}
    assert options["drift"] == {"reference": "old.csv"}
    assert options["scenarios"] == {"scenarios": ["label_noise"], "n_trials": 9, "metric": "f1"}
    assert "dashboard" not in options  # it takes those of the scenarios
    assert options["sensitivity"] == {"n_trials": 4}
    assert options["subgroup_diagnostics"] == {"metric": "f1"}
    assert checks_and_options(read_spec({"dataset": "x.csv", "checks": ["performance"]})) == (["performance"], {})


def test_an_empty_list_of_scenarios_plays_none():
    codes, _ = checks_and_options(read_spec({"dataset": "x.csv", "checks": "full", "scenarios": [], "n_trials": 1}))
    assert "scenarios" not in codes
    assert "dashboard" not in codes
    assert set(STRESS) < set(codes)
    assert "scenarios" in checks_and_options(read_spec({"dataset": "x.csv", "checks": "full"}))[0]


def test_a_metric_that_is_none():
    with pytest.raises(SpecError, match=r"`metric`: .*'macro_f2'. Did you mean 'macro_f1'"):
        iso.run({"dataset": "x.csv", "metric": "macro_f2"})


@pytest.mark.parametrize(
    ("task", "metric"),
    [("binary_classification", "auc"), ("multiclass_classification", "macro_f1"), ("regression", "mae")],
)
def test_a_stress_test_on_every_task(tmp_path, task, metric):
    """The keys of the source alone: one report with everything in it, and what has no answer says why."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "x": rng.normal(size=300), "z": rng.normal(size=300)})
    signal = frame["x"] + rng.normal(0, 0.5, 300)
    classes = {"binary_classification": signal > 0, "multiclass_classification": np.digitize(signal, [-0.5, 0.5])}
    frame["y"] = classes.get(task, signal)
    frame["y"] = frame["y"].astype(float if task == "regression" else int)
    learner = LinearRegression() if task == "regression" else LogisticRegression()
    save_model(learner.fit(frame[["x", "z"]], frame["y"]), tmp_path / "model.skops")
    frame.to_csv(tmp_path / "data.csv", index=False)
    spec = {
        "name": "stress",
        "dataset": str(tmp_path / "data.csv"),
        "model": str(tmp_path / "model.skops"),
        "metric": metric,
        "task": task,
        "target": "y",
        "sensitive_feature": "sex",
        "checks": "quick",
        "scenarios": [{"type": "label_noise", "noise_rate": 0.1}, {"type": "score_noise", "noise_level": 0.05}],
        "n_trials": 3,
        "seed": 42,
        "n_boot": 50,
    }
    sections = {section.code: section for section in iso.run(spec).document.sections}
    for code in ("scenarios", "dashboard", *STRESS):
        answered = sections[code].result is not None
        assert answered or (sections[code].outcome == "not_applicable" and sections[code].reason), code
        assert answered or task != "binary_classification", code
    assert all(sections[code].result is not None for code in ("scenarios", "dashboard", "failure_modes", "sensitivity"))


# files ---------------------------------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_file(folder, tmp_path_factory, monkeypatch):
    """Data, reference and the option of a single check, run from elsewhere."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    text = (
        "{dataset: now.csv, target: y, positive: yes, score: p, features: [x, z], checks: [performance], "
        "scenarios: [label_noise], n_trials: 2, seed: 3, "
    )
    report = iso.run(written(folder, text + "reference_dataset: before.csv}"))
    codes = {section.code for section in report.document.sections}
    assert codes == {"performance", "drift", "scenarios", "dashboard", *STRESS}
    assert all(section.result is not None for section in report.document.sections)
    drifted = [row["variable"] for row in report["drift"].tables["variables"].rows() if row["drifted"]]
    assert "x" in drifted
    assert "z" not in drifted
    option = text.replace("[performance]", "[drift]").replace("scenarios: [label_noise], n_trials: 2, ", "")
    other = iso.run(written(folder, option + "options: {drift: {reference: before.csv}}}"))
    raw = [[row["p_value"] for row in each["drift"].tables["variables"].rows()] for each in (report, other)]
    assert raw[0] == raw[1]


def test_the_same_spec_gives_the_same_numbers(folder):
    spec = {
        "dataset": str(folder / "now.csv"),
        "target": "y",
        "positive": "yes",
        "score": "p",
        "checks": ["scenarios"],
        "n_trials": 3,
        "seed": 5,
        "sensitive_feature": "sex",
    }
    one, two = (iso.run(spec)["scenarios"].to_dict() for _ in range(2))
    assert one == two


def test_models_of_a_spec(folder, monkeypatch):
    """A callable by its name, with options that say how to read its answers; a missing file, named with its place."""
    (folder / "mine.py").write_text("def codes(rows):\n    return (rows['x'] > 0).astype(int)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    text = "{dataset: now.csv, target: y, positive: yes, checks: [performance], model: "
    path = written(folder, text + "{path: 'mine:codes', classes: [no, yes], features: [x], output: label, name: mine}}")
    frame = pd.read_csv(folder / "now.csv")
    expected = float(((frame["x"] > 0) == (frame["y"] == "yes")).mean())
    assert iso.run(path, trust=["mine"])["performance"].values["accuracy"].value == pytest.approx(expected, abs=1e-12)
    with pytest.raises(iso.ModelError, match=f"There is no model file '{folder}{os.sep}gone.skops'"):
        iso.run(written(folder, text + "gone.skops}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset: a.csv\nseed: 1\nseed: 2\n", "the key 'seed' appears twice"),
        ("dataset: {path: a.csv, target: y, target: z}\n", "the key 'target' appears twice"),
        ("dataset: &a [x]\nchecks: *a\n", "aliases"),
        ("dataset: !!python/object/apply:os.system ['true']\n", "cannot be read as YAML"),
        ("[" * 50_000, "cannot be read as YAML"),
        ("- a\n", "must hold a mapping"),
        ("dataset: a.csv\n" + "#" * (1 << 20), "larger than"),
        ("dataset: \x00", "cannot be read as YAML"),
    ],
)
def test_hostile_files(folder, text, message):
    with pytest.raises(SpecError, match=message):
        read_spec(written(folder, text))


def test_hostile_json(folder):
    with pytest.raises(SpecError, match="appears twice"):
        read_spec(written(folder, '{"dataset": "a", "dataset": "b"}', "spec.json"))
    with pytest.raises(SpecError, match=r"nested too deeply|cannot be read"):
        read_spec(written(folder, '{"dataset": ' + "[" * 100_000, "spec.json"))


def test_yes_and_no_are_texts(folder):
    spec = read_spec(written(folder, "dataset: a.csv\npositive: yes\nprivileged: {x: no, z: true}\n"))
    assert spec.dataset.positive == "yes"
    assert spec.dataset.privileged == {"x": "no", "z": True}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/spec.yaml")), ids=lambda path: path.parent.name)
def test_examples_are_valid(path):
    VALIDATOR.validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert Path(str(read_spec(path).dataset.path)).parent == path.parent / "out"
