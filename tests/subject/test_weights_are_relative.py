"""Sample weights are relative: their scale changes nothing, rows of weight 0 change nothing, and people are rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.metrics import METRICS, evaluate_all
from isonomia.models import Surface

TASKS = ("binary", "multiclass", "regression")
SCALES = (1e-300, 1e-6, 10.0, 1e300)
N = 400


def people(task: str = "binary", seed: int = 0, n: int = N) -> pd.DataFrame:
    """Applicants of whom men are favoured, with survey weights."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b"], n)
    frame = pd.DataFrame({"sex": sex, "race": race, "age": rng.integers(18, 80, n), "pay": rng.normal(50, 10, n)})
    push = 0.06 * (frame["pay"] - 50) + 0.9 * (sex == "M") - 0.4
    if task == "regression":
        frame["y"] = push + rng.normal(0, 0.5, n)
        frame["p"] = push
    else:
        cuts = [0.0] if task == "binary" else [-0.5, 0.5]
        frame["y"] = np.digitize(push + rng.normal(0, 0.8, n), cuts)
        frame["p"] = np.digitize(push, cuts)
        if task == "binary":
            frame["s"] = 1 / (1 + np.exp(-2 * push))
    frame["w"] = rng.integers(1, 9, n) / 2
    return frame


def audited(frame: pd.DataFrame, task: str) -> iso.Report:
    score = {"score": "s"} if task == "binary" else {}
    return iso.audit(
        frame, target="y", prediction="p", protected=["sex", "race"], weight="w", task=task, checks="standard", **score
    )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value of a nested dictionary, with where it stands."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value


def figures(report: iso.Report) -> dict[tuple[Any, ...], Any]:
    """All a report says, but when and about which bytes."""
    whole = report.to_dict()
    for name in ("created", "fingerprint", "sha256", "timings"):
        whole.pop(name, None)
    return dict(leaves(whole))


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


def differences(one: iso.Report, other: iso.Report) -> list[Any]:
    left, right = figures(one), figures(other)
    return [
        (path, left.get(path), right.get(path))
        for path in {**left, **right}
        if not alike(left.get(path), right.get(path))
    ]


@pytest.mark.parametrize("task", TASKS)
def test_the_scale_of_weights_changes_nothing_in_a_report(task: str) -> None:
    frame = people(task)
    base = audited(frame, task)
    assert not [name for name, section in base.to_dict()["checks"].items() if section["outcome"] == "failed"]
    for scale in SCALES:
        assert differences(base, audited(frame.assign(w=frame["w"] * scale), task)) == []


def test_weights_that_add_up_to_one_count_people_as_rows() -> None:
    frame = people()
    women = int((frame["sex"] == "F").sum())
    rate = {sex: np.average(part["p"], weights=part["w"]) for sex, part in frame.groupby("sex")}
    for total in (1.0, 1e9):
        report = audited(frame.assign(w=frame["w"] / frame["w"].sum() * total), "binary")
        found = next(one for one in report.findings if one.code == "group_fairness.selection_rate")
        assert found.people is not None
        assert found.people.value == pytest.approx(women * (rate["M"] - rate["F"]))
        assert f"of {women} " in str(found.message)
        assert "weighted" in str(found.people.note)


@pytest.mark.parametrize("task", TASKS)
def test_rows_of_weight_zero_change_no_value_and_no_interval(task: str) -> None:
    frame = people(task)
    extra = people(task, seed=1, n=1500).assign(w=0.0)
    both = pd.concat([frame, extra], ignore_index=True).sample(frac=1.0, random_state=0)
    options: dict[str, Any] = {"target": "y", "prediction": "p", "task": task, "weight": "w"}
    if task == "binary":
        options["score"] = "s"
    wanted = [metric.id for metric in METRICS if task in metric.tasks]
    ours, all_rows = (
        evaluate_all(iso.Dataset(part, **options), None, wanted) for part in (frame, both.reset_index(drop=True))
    )
    for name in wanted:
        assert alike(ours[name].value, all_rows[name].value), name
        assert alike(ours[name].low, all_rows[name].low), name
        assert alike(ours[name].high, all_rows[name].high), name
        assert ours[name].n == all_rows[name].n, name


def test_rows_of_weight_zero_beside_a_surface_change_nothing() -> None:
    frame = people()
    extra = people(seed=1, n=700).assign(w=0.0)
    both = pd.concat([frame, extra], ignore_index=True)
    found = [
        evaluate_all(
            part["y"].to_numpy(), Surface.of_probabilities(part["s"], classes=(0, 1)), weights=part["w"].to_numpy()
        )
        for part in (frame, both)
    ]
    assert [str(one) for one in found[0].values()] == [str(one) for one in found[1].values()]


def test_rows_of_weight_zero_are_counted_as_left_out() -> None:
    frame = people()
    frame.loc[:9, "w"] = 0.0
    subject = iso.Subject.of(iso.Dataset(frame, target="y", prediction="p", weight="w"))
    assert len(subject) == N - 10
    assert [str(note) for note in subject.notes] == ["10 rows of weight 0 are left out."]
    assert subject.weights is not None
    assert subject.weights.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("label", [0, 1])
def test_a_class_that_weighs_nothing_is_no_error(label: int) -> None:
    frame = people()
    frame["w"] = np.where(frame["y"] == label, 0.0, frame["w"])
    report = audited(frame, "binary")
    sections = report.to_dict()["checks"]
    assert not [name for name, section in sections.items() if section["outcome"] == "failed"]
    found = evaluate_all(iso.Dataset(frame, target="y", score="s", weight="w"), None, ["auc", "pr_auc", "accuracy"])
    assert found["auc"].value is None
    assert "class" in str(found["auc"].note) or "labels" in str(found["auc"].note)
    assert found["accuracy"].value is not None
