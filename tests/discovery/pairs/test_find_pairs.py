"""The entrance: every method on a world with known discrimination and on one without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isonomia import Cancelled, Dataset, NotApplicable, Progress, SpecError
from isonomia.discovery import METHODS, find_pairs
from isonomia.probing import Domain

from .people import FEATURES, WORLD, Boxed, Fair, people, recheck

#: Searches that look for pairs of variants of one person.
SEARCHES = [method.id for method in METHODS.where(finds="pairs") if method.id not in ("fliptest", "exact")]
DATA = people(3000)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_model_that_ignores_the_attribute_gives_no_pair(method: str) -> None:
    result = find_pairs(DATA, Fair(), method=method, max_tests=2000)
    assert result.metrics["DSN"] == 0
    assert result.metrics["TSN"] > 0
    assert result.findings == ()
    assert len(result.table) == 0


@pytest.mark.parametrize("method", SEARCHES)
def test_known_discrimination_is_found_and_every_pair_holds(method: str) -> None:
    result = find_pairs(DATA, Boxed(), method=method, max_tests=3000)
    assert result.metrics["DSN"] > 20
    assert result.metrics["TSN"] <= 3000
    recheck(result, Boxed())
    age, hours = result.pairs.first[:, 0], result.pairs.first[:, 2]
    assert ((age >= 30) & (age <= 50) & (hours >= 20) & (hours <= 50)).all()
    counts = result.metrics["dsn_by_attr_value"]
    assert counts["total"] == {name: result.metrics[name] for name in ("TSN", "DSN", "SUR", "DSS")}
    assert counts["sex=F"]["worse"] == counts["sex=M"]["better"] == result.metrics["DSN"]
    assert result.findings[0].n == result.metrics["DSN"]


@pytest.mark.parametrize("method", ["observed", "kosei", "sg"])
def test_the_sentence_tells_the_share_that_stands_beside_it(method: str) -> None:
    """Not those of a directed search beside the share of people drawn fairly."""
    result = find_pairs(DATA, Boxed(), method=method, max_tests=3000)
    finding, metrics = result.findings[0], result.metrics
    assert finding.estimate is not None
    told = finding.message.params["statement"].params  # the sentence itself; the side treated worse follows it
    if method == "kosei":
        assert told["share"] == finding.estimate.value == metrics["uniform_found"] / metrics["uniform_tests"]
    else:
        assert "share" not in told
        assert finding.estimate.value == told["found"] / told["tested"] == metrics["SUR"]


@pytest.mark.parametrize("method", SEARCHES)
def test_the_same_seed_gives_the_same_pairs(method: str) -> None:
    one, two = (find_pairs(DATA, Boxed(), method=method, max_tests=1200, seed=7) for _ in range(2))
    assert np.array_equal(one.pairs.first, two.pairs.first)
    assert one.metrics["TSN"] == two.metrics["TSN"]


@pytest.mark.parametrize("method", SEARCHES)
def test_two_attributes_one_at_a_time(method: str) -> None:
    result = find_pairs(
        DATA, Boxed(), method=method, protected=["sex", "race"], one_attr_at_a_time=True, max_tests=1500
    )
    recheck(result, Boxed(), ("sex", "race"))
    assert result.metrics["n_model_rows"] >= 6 * result.metrics["TSN"]
    changed = (result.pairs.first != result.pairs.second).sum(axis=1)
    assert (changed == 1).all()


def test_observed_is_complete() -> None:
    result = find_pairs(DATA, Boxed(), method="observed")
    rows = WORLD.encode(DATA.frame)
    women, men = rows.copy(), rows.copy()
    women[:, 1], men[:, 1] = 0, 1
    flips = Boxed().predict(WORLD.decode(women)) != Boxed().predict(WORLD.decode(men))
    distinct = len(np.unique(np.delete(rows, 1, axis=1), axis=0))
    assert (result.metrics["DSN"], result.metrics["TSN"]) == (flips.sum(), distinct)
    share = result.values["share"]
    assert share.low < share.value < share.high


def test_the_table_has_the_columns_of_the_source(frame_kind: Callable[[Any], Any]) -> None:
    import narwhals.stable.v2 as nw

    columns = nw.from_native(people(400).frame, eager_only=True).to_dict(as_series=False)
    data = Dataset(frame_kind(columns), protected=["sex"])
    result = find_pairs(data, Boxed(), method="observed")
    table = nw.from_native(result.table, eager_only=True)
    ours = ["indv_key", "outcome", "score", "couple_key", "diff_outcome", "case_id", "TSN", "DSN", "SUR", "DSS"]
    assert table.columns == [*FEATURES, *ours]
    assert len(table) == 2 * result.metrics["DSN"]
    first = table.rows(named=True)[0]
    second = table.rows(named=True)[1]
    assert first["couple_key"] == second["couple_key"] == f"{first['indv_key']}-{second['indv_key']}"
    assert first["indv_key"].split("|")[1] == first["sex"]
    assert (first["case_id"], second["case_id"], first["diff_outcome"]) == (0, 0, 1)
    assert {first["outcome"], second["outcome"]} == {0, 1}
    assert "→" in nw.from_native(result.witnesses, eager_only=True)["sex"][0]
    assert result.to_dict()["metrics"]["DSN"] == result.metrics["DSN"]


def test_a_domain_alone_is_enough() -> None:
    result = find_pairs(WORLD, Boxed(), method="kosei", protected="sex", max_tests=2000)
    recheck(result, Boxed())
    with pytest.raises(NotApplicable, match="needs rows"):
        find_pairs(WORLD, Boxed(), method="observed", protected="sex")


def test_constraints_are_kept_by_every_pair() -> None:
    result = find_pairs(DATA, Boxed(), method="kosei", constraints=["school <= age - 25"], max_tests=1500)
    assert (result.pairs.first[:, 4] <= result.pairs.first[:, 0] - 25).all()
    recheck(result, Boxed())


def test_observed_has_no_limit_but_the_users_own() -> None:
    data = people(10_500)
    assert find_pairs(data, Fair(), method="observed").metrics["stopped"] == "ended"
    whole = find_pairs(data, Boxed(), method="observed").metrics["TSN"]
    assert whole == len(np.unique(np.delete(WORLD.encode(data.frame), 1, axis=1), axis=0)) > 10_000
    assert find_pairs(data, Boxed(), method="observed", max_tests=200).metrics["TSN"] == 200
    assert find_pairs(data, Boxed(), method="themis", error=None).metrics["TSN"] == 10_000


def test_kosei_tests_the_same_people_in_the_same_order_as_one_by_one() -> None:
    n, seed = 1500, 4
    result = find_pairs(
        DATA, Boxed(), method="kosei", num_samples=400, max_tests=n, local_search_limit=10**6, seed=seed
    )
    domain, sex = result.domain, result.domain.index("sex")
    said: dict[tuple[float, ...], bool] = {}

    def test(person: np.ndarray) -> bool:
        pair = np.stack([person, person])
        pair[:, sex] = [0, 1]
        key = tuple(np.delete(person, sex))
        if key not in said and len(said) < n:
            said[key] = len(set(Boxed().predict(domain.decode(pair)))) == 2
            return said[key]
        return False

    queue = [person for person in domain.sample(400, np.random.default_rng(seed)) if test(person)]
    while queue and len(said) < n:
        person = queue.pop(0)
        for column in (place for place in range(len(domain)) if place != sex):
            for step in (-1, 1):
                near = person.copy()
                near[column] += step
                if domain.low[column] <= near[column] <= domain.high[column] and test(near):
                    queue.append(near)
    assert len(said) == result.metrics["TSN"] == n
    one_by_one = [key for key, found in said.items() if found]
    assert [tuple(row) for row in np.delete(result.pairs.first, sex, axis=1)] == one_by_one


def test_budgets_are_kept(ticking: Callable[[float], None]) -> None:
    rows = find_pairs(DATA, Boxed(), method="aequitas", max_tests=None, max_model_rows=900)
    assert rows.metrics["n_model_rows"] <= 900
    assert rows.metrics["stopped"] == "model rows"
    ticking(0.05)
    quick = find_pairs(DATA, Boxed(), method="themis", max_tests=None, max_seconds=1.0, error=None)
    assert 1.0 <= quick.metrics["total_time"] < 2.0
    assert quick.metrics["stopped"] == "seconds"
    assert f"The time limit ended the search after {quick.metrics['TSN']:,} people" in str(quick.notes[-1])


def test_bad_input_is_explained() -> None:
    frame = {"x": [1, 2, 3, 4], "sex": ["F", "M", "F", "M"], "one": ["a"] * 4, "shoe": [36, 44, 37, 43]}
    model = lambda frame: np.zeros(len(frame), dtype=int)  # noqa: E731
    with pytest.raises(SpecError, match="No protected attribute"):
        find_pairs(frame, model, method="observed")
    with pytest.raises(Exception, match="'gendr'"):
        find_pairs(frame, model, method="observed", protected="gendr")
    with pytest.raises(SpecError, match="a single value"):
        find_pairs(frame, model, method="observed", protected="one")
    with pytest.raises(SpecError, match="Unknown method 'kosi'"):
        find_pairs(frame, model, method="kosi", protected="sex")
    with pytest.raises(SpecError, match="no option 'num_sample'"):
        find_pairs(frame, model, method="kosei", protected="sex", num_sample=3)
    with pytest.raises(SpecError, match="`seed`"):
        find_pairs(frame, model, method="observed", protected="sex", seed=-1)
    with pytest.raises(SpecError, match="`analysis`"):
        find_pairs(frame, model, method="observed", protected="sex", ledger_dir="x", analysis="../x")
    data = Dataset(frame, protected=["sex"], features=["x", "shoe"])
    with pytest.raises(NotApplicable, match=r"does not use 'sex'.*shoe"):
        find_pairs(data, model, method="observed")


def test_an_interrupted_search_goes_on(tmp_path: Any) -> None:
    from isonomia.discovery.pairs.find import find_pairs as find

    whole = find(DATA, Boxed(), method="kosei", max_tests=2000)
    progress = Progress(lambda event: progress.cancel() if event.done > 400 else None)
    with pytest.raises(Cancelled):
        find(DATA, Boxed(), method="kosei", max_tests=2000, ledger_dir=tmp_path, progress=progress)
    kept = (tmp_path / "kosei.ledger").stat().st_size
    rest = find(DATA, Boxed(), method="kosei", max_tests=2000, ledger_dir=tmp_path)
    assert np.array_equal(rest.pairs.first, whole.pairs.first)
    assert rest.metrics["n_model_rows"] == whole.metrics["n_model_rows"]
    assert 400 < kept < (tmp_path / "kosei.ledger").stat().st_size
    with pytest.raises(SpecError, match="another run"):
        find(DATA, Boxed(), method="kosei", max_tests=2000, ledger_dir=tmp_path, seed=1)


def test_regression_and_several_classes() -> None:
    class Wage:
        def __call__(self, frame: Any) -> Any:
            return Boxed().points(WORLD.encode(frame)) * 10.5 + 0.25

    data = Dataset(
        {**{n: DATA.column(n).to_list() for n in FEATURES}, "wage": np.linspace(0, 9, 3000)},
        target="wage",
        protected=["sex"],
    )
    result = find_pairs(data, Wage(), method="kosei", gamma=100.0, max_tests=1500)
    assert result.metrics["DSN"] > 0
    assert np.allclose(result.pairs.gap, 126.0)
    assert np.allclose(result.differences(), 126.0)

    class Three(Boxed):
        classes_ = np.array(["low", "mid", "top"])

        def predict_proba(self, frame: Any) -> Any:
            z = self.points(WORLD.encode(frame))
            e = np.exp(np.stack([-z, np.zeros(len(z)), z], axis=1) / 8)
            return e / e.sum(axis=1, keepdims=True)

        def predict(self, frame: Any) -> Any:
            return self.classes_[self.predict_proba(frame).argmax(axis=1)]

    several = find_pairs(DATA, Three(), method="aequitas", max_tests=1500)
    recheck(several, Three())
    assert set(np.unique(several.outcomes(several.pairs.outcome_first))) <= {"low", "mid", "top"}


def test_a_given_domain_is_used() -> None:
    narrow = Domain({**FEATURES, "age": (30, 40)}, backend="polars")
    result = find_pairs(DATA, Boxed(), method="themis", domain=narrow, max_tests=2000)
    assert (result.pairs.first[:, 0] <= 40).all()
    assert any("outside the domain" in note.text() for note in result.notes)


def test_observed_with_a_small_budget_is_a_fair_sample_and_says_so() -> None:
    ordered = Dataset(DATA.frame.sort("age"), protected=["sex"])
    result = find_pairs(ordered, Boxed(), method="observed", max_tests=500)
    assert result.metrics["TSN"] == 500
    assert result.metrics["DSN"] > 5
    assert "sampled at random" in result.notes[-1].text()


@pytest.mark.parametrize(
    "method", [one.id for one in METHODS.where(finds="pairs") if one.id not in ("exact", "fliptest")]
)
def test_nothing_but_the_protected_attribute_can_be_moved(method: str) -> None:
    data = Dataset({"sex": ["F", "M"] * 20, "team": ["a"] * 40, "grade": [3] * 40}, protected=["sex"])
    result = find_pairs(data, lambda frame: np.where(frame["sex"].to_numpy() == "M", 0.9, 0.2), method=method)
    assert (result.metrics["TSN"], result.metrics["DSN"]) == (1, 1)
