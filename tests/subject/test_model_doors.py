"""Whatever asks a model about changed rows reads a Dataset, a frame with roles or a Subject alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomia import Dataset, Model, NotApplicable, SpecError, Subject
from isonomia.discovery import find_pairs
from isonomia.fairness import counterfactual

FRAME = pd.DataFrame(
    {
        "sex": ["F", "M"] * 60,
        "skill": np.arange(120.0) % 40,
        "y": [None, *[("yes" if i % 40 > 20 else "no") for i in range(1, 120)]],
    }
)
ROLES: Any = {"target": "y", "positive": "yes", "protected": ["sex"]}


def hire(frame: Any) -> Any:
    return np.where(frame["skill"] + 3 * (frame["sex"] == "M") > 30, "yes", "no")


def doors() -> list[tuple[Any, Any, dict[str, Any]]]:
    data = Dataset(FRAME, **ROLES)
    return [
        (data, hire, {}),
        (data, Model.of(hire), {}),
        (FRAME, hire, ROLES),
        (Subject.of(data, hire), None, {}),
    ]


def test_pairs_are_the_same_at_every_door() -> None:
    results = [find_pairs(data, model, method="observed", **roles) for data, model, roles in doors()]
    for result in results:
        assert (result.metrics["TSN"], result.metrics["DSN"]) == (40, 3)  # 28, 29 and 30 of 40 skills
        assert result.pairs.first[:, 1].tolist() == results[0].pairs.first[:, 1].tolist()


def test_counterfactual_is_the_same_at_every_door_and_counts_rows_without_a_target() -> None:
    for data, model, roles in doors():
        rate = counterfactual(data, model, **roles).rate["flip:sex"]
        assert rate.value == pytest.approx(9 / 120)
        assert rate.n == 120


def test_a_subject_is_asked_once_about_its_own_rows() -> None:
    model = Model.of(hire)
    subject = Subject.of(Dataset(FRAME, **ROLES), model)
    assert model.n_rows == 120
    counterfactual(subject)
    assert model.n_rows == 120 + 2 * 120  # both values of sex, and not the rows as they are


def test_a_subject_has_its_model() -> None:
    data = Dataset(FRAME, **ROLES)
    with pytest.raises(SpecError, match=r"A Subject already has its data and model; leave out model, target\."):
        find_pairs(Subject.of(data, hire), hire, target="y")
    for ask in (find_pairs, counterfactual):
        with pytest.raises(NotApplicable, match="only its predictions"):
            ask(Subject.of(data, hire(FRAME).tolist()))
