"""Audits end to end: findings, verdicts, exit codes, the same JSON twice."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.report import schema


def people(n: int = 2000, gap: float = 0.3, seed: int = 0) -> pd.DataFrame:
    """Rows whose predictions favour men by `gap`, and are otherwise as good for everyone."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b"], n, p=[0.7, 0.3])
    y = rng.integers(0, 2, n)
    chance = np.where(y == 1, 0.8, 0.2) - gap / 2 + gap * (sex == "M")
    score = np.clip(0.5 * y + rng.normal(scale=0.2, size=n) + 0.25, 0, 1)
    return pd.DataFrame(
        {"sex": sex, "race": race, "y": y, "p": (rng.uniform(size=n) < chance).astype(int), "score": score}
    )


def dataset(frame: pd.DataFrame, **options: Any) -> iso.Dataset:
    roles = {"target": "y", "protected": ["sex", "race"], "prediction": "p", "privileged": {"sex": "M"}}
    return iso.Dataset(frame, **{**roles, **options})


@pytest.mark.parametrize(
    "wrong",
    [{"level": "full"}, {"level": 95}, {"n_boot": -1}, {"n_boot": 10.5}, {"seed": None}, {"min_per_group": "few"}],
)
def test_wrong_values_are_refused_by_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(iso.SpecError, match=f"`{name}` must be"):
        iso.audit(dataset(people()), **wrong)


def test_the_room_shows_the_signature_of_an_audit() -> None:
    assert inspect.signature(iso.audit) == inspect.signature(iso.audit.audit)


def test_a_planted_gap_is_found_and_nothing_else() -> None:
    report = iso.audit(dataset(people()), policy="engineering")
    found = [f for f in report.findings if f.severity != "notice"]
    (entry,) = (fold for fold in report.document.folds if fold.severity != "notice")
    assert (entry.first.who, {*map(str, found)} - {*map(str, entry.findings)}) == ({"sex": "F"}, set())
    assert {f.code for f in found} >= {"group_fairness.selection_rate", "group_fairness.tpr", "group_fairness.fpr"}
    worst = next(f for f in found if f.code == "group_fairness.selection_rate")
    assert worst.who == {"sex": "F"}
    assert worst.reference == {"sex": "M"}
    assert worst.estimate.value == pytest.approx(-0.3, abs=0.06), "unprivileged - privileged"
    assert worst.sure
    assert report.verdict is not None
    assert (report.verdict.outcome, report.exit_code) == ("exceeds", 1)
    outcomes = {(str(c.name), next(iter(c.who))): c.outcome for c in report.verdict.criteria}
    assert outcomes["selection rate gap", "sex"] == "exceeds"
    assert outcomes["selection rate gap", "race"] == "meets"


def test_confusion_by_group_adds_up() -> None:
    frame = people()
    table = iso.audit(dataset(frame))["group_fairness"].tables["confusion"].frame()
    counted = table[table["group"] == "sex=F"].set_index(["true", "predicted"])["n"]
    expected = frame[frame["sex"] == "F"].groupby(["y", "p"]).size()
    for (y, p), n in expected.items():
        assert counted[str(y), str(p)] == n


def test_an_even_model_meets_the_policy() -> None:
    report = iso.audit(dataset(people(6000, gap=0.0)), policy="engineering")
    assert [f for f in report.findings if f.severity != "notice"] == []
    assert report.verdict is not None
    assert (report.verdict.outcome, report.exit_code) == ("meets", 0)


def test_too_few_rows_are_not_enough_evidence() -> None:
    report = iso.audit(dataset(people(80, gap=0.0)), policy="engineering")
    assert report.verdict is not None
    assert (report.verdict.outcome, report.exit_code) == ("not_enough_evidence", 3)
    lenient = iso.policies.load_policy("engineering").model_copy(update={"when_unsure": "meets"})
    assert iso.audit(dataset(people(80, gap=0.0)), policy=lenient).exit_code == 0


def test_without_a_policy_there_is_no_verdict() -> None:
    report = iso.audit(dataset(people()))
    assert report.verdict is None
    assert report.exit_code == 0
    assert report.to_dict()["verdict"]["outcome"] == "not_applicable"


