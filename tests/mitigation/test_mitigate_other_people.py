"""An estimator that was trained and cannot predict for the people held out: our error, not its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import isonomia as iso


def test_missing_values_that_training_people_do_not_have() -> None:
    rng = np.random.default_rng(0)
    frame = {"sex": ["F", "M"] * 100, "x": rng.normal(size=200), "y": rng.integers(0, 2, 200)}
    train = iso.Dataset(frame, target="y", protected=["sex"], features=["x"])
    test = iso.Dataset({**frame, "x": [None, *frame["x"][1:]]}, target="y", protected=["sex"], features=["x"])
    with pytest.raises(iso.ModelError, match=r"^LogisticRegression was trained and fails on other people\. ValueError"):
        iso.mitigate(train, LogisticRegression(), test=test, methods=["reweighing"])
