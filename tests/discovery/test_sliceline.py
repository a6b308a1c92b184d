"""SliceLine is exact: equal to brute force, on the published counter-example, with weights, per kind of error."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from isonomia.discovery import SubgroupResult, find_subgroups
from isonomia.discovery.subgroups.searches import sliceline
from isonomia.errors import DataError, SpecError


def brute_force(
    columns: dict[str, Any], errors: Any, k: int, max_l: int, smallest: float, alpha: float, weights: Any = None
) -> list[float]:
    weight = np.ones(len(errors)) if weights is None else np.asarray(weights) / np.mean(weights[weights > 0])
    n = weight.sum()  # the rows with a weight: those without weigh nothing and are nobody
    mean = (weight * errors).sum() / n
    scores = []
    for length in range(1, max_l + 1):
        for names in combinations(columns, length):
            for values in product(*(np.unique(columns[name]) for name in names)):
                mask = np.ones(len(errors), dtype=bool)
                for name, value in zip(names, values, strict=True):
                    mask &= np.asarray(columns[name]) == value
                size = weight[mask].sum()
                if size >= smallest and size > 0:
                    average = (weight * errors)[mask].sum() / size
                    score = alpha * (average / mean - 1) - (1 - alpha) * (n / size - 1)
                    if score > 1e-12:
                        scores.append(score)
    return sorted(scores, reverse=True)[:k]


def scores(result: SubgroupResult) -> list[float]:
    return [row["slice_score"] for row in result.tables["subgroups"].rows()]


@pytest.mark.parametrize("kind", ["binary", "real", "weighted", "heavy"])
def test_equals_brute_force_on_random_data(kind: str) -> None:
    for seed in range(75):  # 300 datasets over the four kinds
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 150))
        columns = {f"x{i}": rng.integers(0, rng.integers(1, 5), n) for i in range(rng.integers(1, 5))}
        errors = rng.integers(0, 2, n).astype(float)
        if kind in ("real", "weighted"):
            errors = rng.exponential(size=n) * (rng.random(n) < 0.7)
        if kind == "heavy":
            errors = np.where(rng.random(n) < 0.1, rng.pareto(1.2, n) * 50, 0.0)
        if not errors.any():
            continue
        weights = rng.integers(0, 4, n).astype(float) if kind == "weighted" else None
        if weights is not None and not weights.any():
            continue
        k, max_l = int(rng.choice([1, 3, 12, 60])), int(rng.integers(1, 5))
        smallest, alpha = int(rng.integers(1, 9)), float(rng.choice([0.5, 0.9, 0.95, 0.99, 1.0]))
        result = find_subgroups(
            columns,
            method="sliceline",
            errors=errors,
            k=k,
            max_l=max_l,
            min_support=smallest,
            alpha=alpha,
            weights=weights,
        )
        expected = brute_force(columns, errors, k, min(max_l, len(columns)), smallest, alpha, weights)
        np.testing.assert_allclose(scores(result), expected, rtol=1e-9, atol=1e-10, err_msg=f"seed {seed}")


def test_the_published_counter_example_is_found_in_full() -> None:
    rows = np.arange(1000)
    a = rows < 50
    b = (rows < 12) | ((rows >= 50) & (rows <= 337))
    c = ((rows >= 9) & (rows <= 20)) | ((rows >= 301) & (rows <= 588))
    wrong = a | ((rows >= 301) & (rows <= 306))
    columns = {"A": a.astype(int), "B": b.astype(int), "C": c.astype(int)}
    result = find_subgroups(columns, method="sliceline", errors=wrong.astype(float), k=12, alpha=0.95, min_support=40)
    expected = brute_force(columns, wrong.astype(float), 12, 3, 40, 0.95)
    np.testing.assert_allclose(scores(result), expected, rtol=1e-9)
    assert round(scores(result)[0], 3) == 15.064
    assert {1.667, 0.104} <= {round(score, 3) for score in scores(result)}


def _binary(rng: np.random.Generator, n: int = 4000) -> tuple[dict[str, Any], Any, Any]:
    columns = {"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b", "c"], n), "age": rng.uniform(18, 80, n)}
    truth = rng.integers(0, 2, n)
    said = np.where(rng.random(n) < 0.1, 1 - truth, truth)
    hit = (columns["sex"] == "F") & (columns["race"] == "c") & (truth == 0)
    return columns, truth, np.where(hit & (rng.random(n) < 0.5), 1, said)


def test_false_positives_are_sought_among_the_negatives_alone(rng: np.random.Generator) -> None:
    columns, truth, said = _binary(rng)
    result = find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric="fpr", k=3)
    top = next(result.tables["subgroups"].rows())
    assert top["slice"] == "sex = F, race = c"
    inside = (columns["sex"] == "F") & (columns["race"] == "c") & (truth == 0)
    assert top["sum_slice_error"] == (said[inside] == 1).sum()
    assert top["slice_average_error"] == pytest.approx((said[inside] == 1).mean())
    assert top["metric"] == "fpr"
    expected = stats.fisher_exact(
        [
            [(said[inside] == 1).sum(), (said[inside] == 0).sum()],
            [((truth == 0) & ~inside & (said == 1)).sum(), ((truth == 0) & ~inside & (said == 0)).sum()],
        ],
        alternative="greater",
    ).pvalue
    assert top["p_value"] == pytest.approx(expected, rel=1e-6)
    assert result.findings[0].severity == "warning"
    assert result.findings[0].message.text("pt-BR").startswith("Taxa de falsos positivos: ")


def test_both_kinds_of_error_in_one_call(rng: np.random.Generator) -> None:
    columns, truth, said = _binary(rng)
    both = find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric=("fpr", "fnr"), k=2)
    rows = list(both.tables["subgroups"].rows())
    assert {row["metric"] for row in rows} >= {"fpr"}
    single = find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric="fpr", k=2)
    assert scores(single) == scores(both)[: len(scores(single))]


def test_weights_equal_repeated_rows(rng: np.random.Generator) -> None:
    columns = {f"x{i}": rng.integers(0, 4, 300) for i in range(4)}
    errors = rng.exponential(size=300)
    times = rng.integers(0, 4, 300)
    weighted = find_subgroups(columns, method="sliceline", errors=errors, weights=times, k=6, min_support=0.05)
    repeated = find_subgroups(
        {name: np.repeat(values, times) for name, values in columns.items()},
        method="sliceline",
        errors=np.repeat(errors, times),
        k=6,
        min_support=0.05,
    )
    np.testing.assert_allclose(scores(weighted), scores(repeated), rtol=1e-9)
    assert list(weighted.table["slice"]) == list(repeated.table["slice"])


def test_wide_data_finds_the_planted_slice(rng: np.random.Generator) -> None:
    n = 20_000
    columns = {f"x{i}": rng.integers(0, 12, n) for i in range(40)}
    errors = (rng.random(n) < 0.05).astype(float)
    hit = (columns["x2"] == 5) & (columns["x31"] == 9)
    errors[hit] = 1.0
    result = find_subgroups(columns, method="sliceline", errors=errors, k=1, max_l=2, min_support=50)
    assert list(result.table["slice"]) == ["x2 = 5, x31 = 9"]
    assert scores(result)[0] == pytest.approx(0.95 * (1 / errors.mean() - 1) - 0.05 * (n / hit.sum() - 1))


def test_the_bound_needs_the_number_of_rows(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 8000
    columns = {f"x{i}": np.minimum(rng.geometric(0.35, n), 9) for i in range(10)}
    errors = (rng.random(n) < 0.1 + 0.1 * (columns["x1"] == 2)).astype(float)
    options: dict[str, Any] = {"method": "sliceline", "errors": errors, "k": 4, "max_l": 2, "min_support": 0.01}
    tight = find_subgroups(columns, **options)
    n_columns = sum(len(np.unique(values)) for values in columns.values())
    original = sliceline._Score.bound

    def loose(self: Any, size: Any, error: Any, largest: Any) -> Any:
        wrong = sliceline._Score(self.alpha, 1.0, self.mean, self.smallest)
        wrong.n = float(n_columns)
        return original(wrong, size, error, largest)

    monkeypatch.setattr(sliceline._Score, "bound", loose)
    slack = find_subgroups(columns, **options)
    assert scores(slack) == scores(tight)
    assert tight.metrics["TSN"] - n_columns < (slack.metrics["TSN"] - n_columns) / 2


def test_adult_has_the_published_slices(shared_data: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    adult = pl.read_csv(shared_data / "adult.csv.gz").head(32_561)
    truth = (adult["income"] == ">50K").to_numpy().astype(int)
    features = adult.drop("income", "fnlwgt")
    numbers = [name for name in features.columns if features[name].dtype.is_numeric()]
    binned = {name: features[name].to_numpy() for name in features.columns}
    for name in numbers:  # ten bins of equal width, closed on the right
        values = binned[name] - binned[name].min()
        binned[name] = np.maximum(np.ceil(values * 10 / values.max()), 1).astype(int) - 1
    encoded = OneHotEncoder().fit_transform(np.column_stack([np.asarray(v, dtype=object) for v in binned.values()]))
    said = LogisticRegression(max_iter=200).fit(encoded, truth).predict(encoded)
    result = find_subgroups(binned, method="sliceline", y_true=truth, y_pred=said, k=4, min_support=0.01)
    rows = list(result.tables["subgroups"].rows())
    assert (said != truth).mean() == pytest.approx(0.146, abs=0.004)
    assert rows[0]["slice"] == "education-num = 5, marital-status = Married-civ-spouse, capital-gain = 0"
    assert rows[0]["size"] == 7541
    assert rows[0]["slice_score"] == pytest.approx(0.789, abs=0.05)
    assert result.metrics["TSN"] < 5000


def test_holdout_measures_the_score_again(rng: np.random.Generator) -> None:
    columns, truth, said = _binary(rng)
    result = find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric="fpr", k=2, holdout=0.5)
    top = next(result.tables["subgroups"].rows())
    assert top["slice"] == "sex = F, race = c"
    assert top["p_adjusted"] < 1e-6
    assert top["slice_score"] > 0


def test_no_errors_all_errors_one_feature_constant_feature() -> None:
    columns = {"x": [0, 1] * 50, "same": ["a"] * 100}
    nothing = find_subgroups(columns, method="sliceline", errors=np.zeros(100))
    assert len(nothing.table) == 0
    assert "There is no error in" in nothing.notes[0].text()
    everything = find_subgroups(columns, method="sliceline", errors=np.ones(100))
    assert len(everything.table) == 0
    one = find_subgroups({"x": [0, 1] * 50}, method="sliceline", errors=[0.0, 1.0] * 50, max_l=9)
    assert list(one.table["slice"]) == ["x = 1"]
    constant = find_subgroups({"same": ["a"] * 100}, method="sliceline", errors=[0.0, 1.0] * 50)
    assert len(constant.table) == 0


def test_a_feature_of_many_values_and_a_time_limit(rng: np.random.Generator, ticking: Callable[[float], None]) -> None:
    n = 60_000
    columns = {"id": np.arange(n) % 50_000, "x": rng.integers(0, 3, n)}
    errors = (rng.random(n) < 0.1 + 0.2 * (columns["x"] == 1)).astype(float)
    result = find_subgroups(columns, method="sliceline", errors=errors, bins=None)
    assert list(result.table["slice"]) == ["x = 1"]
    wide = {f"x{i}": rng.integers(0, 15, 3000) for i in range(30)}
    ticking(0.1)
    cut = find_subgroups(
        wide, method="sliceline", errors=rng.random(3000), max_l=None, min_support=1, max_seconds=1, alpha=1.0
    )
    assert not cut.complete
    assert cut.metrics["total_time"] < 2
    assert "time limit" in cut.notes[-1].text()


def test_a_memory_limit_gives_a_partial_result(rng: np.random.Generator) -> None:
    wide = {f"x{i}": rng.integers(0, 15, 3000) for i in range(12)}
    cut = find_subgroups(
        wide, method="sliceline", errors=rng.random(3000), min_support=1, alpha=1.0, max_memory=2 * 1024**2
    )
    assert not cut.complete
    assert len(cut.table) == 5
    assert "memory limit (2 MB)" in cut.notes[-1].text()
    assert cut.metrics["max_memory"] == 2 * 1024**2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"alpha": 0}, SpecError, r"`alpha` must be a number in \(0, 1\]"),
        ({"metric": "fprr"}, SpecError, "Did you mean 'fpr'"),
        ({"metric": "absolute_error"}, SpecError, "is for regression tasks; this is a binary task"),
        ({"metric": "log_loss"}, DataError, "needs probabilities"),
    ],
)
def test_bad_options_are_told(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        find_subgroups({"x": [0, 1] * 50}, method="sliceline", y_true=[0, 1] * 50, y_pred=[0, 0] * 50, **options)


def test_regression_and_multiclass_errors(rng: np.random.Generator) -> None:
    columns = {"g": rng.choice(["a", "b"], 600), "h": rng.choice(["c", "d", "e"], 600)}
    truth = rng.normal(size=600)
    said = truth + rng.normal(size=600) * (1 + 4 * ((columns["g"] == "b") & (columns["h"] == "d")))
    for metric in (None, "absolute_error", "squared_error"):
        result = find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric=metric, k=1)
        assert list(result.table["slice"]) == ["g = b, h = d"]
    with pytest.raises(SpecError, match="errors of at least 0"):
        find_subgroups(columns, method="sliceline", y_true=truth, y_pred=said, metric="residual")
    classes = rng.choice(["x", "y", "z"], 600)
    guess = np.where((columns["g"] == "b") & (rng.random(600) < 0.6), "x", classes)
    several = find_subgroups(columns, method="sliceline", y_true=classes, y_pred=guess, k=1, max_l=1)
    assert list(several.table["slice"]) == ["g = b"]
    one = find_subgroups(columns, method="sliceline", y_true=classes, y_pred=guess, k=1, max_l=1, metric="fpr:x")
    assert one.table["metric"][0] == "fpr:x"
    with pytest.raises(SpecError, match="must name the class"):
        find_subgroups(columns, method="sliceline", y_true=classes, y_pred=guess, metric="fpr")


def test_no_bias_gives_no_significant_slice_too_often() -> None:
    false_alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = {f"x{i}": rng.integers(0, 3, 400) for i in range(4)}
        errors = (rng.random(400) < 0.25).astype(float)
        result = find_subgroups(columns, method="sliceline", errors=errors, max_l=2, min_support=20, k=1, alpha=0.99)
        false_alarms += any(p < 0.05 for p in result.table["p_adjusted"])
    assert false_alarms / 200 <= 0.05


def test_notes_of_several_errors_are_listed_once() -> None:
    frame = {"x": [True, False], "g": ["a", "b"], "y": [0, 1]}
    found = find_subgroups(frame, lambda rows: np.array([1, 0]), target="y", protected=["g"], method="auto")
    assert len({str(note) for note in found.notes}) == len(found.notes)