def test_the_report_validates_and_is_the_same_twice(tmp_path: Path) -> None:
    import jsonschema

    data = dataset(people(), score="score")
    first, second = (iso.audit(data, policy="nyc-ll144", seed=3).to_dict() for _ in range(2))
    jsonschema.validate(first, schema())
    for record in (first, second):
        record.pop("created")
        record.pop("timings")
        record.pop("sha256")
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert first["balance_sheet"]["values"]["rows_used"] == 2000
    assert len(first["fingerprint"]["data_sha256"]) == 64
    paths = iso.audit(data, policy="eeoc").save(tmp_path / "out")
    assert {path.name for path in paths.values()} == {"report.html", "report.json", "report.md"}
    assert paths["html"].stat().st_size < 2_000_000


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_other_tasks(task: str) -> None:
    rng = np.random.default_rng(0)
    n = 1500
    sex = rng.choice(["F", "M"], n)
    if task == "multiclass":
        y = rng.choice(["low", "mid", "high"], n)
        p = np.where((sex == "F") & (rng.uniform(size=n) < 0.5), "low", y)
    else:
        y = rng.normal(50, 10, n)
        p = y + rng.normal(size=n) - 8.0 * (sex == "F")
    data = iso.Dataset({"sex": sex, "y": y, "p": p}, target="y", prediction="p", protected=["sex"])
    report = iso.audit(data, policy="eeoc")
    assert data.task == task
    assert any(f.who == {"sex": "F"} for f in report.findings if f.severity == "critical")
    assert report.verdict is not None
    assert report.verdict.outcome == ("exceeds" if task == "multiclass" else "not_applicable")
    assert report.to_html().startswith("<!doctype html>")


def test_a_model_gives_the_same_report_as_its_predictions() -> None:
    from sklearn.linear_model import LogisticRegression

    frame = people()
    frame["x"] = frame["score"] + 0.2 * (frame["sex"] == "M")
    model = LogisticRegression().fit(frame[["x"]], frame["y"])
    plain = frame.drop(columns=["p", "score"])
    by_model = iso.audit(iso.Dataset(plain, target="y", protected=["sex", "race"]), model, checks="quick")
    frame["p"] = model.predict(frame[["x"]])
    by_column = iso.audit(iso.Dataset(frame, target="y", prediction="p", protected=["sex", "race"]), checks="quick")
    pd.testing.assert_frame_equal(by_model["group_fairness"].table, by_column["group_fairness"].table)
    assert [str(f.message) for f in by_model.findings] == [str(f.message) for f in by_column.findings]


def test_rows_without_a_target_are_left_out_and_told() -> None:
    frame = people()
    frame["y"] = frame["y"].astype("float").where(np.arange(len(frame)) >= 100)
    report = iso.audit(dataset(frame))
    assert report.document.balance_sheet is not None
    assert report.document.balance_sheet.values["rows_used"] == 1900


def test_checks_that_do_not_apply_say_why() -> None:
    frame = people()
    report = iso.audit(iso.Dataset(frame[["y", "p"]], target="y", prediction="p"))
    assert report.document["group_fairness"].outcome == "not_applicable"
    assert "no protected attribute" in str(report.document["group_fairness"].reason)
    assert report.document["calibration"].outcome == "not_applicable"
    only_predictions = iso.audit(iso.Dataset(frame[["sex", "p"]], prediction="p", protected=["sex"]))
    assert only_predictions.document["performance"].outcome == "not_applicable"
    assert only_predictions["group_fairness"].findings


def test_comparing_two_reports(tmp_path: Path) -> None:
    good, bad = iso.audit(dataset(people(gap=0.0)), policy="eeoc"), iso.audit(dataset(people(gap=0.4)), policy="eeoc")
    good.save(tmp_path / "good")
    bad.save(tmp_path / "bad")
    worse = iso.compare(tmp_path / "good", tmp_path / "bad" / "report.json")
    assert worse.worse
    assert worse.exit_code == 1
    assert str(worse.values["verdict_after"]) == "exceeds"
    states = [str(state) for state in worse.tables["findings"]["state"].values]
    assert "new" in states
    assert not iso.compare(good, good).worse
    assert iso.compare(good, good).values["same_data"] is True
    with pytest.raises(iso.DataError, match="no schema_version"):
        iso.compare({}, good)
    with pytest.raises(iso.DataError, match="There is no report"):
        iso.compare(tmp_path / "nowhere", good)


