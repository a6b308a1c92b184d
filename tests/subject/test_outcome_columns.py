"""Predictions and true outcomes that a dataset carries in its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia import DataError, Dataset
from isonomia.data import to_frame
from isonomia.models import Surface
from isonomia.subject import Subject, surface_of

BACKENDS = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("positive", ["no", "yes"])
def test_decisions(backend, positive):
    frame = to_frame({"y": ["no", "yes", "yes", None], "p": ["yes", "yes", "no", "no"]}, backend)
    data = Dataset(frame, target="y", positive=positive, prediction="p")
    surface = surface_of(data)
    assert (surface.task, surface.kinds, surface.classes[1]) == ("binary", ("label",), positive)
    subject = Subject.of(data)
    assert subject.rows.tolist() == [True, True, True, False]
    said = [surface.classes[code] for code in surface.label]
    true = [surface.classes[code] for code in subject.truth]
    assert (said, true) == (["yes", "yes", "no", "no"], ["no", "yes", "yes"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_probabilities_and_scores(backend):
    y = ["no", "yes", "no"]
    chance = Dataset(to_frame({"y": y, "s": [0.1, 0.5, 0.9]}, backend), target="y", positive="yes", score="s")
    surface = surface_of(chance)
    assert (surface.kinds, surface.label.tolist()) == (("label", "probability"), [0, 1, 1])
    assert surface_of(chance, threshold=0.6).label.tolist() == [0, 0, 1]
    points = Dataset(to_frame({"y": y, "s": [300.0, 650.0, 800.0]}, backend), target="y", positive="yes", score="s")
    assert surface_of(points).kinds == ("score",)
    assert surface_of(points, threshold=640).label.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match=r"must lie in \[0, 1\]"):
        surface_of(points, kind="probability")


def test_a_score_of_the_unfavourable_class():
    y = [0, 1, 0, 1]
    risk = Dataset({"y": y, "s": [0.125, 0.5, 0.75, 0.25]}, target="y", positive=0, score={1: "s"})
    surface = surface_of(risk)
    assert surface.classes == (1, 0)
    assert surface.probability.tolist() == [0.875, 0.5, 0.25, 0.75]
    assert surface.label.tolist() == [1, 0, 0, 1]  # a risk of one half is a risk
    points = Dataset({"y": y, "s": [1, 5, 9, 4]}, target="y", positive=0, score={1: "s"})
    assert surface_of(points).score.tolist() == [-1, -5, -9, -4]
    assert surface_of(points, threshold=5).label.tolist() == [1, 0, 0, 1]
    with pytest.raises(DataError, match="is named for the class 2"):
        surface_of(Dataset({"y": y, "s": y}, target="y", positive=0, score={2: "s"}))


@pytest.mark.parametrize("positive", [0, 1])
def test_published_false_positive_rates_of_compas(shared_data, positive):
    """ProPublica: 44.85% of black and 23.45% of white defendants who did not reoffend were called risky."""
    import pandas as pd

    frame = pd.read_csv(shared_data / "compas.csv.gz", usecols=["race", "decile_score", "two_year_recid"])
    score = {1: "decile_score"} if positive == 0 else "decile_score"
    data = Dataset(frame, target="two_year_recid", positive=positive, protected=["race"], score=score)
    surface = surface_of(data, threshold=5)
    truth = Subject.of(data, surface).truth
    risky, fine = surface.classes.index(1), surface.classes.index(0)
    for race, expected in {"African-American": 0.4485, "Caucasian": 0.2345}.items():
        rows = (frame["race"] == race).to_numpy() & (truth == fine)
        assert (surface.label[rows] == risky).mean() == pytest.approx(expected, abs=5e-5)


def test_decisions_beside_scores():
    frame = {"y": [0, 1, 0], "s": [0.1, 0.5, 0.9], "p": [1, 0, 0]}
    surface = surface_of(Dataset(frame, target="y", prediction="p", score="s"))
    assert surface.kinds == ("label", "probability")
    assert surface.label.tolist() == [1, 0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_columns_of_probabilities(backend):
    frame = to_frame({"y": ["a", "b", "a"], "pa": [0.9, 0.2, 0.6], "pb": [0.1, 0.8, 0.4]}, backend)
    for score in (["pa", "pb"], {"b": "pb", "a": "pa"}):
        surface = surface_of(Dataset(frame, target="y", positive="a", score=score))
        assert surface.classes == ("b", "a")
        assert surface.probability.tolist() == [0.9, 0.2, 0.6]


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_classes(backend):
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
    frame = to_frame({"y": ["a", "b", "c"], "c": table[:, 2], "a": table[:, 0], "b": table[:, 1]}, backend)
    for score in ({"c": "c", "a": "a", "b": "b"}, ["a", "b", "c"]):
        surface = surface_of(Dataset(frame, target="y", score=score))
        assert surface.classes == ("a", "b", "c")
        np.testing.assert_array_equal(surface.probability, table)
        assert surface.label.tolist() == [0, 2, 1]


def test_regression():
    data = Dataset({"y": [1.5, np.nan, 3.25], "p": [1.0, 2.0, 3.0]}, target="y", prediction="p", task="regression")
    surface = surface_of(data)
    assert (surface.kinds, surface.continuous.tolist()) == (("continuous",), [1.0, 2.0, 3.0])
    subject = Subject.of(data)
    assert subject.rows.tolist() == [True, False, True]
    assert subject.truth.tolist() == [1.5, 3.25]


def test_one_class_in_the_data():
    data = Dataset({"y": ["yes", "yes"], "p": ["yes", "no"]}, target="y", positive="yes", prediction="p")
    assert surface_of(data).classes == ("no", "yes")
    alone = Dataset({"y": ["yes", "yes"], "p": ["yes", "yes"]}, target="y", positive="yes", prediction="p")
    assert surface_of(alone).classes == ("not yes", "yes")
    ones = Dataset({"y": [1, 1], "p": [1, 1]}, target="y", prediction="p")
    assert surface_of(ones).classes == (0, 1)


@pytest.mark.parametrize(
    ("columns", "roles", "message"),
    [
        ({"y": [0, 1, 0]}, {}, "has no predictions"),
        (
            {"y": [0, 1, 0], "p": ["no", "yes", "no"]},
            {"prediction": "p"},
            r"has 'no', 'yes', but the target 'y' has 0, 1",
        ),
        ({"y": [0, 1, 0], "p": [0.2, 0.7, 0.4]}, {"prediction": "p"}, "look like scores"),
        ({"y": [0, 1, 0], "p": [0, 1, 2]}, {"prediction": "p"}, "must have two values .* got 3: 0, 1, 2"),
        ({"y": ["a", "b", "c"], "p": ["a", "b", "C"]}, {"prediction": "p"}, "has 'C' where the target 'y' has 'c'"),
        ({"y": ["a", "b", "c"], "p": [0, 1, 2]}, {"prediction": "p"}, "with the values of the target"),
        ({"y": [0, 1, 0], "p": [0, 1, None]}, {"prediction": "p"}, "1 of 3 predictions in 'p' are missing"),
        ({"y": [0, 1, 0], "s": [0.1, None, 0.2]}, {"score": "s"}, "1 of 3 scores in 's' are missing or infinite"),
        ({"y": [0, 1, 0], "s": [0.1, np.inf, 0.2]}, {"score": "s"}, "missing or infinite"),
        ({"y": [0, 1, 0], "s": ["a", "b", "c"]}, {"score": "s"}, "must be numbers; got values such as 'a'"),
        ({"y": ["a", "b", "c"], "s": [0.1, 0.2, 0.3]}, {"score": "s"}, r"3 classes .* but 1 score column "),
        (
            {"y": ["a", "b"], "s": [0.5, 0.5], "t": [0.5, 0.9]},
            {"score": ["s", "t"], "positive": "a"},
            "must sum to 1; 1 rows do not .row 1 sums to 1.4",
        ),
        (
            {"y": ["a", "b"], "s": [0.5, 0.5], "t": [0.5, 0.5]},
            {"score": {"x": "s", "z": "t"}, "positive": "a"},
            "named for the classes 'x', 'z'",
        ),
        ({"y": [0.5, 1.7, 2.1], "p": ["a", "b", "c"]}, {"prediction": "p"}, "must be numbers"),
    ],
)
def test_what_does_not_go_together(columns, roles, message):
    with pytest.raises(DataError, match=message):
        surface_of(Dataset(columns, target="y", **roles))


def test_another_length():
    data = Dataset({"y": [0, 1, 0]}, target="y")
    with pytest.raises(DataError, match="There are 2 predictions for 3 rows"):
        Subject.of(data, Surface.of_labels([0, 1], classes=(0, 1)))
    with pytest.raises(DataError, match="not among the classes"):
        Subject.of(data, Surface.of_labels(["a", "b", "a"], classes=("a", "b")))


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=6, max_size=40),
    order=st.randoms(use_true_random=False),
)
def test_permuting_rows_permutes_codes(rows: list[Any], order: Any):
    rows = [*rows, ("a", "a"), ("b", "b"), ("c", "c")]
    places = list(range(len(rows)))
    order.shuffle(places)
    both = []
    for index in (range(len(rows)), places):
        data = Dataset({"y": [rows[i][0] for i in index], "p": [rows[i][1] for i in index]}, target="y", prediction="p")
        surface = surface_of(data)
        both.append((surface.label, Subject.of(data, surface).truth))
    np.testing.assert_array_equal(both[0][0][places], both[1][0])
    np.testing.assert_array_equal(both[0][1][places], both[1][1])


def both_doors(y: Any, p: Any = None, scores: Any = None, **roles: Any) -> list[Subject]:
    """The same columns given as arrays, and as columns of a frame."""
    frame: dict[str, Any] = {"y": y}
    named: dict[str, Any] = {"target": "y", **roles}
    if p is not None:
        frame["p"], named["prediction"] = p, "p"
    if scores is not None:
        table = np.asarray(scores)
        columns = table.T if table.ndim == 2 else [table]
        frame |= {f"s{index}": column for index, column in enumerate(columns)}
        named["score"] = [f"s{index}" for index in range(len(columns))] if table.ndim == 2 else "s0"
    return [Subject.of(y, y_pred=p, y_score=scores, **roles), Subject.of(frame, **named)]


@pytest.mark.parametrize("door", ["arrays", "frame"])
@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        (["a", "b", "c"], ["A", "b", "c"], "has 'A' where the target '.*' has 'a'"),
        (["a", "b", "c"], ["x", "w", "z"], "with the values of the target"),
        (["no", "yes", "no"], ["no", "yes ", "no"], "has 'yes ' where the target '.*' has 'yes'"),
    ],
)
def test_labels_that_do_not_match_are_refused_at_both_doors(door: str, y: Any, p: Any, message: str) -> None:
    roles: Any = {"positive": "yes"} if "yes" in y else {}
    if door == "frame":
        roles |= {"target": "y", "prediction": "p"}
    given = {"y": y, "p": p} if door == "frame" else y
    with pytest.raises(DataError, match=message):
        Subject.of(given, None if door == "frame" else p, **roles)


@pytest.mark.parametrize("positive", ["a", "b"])
def test_two_columns_of_probabilities_are_in_the_order_of_the_classes(positive: str) -> None:
    """As scikit-learn's predict_proba gives them, whichever class is the favourable one."""
    table = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
    for subject in both_doors(["a", "b", "a"], scores=table, positive=positive):
        column = 0 if positive == "a" else 1
        assert subject.surface.classes[1] == positive
        assert subject.surface.probability.tolist() == [row[column] for row in table]


