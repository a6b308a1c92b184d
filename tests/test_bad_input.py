"""Bad input of every kind gets a clear error or a flagged result, never a wrong number; end to end through an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso

ROWS = {"sex": ["F", "M"] * 30, "y": [0, 1, 1] * 20, "p": [0, 1, 1, 1] * 15, "x": list(range(60))}


def data(changes: dict[str, Any] | None = None, **options: Any) -> iso.Dataset:
    roles = {"target": "y", "protected": ["sex"], "prediction": "p"}
    return iso.Dataset({**ROWS, **(changes or {})}, **{**roles, **options})


def audited(changes: dict[str, Any] | None = None, **options: Any) -> iso.Report:
    return iso.audit(data(changes, **options), policy="eeoc", n_boot=50)


ERRORS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("no rows", {name: [] for name in ROWS}, {}, "no rows"),
    ("all of the target missing", {"y": [None] * 60}, {}, "has no values"),
    ("three values called binary", {"y": [0, 1, 2] * 20}, {"task": "binary"}, "3 different values"),
    ("no class of three is positive", {"y": ["a", "b", "c"] * 20}, {"positive": "z"}, "must name classes"),
    ("words without a positive", {"y": ["yes", "no"] * 30, "p": ["yes", "no"] * 30}, {}, "`positive` must say"),
    (
        "a positive that is no value",
        {"y": ["yes", "no"] * 30, "p": ["yes", "no"] * 30},
        {"positive": "Yes!"},
        "must be a value of",
    ),
    ("the target as protected", {}, {"protected": ["y"]}, "both as the target and as protected"),
    ("the target as prediction", {}, {"prediction": "y"}, "both as the target and as the prediction"),
    ("a misspelt column", {}, {"protected": ["sexx"]}, "Did you mean 'sex'"),
    ("bands of texts", {}, {"protected": {"sex": [5]}}, "Bands cut numbers"),
    ("a privileged value that is not there", {}, {"privileged": {"sex": "X"}}, "'X'"),
    ("scores where labels are wanted", {"p": np.linspace(0.1, 0.9, 60)}, {}, "scores"),
    ("predictions the target never had", {"p": ["yes", "no"] * 30}, {}, "yes"),
    (
        "probabilities outside the range",
        {"s": [1.5, -0.2] * 30},
        {"score": "s", "prediction": None},
        r"nothing|decisions",
    ),
    ("missing predictions", {"p": [0.0, 1.0, None] * 20}, {}, "missing"),
    ("negative weights", {"w": [1.0, -1.0] * 30}, {"weight": "w"}, "weights"),
    ("no predictions", {}, {"prediction": None}, "There are no predictions"),
]


@pytest.mark.parametrize(("changes", "options", "message"), [case[1:] for case in ERRORS], ids=[c[0] for c in ERRORS])
def test_errors_say_what_was_found_and_what_to_do(changes: Any, options: Any, message: str) -> None:
    if "s" in changes:  # scores that are no probabilities and no threshold: no decisions, so no group rates
        report = audited(changes, **options)
        assert report.document["group_fairness"].outcome in ("not_applicable", "failed")
        assert report.exit_code != 0
        return
    with pytest.raises(iso.IsonomiaError, match=message) as caught:
        audited(changes, **options)
    assert len(str(caught.value)) > 30, "a message is a sentence"


def test_thousands_of_values_are_no_groups() -> None:
    n = 5000
    frame = {"id": [f"person {i}" for i in range(n)], "p": [0, 1] * (n // 2)}
    with pytest.raises(iso.DataError, match=r"5,000 different values"):
        iso.Dataset(frame, prediction="p", protected=["id"])


def test_rows_of_probabilities_must_sum_to_one() -> None:
    frame = {"y": ["a", "b", "c"] * 10, "a": [0.5] * 30, "b": [0.4] * 30, "c": [0.3] * 30, "sex": ["F", "M"] * 15}
    given = iso.Dataset(frame, target="y", score={"a": "a", "b": "b", "c": "c"}, protected=["sex"])
    with pytest.raises(iso.DataError, match="sum to 1"):
        iso.audit(given)


def test_predictions_of_another_length() -> None:
    with pytest.raises(iso.IsonomiaError, match=r"lengths?"):
        iso.audit(data({"p": [0, 1]}))

    def short(frame: Any) -> Any:
        return np.zeros(len(frame) - 1)

    with pytest.raises(iso.ModelError, match="59"):
        iso.audit(data(prediction=None), short)


def test_one_group_is_flagged() -> None:
    report = audited({"sex": ["F"] * 60})
    assert report.verdict is not None
    assert report.verdict.outcome == "not_enough_evidence"
    assert any("only one group" in str(note) for note in report["group_fairness"].notes)


def test_one_class_is_flagged() -> None:
    report = audited({"y": [1] * 60})
    table = report["group_fairness"].table
    assert table["fpr"].isna().all(), "no negatives, no false positive rate"
    assert table["tpr"].notna().all()
    figures = report["performance"].values
    assert figures["matthews_corrcoef"].value is None
    assert figures["matthews_corrcoef"].note


def test_one_row() -> None:
    frame = pd.DataFrame({"sex": ["F"], "y": [1], "p": [1]})
    report = iso.audit(iso.Dataset(frame, target="y", prediction="p", protected=["sex"]), policy="eeoc")
    assert report.exit_code == 3
    assert report["group_fairness"].table["n"].tolist() == [1]


def test_missing_and_empty_protected_values_are_groups() -> None:
    report = audited({"sex": ["F", "M", None, "", float("nan"), "F"] * 10})
    groups = report["group_fairness"].table["group"].tolist()
    assert groups == ["sex=(empty)", "sex=F", "sex=M", "sex=missing"]
    assert report.document.balance_sheet is not None
    attributes = report.document.balance_sheet.tables["attributes"]
    assert attributes["missing"].values[0] == 20


def test_infinite_features_reach_the_model_as_they_are() -> None:
    changes = {"x": [float("inf")] * 60}
    report = iso.audit(data(changes, prediction=None), lambda frame: np.ones(len(frame), dtype=int))
    assert report["group_fairness"].table["selection_rate"].tolist() == [1.0, 1.0]


def test_a_pickle_needs_trust(tmp_path: Path) -> None:
    import pickle

    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps({"not": "a model"}))
    with pytest.raises(iso.UntrustedError, match="trust"):
        iso.load_model(path)


def test_a_group_without_positives_has_no_rate_and_no_gap() -> None:
    frame = pd.DataFrame({"sex": ["F"] * 40 + ["M"] * 40, "y": [0] * 40 + [1, 0] * 20, "p": [1, 0] * 40})
    report = iso.audit(iso.Dataset(frame, target="y", prediction="p", protected=["sex"]))
    row = report["group_fairness"].table.set_index("group").loc["sex=F"]
    assert np.isnan(row["tpr"])
    assert "positive" in row["note"]
    gaps = report["group_fairness"].tables["comparisons"].frame().set_index("metric")
    assert np.isnan(gaps.loc["tpr", "difference"])
    assert np.isnan(gaps.loc["tpr", "p_value"])
