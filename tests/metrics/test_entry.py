"""`score` over every kind of column and prediction, and the list of metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from isonomia import metrics
from isonomia.errors import DataError, SpecError
from isonomia.metrics import METRICS, score

Y = ["no", "yes", "yes", "no", "yes", "no"]
SAID = ["no", "yes", "no", "yes", "yes", "no"]
P = [0.1, 0.9, 0.4, 0.6, 0.8, 0.2]


def test_labels_in_every_kind_of_frame(frame_kind: Any) -> None:
    frame = frame_kind({"y": Y, "p": SAID, "s": P, "w": [1.0, 2.0, 1.0, 1.0, 1.0, 1.0]})
    truth = [1 if value == "yes" else 0 for value in Y]
    said = [1 if value == "yes" else 0 for value in SAID]
    weight = [1, 2, 1, 1, 1, 1]
    f1 = score(frame["y"], frame["p"], metric="f1", positive="yes", sample_weight=frame["w"])
    assert f1.value == pytest.approx(sk.f1_score(truth, said, sample_weight=weight))
    auc = score(frame["y"], frame["s"], metric="auc", positive="yes", sample_weight=frame["w"])
    assert auc.value == pytest.approx(sk.roc_auc_score(truth, P, sample_weight=weight))
    both = score(frame["y"], frame["p"], y_score=frame["s"], metric="accuracy", positive="yes")
    assert both.value == pytest.approx(4 / 6)


def test_probabilities_of_one_and_of_two_dimensions() -> None:
    y = [0, 1, 1, 0, 1, 0]
    table = np.column_stack([1 - np.array(P), P])
    assert score(y, P, metric="accuracy").value == score(y, table, metric="accuracy").value == pytest.approx(4 / 6)
    assert score(y, P, metric="brier_score").value == pytest.approx(sk.brier_score_loss(y, P))
    assert score(y, table.tolist(), metric="auc").value == pytest.approx(sk.roc_auc_score(y, P))
    assert score(y, [0, 1, 0, 1, 1, 0], metric="accuracy").value == pytest.approx(4 / 6)


def test_several_classes() -> None:
    y = ["a", "b", "c", "a"]
    p = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.4, 0.5, 0.1]]
    assert score(y, p, metric="top_k_accuracy").value == 0.75
    assert score(y, p, metric="accuracy").value == 0.5
    assert score(y, ["a", "b", "a", "b"], metric="macro_recall").value == pytest.approx(0.5)


def test_numbers() -> None:
    y, p = [1.5, 2.0, 4.0], [1.0, 2.5, 4.5]
    assert score(y, p, metric="mae").value == 0.5
    assert score([1, 2, 4], [1, 2, 5], metric="mae", task="regression").value == pytest.approx(1 / 3)


def test_predictions_alone() -> None:
    assert score(None, [0, 1, 1, 1], metric="selection_rate").value == 0.75
    assert "there are no labels" in score(None, [0, 1], metric="accuracy").note


def test_errors_say_what_to_do() -> None:
    with pytest.raises(SpecError, match="Unknown metric 'acc'"):
        score([0, 1], [0, 1], metric="acc")
    with pytest.raises(DataError, match="`positive` must say which value of the labels"):
        score(Y, SAID)
    with pytest.raises(DataError, match=r"\[0, 1\]|must be numbers"):
        score([0, 1, 1], ["low", "high", "high"], metric="auc")
    with pytest.raises(DataError, match="one length"):
        score([0, 1], [[0.5, 0.5], [1.0]], metric="auc")
    with pytest.raises(DataError, match="2 true outcomes for 3 rows"):
        score([0, 1], [0, 1, 1])


def test_the_list_of_metrics() -> None:
    rows = {row["id"]: row for row in metrics.table().rows()}
    assert set(rows) == set(METRICS.ids())
    assert rows["auc"]["surface"] == "probability or score"
    assert rows["auc"]["tasks"] == "binary"
    assert all(row["purpose"] and row["direction"] in ("higher", "lower", "none") for row in rows.values())


@pytest.mark.parametrize(("name", "alias"), [("precision", "ppv"), ("recall", "tpr"), ("specificity", "tnr")])
def test_a_second_name_is_the_same_metric_under_that_name(name: str, alias: str) -> None:
    assert alias in METRICS
    assert alias in METRICS.names()
    assert alias not in METRICS.ids()
    assert METRICS[alias].id == alias
    assert METRICS[alias].title != METRICS[name].title == METRICS.titles()[name]
    assert score(Y, SAID, metric=alias, positive="yes") == score(Y, SAID, metric=name, positive="yes")


def test_a_second_name_cannot_be_registered_again() -> None:
    with pytest.raises(SpecError, match="'tpr' is already registered"):
        METRICS.add(METRICS["tpr"])
