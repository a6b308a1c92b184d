"""One rule for matching labels, one for the positive class, one for weights."""

from __future__ import annotations

import numpy as np
import pytest

from isonomia import DataError
from isonomia.counting import Codes
from isonomia.data import check_weights, index_of, ordered, two_classes


@pytest.mark.parametrize(
    ("label", "labels", "index"),
    [
        ("b", ("a", "b"), 1),
        (1, ("1", 1), 1),  # an equal label wins over one that is written alike
        ("1", (1, "1"), 1),
        ("1", (0, 1), 1),
        ("1", (0.0, 1.0), 1),
        (True, (0, 1), 1),
        ("True", (False, True), 1),
        ("false", (False, True), 0),
        ("01", ("1", "2"), None),  # two texts are never the same number
        (None, ("None", None), 1),
        ("None", (None,), None),
        ("yes", (0, 1), None),
        (("F", "a"), (("F", "a"), ("M", "a")), 0),
    ],
)
def test_labels_are_matched_by_one_rule(label, labels, index):
    assert index_of(label, labels) == index
    assert Codes("x", np.zeros(0, dtype=np.uint8), labels).code_of(label) == index


def test_ordered_keeps_texts_apart():
    assert ordered(["1", "01", 2, "b"]) == (2, "01", "1", "b")


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        ([0, 1], None, (0, 1)),
        ([False, True], None, (False, True)),
        ([-1, 1], None, (-1, 1)),
        ([1], None, (0, 1)),
        ([0.0], None, (0.0, 1.0)),
        (["no", "yes"], "yes", ("no", "yes")),
        (["no"], "yes", ("no", "yes")),
        (["yes"], "yes", ("not yes", "yes")),
        ([0, 1], "0", (1, 0)),
        ([], None, (0, 1)),
    ],
)
def test_two_classes(labels, positive, expected):
    assert two_classes(labels, positive, what="the target") == expected


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["no", "yes"], None, "must say which value of the target is the favourable one: 'no', 'yes'"),
        (["no", "yes"], "yse", "must be a value of the target; got 'yse'.*'yes'"),
        ([0, 1, 2], 1, "The target must have two values .* got 3: 0, 1, 2"),
        ([0.1, 0.2, 0.7], 1, "look like scores"),
    ],
)
def test_what_is_not_two_classes(labels, positive, message):
    with pytest.raises(DataError, match=message):
        two_classes(labels, positive, what="the target")


@pytest.mark.parametrize("weights", [[1, np.nan], [1, -1], [0, 0], ["1", "2"], [1, np.inf], [1, None]])
def test_weights_are_refused(weights):
    with pytest.raises(DataError, match="finite numbers of at least 0"):
        check_weights(weights, 2)


def test_weights_have_the_length_of_the_rows():
    assert check_weights(None, 3) is None
    assert check_weights(np.array([1, 2]), 2).tolist() == [1.0, 2.0]
    with pytest.raises(DataError, match=r"one number per row \(3\); got an array of shape \(2,\)"):
        check_weights([1, 2], 3)
