"""Labels beside a surface mean what its classes say; tables of probabilities are taken wherever predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import isonomia as iso
from isonomia.errors import DataError
from isonomia.metrics import Rows, evaluate, evaluate_all, expected_calibration_error, reliability
from isonomia.models import Surface

TRUE = [0, 0, 0, 1, 1, 1, 1, 1]
SAID = [0, 1, 1, 1, 1, 1, 1, 1]


def forms(values: list[Any]) -> list[Any]:
    return [
        values,
        np.array(values),
        pd.Series(values, index=range(5, 5 + len(values))),
        pl.Series(values),
        pa.array(values),
    ]


@pytest.mark.parametrize("form", range(5))
@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
def test_labels_are_those_of_the_classes_whichever_is_favourable(classes: tuple[int, int], form: int) -> None:
    """Truth was once read as codes: 0.25 where 0 is the favourable value, as in COMPAS."""
    assert evaluate("accuracy", forms(TRUE)[form], Surface.of_labels(SAID, classes=classes)).value == 0.75


@pytest.mark.parametrize("names", [("good", "bad"), ("2", "1"), (2, 1), (True, False), (1.0, 0.0), ("b", "a")])
def test_labels_of_any_kind(names: tuple[Any, Any]) -> None:
    """The favourable one of two comes second, also where it sorts first."""
    true, said = ([names[code] for code in column] for column in (TRUE, SAID))
    found = evaluate_all(true, Surface.of_labels(said, classes=names), ["accuracy", "recall", "precision"])
    assert [round(one.value, 6) for one in found.values()] == [0.75, 1.0, round(5 / 7, 6)]


def test_three_classes_in_an_order_of_their_own() -> None:
    classes, true, said = (3, 1, 2), [1, 2, 3, 1], [1, 2, 3, 3]
    assert evaluate("accuracy", true, Surface.of_labels(said, classes=classes)).value == 0.75


def test_codes_where_no_code_is_a_label_and_rows_that_were_read() -> None:
    surface = Surface.of_labels(["yes", "no", "yes"], classes=("no", "yes"))
    assert evaluate("accuracy", [1, 0, 0], surface).value == pytest.approx(2 / 3)
    turned = Surface.of_labels([0, 1, 1], classes=(1, 0))
    assert evaluate("accuracy", Rows(np.array([1, 0, 0]), turned)).value == 1.0, "rows hold codes"


@pytest.mark.parametrize(
    ("true", "classes"),
    [([0, 1, 2], (1, 2, 3)), ([0, 1, 1], (1, 2)), (["x", "y", "y"], ("y", "z")), ([0.5, 1.0, 0.0], (0, 1))],
)
def test_labels_that_are_not_those_of_the_classes_are_refused(true: list[Any], classes: tuple[Any, ...]) -> None:
    surface = Surface.of_labels([classes[0], classes[1], classes[1]], classes=classes)
    with pytest.raises(DataError, match="not among the classes of the predictions"):
        evaluate("accuracy", true, surface)


def test_rows_without_an_outcome_are_left_out_beside_a_surface() -> None:
    surface = Surface.of_probabilities([0.9, 0.2, 0.7, 0.6], classes=("no", "yes"))
    found = evaluate("accuracy", ["yes", None, "no", "yes"], surface)
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)


@pytest.mark.parametrize("form", range(5))
def test_calibration_of_any_column(form: int) -> None:
    y, p = [0, 1, 1, 0] * 25, [0.2, 0.7, 0.9, 0.4] * 25
    whole = reliability(Rows(np.array(y), Surface.of_probabilities(p, classes=(0, 1))))
    for said in (Surface.of_probabilities(p, classes=(0, 1)), *forms(p), np.column_stack([1 - np.array(p), p])):
        assert reliability(forms(y)[form], said).ece.value == pytest.approx(whole.ece.value)
        assert expected_calibration_error(forms(y)[form], said) == pytest.approx(whole.ece.value)
    with pytest.raises(iso.NotApplicable, match="probabilities"):
        expected_calibration_error(forms(y)[form], Surface.of_labels(y, classes=(0, 1)))


def people(classes: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "sex": rng.choice(["F", "M"], 300)})
    names = np.array(["high", "low", "mid"][:classes])  # sorted, as classes_ of scikit-learn
    table = rng.dirichlet(np.ones(classes), 300)
    frame["y"] = [rng.choice(names, p=row) for row in table]
    return frame, table


def test_a_table_of_two_classes_is_what_predict_proba_returned() -> None:
    frame, table = people(2)
    happened = (frame["y"] == "low").to_numpy()
    found = evaluate_all(frame["y"], table, ["auc", "brier_score", "logloss", "accuracy"], positive="low")
    assert found["auc"].value == pytest.approx(roc_auc_score(happened, table[:, 1]))
    assert found["brier_score"].value == pytest.approx(brier_score_loss(happened, table[:, 1]))
    assert found["logloss"].value == pytest.approx(log_loss(happened, table))
    other = evaluate_all(frame["y"], table, ["auc", "accuracy"], positive="high")
    assert other["auc"].value == pytest.approx(roc_auc_score(~happened, table[:, 0])), "the favourable one sorts first"
    assert other["accuracy"].value == pytest.approx(found["accuracy"].value)
    turned = evaluate_all(frame["y"], table[:, ::-1], ["auc"], positive="low", classes=["low", "high"])
    assert turned["auc"].value == pytest.approx(found["auc"].value)


@pytest.mark.parametrize("classes", [2, 3])
def test_tables_of_probabilities_are_taken_wherever_predictions_are(classes: int) -> None:
    frame, table = people(classes)
    names = ["high", "low", "mid"][:classes]
    options: dict[str, Any] = {"positive": "low"} if classes == 2 else {}
    kept = frame.drop(columns="y").assign(y=frame["y"])
    surface = Surface.of_probabilities(table[:, [0, 1]] if classes == 2 else table, classes=tuple(names))
    right = np.mean(np.array(names)[table.argmax(axis=1)] == frame["y"])
    assert evaluate("accuracy", frame["y"], table, **options).value == pytest.approx(right)
    assert evaluate("accuracy", frame["y"], table.tolist(), **options).value == pytest.approx(right)
    assert iso.metrics.score(frame["y"], table, metric="accuracy", **options).value == pytest.approx(right)
    assert evaluate("accuracy", frame["y"], surface).value == pytest.approx(right)
    by_hand = iso.fairness.group_metrics(
        frame["y"],
        np.array(names)[table.argmax(axis=1)],
        sensitive_features=frame["sex"],
        metrics=["accuracy"],
        **options,
    )
    for given in ({"y_pred": table}, {"y_score": table}, {}):
        arrays = (frame["y"],) if given else (frame["y"], table)
        found = iso.fairness.group_metrics(
            *arrays, sensitive_features=frame["sex"], metrics=["accuracy"], **options, **given
        )
        assert found.by_group["accuracy"].tolist() == by_hand.by_group["accuracy"].tolist()
    roles: dict[str, Any] = {"target": "y", **options}
    assert iso.robustness.failure_modes(kept, table, **roles).values
    report = iso.audit(kept, table, protected=["sex"], checks=["performance", "calibration", "group_fairness"], **roles)
    assert [one.code for one in report.document.sections if one.outcome in ("failed", "not_applicable")] == []
    assert iso.fairness.suite(kept, table, protected=["sex"], **roles).values


def test_a_table_whose_columns_could_be_other_classes_is_refused() -> None:
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    with pytest.raises(
        DataError, match=r"3 columns, and the outcomes show 2 classes: 0, 1\..*Surface\.of_probabilities"
    ):
        evaluate("brier_score", [0, 1], table)
    found = evaluate("brier_score", [0, 1], table, classes=[0, 1, 2])
    assert found.value == pytest.approx(
        evaluate("brier_score", [0, 1], Surface.of_probabilities(table, classes=(0, 1, 2))).value
    )
    with pytest.raises(DataError, match="Name the class of each column"):
        evaluate("accuracy", ["yes", "yes"], table[:, :2] / table[:, :2].sum(axis=1, keepdims=True), positive="yes")
    with pytest.raises(DataError, match="got 2 names for 3 columns"):
        evaluate("accuracy", [0, 1], table, classes=[0, 1])


def test_probabilities_say_whether_they_were_calibrated() -> None:
    for table, classes in (([0.2, 0.9], (0, 1)), ([[0.2, 0.3, 0.5]], (0, 1, 2))):
        assert Surface.of_probabilities(table, classes=classes, calibrated=True).calibrated is True
        assert Surface.of_probabilities(table, classes=classes).calibrated is None