HOSTILE = ["<script>alert(1)</script>", "a|b", 'quo"te', "new\nline", "emoji 🙂", "{braces}", "=1+1", "x" * 3000]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_categories(text: str, tmp_path: Path) -> None:
    frame = people(400).rename(columns={"sex": text})
    frame[text] = frame[text].map({"F": text, "M": "M"})
    report = iso.audit(
        iso.Dataset(frame, target="y", prediction="p", protected=[text], name=text), policy="engineering"
    )
    paths = report.save(tmp_path)
    assert "<script>alert(1)" not in paths["html"].read_text(encoding="utf-8")
    assert report["group_fairness"].table["n"].sum() == 400


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"dataset": "x.csv", "polcy": "eeoc"}, "Unknown key `polcy` in the spec. Did you mean 'policy'"),
        (
            {"dataset": {"path": "x.csv", "targt": "y"}},
            "Unknown key `dataset.targt` in the spec. Did you mean 'target'",
        ),
        ({"dataset": "x.csv", "seed": "many"}, "`seed` must be a whole number; got 'many'"),
        ({}, "`dataset` is missing"),
        ({"dataset": "nowhere.csv", "target": "y"}, "nowhere.csv"),
        ({"dataset": {"target": "y"}}, "either a `path` or a name"),
    ],
)
def test_bad_specs_are_named_with_their_path(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(iso.IsonomiaError, match=message):
        iso.run(spec)


def test_all_problems_of_a_spec_come_together() -> None:
    with pytest.raises(iso.SpecError) as caught:
        iso.run({"dataset": {"path": "x.csv", "targt": 1}, "seed": "x", "n_boot": -1})
    assert len(caught.value.problems) == 3


def test_a_spec_file_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "spec.yaml").write_text(
        "dataset: people.csv\ntarget: y\nprediction: p\nprotected: [sex, race]\npolicy: eeoc\nchecks: quick\n"
        f"out: {tmp_path / 'out'}\n"
    )
    report = iso.run(tmp_path / "spec.yaml")
    assert report.exit_code == 1
    assert (tmp_path / "out" / "report.html").is_file()
    (tmp_path / "bomb.yaml").write_text("a: &a [1]\ndataset: *a\n")
    with pytest.raises(iso.SpecError, match="aliases"):
        iso.run(tmp_path / "bomb.yaml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checks": "everything"}, "Unknown check, set or room of checks 'everything'"),
        ({"policy": "eoec"}, "Did you mean 'eeoc'"),
        ({"policy": {"id": "x", "title": "x", "rules": []}}, "rules"),
        ({"language": "fr"}, "Unknown language 'fr'"),
        ({"options": {"drift": {}}}, "not among the checks"),
        ({"reference": "Q"}, "reference"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(iso.IsonomiaError, match=message):
        iso.audit(dataset(people(200)), **options)


def test_nothing_to_examine() -> None:
    with pytest.raises(iso.DataError, match="There are no predictions"):
        iso.audit(dataset(people(200), prediction=None))


def test_four_fifths_needs_more_than_chance() -> None:
    """A ratio of 0.5 among thirty people each is below four fifths, and could be chance."""
    frame = pd.DataFrame({"sex": ["F"] * 40 + ["M"] * 40, "p": [1] * 4 + [0] * 36 + [1] * 8 + [0] * 32})
    report = iso.audit(iso.Dataset(frame, prediction="p", protected=["sex"]), policy="eeoc")
    assert report.verdict is not None
    (criterion,) = report.verdict.criteria
    assert criterion.estimate.value == pytest.approx(0.5)
    assert criterion.outcome == "not_enough_evidence"
    larger = pd.concat([frame] * 20, ignore_index=True)
    shown = iso.audit(iso.Dataset(larger, prediction="p", protected=["sex"]), policy="eeoc")
    assert shown.exit_code == 1
