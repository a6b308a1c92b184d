"""Dependencies of the data: learned where they hold, kept by everyone who is generated."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomia.data import Dataset
from isonomia.discovery import find_pairs
from isonomia.errors import NotApplicable
from isonomia.probing import Domain, Oracle, Probe

KIN = {"husband": "M", "wife": "F"}


def household(n: int = 4000, seed: int = 0) -> Dataset:
    """Husbands are men, wives are women, children either; the degree says the years of schooling."""
    rng = np.random.default_rng(seed)
    kin = rng.choice(["husband", "wife", "child"], n)
    sex = [KIN.get(one) or str(rng.choice(["F", "M"])) for one in kin]
    degree = rng.choice(["none", "school", "college"], n)
    years = [{"none": 4, "school": 12, "college": 16}[one] for one in degree]
    frame = {"kin": kin, "sex": sex, "degree": degree, "years": years, "pay": rng.normal(3, 1, n).round(2)}
    return Dataset(pl.DataFrame(frame), protected=["sex"])


def contradictions(data: Any, people: Any, *, rows: int = 200, share: float = 0.999) -> list[tuple[str, ...]]:
    """By hand: pairs of columns where 99.9% of the rows with a value have one value of the other, and people do not.

    Only values with enough rows that the other column would have shown another value by chance.
    """
    found = []
    few = [name for name in data.columns if data[name].n_unique() <= 40 and name in people.columns]
    for x, y in permutations(few, 2):
        common = data[y].value_counts()["count"].max() / len(data)
        table = data.group_by(x, y).len().sort("len", descending=True)
        for a in data[x].unique().to_list():
            of_a = table.filter(pl.col(x).eq_missing(a))
            n, b = of_a["len"].sum(), of_a[y][0]
            if n < rows or of_a["len"][0] < share * n or n * (1 - common) < 40:
                continue
            wrong = people.filter(pl.col(x).eq_missing(a) & pl.col(y).ne_missing(b))
            found += [(x, str(a), y, str(value)) for value in wrong[y].unique().to_list()]
    return found


def test_what_follows_and_what_excludes_each_other_is_learned() -> None:
    data = household()
    domain = Domain.from_data(data, dependencies=True)
    learned = domain.dependencies
    assert learned is not None
    names = domain.names
    assert {frozenset((names[one.column], names[one.source])) for one in learned.follows} == {
        frozenset(("years", "degree"))
    }
    assert [(names[one.column], names[one.other]) for one in learned.exclusions] == [("kin", "sex")]
    kin, sex = domain.features[0].levels, domain.features[1].levels
    ruled_out = {(kin[i], sex[j]) for i, j in zip(*np.nonzero(learned.exclusions[0].excluded[:3, :2]), strict=True)}
    assert ruled_out == {("husband", "F"), ("wife", "M")}
    assert domain.valid(domain.encode(data.frame)).all()


def test_people_drawn_agree_with_the_data_and_reach_everyone_who_does() -> None:
    data = household()
    domain = Domain.from_data(data, dependencies=True)
    drawn = domain.decode(domain.sample(5000, np.random.default_rng(1)))
    assert contradictions(data.frame, drawn) == []
    assert set(drawn.select("kin", "sex").unique().iter_rows()) == set(
        data.frame.select("kin", "sex").unique().iter_rows()
    )
    assert drawn["degree"].n_unique() == 3


@pytest.mark.parametrize("exceptions", [2, 40])
def test_a_few_exceptions_do_not_matter_many_do(exceptions: int) -> None:
    n = 6000
    kin = np.array(["husband", "child"] * (n // 2))
    sex = np.where(kin == "husband", "M", np.random.default_rng(0).choice(["F", "M"], n))
    sex[np.flatnonzero(kin == "husband")[:exceptions]] = "F"
    domain = Domain.from_data(Dataset({"kin": kin, "sex": sex}), dependencies=True)
    assert (domain.dependencies is not None) == (exceptions == 2)


def test_independent_columns_teach_nothing() -> None:
    learned = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame: dict[str, Any] = {f"c{i}": rng.choice(list("abcdefgh"[: 2 + i]), 2000) for i in range(5)}
        frame |= {"x": rng.normal(size=2000), "rare": rng.random(2000) < 0.01, "id": np.arange(2000)}
        learned += Domain.from_data(Dataset(frame), dependencies=True).dependencies is not None
    assert learned == 0


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), missing=st.booleans())
def test_repaired_rows_contradict_nothing(seed: int, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, 1500)
    frame = {
        "a": a,
        "b": np.where(rng.random(1500) < 0.5, a, 3),
        "c": np.where(missing & (a == 2), np.nan, a * 10.0 + rng.random(1500)),
        "d": rng.integers(0, 3, 1500),
    }
    domain = Domain.from_data(Dataset(pl.DataFrame(frame).fill_nan(None)), dependencies=True)
    assert domain.dependencies is not None
    free = Domain.from_data(Dataset(pl.DataFrame(frame).fill_nan(None)))
    rows = domain.repaired(free.sample(400, rng), rng)
    kept = rows[domain.valid(rows)]
    assert len(kept) > 200
    np.testing.assert_array_equal(domain.complete(kept), kept)
    again = domain.repaired(kept, rng)
    np.testing.assert_array_equal(again, kept)  # what is right is left as it is


def test_only_variants_who_could_exist_are_compared() -> None:
    data = household()
    domain = Domain.from_data(data)
    domain.learn_dependencies(domain.encode(data.frame), leading=["sex", "kin"])

    def model(frame: Any) -> Any:
        return ((frame["sex"] == "M") & (frame["kin"] != "husband")).to_numpy().astype(int)

    probe = Probe(Oracle(model, domain, data), ["sex", "kin"])
    rows = domain.encode(data.frame)[:200]
    result = probe.test(rows)
    levels = [domain.features[index].levels for index in (1, 0)]
    possible = [(s, k) for s, k in product(*levels) if KIN.get(k, s) == s]
    answers = {int(s == "M" and k != "husband") for s, k in possible}
    assert (result.margin > 0).all() == (len(answers) > 1)
    shown = probe.variants[result.found["a"]], probe.variants[result.found["b"]]
    for side in shown:
        assert {(levels[0][int(s)], levels[1][int(k)]) for s, k in side} <= set(possible)


@pytest.mark.parametrize("protected", [["sex"], ["kin"], ["sex", "degree"], ["degree"], ["years", "kin"]])
def test_variants_who_could_exist_are_those_who_contradict_nothing_once_built(protected: list[str]) -> None:
    """Also what follows from an altered column: the years of another degree."""
    data = household()
    domain = Domain.from_data(data)
    domain.learn_dependencies(domain.encode(data.frame), leading=protected)
    probe = Probe(Oracle(lambda frame: np.zeros(len(frame), dtype=int), domain, data), protected)
    rows = domain.sample(60, np.random.default_rng(2))
    found, dependencies = probe.possible(rows), domain.dependencies
    assert dependencies is not None
    built = dependencies.consistent(probe.spread(rows))
    assert built.any()
    assert (found is None) == (protected == ["degree"])  # whose years follow, and nothing else
    np.testing.assert_array_equal(np.ones(len(built), dtype=bool) if found is None else found.ravel(), built)


def test_one_attribute_at_a_time_compares_only_people_who_could_exist() -> None:
    data = household()
    domain = Domain.from_data(data)
    domain.learn_dependencies(domain.encode(data.frame), leading=["sex", "kin"])

    def model(frame: Any) -> Any:  # treats only a female husband differently, who does not exist
        return ((frame["sex"] == "F") & (frame["kin"] == "husband")).to_numpy().astype(int)

    probe = Probe(Oracle(model, domain, data), ["sex", "kin"], one_attr_at_a_time=True)
    assert (probe.test(domain.encode(data.frame)[:100]).margin < 0).all()


def test_who_has_no_counterpart_is_not_tested_and_it_is_stated() -> None:
    data = household()
    result = find_pairs(data, lambda frame: (frame["sex"] == "M").to_numpy().astype(int), method="observed")
    children = (data.frame["kin"] == "child").sum()
    assert result.metrics["TSN"] == data.frame.filter(pl.col("kin") == "child").drop("sex").n_unique()
    assert any(note.params.get("n") == len(data) - children for note in result.notes)
    assert "husband" in result.tables["dependencies"]["value"].values
    everyone = find_pairs(
        data, lambda frame: (frame["sex"] == "M").to_numpy().astype(int), method="observed", dependencies=False
    )
    assert everyone.metrics["TSN"] > result.metrics["TSN"]


def test_an_attribute_that_follows_from_another_cannot_be_altered_alone() -> None:
    rng = np.random.default_rng(0)
    status = rng.choice(["single man", "married woman", "widow"], 900)
    sex = np.where(status == "single man", "M", "F")
    data = Dataset({"status": status, "sex": sex, "x": rng.integers(0, 9, 900)}, protected=["sex"])

    def model(frame: Any) -> Any:
        return np.asarray(frame["sex"] == "M").astype(int)

    with pytest.raises(NotApplicable, match="tied to status"):
        find_pairs(data, model, method="auto")
    both = find_pairs(data, model, method="auto", protected=["sex", "status"], max_tests=200)
    assert both.metrics["DSN"] > 0


@pytest.mark.parametrize("method", ["auto", "aequitas", "adf", "sg", "kosei", "expga", "limi", "themis"])
def test_no_method_makes_people_that_adult_rules_out(method: str, shared_data: Any) -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder, StandardScaler

    frame = pl.read_csv(shared_data / "adult.csv.gz", null_values="?").drop("fnlwgt").sample(12_000, seed=0)
    data = Dataset(frame.fill_null("none"), target="income", positive=">50K", protected=["race", "sex"])
    texts = [name for name in data.features if data.kinds[name] == "category"]
    encoder = make_column_transformer((OrdinalEncoder(), texts), remainder="passthrough")
    model = make_pipeline(encoder, StandardScaler(), LogisticRegression())
    model.fit(data.frame.select(data.features), data.frame["income"].to_list())
    result = find_pairs(data, model, method=method, max_tests=1500, seed=0)
    assert result.metrics["TSN"] > 0
    people = result.domain.decode(np.concatenate([result.pairs.first, result.pairs.second]))
    assert contradictions(data.frame.select(data.features), people) == []


def test_many_rows_are_looked_at_in_blocks_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    data = household()
    domain = Domain.from_data(data, dependencies=True)
    dependencies = domain.dependencies
    assert dependencies is not None
    rng = np.random.default_rng(3)
    rows = domain.low + np.floor(rng.random((500, len(domain))) * (domain.high - domain.low + 1))
    rows[::7, 0] = np.nan
    codes = {column: dependencies.bins.codes(rows, column) for column in range(len(domain))}
    wanted = np.ones(len(rows), dtype=bool)
    for one in dependencies.exclusions:
        wanted &= ~one.excluded[codes[one.column], codes[one.other]]
    for rule in dependencies.follows:
        value, follows = rows[:, rule.column], rule.values[codes[rule.source]]
        wanted &= (value == follows) | (np.isnan(value) & np.isnan(follows))
    assert 0 < wanted.sum() < len(rows)
    for block in (1, 7, 4096):
        monkeypatch.setattr("isonomia.probing.dependencies.BLOCK", block)
        np.testing.assert_array_equal(dependencies.consistent(rows), wanted)


def test_a_single_value_left_open_is_drawn() -> None:
    """Everyone of a kind has the highest value, which has a bin without a width."""
    rng = np.random.default_rng(4)
    kind = np.repeat(["capped", "free"], 500)
    amount = np.where(kind == "capped", 1.0, rng.random(1000))
    domain = Domain.from_data(Dataset({"kind": kind, "amount": amount}), dependencies=True)
    people = domain.sample(2000, np.random.default_rng(5))
    capped = people[:, 0] == domain.features[0].levels.index("capped")
    assert 0 < capped.sum() < len(people)
    assert (people[capped, 1] == 1.0).all()


@pytest.mark.parametrize(
    "protected", [["sex"], ["kin"], ["sex", "degree"], ["degree"], ["years", "kin"], ["sex", "kin"]]
)
def test_moves_that_are_allowed_are_those_that_lead_to_people_who_can_be_tested(protected: list[str]) -> None:
    """Looked up from the bins of one column, or built and looked at whole: the same answer."""
    data = household()
    domain = Domain.from_data(data)
    domain.learn_dependencies(domain.encode(data.frame), leading=protected)
    probe = Probe(Oracle(lambda frame: np.zeros(len(frame), dtype=int), domain, data), protected)
    rng = np.random.default_rng(6)
    rows = domain.sample(300, rng)
    rows = rows[probe.valid(rows)]
    movable = np.setdiff1d(np.arange(len(domain)), [*probe.columns, *domain.followers])
    row, column = rng.integers(len(rows), size=2000), rng.choice(movable, 2000)
    value = domain.values(column, rng)
    moved = rows[row]
    moved[np.arange(len(row)), column] = value
    wanted = probe.valid(domain.complete(moved))
    np.testing.assert_array_equal(probe.allows(rows, row, column, value), wanted)


def test_values_that_follow_and_exclude_each_other_close_the_value_they_follow_from() -> None:
    """Two columns follow from a third; their values for its rarest value hardly occur together."""
    source = np.repeat(np.arange(4), [3000, 3000, 3000, 3])
    first, second = np.array([0, 1, 2, 0])[source], np.array([0, 1, 2, 1])[source]
    rng = np.random.default_rng(7)
    lone = rng.choice(9000, 4, replace=False)
    first[lone[:2]], second[lone[2:]] = rng.integers(0, 3, 2), rng.integers(0, 3, 2)
    domain = Domain.from_data(Dataset({"source": source, "first": first, "second": second}), dependencies=True)
    dependencies = domain.dependencies
    assert dependencies is not None
    assert {one.source for one in dependencies.follows} == {0}
    everyone = np.array(list(product(range(4), range(3), range(3))), dtype=float)
    codes = {column: dependencies.bins.codes(everyone, column) for column in range(3)}
    wanted = (domain.complete(everyone) == everyone).all(axis=1)
    for one in dependencies.exclusions:
        wanted &= ~one.excluded[codes[one.column], codes[one.other]]
    assert wanted[everyone[:, 0] < 3].any()
    assert not wanted[everyone[:, 0] == 3].any()
    np.testing.assert_array_equal(dependencies.consistent(everyone), wanted)
    assert (domain.sample(500, rng)[:, 0] < 3).all()


@pytest.mark.parametrize("method", ["auto", "aequitas", "kosei", "themis", "sg", "expga", "limi"])
def test_a_column_that_follows_without_any_exclusion_is_searched_along(method: str) -> None:
    rng = np.random.default_rng(8)
    degree = rng.integers(0, 3, 3000)
    frame = {"sex": rng.choice(["F", "M"], 3000), "degree": degree, "years": np.array([4, 12, 16])[degree]}
    data = Dataset({**frame, "x": rng.integers(0, 30, 3000)}, protected=["sex"])

    def model(table: Any) -> Any:
        return ((np.asarray(table["x"]) > 15) & (np.asarray(table["sex"]) == "M")).astype(int)

    result = find_pairs(data, model, method=method, max_tests=300)
    learned = result.domain.dependencies
    assert learned is not None
    assert (len(learned.follows), len(learned.exclusions)) == (1, 0)
    assert result.metrics["DSN"] > 0
    people = np.concatenate([result.pairs.first, result.pairs.second])
    np.testing.assert_array_equal(result.domain.complete(people), people)


def test_a_value_that_many_have_is_drawn_though_the_next_number_begins_another_bin() -> None:
    """Children earn nothing, and everyone else something: the bin of 0 is as wide as the smallest float."""
    rng = np.random.default_rng(9)
    kin = rng.choice(["husband", "wife", "child"], 3000)
    pay = np.where(kin == "child", 0.0, np.abs(rng.normal(size=3000)))
    domain = Domain.from_data(Dataset({"kin": kin, "pay": pay}), dependencies=True)
    people = domain.sample(3000, rng)
    child = people[:, 0] == domain.features[0].levels.index("child")
    assert 0 < child.sum() < len(people)
    assert (people[child, 1] == 0.0).all()
