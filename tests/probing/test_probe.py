"""The probe against brute force, one row and one variant at a time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isonomia import Dataset, ModelError, SpecError
from isonomia.probing import Domain, Ledger, Loop, Oracle, Probe

DOMAIN = Domain({"age": (0, 20), "sex": ["F", "M"], "race": ["a", "b", "c"], "pay": (0.0, 10.0)}, backend="polars")


class Scored:
    """A classifier with probabilities, drawn at random."""

    def __init__(self, seed: int, k: int) -> None:
        rng = np.random.default_rng(seed)
        self.weights = rng.normal(0, 1, (4, k))
        self.cross = rng.normal(0, 1, (2, 3, k))
        self.classes_ = np.arange(k)

    def predict_proba(self, frame: Any) -> np.ndarray:
        rows = DOMAIN.encode(frame)
        z = (rows - [10, 0.5, 1, 5]) / [6, 1, 1, 3] @ self.weights
        z += self.cross[rows[:, 1].astype(int), rows[:, 2].astype(int)]
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def predict(self, frame: Any) -> np.ndarray:
        return self.predict_proba(frame).argmax(axis=1)


def by_hand(model: Scored, row: np.ndarray, gamma: float, single: bool) -> bool:
    said = {}
    for sex, race in itertools.product(range(2), range(3)):
        person = row.copy()
        person[1:3] = sex, race
        said[sex, race] = model.predict_proba(DOMAIN.decode(person[None]))[0]
    for (a, p), (b, q) in itertools.combinations(said.items(), 2):
        if single and (a[0] != b[0]) + (a[1] != b[1]) != 1:
            continue
        if (np.abs(p - q).max() > gamma) if gamma else (p.argmax() != q.argmax()):
            return True
    return False


@given(
    seed=st.integers(0, 1000),
    k=st.sampled_from([2, 3]),
    gamma=st.sampled_from([0.0, 0.2, 0.5]),
    single=st.booleans(),
)
def test_against_one_row_at_a_time(seed: int, k: int, gamma: float, single: bool) -> None:
    model = Scored(seed, k)
    probe = Probe(Oracle(model, DOMAIN), ["sex", "race"], gamma=gamma, one_attr_at_a_time=single)
    rows = DOMAIN.sample(12, np.random.default_rng(seed))
    judged = probe.test(rows)
    assert (judged.margin > 0).tolist() == [by_hand(model, row, gamma, single) for row in rows]
    found = judged.found
    for place, a, b in zip(found["at"], found["a"], found["b"], strict=True):
        pair = np.repeat(rows[place][None], 2, axis=0)
        pair[:, probe.columns] = probe.variants[[a, b]]
        p, q = model.predict_proba(DOMAIN.decode(pair))
        assert (np.abs(p - q).max() > gamma) if gamma else (p.argmax() != q.argmax())
        assert not single or (probe.variants[a] != probe.variants[b]).sum() == 1


def test_the_margin_says_how_far_a_row_is() -> None:
    model = Scored(5, 2)
    probe = Probe(Oracle(model, DOMAIN), ["sex"])
    rows = DOMAIN.sample(300, np.random.default_rng(0))
    p = model.predict_proba(DOMAIN.decode(probe.spread(rows)))[:, 1].reshape(300, 2)
    straddle = np.minimum(p.max(axis=1) - 0.5, 0.5 - p.min(axis=1))
    assert np.allclose(probe.test(rows).margin, straddle)


def test_regression_counts_differences_above_gamma() -> None:
    data = Dataset({"age": [1, 2, 3], "sex": ["F", "M", "F"], "y": [0.1, 0.2, 7.3]}, target="y", protected=["sex"])
    domain = Domain({"age": (0, 9), "sex": ["F", "M"]}, backend="polars")

    def pay(frame: Any) -> Any:
        return frame["age"].to_numpy() * 1.5 * (1 + (frame["sex"] == "M").to_numpy())

    for gamma, expected in ((0.0, 9), (3.0, 7)):
        probe = Probe(Oracle(pay, domain, data), ["sex"], gamma=gamma)
        assert (probe.test(np.array([[age, 0] for age in range(10)], dtype=float)).margin > 0).sum() == expected


def test_the_positive_class_is_code_one() -> None:
    model = Scored(1, 2)
    data = Dataset({"y": [0, 1], "sex": ["F", "M"]}, target="y", positive=0, protected=["sex"])
    rows = DOMAIN.sample(50, np.random.default_rng(0))
    plain, turned = Oracle(model, DOMAIN), Oracle(model, DOMAIN, data)
    assert turned.classes == (1, 0)
    assert (turned.ask(rows).label == 1 - plain.ask(rows).label).all()
    assert np.allclose(turned.ask(rows).score, 1 - plain.ask(rows).score)


def test_a_protected_number_with_many_values_is_asked_at_some() -> None:
    domain = Domain({"age": (18, 90), "x": (0, 1)}, backend="polars")
    probe = Probe(Oracle(lambda frame: frame["x"].to_numpy(), domain), ["age"])
    assert probe.sampled == ["age"]
    assert probe.n_variants == 9
    chosen = Probe(Oracle(lambda frame: frame["x"].to_numpy(), domain), ["age"], values={"age": [20, 60]})
    assert chosen.variants.tolist() == [[20.0], [60.0]]


def broken(kind: str) -> Any:
    calls = itertools.count()

    def model(frame: Any) -> Any:
        later = next(calls) > 0
        n = len(frame)
        return {
            "raises": lambda: 1 / 0,
            "nan": lambda: np.full(n, np.nan),
            "short": lambda: np.zeros(n - 1, dtype=int),
            "shape": lambda: np.zeros((n, 2, 2)),
            "dtype": lambda: np.full(n, "yes") if later else np.full(n, 0.25),
        }[kind]()

    return model


@pytest.mark.parametrize("kind", ["raises", "nan", "short", "shape", "dtype"])
def test_a_model_that_misbehaves_is_reported(kind: str) -> None:
    probe = Probe(Oracle(broken(kind), DOMAIN), ["sex"])
    rows = DOMAIN.sample(5, np.random.default_rng(0))
    if kind == "dtype":
        probe.test(rows)
    with pytest.raises(ModelError):
        probe.test(rows)


def test_bad_options_are_refused() -> None:
    oracle = Oracle(lambda frame: np.zeros(len(frame), dtype=int), DOMAIN)
    for options in ({"protected": []}, {"protected": ["sex"], "gamma": -1.0}, {"protected": ["sex"], "gamma": np.nan}):
        with pytest.raises(SpecError):
            Probe(oracle, **options)
    with pytest.raises(SpecError, match="a single value"):
        Probe(oracle, ["sex"], values={"sex": ["F"]})
    wide = Domain({f"p{i}": (0, 9) for i in range(4)}, backend="polars")
    with pytest.raises(SpecError, match="combinations"):
        Probe(Oracle(lambda frame: np.zeros(len(frame)), wide), list(wide.names))
    with pytest.raises(ModelError, match="decisions only"):
        Probe(oracle, ["sex"], gamma=0.1).test(DOMAIN.sample(2, np.random.default_rng(0)))
    with pytest.raises(ModelError, match="must have predict"):
        Oracle(3, DOMAIN)


def test_everyone_is_tested_once_and_the_budget_is_kept(rng: np.random.Generator) -> None:
    asked = []

    def model(frame: Any) -> Any:
        asked.append(DOMAIN.encode(frame))
        return (frame["sex"] == "M").to_numpy().astype(int)

    loop = Loop(Probe(Oracle(model, DOMAIN), ["sex", "race"]), Ledger(max_tests=70))
    rows = DOMAIN.sample(50, rng)
    rows = rows[rng.integers(0, 50, 80)]
    flipped = rows.copy()
    flipped[:, 1] = 1 - flipped[:, 1]
    first = loop.test(np.concatenate([rows, flipped]))
    distinct = len(np.unique(rows[:, [0, 3]], axis=0))
    assert loop.ledger.tsn == distinct == first.fresh.sum()
    assert first.found.all()
    assert loop.ledger.dsn == distinct
    again = loop.test(rows)
    assert not again.fresh.any()
    assert again.found.all()
    loop.test(DOMAIN.sample(100, rng))
    assert loop.ledger.tsn == 70
    assert loop.ledger.spent
    sent = np.concatenate(asked)
    assert len(np.unique(sent, axis=0)) == len(sent) == loop.ledger.n_rows == 6 * 70


def test_rows_that_are_no_valid_person_are_not_tested() -> None:
    loop = Loop(Probe(Oracle(lambda frame: np.zeros(len(frame), int), DOMAIN), ["sex"]), Ledger())
    answer = loop.test(np.array([[50.0, 0, 0, 1], [5, 0, 0, 1], [5, 0.5, 0, 1]]))
    assert answer.tested.tolist() == [False, True, False]
    assert loop.ledger.tsn == 1


def test_model_rows_are_a_budget_too(rng: np.random.Generator) -> None:
    loop = Loop(Probe(Oracle(lambda frame: np.zeros(len(frame), int), DOMAIN), ["race"]), Ledger(max_model_rows=100))
    loop.test(DOMAIN.sample(500, rng))
    assert loop.ledger.n_rows == 99


def test_labels_of_model_and_data_are_matched_by_one_rule() -> None:
    """Texts that stand for the numbers of the target, numbers in their order, the positive class as code 1."""
    domain = Domain({"age": (0, 20), "sex": ["F", "M"]}, backend="polars")
    people = {"age": [1, 5, 9], "sex": ["F", "M", "F"]}
    rows = domain.sample(40, np.random.default_rng(0))
    old = rows[:, 0] > 10

    def in_texts(frame: Any) -> Any:
        return np.where(frame["age"].to_numpy() > 10, "1", "0").astype(object)

    turned = Oracle(in_texts, domain, Dataset({**people, "y": [0, 1, 0]}, target="y", positive=0))
    assert turned.classes == (1, 0)
    label = turned.ask(rows).label
    assert label is not None
    assert np.array_equal(label, np.where(old, 0, 1))
    grades = Oracle(
        lambda frame: np.where(frame["age"].to_numpy() > 10, 10, 2),
        domain,
        Dataset({**people, "y": [10, 2, 9]}, target="y", task="multiclass"),
    )
    assert grades.classes == (2, 9, 10)
    label = grades.ask(rows).label
    assert label is not None
    assert np.array_equal(label, np.where(old, 2, 0))


def test_missing_decisions_are_refused() -> None:
    domain = Domain({"age": (0, 20), "sex": ["F", "M"]}, backend="polars")
    oracle = Oracle(lambda frame: np.array(["yes", None] * (len(frame) // 2), dtype=object), domain)
    with pytest.raises(ModelError, match="2 of 4 decisions of the model are missing"):
        oracle.ask(domain.sample(4, np.random.default_rng(0)))
