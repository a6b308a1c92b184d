"""Which of several classes are favourable: however they are named, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.data import Dataset, favourable_classes
from isonomia.subject import Subject

ROWS = {"sex": list("FMFMFM"), "y": ["denied", "review", "approved", "denied", "review", "approved"]}


@pytest.mark.parametrize(
    ("classes", "given", "found"),
    [
        (["a", "b", "c"], "b", ("b",)),
        (["a", "b", "c"], ["c", "a"], ("a", "c")),
        (["a", "b", "c"], ("c",), ("c",)),
        (["a", "b", "c"], {"b"}, ("b",)),
        (["a", "b", "c"], np.array(["b"]), ("b",)),
        (["a", "b", "c"], "c,a", ("a", "c")),
        (["a", "b", "c"], ["a,c"], ("a", "c")),
        (["a", "b", "a, b"], "a, b", ("a, b",)),
        (["a", "b", "a, b"], ["a", "a, b"], ("a", "a, b")),
        ([1, 2, 3], "3", (3,)),
        ([1.0, 2.0, 3.0], [2, "1"], (1.0, 2.0)),
    ],
)
def test_classes_are_found_however_written(classes: list[Any], given: Any, found: tuple[Any, ...]) -> None:
    assert favourable_classes(classes, given, what="'y'") == found
    assert Dataset({"y": classes}, target="y", task="multiclass", positive=given).favourable == found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("aproved", "`positive` must name classes of 'y'; got 'aproved'.*Did you mean 'approved'"),
        (["approved", "granted"], "must name classes of 'y'; got 'granted'"),
        ("approved,granted", "must name classes of 'y'; got 'granted'"),
        ([], "at least one class of 'y'; got none. There are 'approved', 'denied', 'review'"),
        (["approved", "approved"], "names 'approved' more than once"),
        ("approved,approved", "names 'approved' more than once"),
        (["approved", "denied", "review"], "names every class of 'y'; leave at least one"),
    ],
)
def test_what_does_not_fit_is_refused(given: Any, message: str) -> None:
    with pytest.raises(iso.IsonomiaError, match=message):
        Dataset(ROWS, target="y", positive=given)
    with pytest.raises(iso.IsonomiaError, match=message.replace("'y'", "the predictions")):
        Subject.of(ROWS["y"], ROWS["y"], positive=given)


def test_numbers_have_no_favourable_class() -> None:
    with pytest.raises(iso.IsonomiaError, match="`positive` is for targets of classes; 'y' is read as regression"):
        Dataset({"y": [1.5, 2.5, 3.25]}, target="y", positive=1.5)
    assert Dataset({"y": [1.5, 2.5, 3.25]}, target="y").favourable == ()


def test_two_classes_are_as_before() -> None:
    data = Dataset({"y": ["no", "yes"]}, target="y", positive="yes")
    assert (data.positive, data.favourable, data.options()["positive"]) == ("yes", ("yes",), "yes")
    with pytest.raises(iso.IsonomiaError, match="`positive` must be a value of 'y'"):
        Dataset({"y": ["no", "yes"]}, target="y", positive=["yes"])
    comma = Dataset({"y": ["no", "yes, in part"]}, target="y", positive="yes, in part")
    assert comma.positive == "yes, in part"


def test_options_make_the_same_dataset() -> None:
    data = Dataset(ROWS, target="y", protected=["sex"], positive=["review", "approved"])
    assert data.positive is None
    assert repr(data) == "Dataset(6 rows, multiclass target 'y' (positive: 'approved', 'review'), protected: sex)"
    assert Dataset(data.frame, **data.options()).options() == data.options()
    assert data.take(np.array([0])).favourable == ("approved", "review")
    assert data.with_roles(positive="approved").favourable == ("approved",)
    assert data.with_roles(target="sex", protected=[], positive="F").favourable == ("F",)
    assert Dataset(ROWS, target="y").options()["positive"] is None


def test_a_class_that_is_only_predicted_is_known() -> None:
    rows = {"y": ["a", "b", "c"], "p": ["a", "b", "d"]}
    assert Dataset(rows, target="y", prediction="p", positive="d").favourable == ("d",)


def test_every_way_to_name_them_gives_one_subject() -> None:
    frame, said = pd.DataFrame(ROWS), ROWS["y"][::-1]
    counts = frame.assign(said=said).groupby(["sex", "y", "said"]).size().rename("n").reset_index()
    options: dict[str, Any] = {"target": "y", "protected": ["sex"]}
    model = iso.Model.of(
        lambda rows: [said[0]] * len(rows), task="multiclass", classes=["approved", "denied", "review"]
    )
    subjects = [
        Subject.of(Dataset(frame.assign(said=said), **options, prediction="said", positive="approved")),
        Subject.of(frame.assign(said=said), **options, prediction="said", positive=["approved"]),
        Subject.of(ROWS["y"], said, sensitive_features=ROWS["sex"], positive="approved"),
        Subject.from_counts(counts, prediction="said", target="y", protected=["sex"], positive="approved"),
        Subject.of(frame, model, **options, positive="approved"),
        Subject.of(Dataset(frame, **options), iso.Model.of(model, positive="approved")),
    ]
    assert {subject.favourable for subject in subjects} == {("approved",)}
    assert Subject.of(frame, model, **options).favourable == ()


def test_a_model_and_a_dataset_that_disagree_are_refused() -> None:
    model = iso.Model.of(
        lambda rows: ["denied"] * len(rows),
        task="multiclass",
        classes=["approved", "denied", "review"],
        positive="review",
    )
    data = Dataset(ROWS, target="y", protected=["sex"], positive="approved")
    with pytest.raises(iso.IsonomiaError, match=r"positive classes are 'review', but the dataset's are \['approved'\]"):
        Subject.of(data, model)
