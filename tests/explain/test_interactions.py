"""Interactions of the attribute with other columns: trees against every coalition, additive models, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import isonomia as iso
from isonomia import NotApplicable, SpecError
from isonomia.explain import interactions, shapley

RNG = np.random.default_rng(2)
SEX = RNG.integers(0, 2, 120)
FRAME = pd.DataFrame({"sex": SEX, "skill": RNG.normal(size=120).round(1), "late": RNG.integers(0, 4, 120)})
FRAME["y"] = (FRAME["skill"] * np.where(SEX == 1, 1.0, -1.0) + 0.1 * FRAME["late"] > 0).astype(int)
NAMES = ["sex", "skill", "late"]
FOREST = RandomForestClassifier(10, max_depth=4, random_state=0).fit(FRAME[NAMES].to_numpy(), FRAME["y"])


def dataset(frame: pd.DataFrame = FRAME, **options: Any) -> iso.Dataset:
    return iso.Dataset(frame, target="y", protected=["sex"], features=NAMES, **options)


def hidden(rows: Any) -> Any:
    """The forest as a function, whose trees cannot be read."""
    return FOREST.predict_proba(np.asarray(rows))[:, 1]


def test_trees_agree_with_every_coalition() -> None:
    ours = interactions(dataset(), iso.Model.of(FOREST, features=NAMES))
    every = interactions(dataset(), iso.Model.of(hidden, features=NAMES, output="probability"))
    assert (ours.method, every.method) == ("trees", "enumeration")
    np.testing.assert_allclose(ours.per_person, every.per_person, rtol=0, atol=1e-12)
    rows = list(ours.tables["columns"].rows())
    assert [row["column"] for row in rows] == ["skill", "late"]
    assert rows[0]["size"] > 5 * rows[1]["size"]


def test_an_interaction_is_what_a_column_adds_more_with_the_attribute() -> None:
    """I_j = value of j where the background has the person's attribute - its value where the person has the other's."""
    men, women = FRAME[FRAME.sex == 1].head(8), FRAME[FRAME.sex == 0].head(9)
    data = dataset(pd.concat([men, women], ignore_index=True))
    model = iso.Model.of(FOREST, features=NAMES)
    found = interactions(data, model, background=women).per_person[:8]
    with_own = shapley(data, model, rows=np.arange(8), background=women.assign(sex=1)).values
    without = shapley(dataset(pd.concat([men.assign(sex=0), women])), model, rows=np.arange(8), background=women).values
    np.testing.assert_allclose(found, (with_own - without)[:, 1:], rtol=0, atol=1e-12)


def test_an_additive_model_has_no_interactions() -> None:
    model = LinearRegression().fit(FRAME[NAMES].to_numpy(), FRAME["skill"])
    found = interactions(dataset(FRAME.assign(y=FRAME["skill"])), iso.Model.of(model, features=NAMES))
    np.testing.assert_allclose(found.per_person, 0.0, rtol=0, atol=1e-12)


def test_bad_input() -> None:
    model = iso.Model.of(hidden, features=NAMES, output="probability")
    with pytest.raises(SpecError, match="need 76,832 model rows"):
        interactions(dataset(), model, max_model_rows=10)
    blind = RandomForestClassifier(3, random_state=0).fit(FRAME[NAMES[1:]].to_numpy(), FRAME["y"])
    with pytest.raises(NotApplicable, match="does not use sex"):
        interactions(dataset(), iso.Model.of(blind, features=NAMES[1:]))
    with pytest.raises(SpecError, match="for interactions"):
        interactions(dataset(), model, background="other_group")