def test_scores_that_are_not_probabilities_are_the_same_at_both_doors() -> None:
    arrays, frame = both_doors([0, 1, 0], scores=[300.0, 650.0, 800.0])
    assert (arrays.surface.kinds, arrays.surface.threshold) == (frame.surface.kinds, frame.surface.threshold)


def test_true_fractions_make_a_regression_of_whole_predictions() -> None:
    subject = Subject.of([0.5, 1.5, 2.0], [0, 1, 2])
    assert (subject.task, subject.truth.tolist()) == ("regression", [0.5, 1.5, 2.0])


def test_one_class_for_everyone_is_refused():
    frame = {"y": ["k"] * 4, "p": ["k"] * 4}
    with pytest.raises(DataError, match="Everyone has the class 'k'"):
        Subject.of(Dataset(frame, target="y", prediction="p", task="multiclass"))
    two = Subject.of(Dataset({**frame, "p": ["k", "l"] * 2}, target="y", prediction="p", task="multiclass"))
    assert two.surface.classes == ("k", "l")


@pytest.mark.parametrize("backend", BACKENDS)
def test_few_whole_numbers_predicted_with_fractions_are_numbers(backend):
    grades, predicted = [0, 12, 13, 20, 12], [1.5, 12.0, 12.75, 18.2, 11.0]
    frame = to_frame({"y": grades, "p": predicted, "q": [1.0, 12.0, 13.0, 20.0, 13.0]}, backend)
    assert Dataset(frame, target="y", prediction="p").task == "regression"
    assert Dataset(frame, target="y", prediction="q").task == "multiclass", "predictions that are grades themselves"
    assert Subject.of(Dataset(frame, target="y", prediction="p")).surface.continuous.tolist() == predicted
    assert Subject.of(grades, predicted).surface.task == "regression"
    assert Subject.of([0, 1, 1], [0, 1, 1]).surface.task == "binary"


def test_rows_that_are_taken_know_the_classes_of_all():
    data = Dataset({"x": [1, 2, 3, 4], "y": ["k", "l", "m", "k"]}, target="y")
    few = data.take([0, 3])
    assert few.classes == ("k", "l", "m") == few.take([0]).classes
    surface = Subject.of(few, lambda rows: np.array(["m", "l"])).surface
    assert [surface.classes[code] for code in surface.label] == ["m", "l"]
    assert Dataset({"y": [1.5, 2.5, 3.0]}, target="y").classes == ()
