"""SliceFinder: published sizes and effects, Welch's test as scipy has it, slices that do not contain each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from isonomia.discovery import SubgroupResult, find_subgroups
from isonomia.errors import SpecError


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[pl.DataFrame, Any, Any]:
    from sklearn.ensemble import RandomForestClassifier

    frame = pl.read_csv(shared_data / "adult.csv.gz").head(32_561)
    frame = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
    truth = (frame["income"] == ">50K").to_numpy().astype(int)
    features = frame.drop("income")
    codes = features.with_columns(pl.col(pl.String).rank("dense").cast(pl.Int64)).to_numpy()
    forest = RandomForestClassifier(n_estimators=10, max_depth=5, random_state=3).fit(codes, truth)
    return features, truth, forest.predict_proba(codes)[:, 1]


@pytest.mark.parametrize(
    ("effect", "bands"),
    [
        ("paper", {"Married-civ-spouse": (0.85, 1.05), "Husband": (0.75, 0.95), "Wife": (0.55, 0.75)}),
        ("code", {"Married-civ-spouse": (0.55, 0.65), "Husband": (0.48, 0.56), "Wife": (0.40, 0.50)}),
    ],
)
def test_published_slices_of_adult(adult: Any, effect: str, bands: dict[str, tuple[float, float]]) -> None:
    features, truth, probability = adult
    assert len(features) == 30_162
    result = find_subgroups(
        features,
        method="slicefinder",
        y_true=truth,
        y_score=probability,
        approach="lattice",
        epsilon=0.35 if effect == "paper" else 0.2,
        degree=1,
        effect=effect,
        bins=None,
        k=30,
    )
    rows = {row["slice"]: row for row in result.tables["subgroups"].rows()}
    sizes = {
        "sex = Male": 20_380,
        "marital-status = Married-civ-spouse": 14_065,
        "relationship = Husband": 12_463,
        "relationship = Wife": 1_406,
    }
    assert {name: rows[name]["size"] for name in sizes} == sizes
    for value, (low, high) in bands.items():
        name = next(name for name in sizes if name.endswith(f"= {value}"))
        assert low <= rows[name]["effect_size"] <= high
    assert [row["size"] for row in rows.values()] == sorted((row["size"] for row in rows.values()), reverse=True)
    loss = -np.where(truth == 1, np.log(np.clip(probability, 1e-15, 1)), np.log(np.clip(1 - probability, 1e-15, 1)))
    wife = (features["relationship"] == "Wife").to_numpy()
    expected = stats.ttest_ind(loss[wife], loss[~wife], equal_var=False, alternative="greater").pvalue
    assert rows["relationship = Wife"]["p_value"] == pytest.approx(expected, rel=1e-6)


def test_the_tree_finds_the_married_first(adult: Any) -> None:
    features, truth, probability = adult
    result = find_subgroups(
        features, method="slicefinder", y_true=truth, y_score=probability, approach="decision_tree", k=5
    )
    first = next(result.tables["subgroups"].rows())
    assert first["approach"] == "decision_tree"
    assert first["size"] >= 12_000
    masks = [result.mask(index) for index in range(len(result.subgroups))]
    together = np.sum(masks, axis=0)
    assert together.max() == 1  # they do not overlap


def _planted(rng: np.random.Generator, n: int = 6000) -> tuple[dict[str, Any], Any]:
    columns = {
        "sex": rng.choice(["F", "M"], n),
        "race": rng.choice(["a", "b", "c"], n),
        "age": rng.uniform(18, 80, n),
        "job": rng.choice(list("uvwxyz"), n),
    }
    hit = (columns["sex"] == "F") & (columns["race"] == "c")
    return columns, rng.exponential(0.3, n) + hit * 0.5


def test_the_path_to_each_slice_of_the_tree_is_told_cut_by_cut(rng: np.random.Generator) -> None:
    columns, errors = _planted(rng)
    columns["age"][:300] = np.nan
    errors = errors + 0.4 * ((columns["age"] > 60) & (columns["job"] == "u"))
    result = find_subgroups(
        columns, method="slicefinder", errors=errors, approach="decision_tree", k=4, min_effect_size=0.2, bins=8
    )
    steps = list(result.tables["paths"].rows())
    frame = {name: np.asarray(column) for name, column in columns.items()}
    for case in range(len(result.subgroups)):
        path = [row for row in steps if row["case"] == case]
        assert [row["order"] for row in path] == list(range(1, len(path) + 1))
        inside = np.ones(len(errors), dtype=bool)
        for row in path:  # read off the table alone
            column = frame[row["feature"]]
            if row["operator"] == "in":
                inside &= np.isin(column, str(row["threshold"]).strip("{}").split(", "))
            elif row["operator"] in ("<", "≥"):
                cut = float(str(row["threshold"]))
                with np.errstate(invalid="ignore"):
                    inside &= (column < cut) if row["operator"] == "<" else ~(column < cut)
            else:
                inside &= np.isnan(column) == (row["operator"] == "is missing")
            assert row["size"] == inside.sum()
            a, b = errors[inside], errors[~inside]
            expected = np.sqrt(2) * (a.mean() - b.mean()) / np.sqrt(a.var() + b.var())
            assert row["val_diff_outcome"] == pytest.approx(expected, rel=1e-6)
        np.testing.assert_array_equal(inside, result.mask(case))
    assert len(result.subgroups) >= 2
    both = find_subgroups(columns, method="slicefinder", errors=errors, k=4, min_effect_size=0.2)
    listed = {row["case"] for row in both.tables["paths"].rows()}
    trees = {i for i, row in enumerate(both.tables["subgroups"].rows()) if row["approach"] == "decision_tree"}
    assert listed == trees
    assert "paths" not in find_subgroups(columns, method="slicefinder", errors=errors, approach="lattice").tables


def test_the_planted_slice_is_found_and_nothing_inside_it(rng: np.random.Generator) -> None:
    columns, errors = _planted(rng)
    result = find_subgroups(columns, method="slicefinder", errors=errors, epsilon=0.8, min_effect_size=0.8, k=3)
    rows = list(result.tables["subgroups"].rows())
    assert rows[0]["slice"] == "sex = F, race = c"
    assert rows[0]["p_adjusted"] < 1e-10
    assert {row["approach"] for row in rows} == {"lattice", "decision_tree"}
    lattice = [
        item.conditions for item, row in zip(result.subgroups, rows, strict=True) if row["approach"] == "lattice"
    ]
    for one in lattice:
        for other in lattice:
            assert one is other or not one.items() <= other.items()


def test_no_returned_slice_contains_another(rng: np.random.Generator) -> None:
    columns, errors = _planted(rng)
    result = find_subgroups(columns, method="slicefinder", errors=errors, epsilon=0.1, approach="lattice", k=30)
    conditions = [item.conditions for item in result.subgroups]
    assert len(conditions) >= 2
    assert not any(a is not b and a.items() <= b.items() for a in conditions for b in conditions)
    apart = find_subgroups(columns, method="slicefinder", errors=errors, epsilon=0.1, approach="lattice", disjoint=True)
    assert np.sum([apart.mask(i) for i in range(len(apart.subgroups))], axis=0).max() == 1


@pytest.mark.parametrize("formula", ["paper", "code"])
def test_effects_by_another_route(rng: np.random.Generator, formula: str) -> None:
    columns, errors = _planted(rng, 500)
    result = find_subgroups(
        columns, method="slicefinder", errors=errors, epsilon=0.0, approach="lattice", effect=formula, k=4, alpha=0.5
    )
    assert len(result.subgroups) >= 2
    for index, row in enumerate(result.tables["subgroups"].rows()):
        mask = result.mask(index)
        a, b = errors[mask], errors[~mask]
        spread = np.sqrt((a.var() + b.var()) / 2) if formula == "paper" else np.sqrt((a.std() + b.std()) / 2)
        assert row["effect_size"] == pytest.approx((a.mean() - b.mean()) / spread)
        welch = stats.ttest_ind(a, b, equal_var=False, alternative="greater").pvalue
        assert row["p_value"] == pytest.approx(welch, rel=1e-8)
        assert row["loss"] == pytest.approx(a.mean())
        assert row["loss_rest"] == pytest.approx(b.mean())


def test_weights_of_whole_numbers_give_the_effect_of_repeated_rows(rng: np.random.Generator) -> None:
    columns, errors = _planted(rng, 800)
    times = rng.integers(0, 4, 800)
    options: dict[str, Any] = {"method": "slicefinder", "epsilon": 0.3, "approach": "lattice", "min_support": 0.05}
    weighted = find_subgroups(columns, errors=errors, weights=times, bins={"age": [18, 40, 80]}, **options)
    repeated = find_subgroups(
        {name: np.repeat(values, times) for name, values in columns.items()},
        errors=np.repeat(errors, times),
        bins={"age": [18, 40, 80]},
        **options,
    )
    assert list(weighted.table["slice"]) == list(repeated.table["slice"])
    np.testing.assert_allclose(weighted.table["effect_size"], repeated.table["effect_size"])


def test_holdout_false_positives_and_bad_options(rng: np.random.Generator) -> None:
    columns, errors = _planted(rng)
    again: SubgroupResult = find_subgroups(
        columns, method="slicefinder", errors=errors, k=1, holdout=0.5, approach="lattice"
    )
    assert again.table["effect_size"][0] > 0.3
    truth = rng.integers(0, 2, 6000)
    hit = (columns["sex"] == "F") & (columns["race"] == "c") & (truth == 0)
    said = np.where(hit & (rng.random(6000) < 0.6), 1, truth)
    fpr = find_subgroups(columns, method="slicefinder", y_true=truth, y_pred=said, metric="fpr", k=1, epsilon=1.2)
    assert next(iter(fpr.table["slice"])) == "sex = F, race = c"
    for options, words in [
        ({"approach": "latice"}, "Did you mean 'lattice'"),
        ({"effect": "both"}, "`effect` must be"),
        ({"policy": "all"}, "`policy` must be"),
        ({"degree": 0}, "`degree` must be"),
        ({"epsilon": -1}, "`epsilon` must be"),
        ({"metric": ("error", "log_loss")}, "one metric at a time"),
    ]:
        with pytest.raises(SpecError, match=words):
            find_subgroups(columns, method="slicefinder", errors=errors, **options)


def test_no_bias_gives_no_significant_subgroup_too_often() -> None:
    false_alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        columns = {f"x{i}": rng.integers(0, 3, 600) for i in range(4)}
        result = find_subgroups(
            columns, method="slicefinder", errors=rng.random(600), max_l=2, epsilon=0.0, approach="lattice", k=3
        )
        false_alarms += any(p < 0.05 for p in result.table["p_adjusted"])
    assert false_alarms / 200 <= 0.05
