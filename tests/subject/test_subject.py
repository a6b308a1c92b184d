"""One subject: the same rows, labels, weights and figures at every door, and one call of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia import Dataset, NotApplicable, SpecError, Subject
from isonomia.counting import Codes
from isonomia.data import to_frame
from isonomia.discovery import find_subgroups
from isonomia.fairness import change_between, group_metrics
from isonomia.models import GroupThresholds, Surface
from isonomia.robustness import drift, failure_modes, metric_disagreement, overfit, subgroup_diagnostics, weak_spots

TASKS = ("binary", "multiclass", "regression")
BACKENDS = ("pandas", "polars", "pyarrow")
N, LOST = 600, 25


def columns(task: str) -> dict[str, Any]:
    """Features, a group, outcomes of which the first 25 are missing, and predictions."""
    rng = np.random.default_rng(7)
    x, sex = rng.normal(size=N), rng.choice(["F", "M"], N)
    if task == "regression":
        y: Any = (x + rng.normal(size=N)).round(3)
        p: Any = x.round(3)
    else:
        labels = np.array(["no", "yes"] if task == "binary" else ["a", "b", "c"], dtype=object)
        y = labels[rng.integers(0, labels.size, N)]
        p = np.where(rng.random(N) < 0.7, y, labels[rng.integers(0, labels.size, N)])
    y = y.astype(object)
    y[:LOST] = None
    values: Any = [None if value is None else value for value in y]
    return {"x": x, "sex": sex.tolist(), "y": values, "p": p.tolist()}


def positive(task: str) -> dict[str, Any]:
    return {"positive": "yes"} if task == "binary" else {}


def dataset(task: str, backend: Any = "pandas", rows: slice = slice(None)) -> Dataset:
    frame = to_frame({name: list(values)[rows] for name, values in columns(task).items()}, backend)
    return Dataset(frame, target="y", prediction="p", protected=["sex"], task=task, **positive(task))  # type: ignore[arg-type]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_dataset_frame_and_arrays_are_the_same_subject(task: Any, backend: Any) -> None:
    data = dataset(task, backend)
    given: Any = {"task": task, **positive(task)}
    frame = data.frame
    parts = {name: data.column(name).to_native() for name in ("y", "p", "sex")}
    subjects = [
        Subject.of(data),
        Subject.of(frame, target="y", prediction="p", protected="sex", **given),
        Subject.of(frame, parts["p"], target="y", protected="sex", **given),
        Subject.of(parts["y"], parts["p"], sensitive_features={"sex": parts["sex"]}, **given),
        Subject.of(None, y_true=parts["y"], y_pred=parts["p"], sensitive_features={"sex": parts["sex"]}, **given),
        Subject.of(columns(task)["y"], columns(task)["p"], sensitive_features={"sex": columns(task)["sex"]}, **given),
    ]
    first = subjects[0]
    for subject in subjects:
        assert (subject.task, len(subject), subject.n_dropped) == (task, N - LOST, LOST)
        assert subject.surface.classes == first.surface.classes
        np.testing.assert_array_equal(subject.truth, first.truth)
        predicted = "continuous" if task == "regression" else "label"
        np.testing.assert_array_equal(getattr(subject.surface, predicted), getattr(first.surface, predicted))
        assert [column.labels for column in subject.attributes] == [("F", "M")]
        np.testing.assert_array_equal(subject.attributes[0].codes, first.attributes[0].codes)
        assert [note.text() for note in subject.notes] == [f"{LOST} rows without a target are left out."]


def doors(task: str) -> dict[str, Any]:
    """What each public function says about data with 25 rows whose target is missing, and about the rest alone."""
    sides = dataset(task), dataset(task, rows=slice(LOST, None))
    found: dict[str, Any] = {}
    for side, data in zip(("all", "rest"), sides, strict=True):
        y, p, sex = (data.column(name).to_list() for name in ("y", "p", "sex"))
        given: Any = {"task": task, **positive(task)}
        frame: Any = {"target": "y", "prediction": "p", "protected": "sex", **given}
        small = {"n_boot": 50}
        found[side] = {
            "group_metrics": group_metrics(y, p, sensitive_features={"sex": sex}, **given, **small),
            "weak_spots": weak_spots(data),
            "weak_spots of a frame": weak_spots(data.frame, **frame),
            "failure_modes": failure_modes(data),
            "subgroup_diagnostics": subgroup_diagnostics(data, n_boot=50),
            "find_subgroups": find_subgroups(data, method="sliceline"),
            "find_subgroups of arrays": find_subgroups(data.frame[["x", "sex"]], y_true=y, y_pred=p, **given),
            "change_between": change_between(data, data, **small),
        }
    return found


@pytest.mark.parametrize("task", TASKS)
def test_rows_without_a_target_are_left_out_at_every_door(task: str) -> None:
    found = doors(task)
    for name, result in found["all"].items():
        rest = found["rest"][name]
        for key, table in rest.tables.items():
            if (name, key) == ("failure_modes", "rows"):
                continue  # rows are named by their position in the data given
            pd.testing.assert_frame_equal(result.tables[key].frame(), table.frame(), obj=f"{name}/{key}")
        if name != "group_metrics":
            assert any("rows without a target" in note.text() for note in result.notes), name
        assert not any("rows without a target" in note.text() for note in rest.notes), name


@pytest.mark.parametrize("task", TASKS)
def test_audit_of_all_rows_and_of_the_rest(task: str) -> None:
    checks = ["performance", "group_fairness", "entropy", "weak_spots"]
    whole = iso.audit(dataset(task), checks=checks, n_boot=50)
    rest = iso.audit(dataset(task, rows=slice(LOST, None)), checks=checks, n_boot=50)
    for one, other in zip(whole.document.sections, rest.document.sections, strict=True):
        assert (one.outcome, one.result is None) == (other.outcome, other.result is None)
        if one.result is not None and other.result is not None:
            for key, table in other.result.tables.items():
                pd.testing.assert_frame_equal(one.result.tables[key].frame(), table.frame(), obj=f"{one.code}/{key}")
    sheet = {str(row["what"]): row["n"] for row in whole.document.balance_sheet.tables["rows"].rows()}
    assert sheet == {"rows given": N, "rows without a target, left out": LOST, "rows used": N - LOST}


class Counting:
    """A model that counts how often it is asked, and about how many rows."""

    def __init__(self, cut: float = 0.0) -> None:
        self.asked: list[int] = []
        self.cut = cut

    def __call__(self, frame: Any) -> Any:
        self.asked.append(len(frame))
        return (np.asarray(frame["x"]) > self.cut).astype(int)


def people(seed: int, n: int) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=n), "sex": rng.choice(["F", "M"], n)})
    return Dataset(frame.assign(y=(x + rng.normal(size=n) > 0).astype(int)), target="y", protected=["sex"])


def test_the_model_is_asked_once_per_distinct_set_of_rows() -> None:
    model, current, train = Counting(), people(0, 500), people(1, 700)
    checks = ["performance", "group_fairness", "overfit", "drift", "metric_disagreement", "weak_spots"]
    options = {"overfit": {"train": train}, "drift": {"reference": train, "joint": False}}
    report = iso.audit(current, model, checks=checks, options=options, n_boot=20)
    assert all(section.outcome in ("passed", "issue") for section in report.document.sections)
    assert sorted(model.asked) == [500, 700]
    equal = Dataset(current.frame.copy(), target="y", protected=["sex"])  # the same rows in another object
    model.asked.clear()
    options = {"overfit": {"train": train}, "drift": {"reference": equal.replace(train.frame), "joint": False}}
    iso.audit(current, model, checks=["overfit", "drift"], options=options, n_boot=20)
    assert sorted(model.asked) == [500, 700]


def test_shared_results_are_made_once() -> None:
    subject, made = Subject.of([0, 1], [0, 1]), []
    for _ in range(3):
        assert subject.shared("key", lambda: made.append(1) or "value") == "value"
    assert made == [1]
    assert subject.take(np.array([0])).shared("key", lambda: "other") == "other"


def test_plain_frames_need_no_roles_for_drift(frame_kind: Any) -> None:
    rng = np.random.default_rng(0)
    before = frame_kind({"age": rng.normal(size=400), "city": rng.choice(["N", "S"], 400)})
    after = frame_kind({"age": rng.normal(size=400) + 1, "city": rng.choice(["N", "S"], 400)})
    rows = list(drift(before, after, joint=False).tables["variables"].rows())
    assert [(row["variable"], row["drifted"]) for row in rows] == [("age", True), ("city", False)]


def test_two_models_over_a_frame() -> None:
    data = people(3, 400)
    models = {"old": Counting(), "new": Counting(cut=0.5)}
    found = metric_disagreement(data.frame, models=models, metrics=["accuracy", "recall"], target="y")
    assert [model.asked for model in models.values()] == [[400], [400]]
    assert len(found.tables)
    assert overfit(data.frame, data.frame, Counting(), target="y").code == "overfit"


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NotApplicable, match="no features"):
        weak_spots([0, 1, 1], [0, 1, 0])
    with pytest.raises(iso.DataError, match="A model needs rows"):
        Subject.of([0, 1], lambda frame: frame)
    with pytest.raises(SpecError, match="Did you mean 'target'"):
        weak_spots(people(0, 50), Counting(), targt="y")
    with pytest.raises(SpecError, match="A Subject already has its data and model; leave out y_true"):
        Subject.of(Subject.of([0, 1], [0, 1]), y_true=[0, 1])
    with pytest.raises(iso.DataError, match="not both"):
        Subject.of(people(0, 50), Counting(), y_pred=[0] * 50)


def test_the_fingerprint_of_arrays_includes_thresholds() -> None:
    """The same probabilities and decisions, cut elsewhere or for other groups, are another subject."""
    p, sex = np.array([0.2, 0.9, 0.1, 0.8]), Codes.encode(["F", "M", "F", "M"], name="sex")
    plain = Surface.of_probabilities(p, classes=(0, 1))
    cuts = [0.5, 0.6, GroupThresholds.of(sex, {"F": 0.4, "M": 0.6}), GroupThresholds.of(sex, {"F": 0.6, "M": 0.4})]
    surfaces = [replace(plain, threshold=cut) for cut in cuts]
    assert all(np.array_equal(one.label, plain.label) for one in surfaces)  # type: ignore[arg-type]
    prints = [Subject.of([0, 1, 0, 1], surface, sensitive_features=sex).fingerprint for surface in surfaces]
    assert len(set(prints)) == 4
    assert prints[0] == Subject.of([0, 1, 0, 1], plain, sensitive_features=sex).fingerprint
