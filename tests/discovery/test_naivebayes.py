"""Discrimination patterns: published counts, brute force, the paper's small example, and classifiers without any."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.german_codes import naive_bayes_codes

import isonomia as iso
from isonomia.counting import Codes
from isonomia.discovery import NaiveBayes, discrimination_patterns, find_subgroups, fit_fair_naive_bayes
from isonomia.discovery.subgroups.bayes import possible_patterns
from isonomia.errors import DataError, SpecError

SENSITIVE = {
    "compas": ("ScoreText_", ["Ethnic_Code_Text_", "MaritalStatus_", "Sex_", "Age"]),
    "adult": ("target", ["marital-status", "race", "sex", "native-country"]),
    "german": ("loan_status", ["age", "foreign_worker", "sex", "marital_status"]),
}


def published(shared_data: Path, name: str) -> tuple[NaiveBayes, list[str], np.ndarray, np.ndarray, pl.DataFrame]:
    target, sensitive = SENSITIVE[name]
    if name == "german":
        frame = pl.from_pandas(naive_bayes_codes())
    else:
        frame = pl.read_csv(shared_data / "methods" / f"nb_{name}.csv.gz")
    columns = [Codes.encode(frame[column], name=column) for column in frame.columns if column != target]
    decision = frame[target].to_numpy()
    codes = np.column_stack([column.codes for column in columns])
    return NaiveBayes.fit(columns, decision), sensitive, codes, decision, frame


def brute_force(network: NaiveBayes, sensitive: set[str], max_l: int | None = None) -> list[tuple[float, float]]:
    """(Delta, P(x, y)) of every pattern, by the definition."""
    choices = []
    for name, table in zip(network.names, network.tables, strict=True):
        roles: list[tuple[str, int]] = [("free", 0)] + [("y", value) for value in range(table.shape[1])]
        choices.append(roles + ([("x", value) for value in range(table.shape[1])] if name in sensitive else []))
    out = []
    for chosen in product(*choices):
        used = sum(role != "free" for role, _ in chosen)
        if not any(role == "x" for role, _ in chosen) or (max_l is not None and used > max_l):
            continue
        both, alone = (np.array([1 - network.prior, network.prior]) for _ in range(2))
        for (role, value), table in zip(chosen, network.tables, strict=True):
            if role != "free":
                both = both * table[:, value]
            if role == "y":
                alone = alone * table[:, value]
        if both.sum() > 0:
            out.append((float(both[1] / both.sum() - alone[1] / alone.sum()), float(both.sum())))
    return out


def random_network(seed: int, zeros: bool = False) -> NaiveBayes:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(2, 5))
    tables = [rng.dirichlet(np.ones(size) * 0.7, 2) for size in sizes]
    if zeros:
        tables[0][0] = np.eye(sizes[0])[0]
    return NaiveBayes(float(rng.uniform(0.05, 0.95)), tuple(tables))


@pytest.mark.parametrize("zeros", [False, True])
def test_equals_brute_force_on_small_networks(zeros: bool) -> None:
    for seed in range(40):
        network = random_network(seed, zeros)
        sensitive = list(network.names[: 1 + seed % len(network.names)])
        delta = [0.0, 0.02, 0.1][seed % 3]
        max_l = None if seed % 2 else 2
        truth = sorted((abs(value) for value, _ in brute_force(network, set(sensitive), max_l)), reverse=True)
        above = [value for value in truth if value > delta + 1e-12]
        every = discrimination_patterns(network, sensitive, delta=delta, max_l=max_l)
        few = discrimination_patterns(network, sensitive, delta=delta, max_l=max_l, k=5)
        if delta:
            assert len(every) == len(above), seed
            np.testing.assert_allclose(np.abs(every.discrimination), above, atol=1e-9)
        np.testing.assert_allclose(np.abs(few.discrimination), truth[: len(few)], atol=1e-9)
        assert len(few) == min(5, len([value for value in truth if value > delta]))
        assert few.nodes <= possible_patterns(
            [table.shape[1] for table in network.tables], [name in sensitive for name in network.names], max_l
        )


def test_the_divergence_ranking_equals_all_patterns_ranked() -> None:
    for seed in range(30):
        network = random_network(seed)
        sensitive = list(network.names[: 1 + seed % len(network.names)])
        every = discrimination_patterns(network, sensitive, delta=0.05)
        few = discrimination_patterns(network, sensitive, delta=0.05, k=4, ranking="divergence")
        expected = np.sort(every.divergence)[::-1][:4]
        np.testing.assert_allclose(few.divergence, expected, atol=1e-12)


def test_a_divergence_is_that_of_the_nearest_distribution_without_the_pattern() -> None:
    network = random_network(3)
    found = discrimination_patterns(network, list(network.names[:1]), delta=0.05)
    for i in range(min(10, len(found))):
        p, q = found.with_x[i], found.without_x[i]
        share = found.probability[i]
        context = share / _share_of_x(network, found, i)
        moved = (np.sign(p - q) * 0.05 - (p - q)) / (1 / share - 1 / context)
        new = p + moved / share
        bits = share * (p * np.log2(p / new) + (1 - p) * np.log2((1 - p) / (1 - new)))
        assert found.divergence[i] == pytest.approx(bits)
        assert new - (q + moved / context) == pytest.approx(np.sign(p - q) * 0.05)


def _share_of_x(network: NaiveBayes, found: Any, i: int) -> float:
    both, alone = (np.array([1 - network.prior, network.prior]) for _ in range(2))
    for name, table in zip(network.names, network.tables, strict=True):
        if name in found.sensitive(i):
            both = both * table[:, found.sensitive(i)[name]]
        if name in found.context(i):
            both, alone = both * table[:, found.context(i)[name]], alone * table[:, found.context(i)[name]]
    return float(both.sum() / alone.sum())


def test_the_paper_s_small_example() -> None:
    def table(d: float, other: float) -> np.ndarray:
        return np.array([[1 - other, other], [1 - d, d]])

    network = NaiveBayes(0.2, (table(0.8, 0.5), table(0.7, 0.1), table(0.8, 0.3)), ("x", "y1", "y2"))
    every = discrimination_patterns(network, ["x"], delta=0.0)
    known = {
        (tuple(every.sensitive(i).items()), tuple(every.context(i).items())): every.discrimination[i]
        for i in range(len(every))
    }
    assert abs(known[(("x", 1),), ()]) == pytest.approx(0.086, abs=5e-4)
    assert abs(known[(("x", 0),), ()]) == pytest.approx(0.109, abs=5e-4)
    assert known[(("x", 0),), (("y1", 1), ("y2", 0))] == pytest.approx(-0.167, abs=5e-4)
    assert abs(known[(("x", 0),), (("y1", 1),)]) == pytest.approx(0.225, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "rows", "likelihood"),
    [("compas", 48_834, -207_055), ("adult", 32_561, -226_375), ("german", 1000, -12_630)],
)
def test_the_published_likelihoods(shared_data: Path, name: str, rows: int, likelihood: int) -> None:
    network, _, codes, decision, _ = published(shared_data, name)
    assert len(decision) == rows
    assert round(network.log_likelihood(codes, decision)) == likelihood


def test_the_published_patterns(shared_data: Path) -> None:
    network, sensitive, *_ = published(shared_data, "compas")
    swapped = network.swapped_prior()
    for model, counts in ((swapped, (11_512, 5_684, 2_695)), (network, (8_958, 4_614, 2_017))):
        found = [len(discrimination_patterns(model, sensitive, delta=delta)) for delta in (0.01, 0.05, 0.1)]
        assert tuple(found) == counts
    for model, top, share, others in (
        (swapped, 0.41861, 0.000206, {"CustodyStatus_", "LegalStatus_"}),
        (network, 0.40657, 0.000306, {"CustodyStatus_", "LegalStatus_", "RecSupervisionLevel_"}),
    ):
        best = discrimination_patterns(model, sensitive, delta=0.1, k=1)
        assert abs(best.discrimination[0]) == pytest.approx(top, abs=5e-6)
        assert best.probability[0] == pytest.approx(share, abs=5e-7)
        assert set(best.sensitive(0)) == set(sensitive)
        assert set(best.context(0)) == others
    for model, score, share, context in (
        (swapped, 0.1928, 0.0333, {}),
        (network, 0.2692, 0.0124, {"RecSupervisionLevel_": 1}),
    ):
        best = discrimination_patterns(model, sensitive, delta=0.1, k=1, ranking="divergence")
        assert abs(best.discrimination[0]) == pytest.approx(score, abs=5e-5)
        assert best.probability[0] == pytest.approx(share, abs=5e-5)
        assert set(best.sensitive(0)) == {"MaritalStatus_", "Age"}
        assert best.context(0) == context


def test_the_method_on_published_data(shared_data: Path) -> None:
    _, sensitive, _, decision, frame = published(shared_data, "compas")
    for swapped, top in ((True, 0.41861), (False, 0.40657)):
        result = find_subgroups(
            frame.drop("ScoreText_"),
            y_true=decision,
            protected=sensitive,
            method="naivebayes",
            max_l=None,
            k=3,
            paper_compat_swapped_prior=swapped,
        )
        row = next(iter(result.tables["subgroups"].rows()))
        assert abs(row["discrimination_score"]) == pytest.approx(top, abs=5e-6)
    assert result.values["possible_patterns"] == 14_688


def test_fair_classifiers_have_no_pattern_left(shared_data: Path) -> None:
    _, sensitive, _, decision, frame = published(shared_data, "compas")
    fair = fit_fair_naive_bayes(frame.drop("ScoreText_"), y_true=decision, protected=sensitive, delta=0.1)
    assert fair.complete
    assert -207_500 < fair.log_likelihood < fair.log_likelihood_unconstrained
    assert not len(discrimination_patterns(fair.network, sensitive, delta=0.1))


def test_a_fair_classifier_on_synthetic_data_with_several_values(rng: np.random.Generator) -> None:
    n = 2000
    data = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b", "c"], n), "job": rng.choice(list("uvw"), n)}
    y = (rng.random(n) < 0.3 + 0.3 * (data["sex"] == "M") + 0.2 * (data["race"] == "c") * (data["job"] == "u")).astype(
        int
    )
    for delta in (0.1, 0.02):
        fair = fit_fair_naive_bayes(data, y_true=y, protected=["sex", "race"], delta=delta)
        assert fair.complete
        assert fair.rounds >= 1
        assert fair.log_likelihood <= fair.log_likelihood_unconstrained + 1e-6
        worst = max(abs(value) for value, _ in brute_force(fair.network, {"sex", "race"}))
        assert worst <= delta
    loose = fit_fair_naive_bayes(data, y_true=y, protected=["sex", "race"], delta=0.9)
    assert (loose.rounds, loose.complete) == (0, True)
    assert loose.log_likelihood == loose.log_likelihood_unconstrained


def test_the_generator_s_subgroup_is_among_the_first_three() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    source = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c"], n),
        "work": rng.choice(list("xyz"), n),
    }
    made = iso.synth(
        source,
        protected=["sex", "race"],
        pairs=[{"a": {"sex": "F", "race": "b"}, "b": {"sex": "M", "race": "b"}, "bias": -3.0}],
        n_samples=500,
        n_background=4000,
        seed=3,
    )
    result = find_subgroups(made.dataset, method="naivebayes", k=3, max_l=2)
    planted = np.zeros(len(made.dataset), dtype=bool)
    planted[made.truth.biased[0].rows] = True
    assert any((result.mask(i) == planted).all() for i in range(3))
    assert result.findings[0].severity == "warning"
    assert "ingênuo" in result.notes[0].text("pt-BR")


def test_chance_alone_is_seldom_significant() -> None:
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        data = {name: rng.choice(["u", "v", "w"], 300) for name in "abc"}
        y = rng.integers(0, 2, 300)
        result = find_subgroups(data, y_true=y, protected=["a", "b"], method="naivebayes", k=10)
        alarms += any(row["p_adjusted"] < 0.05 for row in result.tables["subgroups"].rows())
    assert alarms <= 5  # 0.05 of 100


def test_a_pattern_is_a_context_and_the_same_with_the_attributes(rng: np.random.Generator) -> None:
    n = 2000
    people = {"sex": rng.choice(["F", "M"], n), "job": rng.choice(["x", "y"], n), "city": rng.choice(["u", "v"], n)}
    chance = 0.3 + 0.3 * (people["job"] == "x") + 0.3 * ((people["sex"] == "M") & (people["job"] == "y"))
    said = (rng.random(n) < chance).astype(int)
    result = find_subgroups(people, method="naivebayes", y_pred=said, protected=["sex"], k=4)
    rows = list(result.tables["patterns"].rows())
    found = list(result.tables["subgroups"].rows())
    assert [(row["case_id"], row["nature"]) for row in rows] == [
        (case, nature) for case in range(len(found)) for nature in ("base", "sensitive")
    ]
    for case, pattern in enumerate(found):
        base, sensitive = rows[2 * case], rows[2 * case + 1]
        assert sensitive["subgroup_key"] == pattern["subgroup_key"]
        assert base["subgroup_key"].split("|")[0] == "*"
        assert base["subgroup_key"].split("|")[1:] == sensitive["subgroup_key"].split("|")[1:]
        assert base["p_unfavorable"] == pattern["p_unfavorable_others"]
        assert sensitive["p_unfavorable"] == pattern["p_unfavorable_sensitive"]
        rate = abs(base["p_unfavorable"] - sensitive["p_unfavorable"])
        assert rate == pytest.approx(abs(pattern["discrimination_score"]), abs=1e-9)
        for row in (base, sensitive):
            inside = np.ones(n, dtype=bool)
            for column, value in zip(people.values(), row["subgroup_key"].split("|"), strict=True):
                inside &= (column == value) | (value == "*")
            assert (row["size"], row["outcome"]) == (inside.sum(), pytest.approx(said[inside].mean()))
            assert row["diff_outcome"] == pytest.approx(said[inside].mean() - said.mean())


def test_predictions_weights_holdout_and_time(rng: np.random.Generator, ticking: Callable[[float], None]) -> None:
    n = 800
    data = {"sex": rng.choice(["F", "M"], n), "job": rng.choice(list("uvw"), n)}
    y = rng.integers(0, 2, n)
    said = ((data["sex"] == "M") & (data["job"] == "u")).astype(int)
    result = find_subgroups(data, y_true=y, y_pred=said, protected=["sex"], method="naivebayes")
    assert "imitates" in result.notes[0].text()
    assert result.tables["subgroups"]["slice"].values[0] in ("sex = M, job = u", "sex = F, job = u")
    weight = rng.integers(0, 3, n)
    more = np.repeat(np.arange(n), weight)
    weighted = find_subgroups(data, y_true=said, protected=["sex"], weights=weight, method="naivebayes")
    repeated = find_subgroups(
        {name: values[more] for name, values in data.items()}, y_true=said[more], protected=["sex"], method="naivebayes"
    )
    np.testing.assert_allclose(
        weighted.tables["subgroups"]["discrimination_score"].values,
        repeated.tables["subgroups"]["discrimination_score"].values,
    )
    held = find_subgroups(data, y_true=said, protected=["sex"], method="naivebayes", holdout=0.5, k=2)
    assert held.tables["subgroups"]["p_adjusted"].values[0] < 0.05
    wide = {f"x{j}": rng.choice(list("abcdef"), 300) for j in range(16)}
    ticking(0.1)
    cut = find_subgroups(
        wide,
        y_true=rng.integers(0, 2, 300),
        protected=["x0", "x1", "x2"],
        method="naivebayes",
        max_l=None,
        ranking="divergence",
        max_seconds=0.3,
        min_support=1,
    )
    assert not cut.complete
    assert cut.metrics["total_time"] < 1


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"delta": 1.5}, SpecError, "`delta` must be"),
        ({"ranking": "size"}, SpecError, "`ranking` must be"),
        ({"smoothing": -1}, SpecError, "`smoothing` must be"),
        ({"protected": None}, DataError, "protected"),
        ({"y_true": [0.5, 1.5, 2.25, 7.0]}, DataError, "is for binary tasks"),
        ({"y_true": [1, 1, 1, 1]}, DataError, "both outcomes|two classes|one class|positive"),
        ({"y_true": None}, DataError, "decisions"),
        ({"k": 0}, SpecError, "`k`"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"y_true": [0, 1, 1, 0], "protected": ["sex"], **options}
    with pytest.raises((error, SpecError), match=words):
        find_subgroups({"sex": list("FMFM"), "one": list("aaaa")}, method="naivebayes", **given)


def test_bad_input_of_the_fair_fit() -> None:
    data = {"sex": list("FMFM"), "job": list("uuvv")}
    for options, words in (
        ({"delta": 0}, "`delta` must be"),
        ({"smoothing": 0}, "`smoothing` must be"),
        ({"protected": None}, "protected"),
        ({"y_true": None}, "two classes"),
    ):
        with pytest.raises((SpecError, DataError), match=words):
            fit_fair_naive_bayes(data, **{"y_true": [0, 1, 1, 0], "protected": ["sex"], **options})
