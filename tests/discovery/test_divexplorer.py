"""DivExplorer: the published figures to the digit, and every subgroup against brute force."""

from __future__ import annotations

from itertools import combinations, product
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from isonomia.discovery import SubgroupResult, find_subgroups
from isonomia.errors import SpecError
from isonomia.report.figures import draw


@pytest.fixture(scope="module")
def compas(shared_data: Path) -> SubgroupResult:
    frame = pl.read_csv(shared_data / "methods" / "compas_discretized.csv.gz")
    features = frame.drop("class", "predicted")
    return find_subgroups(
        features,
        method="divexplorer",
        y_true=frame["class"],
        y_pred=frame["predicted"],
        min_support=0.1,
        max_l=None,
        k=3,
    )


def test_published_subgroups_of_compas(compas: SubgroupResult) -> None:
    rows = list(compas.tables["subgroups"].rows())
    told = [
        (row["metric"], row["slice"], round(row["divergence"], 3), round(row["support"], 2), round(row["t"], 1))
        for row in rows
    ]
    assert told == [
        ("fpr", "age = 25-45, race = Afr-Am, sex = Male, #prior = >3", 0.220, 0.13, 7.1),
        ("fpr", "age = 25-45, race = Afr-Am, #prior = >3", 0.211, 0.15, 7.4),
        ("fpr", "age = 25-45, charge = F, race = Afr-Am, #prior = >3", 0.202, 0.11, 6.2),
        ("fnr", "age = 25-45, #prior = 0, stay = <week", 0.236, 0.15, 12.1),
        ("fnr", "charge = M, #prior = [1,3], stay = <week", 0.233, 0.10, 12.2),
        ("fnr", "age = >45, race = Cauc", 0.231, 0.10, 10.3),
    ]
    assert round(compas.values["base_fpr"], 3) == 0.088
    assert round(compas.values["base_fnr"], 3) == 0.698
    assert compas.values["itemsets"] == 154
    assert compas.metrics["DSN"] == 6


def test_published_contributions_redundancy_and_correction(compas: SubgroupResult) -> None:
    shares = list(compas.tables["contributions"].rows())[:4]
    assert {row["item"]: round(row["contribution"], 4) for row in shares} == {
        "#prior = >3": 0.1423,
        "race = Afr-Am": 0.0512,
        "age = 25-45": 0.0191,
        "sex = Male": 0.0072,
    }
    patterns = compas.details
    divergence = patterns.divergences[0].divergence
    kept = [int((~patterns.redundant(divergence, eps)).sum()) for eps in (0.01, 0.02, 0.05)]
    assert kept == [54, 24, 5]
    corrective = next(compas.tables["corrective"].rows())
    assert (corrective["slice"], corrective["item"]) == ("race = Afr-Am, sex = Male", "#prior = 0")
    assert (round(corrective["divergence"], 3), round(corrective["with_item"], 3)) == (0.062, 0.009)


def test_contributions_add_up_to_the_divergence(compas: SubgroupResult) -> None:
    patterns = compas.details
    for part in patterns.divergences:
        for place in range(len(patterns)):
            total = patterns.contributions(place, part.divergence).sum()
            assert total == pytest.approx(part.divergence[place], abs=1e-12)


def test_pictures_can_be_drawn(compas: SubgroupResult) -> None:
    for picture in compas.pictures:
        figure = draw(picture, compas.tables[picture.table], "pt-BR")
        assert len(figure.data) >= 1


def _data(seed: int, n: int = 300) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.integers(0, 3, n) for i in range(4)}
    truth = rng.integers(0, 2, n)
    return columns, truth, np.where(rng.random(n) < 0.3, 1 - truth, truth)


