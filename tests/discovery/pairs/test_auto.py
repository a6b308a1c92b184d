"""The combined method: proofs where they can be had, more and more different people than the others at equal cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isonomia import Dataset, SpecError
from isonomia.discovery import find_pairs
from isonomia.discovery.pairs.searches.coverage import Cells
from isonomia.discovery.pairs.space import Space
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe

from .conftest import Census
from .people import WORLD, Boxed, Fair, people, recheck

DATA = people(3000)


def test_it_finds_more_and_more_different_people_than_the_others_at_equal_cost() -> None:
    scores = {}
    for method in ("auto", "themis", "aequitas", "kosei", "expga"):
        options = {"error": None} if method == "themis" else {}
        result = find_pairs(DATA, Boxed(), method=method, max_tests=None, max_model_rows=16_000, **options)
        recheck(result, Boxed())
        scores[method] = result.metrics["DSN"] * result.metrics["cells"]
        assert result.metrics["n_model_rows"] <= 16_000
    assert max(scores, key=lambda name: scores[name]) == "auto"


def test_it_reports_the_observed_apart_and_lifts_them_to_subgroups() -> None:
    result = find_pairs(DATA, Boxed(), method="auto", max_tests=40_000)
    alone = find_pairs(DATA, Boxed(), method="observed", max_tests=None)
    assert result.metrics["observed_found"] == alone.metrics["DSN"]
    assert result.metrics["observed_tests"] == alone.metrics["TSN"]
    slices = result.tables["subgroups"]["slice"].values
    assert any("age" in str(name) or "hours" in str(name) for name in slices)
    assert 0 <= result.metrics["naturalness"] <= 1
    assert result.metrics["exact"].startswith("not applicable")


def test_uniform_people_are_a_fair_sample() -> None:
    result = find_pairs(DATA, Boxed(), method="auto", max_tests=20_000)
    truth = find_pairs(WORLD, Boxed(), method="themis", protected="sex", max_tests=40_000, error=None)
    share = result.values["share"]
    assert share.n == result.metrics["uniform_tests"]
    assert share.low < truth.metrics["SUR"] < share.high


def test_a_fair_model_ends_early() -> None:
    result = find_pairs(DATA, Fair(), method="auto", max_tests=20_000)
    assert result.metrics["DSN"] == 0
    assert result.metrics["naturalness"] is None


def test_a_tree_is_solved(census: Census) -> None:
    result = find_pairs(
        census.data,
        census.model("tree"),
        method="auto",
        domain=census.domain,
        dependencies=False,
        max_tests=None,
        max_model_rows=20_000,
    )
    assert result.metrics["exact"] == "yes"
    assert result.metrics["share_low"] == pytest.approx(result.metrics["share_high"])
    assert result.metrics["SUR"] > 0.8
    recheck(result, census.model("tree"))


def test_cells_are_combinations_of_the_features_with_the_most_values() -> None:
    domain = Domain(
        {"age": (0, 9), "sex": (0, 1), "pay": (0.0, 1.0), "a": (0, 2), "b": (0, 3), "c": (0, 99)}, backend="polars"
    )
    loop = Loop(Probe(Oracle(lambda frame: np.zeros(len(frame), int), domain), ["sex"]), Ledger())
    cells = Cells(Space(loop, np.empty((0, 6)), np.random.default_rng(0)))
    assert set(cells.names) == {"age", "pay", "c", "b"}
    assert cells.count == 4000
    rows = domain.sample(20_000, np.random.default_rng(0))
    by_hand = {(age, int(min(9, pay * 10)), b, int(min(9, c / 99 * 10))) for age, _, pay, _, b, c in rows.tolist()}
    assert cells.covered(rows) == len(by_hand)
    assert cells(rows).max() < 4000


def test_it_prefers_people_who_resemble_those_of_the_data() -> None:
    rng = np.random.default_rng(0)
    drawn = WORLD.sample(3000, rng)
    drawn[:, [4, 7]] = np.rint(drawn[:, [4, 7]] * rng.beta(2, 4, (3000, 2)))  # little school, little pay
    data = Dataset(WORLD.decode(drawn), protected=["sex"])
    free = find_pairs(data, Boxed(), method="auto", max_tests=4000, natural=False)
    kept = find_pairs(data, Boxed(), method="auto", max_tests=4000)
    recheck(kept, Boxed())
    assert kept.metrics["naturalness"] > free.metrics["naturalness"]
    with pytest.raises(SpecError, match="`natural`"):
        find_pairs(data, Boxed(), method="auto", natural=1.5)


def test_every_row_asked_is_in_the_budget(census: Census, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = Oracle.ask

    def counting(self: Oracle, rows: np.ndarray) -> object:
        asked.append(len(rows))
        return real(self, rows)

    monkeypatch.setattr(Oracle, "ask", counting)
    options = {"domain": census.domain, "max_tests": None, "max_model_rows": 12_000}
    result = find_pairs(census.data, census.model("tree"), method="auto", **options)
    assert result.metrics["exact"] == "yes"
    assert result.metrics["n_model_rows"] == sum(asked) <= 12_000


def test_large_forests_are_not_read_in_passing() -> None:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from isonomia.discovery.pairs.searches.auto import _leaves

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    by_hand = sum(tree.get_n_leaves() for tree in forest.estimators_)
    assert _leaves(forest) == _leaves(make_pipeline(StandardScaler(), forest)) == by_hand
    boosted = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X, y)
    assert _leaves(boosted) == sum(tree.get_n_leaves() for tree in boosted.estimators_.ravel())
    assert _leaves(StandardScaler()) == 0


def test_people_found_on_adult_could_exist_and_are_natural(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No one contradicts a dependency of the data; at full size `python -m benchmarks pairs_possible_people`."""
    from benchmarks.pairs import coded, dataset, forest

    monkeypatch.setenv("ISONOMIA_DATA", str((shared_data / "adult.csv.gz").parent))
    frame, target, _ = coded("adult")
    data = dataset(frame, target, ["sex"])
    result = find_pairs(data, forest(frame, target, 5), method="auto", max_tests=None, max_model_rows=10_000)
    assert len(result.pairs) > 500
    assert result.domain.dependencies is not None
    assert result.domain.valid(result.pairs.first).all()
    assert result.domain.valid(result.pairs.second).all()
    assert result.metrics["naturalness"] >= 0.35
