"""A subject made of counts gives the figures of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia import Subject

CHECKS = ("representation", "performance", "group_fairness", "fairness_suite", "equivalence", "entropy")


def rows(task: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 2000
    labels = ["no", "yes"] if task == "binary" else ["a", "b", "c"]
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["x", "y", "z"], n)})
    frame["y"] = rng.choice(labels, n)
    frame["p"] = np.where(rng.random(n) < 0.7, frame["y"], rng.choice(labels, n))
    return frame


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_an_audit_of_counts_equals_that_of_the_rows(task: str, frame_kind: Any) -> None:
    frame = rows(task)
    given: Any = {"positive": "yes"} if task == "binary" else {}
    checks = [*CHECKS, *(("incompatibility",) if task == "binary" else ())]
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex", "race"], **given)
    whole = iso.audit(data, checks=checks, n_boot=100)
    cells = frame.groupby(["sex", "race", "y", "p"]).size().reset_index(name="n")
    table = frame_kind({name: cells[name].tolist() for name in cells.columns})
    counted = iso.audit(Subject.from_counts(table, target="y", prediction="p", **given), checks=checks, n_boot=100)
    for one, other in zip(counted.document.sections, whole.document.sections, strict=True):
        assert one.outcome == other.outcome
        if one.result is not None:
            for key, part in other.result.tables.items():  # type: ignore[union-attr]
                mine = pd.DataFrame({c.name: list(c.values) for c in one.result.tables[key].columns})
                theirs = pd.DataFrame({c.name: list(c.values) for c in part.columns})
                pd.testing.assert_frame_equal(mine, theirs, obj=f"{one.code}/{key}")


def test_weight_sums_spread_over_the_rows_of_a_combination() -> None:
    frame = rows("binary").assign(w=1.0)
    frame.loc[frame["sex"] == "F", "w"] = 2.5
    cells = frame.groupby(["sex", "y", "p"]).agg(n=("w", "size"), w=("w", "sum")).reset_index()
    counted = Subject.from_counts(cells, target="y", prediction="p", weight="w", positive="yes")
    given = Subject.of(frame["y"], frame["p"], weights=frame["w"], sensitive_features=frame[["sex"]], positive="yes")
    assert counted.weights is not None
    assert given.weights is not None
    assert counted.weights.sum() == pytest.approx(given.weights.sum())
    for label in (0, 1):
        for code in (0, 1):
            share = [
                s.weights[(s.attributes[0].codes == code) & (s.surface.label == label)].sum()  # type: ignore[index]
                for s in (counted, given)
            ]
            assert share[0] == pytest.approx(share[1])


def test_what_needs_features_does_not_apply() -> None:
    table = {"sex": ["F", "F", "M"], "y": [1, 0, 1], "p": [0, 0, 1], "n": [30, 50, 40]}
    report = iso.audit(Subject.from_counts(table, target="y", prediction="p"), checks=["weak_spots", "proxies"])
    assert [section.outcome for section in report.document.sections] == ["not_applicable", "not_applicable"]
    assert all("there are no features" in str(section.reason) for section in report.document.sections)


def test_a_missing_target_is_left_out_with_all_its_rows() -> None:
    table = {"sex": ["F", "F", "M"], "y": [1, None, 0], "p": [0, 0, 1], "n": [30, 50, 40]}
    subject = Subject.from_counts(table, target="y", prediction="p")
    assert (len(subject), subject.n_dropped, subject.truth.sum()) == (70, 50, 30)


@pytest.mark.parametrize(
    ("counts", "message"),
    [([1, -1], "whole numbers"), ([0, 0], "not all"), ([1.5, 1], "whole numbers"), (["a", "b"], "whole numbers")],
)
def test_counts_are_checked(counts: Any, message: str) -> None:
    with pytest.raises(iso.DataError, match=message):
        Subject.from_counts({"sex": ["F", "M"], "p": [0, 1], "n": counts}, prediction="p")


def test_names_are_checked() -> None:
    with pytest.raises(iso.DataError, match="no column 'hird'"):
        Subject.from_counts({"hired": [0, 1], "n": [3, 4]}, prediction="hird")
    with pytest.raises(iso.SpecError, match="does not go with counts"):
        Subject.from_counts({"p": [0, 1], "n": [3, 4]}, prediction="p", y_true=[0, 1])  # type: ignore[call-arg]