def every_subgroup(columns: dict[str, Any], smallest: float) -> dict[tuple[tuple[str, int], ...], Any]:
    out = {}
    for length in range(len(columns) + 1):
        for names in combinations(columns, length):
            for values in product(*(np.unique(columns[name]) for name in names)):
                mask = np.ones(len(next(iter(columns.values()))), dtype=bool)
                for name, value in zip(names, values, strict=True):
                    mask &= columns[name] == value
                if mask.sum() >= smallest:
                    out[tuple(zip(names, (int(value) for value in values), strict=True))] = mask
    return out


def patterns_by_key(result: SubgroupResult) -> dict[tuple[tuple[str, int], ...], int]:
    patterns = result.details
    names = list(result.features)
    keys = {}
    for place in range(len(patterns)):
        conditions = patterns.lattice.conditions(patterns.items(place))
        keys[tuple((names[f], int(result.features[names[f]].labels[c])) for f, c in sorted(conditions.items()))] = place
    return keys


@pytest.mark.parametrize(
    ("metric", "hit", "about"),
    [
        ("fpr", lambda t, d: d == 1, lambda t, d: t == 0),
        ("fnr", lambda t, d: d == 0, lambda t, d: t == 1),
        ("ppv", lambda t, d: t == 1, lambda t, d: d == 1),
        ("error_rate", lambda t, d: t != d, lambda t, d: t == t),
        ("accuracy", lambda t, d: t == d, lambda t, d: t == t),
        ("selection_rate", lambda t, d: d == 1, lambda t, d: t == t),
    ],
)
def test_every_subgroup_equals_brute_force(metric: str, hit: Any, about: Any) -> None:
    for seed in range(5):
        columns, truth, said = _data(seed)
        result = find_subgroups(
            columns, method="divexplorer", y_true=truth, y_pred=said, metric=metric, min_support=12, max_l=None
        )
        part, keys = result.details.divergences[0], patterns_by_key(result)
        expected = every_subgroup(columns, 12)
        assert keys.keys() == expected.keys() - {()}
        hits, rows = hit(truth, said), about(truth, said)
        base = hits[rows].mean()

        def beta(k: float, n: float) -> tuple[float, float]:
            return (k + 1) / (n + 2), (k + 1) * (n - k + 1) / ((n + 2) ** 2 * (n + 3))

        for key, place in keys.items():
            inside = expected[key] & rows
            if not inside.any():
                assert np.isnan(part.rate[place])
                continue
            assert part.rate[place] == pytest.approx(hits[inside].mean(), abs=1e-12)
            assert part.divergence[place] == pytest.approx(hits[inside].mean() - base, abs=1e-12)
            mean, variance = beta(hits[inside].sum(), inside.sum())
            all_mean, all_variance = beta(hits[rows].sum(), rows.sum())
            assert part.t[place] == pytest.approx(abs(mean - all_mean) / np.sqrt(variance + all_variance))


def test_global_contribution_follows_its_definition() -> None:
    columns, truth, said = _data(3)
    result = find_subgroups(
        columns, method="divexplorer", y_true=truth, y_pred=said, metric="error_rate", min_support=20, max_l=None
    )
    wrong = (truth != said).astype(float)
    frequent = every_subgroup(columns, 20)
    divergence = {frozenset(key): wrong[mask].mean() - wrong.mean() for key, mask in frequent.items()}
    m = len(columns)
    values = dict(
        zip(
            result.tables["global_contributions"]["item"].values,
            result.tables["global_contributions"]["contribution"].values,
            strict=True,
        )
    )
    for item in [("x0", 0), ("x2", 1), ("x3", 2)]:
        total = 0.0
        for together, gap in divergence.items():
            if item in together:
                size = len(together) - 1
                weight = factorial(size) * factorial(m - size - 1) / (factorial(m) * 3 ** (size + 1))
                total += weight * (gap - divergence[together - {item}])
        assert values[f"{item[0]} = {item[1]}"] == pytest.approx(total, abs=1e-12)


