"""BiasScan: published figures, brute force, scores by other routes, chance, bad input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar

import isonomia as iso
from isonomia.discovery import find_subgroups
from isonomia.discovery.subgroups.scan import family_of
from isonomia.discovery.subgroups.scan.ascent import _fewer
from isonomia.errors import DataError, SpecError


def rows_of(result: Any) -> list[dict[str, Any]]:
    return list(result.tables["subgroups"].rows())


def scan(data: Any, y: Any, p: Any, **options: Any) -> Any:
    given = {"n_randomisations": 0, "max_l": None, "k": 1, **options}
    return find_subgroups(data, y_true=y, y_pred=p, method="biasscan", **given)


def bernoulli(y: Any, p: Any, direction: str, w: Any = 1.0) -> float:
    """The score by a one-dimensional optimiser."""
    low, high = (0.0, np.log(1e3)) if direction == "under" else (-np.log(1e3), 0.0)
    w = np.broadcast_to(w, np.shape(y))
    done = minimize_scalar(
        lambda x: -(w @ y * x - w @ np.log(1 - p + np.exp(x) * p)), bounds=(low, high), options={"xatol": 1e-10}
    )
    return max(0.0, float(-done.fun))


def poisson(y: Any, m: Any, direction: str) -> float:
    total, base = y.sum(), m.sum()
    q = np.clip(total / base, 1.0 if direction == "under" else 1e-3, 1e3 if direction == "under" else 1.0)
    return max(0.0, float(total * np.log(q) + (1 - q) * base))


def gaussian(y: Any, m: Any, direction: str, variance: float) -> float:
    c, b = (y * m).sum() / variance, (m * m).sum() / variance
    if (c > b) != (direction == "under"):
        return 0.0
    return float((c - b) ** 2 / (2 * b))


def subsets(size: int) -> list[tuple[int, ...]]:
    return [chosen for length in range(1, size) for chosen in combinations(range(size), length)]


@pytest.mark.parametrize("direction", ["under", "over"])
@pytest.mark.parametrize("scoring", ["Bernoulli", "Poisson", "Gaussian", "BerkJones"])
def test_values_of_one_feature_equal_brute_force(scoring: str, direction: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, size, penalty = int(rng.integers(40, 300)), int(rng.integers(2, 9)), float(rng.choice([0.0, 0.3, 1.0]))
        x = np.concatenate([np.arange(size), rng.integers(0, size, n - size)])
        effect = rng.normal(0, 1, size)[x]
        if scoring == "Gaussian":
            p = rng.uniform(1, 3, n)
            y = p + 0.3 * effect + rng.normal(0, 1, n)
            variance = float(((y - p) ** 2).mean())
            score = lambda mask: gaussian(y[mask], p[mask], direction, variance)  # noqa: E731, B023
        else:
            p = rng.uniform(0.05, 0.9, n)
            y = (rng.random(n) < 1 / (1 + np.exp(-np.log(p / (1 - p)) - effect))).astype(float)
            share = float(y.mean())
            if share in (0.0, 1.0):
                continue
            score = {
                "Bernoulli": lambda mask: bernoulli(y[mask], p[mask], direction),  # noqa: B023
                "Poisson": lambda mask: poisson(y[mask], p[mask], direction),  # noqa: B023
                "BerkJones": lambda mask: bernoulli(y[mask], np.full(mask.sum(), share), direction),  # noqa: B023
            }[scoring]
        best = max(score(np.isin(x, chosen)) - penalty * len(chosen) for chosen in subsets(size))
        best = max(best, score(np.ones(n, dtype=bool)), 0.0)
        task = "regression" if scoring == "Gaussian" else None
        truth = y if scoring == "Gaussian" else y.astype(int)
        given = {"y_pred": p} if scoring != "Gaussian" else {"y_pred": p, "task": task}
        result = find_subgroups(
            {"x": [f"v{i}" for i in x]},
            y_true=truth,
            method="biasscan",
            direction=direction,
            bias_scan_scoring=scoring,
            penalty=penalty,
            n_randomisations=0,
            bias_scan_num_iters=3,
            k=1,
            **given,
        )
        found = [row["score"] for row in rows_of(result)]
        assert (found or [0.0])[0] == pytest.approx(best, abs=1e-6), (seed, size, penalty)


def test_several_features_equal_brute_force() -> None:
    missed = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = 120
        columns = {name: rng.integers(0, size, n) for name, size in (("a", 3), ("b", 2), ("c", 3))}
        p = rng.uniform(0.2, 0.8, n)
        y = (rng.random(n) < np.where((columns["a"] == 0) & (columns["b"] == 1), p / 3, p)).astype(int)
        best = 0.0
        for chosen in product(*([None, *subsets(size)] for size in (3, 2, 3))):
            mask = np.ones(n, dtype=bool)
            for name, values in zip(columns, chosen, strict=True):
                mask &= True if values is None else np.isin(columns[name], values)
            listed = sum(len(values) for values in chosen if values is not None)
            if mask.any():
                best = max(best, bernoulli(y[mask], p[mask], "over") - 0.5 * listed)
        texts = {name: [f"v{value}" for value in values] for name, values in columns.items()}
        rows = rows_of(scan(texts, y, p, direction="over", penalty=0.5))
        score = rows[0]["score"] if rows else 0.0
        assert score <= best + 1e-6
        missed += score < best - 1e-6
    assert missed == 0


def test_scores_of_rows_equal_a_one_dimensional_optimiser(rng: np.random.Generator) -> None:
    for direction in ("under", "over"):
        family = family_of("Bernoulli", direction)
        for n in (1, 3, 50, 4000):
            p, w = rng.beta(0.4, 0.6, n).clip(1e-6, 1 - 1e-6), rng.exponential(size=n)
            y = (rng.random(n) < 0.4).astype(float)
            sums = family.fixed(p, w, np.zeros(n, dtype=np.int64), 1) + (w @ y) * family.unit
            value = float(family.peak(sums).value[0])
            assert max(value, 0.0) == pytest.approx(bernoulli(y, p, direction, w), abs=1e-6, rel=1e-9)


def compas(shared_data: Path) -> tuple[pl.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    frame = pl.read_csv(shared_data / "compas.csv.gz", null_values=[""], infer_schema_length=None).filter(
        pl.col("days_b_screening_arrest").is_between(-30, 30)
        & (pl.col("is_recid") != -1)
        & (pl.col("c_charge_degree") != "O")
        & (pl.col("score_text") != "N/A")
    )
    priors = frame["priors_count"].to_numpy()
    features = pl.DataFrame(
        {
            "sex": frame["sex"],
            "race": frame["race"],
            "age": frame["age_cat"],
            "charge": frame["c_charge_degree"],
            "priors": np.where(priors == 0, "0", np.where(priors <= 5, "1-5", ">5")),
        }
    )
    return features, frame["two_year_recid"].to_numpy(), frame["decile_score"].to_numpy(), features["priors"].to_numpy()


def test_the_published_figures_on_compas(shared_data: Path) -> None:
    features, y, decile, priors = compas(shared_data)
    assert len(y) == 6172
    by_decile = np.array([y[decile == value].mean() for value in range(1, 11)])[decile - 1]
    under, over = (rows_of(scan(features, y, by_decile, direction=way))[0] for way in ("under", "over"))
    assert under["slice"] == "priors = >5"
    assert 1210 <= under["size"] <= 1225
    assert under["score"] == pytest.approx(35.83, abs=0.005)
    assert (round(under["expected"], 2), round(under["observed"], 2)) == (0.60, 0.71)
    assert (over["slice"], over["size"]) == ("priors = 0", 2085)
    assert over["score"] == pytest.approx(43.52, abs=0.005)
    assert (round(over["expected"], 2), round(over["observed"], 2)) == (0.38, 0.29)

    from sklearn.linear_model import LogisticRegression

    design = np.column_stack([decile[:, None] == np.arange(2, 11), priors == "1-5", priors == ">5"]).astype(float)
    p = LogisticRegression(C=1e6, max_iter=5000).fit(design, y).predict_proba(design)[:, 1]
    for penalty, score in ((1.0, 22.45), (2.0, 20.45)):
        row = rows_of(scan(features, y, p, penalty=penalty, n_randomisations=19, bias_scan_num_iters=10))[0]
        assert (row["slice"], row["size"]) == ("sex = Male, age = Less than 25", 1101)
        assert row["score"] == pytest.approx(score, abs=0.01)
        assert (round(row["expected"], 2), round(row["observed"], 2)) == (0.50, 0.60)
        assert row["p_adjusted"] == pytest.approx(2 / 20)


def test_a_planted_subgroup_is_found_with_its_set_of_values(rng: np.random.Generator) -> None:
    n = 4000
    columns = {name: rng.integers(0, 6, n) for name in ("a", "b", "c", "d")}
    planted = np.isin(columns["a"], (1, 4)) & np.isin(columns["b"], (0, 2, 5))
    p = rng.uniform(0.2, 0.7, n)
    y = rng.random(n) < 1 / (1 + np.exp(-np.log(p / (1 - p)) - 1.5 * planted))
    texts = {name: [f"v{value}" for value in values] for name, values in columns.items()}
    result = scan(texts, y.astype(int), p, n_randomisations=19, bias_scan_num_iters=10, k=2)
    first = rows_of(result)[0]
    assert first["slice"] == "a in {v1, v4}, b in {v0, v2, v5}"
    assert first["direction"] == "under"
    assert first["q"] == pytest.approx(np.exp(1.5), rel=0.3)
    assert first["p_value"] < 1e-6
    assert first["p_adjusted"] == pytest.approx(2 / 20)
    assert result.mask(0).sum() == planted.sum() == first["size"]
    assert result.findings
    assert "expected too rarely" in result.findings[0].message.text()
    assert "frequência insuficiente" in result.findings[0].message.text("pt-BR")


def test_later_subgroups_share_no_row_with_earlier_ones_of_the_direction(rng: np.random.Generator) -> None:
    n = 3000
    a, b = rng.integers(0, 3, n), rng.integers(0, 3, n)
    p = np.full(n, 0.5)
    y = rng.random(n) < np.where(a == 0, 0.8, np.where(b == 0, 0.7, 0.5))
    texts = {"a": [f"a{value}" for value in a], "b": [f"b{value}" for value in b]}
    result = scan(texts, y.astype(int), p + rng.normal(0, 1e-3, n), k=3, direction="under")
    masks = [result.mask(i) for i in range(len(result.subgroups))]
    assert len(masks) >= 2
    assert not (masks[0] & masks[1]).any()
    assert "not (" in rows_of(result)[1]["slice"]


def test_whole_weights_are_repeated_rows(rng: np.random.Generator) -> None:
    n = 400
    x, z, weight = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 4, n)
    p = rng.uniform(0.1, 0.9, n)
    y = (rng.random(n) < np.where(x == 2, p / 2, p)).astype(int)
    texts = {"x": np.array([f"v{i}" for i in x]), "z": np.array([f"v{i}" for i in z])}
    once = rows_of(scan(texts, y, p, weights=weight))[0]
    again = np.repeat(np.arange(n), weight)
    more = rows_of(scan({name: values[again] for name, values in texts.items()}, y[again], p[again], penalty=1.0))[0]
    assert once["slice"] == more["slice"]
    assert once["observed"] == pytest.approx(more["observed"])
    assert once["q"] == pytest.approx(more["q"], rel=1e-6)


def test_chance_alone_is_seldom_significant() -> None:
    alarms, runs = 0, 100
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        data = {name: [f"v{i}" for i in rng.integers(0, 3, 250)] for name in "abc"}
        p = rng.uniform(0.1, 0.9, 250)
        y = (rng.random(250) < p).astype(int)
        result = scan(data, y, p, n_randomisations=19, bias_scan_num_iters=3, seed=seed, direction="over")
        alarms += any(row["p_adjusted"] <= 0.1 for row in rows_of(result))
    assert alarms <= 17  # 0.1 of 100 is 10, more than 17 has a chance of 1%; one run in four would be seen


def test_the_generator_s_subgroup_is_among_the_first_three() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    source = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c"], n),
        "work": rng.choice(["x", "y", "z"], n),
        "age": rng.integers(18, 70, n),
    }
    made = iso.synth(
        source,
        protected=["sex", "race"],
        pairs=[{"a": {"sex": "F", "race": "b"}, "b": {"sex": "M", "race": "b"}, "bias": -2.5}],
        n_samples=400,
        n_background=4000,
        seed=3,
    )
    from sklearn.linear_model import LogisticRegression

    frame = made.frame.to_pandas() if hasattr(made.frame, "to_pandas") else made.frame
    age = np.asarray(frame["age"], dtype=float)[:, None] / 50
    work = np.asarray(frame["work"])[:, None] == np.array(["x", "y"])
    design = np.column_stack([age, work])
    target = np.asarray(made.dataset.column(made.dataset.target).to_numpy())
    truth = (target == made.dataset.positive).astype(int)
    p = LogisticRegression().fit(design, truth).predict_proba(design)[:, 1]
    result = scan(made.dataset, None, None, y_score=p, k=3, bias_scan_num_iters=10)
    planted = np.zeros(len(truth), dtype=bool)
    planted[made.truth.biased[0].rows] = True
    best = max(
        (result.mask(i) & planted).sum() / (result.mask(i) | planted).sum() for i in range(len(result.subgroups))
    )
    assert best > 0.8


def test_modes(rng: np.random.Generator) -> None:
    n = 900
    x = rng.integers(0, 3, n)
    data = {"x": [f"v{i}" for i in x], "z": [f"v{i}" for i in rng.integers(0, 2, n)]}
    probability = rng.dirichlet([2, 2, 2], n)
    y = np.array([rng.choice(3, p=row) for row in probability])
    y[x == 1] = np.where(rng.random((x == 1).sum()) < 0.5, 2, y[x == 1])
    nominal = find_subgroups(data, y_true=y, y_score=probability, method="biasscan", n_randomisations=0, k=2)
    first = rows_of(nominal)[0]
    assert (first["slice"], first["metric"], first["direction"]) == ("x = v1", "2", "under")
    ordinal = find_subgroups(
        data, y_true=y, y_score=probability, method="biasscan", bias_scan_mode="ordinal", n_randomisations=0, k=1
    )
    assert rows_of(ordinal)[0]["slice"] == "x = v1"
    assert rows_of(ordinal)[0]["expected"] < 1.1
    numbers = rng.normal(10, 1, n) + 2 * (x == 0)
    continuous = find_subgroups(
        data, y_true=numbers, y_pred=np.full(n, 10.0), task="regression", method="biasscan", k=1
    )
    row = rows_of(continuous)[0]
    assert (row["slice"], row["direction"]) == ("x = v0", "under")
    assert row["p_adjusted"] == pytest.approx(0.02)
    low = find_subgroups(
        data,
        y_true=numbers,
        y_pred=np.full(n, 10.0),
        task="regression",
        method="biasscan",
        bias_scan_favorable_value="low",
        n_randomisations=0,
        k=1,
    )
    assert (rows_of(low)[0]["slice"], rows_of(low)[0]["direction"]) == ("x = v0", "over")
    ranks = find_subgroups(
        data, y_true=numbers, task="regression", method="biasscan", bias_scan_scoring="BerkJones", alpha=0.7, k=1
    )
    assert rows_of(ranks)[0]["slice"] == "x = v0"
    assert any("average" in note.text() for note in ranks.notes)


def test_same_seed_same_result_and_holdout(rng: np.random.Generator) -> None:
    n = 1200
    data = {name: [f"v{i}" for i in rng.integers(0, 4, n)] for name in "ab"}
    p = rng.uniform(0.2, 0.8, n)
    y = (rng.random(n) < np.where(np.array(data["a"]) == "v0", p / 2, p)).astype(int)
    once, again = (scan(data, y, p, n_randomisations=19, seed=5) for _ in range(2))
    assert rows_of(once) == rows_of(again)
    held = scan(data, y, p, holdout=0.5, k=2)
    assert rows_of(held)[0]["slice"] == "a = v0"
    assert rows_of(held)[0]["p_adjusted"] < 0.01
    assert 0 < rows_of(held)[0]["size"] < 300


def test_later_subgroups_leave_out_those_before_on_held_out_rows_too(rng: np.random.Generator) -> None:
    n = 6000
    a, b = rng.integers(0, 3, n), rng.integers(0, 3, n)
    data = {"a": [f"v{i}" for i in a], "b": [f"w{i}" for i in b]}
    p = np.full(n, 0.5)
    y = (rng.random(n) < np.where(a == 0, 0.95, np.where(b == 0, 0.8, 0.5))).astype(int)
    held = scan(data, y, p, holdout=0.5, k=2, direction="under", n_randomisations=9)
    assert [row["slice"] for row in rows_of(held)] == ["a = v0", "b = w0, not (a = v0)"]
    assert np.array_equal(held.mask(1), (b == 0) & (a != 0))
    assert 500 < rows_of(held)[1]["size"] < 900


def test_a_time_limit_gives_a_partial_result(rng: np.random.Generator, ticking: Callable[[float], None]) -> None:
    ticking(0.1)
    data = {f"x{j}": [f"v{i}" for i in rng.integers(0, 12, 20_000)] for j in range(12)}
    p = rng.uniform(0.2, 0.8, 20_000)
    y = (rng.random(20_000) < p).astype(int)
    result = scan(data, y, p, max_seconds=0.3, n_randomisations=99)
    assert not result.complete
    assert result.metrics["total_time"] < 10


def test_many_values_and_constant_features(rng: np.random.Generator) -> None:
    n = 6000
    many = rng.integers(0, 3000, n)
    bad = many < 150
    p = np.full(n, 0.5) + rng.normal(0, 0.01, n)
    y = (rng.random(n) < np.where(bad, 0.95, 0.5)).astype(int)
    data = {"many": [f"v{i}" for i in many], "one": ["same"] * n}
    row = rows_of(scan(data, y, p, penalty=0.1, bias_scan_num_iters=2, direction="under", bins=None))
    assert row[0]["score"] > 30


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 0}, SpecError, "`k` must be"),
        ({"min_support": 1.5}, SpecError, "min_support"),
        ({"penalty": -1}, SpecError, "`penalty` must be"),
        ({"bias_scan_num_iters": 0}, SpecError, "bias_scan_num_iters"),
        ({"bias_scan_scoring": "Gauss"}, SpecError, "bias_scan_scoring"),
        ({"bias_scan_mode": "continuous"}, SpecError, "does not apply to a binary task"),
        ({"bias_scan_favorable_value": "best"}, SpecError, "bias_scan_favorable_value"),
        ({"direction": "up"}, SpecError, "`direction` must be one of over, under, both"),
        ({"y_true": None}, DataError, "needs true outcomes"),
        ({"y_pred": [0, 1, 1, 0] * 10}, DataError, "only decisions were given"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"y_true": [0, 1] * 20, "y_pred": [0.2, 0.4, 0.7, 0.1] * 10, **options}
    with pytest.raises(error, match=words):
        find_subgroups({"x": ["a", "b"] * 20}, method="biasscan", **given)


def test_no_errors_all_errors_and_one_row() -> None:
    one = {"x": ["a", "b"] * 20}
    for y in ([0] * 39 + [1], [1] * 39 + [0]):
        result = scan(one, y, np.clip(np.array(y) * 1.0, 0.01, 0.99), k=5)
        assert result.complete
    assert scan(one, [0, 1] * 20, [0.5, 0.5] * 20, max_l=7).complete


@pytest.mark.parametrize("direction", ["under", "over"])
def test_fewer_coefficients_give_the_same_ones(direction: Any) -> None:
    """Also of probabilities next to 0 and 1; a rank that saves nothing leaves them as they are."""
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(500), np.clip(rng.beta(0.05, 0.05, 500), 1e-9, 1 - 1e-9)])
    whole = family_of("Bernoulli", direction).fixed(p, np.ones(1000), np.arange(1000), 1000)
    few, back = _fewer(whole)
    assert few.shape[1] <= 0.85 * whole.shape[1]
    assert np.abs(few @ back - whole).max() < 1e-12
    noise = rng.normal(size=(50, 6))
    same, unit = _fewer(noise)
    assert np.array_equal(same, noise)
    assert np.array_equal(unit, np.eye(6))


def test_small_products_are_not_shared_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    from isonomia.discovery.subgroups.scan.ascent import Ascent

    threads = set()
    climb = Ascent.climb

    def seen(self: Ascent, *given: Any) -> Any:
        threads.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return climb(self, *given)

    monkeypatch.setattr(Ascent, "climb", seen)
    rng = np.random.default_rng(0)
    people = {"a": rng.integers(0, 4, 200), "b": rng.integers(0, 3, 200)}
    with threadpool_limits(2, user_api="blas"):
        find_subgroups(people, method="biasscan", y_true=rng.integers(0, 2, 200), y_score=np.full(200, 0.5))
    assert threads == {1}
