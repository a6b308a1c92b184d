"""LIMI: where its boundary lies, and in what order categories are on the latent line."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest

from isonomia import Dataset
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.searches.limi import CopulaGenerator, PcaGenerator, _boundary
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe

from .people import recheck

#: Points of towns, in no order of theirs.
POINTS = {"b": -2.0, "d": -1.0, "a": 0.0, "e": 1.0, "c": 2.0}


class Towns:
    """Few are accepted: those of good towns and good pay; men need a little less."""

    classes_ = np.array([0, 1])

    def predict_proba(self, frame: Any) -> Any:
        town = np.array([POINTS[name] for name in frame["town"].to_list()])
        points = town + frame["pay"].to_numpy() / 10 + 0.4 * (frame["sex"].to_numpy() == "M") - 7
        p = 1 / (1 + np.exp(-3 * points))
        return np.stack([1 - p, p], axis=1)

    def predict(self, frame: Any) -> Any:
        return self.predict_proba(frame).argmax(axis=1)


@pytest.fixture(scope="module")
def data() -> Dataset:
    rng = np.random.default_rng(0)
    columns = {
        "town": rng.choice(list(POINTS), 2000, p=[0.3, 0.1, 0.2, 0.25, 0.15]),
        "sex": rng.choice(["F", "M"], 2000),
        "pay": rng.integers(0, 80, 2000),
        "since": [date(2020, 1, day) for day in rng.integers(1, 28, 2000)],
    }
    return Dataset(columns, protected=["sex"])


@pytest.fixture
def space(data: Dataset) -> Space:
    domain = Domain.from_data(data)
    loop = Loop(Probe(Oracle(Towns(), domain, data), ["sex"]), Ledger())
    return Space(loop, domain.encode(data.frame), np.random.default_rng(0))


def test_categories_lie_in_the_order_of_the_models_scores(space: Space) -> None:
    codes = CopulaGenerator(space).fitted.copula.marginals["town"].values
    assert [space.domain.features[0].levels[int(code)] for code in codes] == list(POINTS)


@pytest.mark.parametrize("kind", [CopulaGenerator, PcaGenerator])
def test_as_many_points_lie_on_either_side_as_the_model_decides(space: Space, kind: Any) -> None:
    made = kind(space)
    latent = space.rng.standard_normal((4000, made.size))
    weight, offset, auc = _boundary(space, made, latent, 0.7)
    said = space.labels(made.people(latent))
    assert weight is not None
    assert 0 < said.mean() < 0.3
    assert (latent @ weight + offset > 0).mean() == pytest.approx(said.mean(), abs=0.001)
    assert np.linalg.norm(weight) == pytest.approx(1)
    assert auc is not None
    if kind is CopulaGenerator:  # principal components take towns as they are numbered
        assert auc > 0.95


def test_someone_found_at_a_point_may_end_it(data: Dataset) -> None:
    options: dict[str, Any] = {"method": "limi", "n_test_samples": 500, "n_approx_samples": 2000, "max_tests": None}
    whole, first = (find_pairs(data, Towns(), early_stop=stop, **options) for stop in (False, True))
    for result in (whole, first):
        recheck(result, Towns())
        assert result.metrics["DSN"] > 0
    assert first.metrics["TSN"] < whole.metrics["TSN"]
    assert first.metrics["DSN"] <= whole.metrics["DSN"]
    assert first.metrics["DSN"] <= 500


def test_decisions_of_several_classes_are_the_first_against_the_others(data: Dataset) -> None:
    def grade(rows: Any) -> Any:
        pay, man = rows["pay"].to_numpy(), rows["sex"].to_numpy() == "M"
        return np.array(["a", "b", "c"])[np.digitize(pay + 10 * man, [30, 60])]

    frame = {**{name: data.frame[name] for name in ("sex", "pay")}}
    people = Dataset({**frame, "grade": grade(frame)}, target="grade", protected=["sex"])
    found = find_pairs(people, grade, method="limi", max_tests=1000)
    assert found.metrics["DSN"] >= 8, "ten of eighty people lie within reach of the first boundary"
    assert found.metrics["surrogate_auc"] > 0.9