def test_weights_equal_repeated_rows() -> None:
    columns, truth, said = _data(5)
    times = np.random.default_rng(1).integers(0, 4, truth.size)
    options: dict[str, Any] = {"method": "divexplorer", "metric": ("fpr", "fnr"), "min_support": 0.05, "max_l": 2}
    weighted = find_subgroups(columns, y_true=truth, y_pred=said, weights=times, **options)
    repeated = find_subgroups(
        {name: np.repeat(values, times) for name, values in columns.items()},
        y_true=np.repeat(truth, times),
        y_pred=np.repeat(said, times),
        **options,
    )
    assert list(weighted.table["slice"]) == list(repeated.table["slice"])
    np.testing.assert_allclose(weighted.table["divergence"], repeated.table["divergence"], atol=1e-12)


def test_regression_and_several_classes(rng: np.random.Generator) -> None:
    columns = {"g": rng.choice(["a", "b"], 500), "h": rng.choice(["c", "d"], 500)}
    truth = rng.normal(size=500)
    said = truth + 1.0 * (columns["g"] == "b")
    result = find_subgroups(columns, method="divexplorer", y_true=truth, y_pred=said, metric="residual", k=1, max_l=1)
    row = next(result.tables["subgroups"].rows())
    inside = columns["g"] == row["g"]
    gap = (said - truth)[inside].mean() - (said - truth).mean()
    assert row["divergence"] == pytest.approx(gap)
    classes = rng.choice(["x", "y", "z"], 500)
    guess = np.where((columns["h"] == "d") & (rng.random(500) < 0.7), "x", classes)
    several = find_subgroups(columns, method="divexplorer", y_true=classes, y_pred=guess, k=1, max_l=1)
    assert list(several.table["slice"]) == ["h = d"]
    one = find_subgroups(
        columns, method="divexplorer", y_pred=guess, y_true=classes, metric="selection_rate:x", k=1, max_l=1
    )
    assert abs(one.table["divergence"][0]) > 0.1
    with pytest.raises(SpecError, match="Name the class of the rate"):
        find_subgroups(columns, method="divexplorer", y_pred=guess)


def test_mean_test_is_welch_like(rng: np.random.Generator) -> None:
    columns = {"g": np.repeat(["a", "b"], [100, 300])}
    errors = rng.exponential(size=400) + (columns["g"] == "a")
    result = find_subgroups(columns, method="divexplorer", errors=errors, k=1)
    mine = errors[:100]
    expected = (mine.mean() - errors.mean()) / np.sqrt(mine.var(ddof=1) / 100 + errors.var(ddof=1) / 400)
    assert result.table["t"][0] == pytest.approx(expected, rel=1e-9)


def test_directions_and_holdout() -> None:
    columns, truth, said = _data(8, 2000)
    options: dict[str, Any] = {"method": "divexplorer", "y_true": truth, "y_pred": said, "metric": "accuracy", "k": 3}
    low = find_subgroups(columns, **options)  # low accuracy is worse
    high = find_subgroups(columns, **options, direction="high")
    assert max(low.table["divergence"]) < 0 < min(high.table["divergence"])
    again = find_subgroups(columns, **options, holdout=0.5, seed=1)
    sizes = [row["size"] for row in again.tables["subgroups"].rows()]
    assert max(sizes) <= 1000
    for options_wrong, words in [
        ({"direction": "up"}, "`direction` must be"),
        ({"th_redundancy": -1}, "`th_redundancy`"),
    ]:
        with pytest.raises(SpecError, match=words):
            find_subgroups(columns, **options, **options_wrong)


def test_no_bias_gives_no_significant_subgroup_too_often() -> None:
    false_alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = {f"x{i}": rng.integers(0, 3, 400) for i in range(4)}
        errors = (rng.random(400) < 0.25).astype(float)
        result = find_subgroups(
            columns, method="divexplorer", errors=errors, max_l=2, min_support=0.05, k=1, n_corrective=1
        )
        false_alarms += any(p < 0.05 for p in result.table["p_adjusted"])
    assert false_alarms / 200 <= 0.05
