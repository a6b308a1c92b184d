"""Rankings against SciPy; swaps that were planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from isonomia import DataError, Dataset, NotApplicable, SpecError
from isonomia.robustness import metric_disagreement, scenarios
from isonomia.robustness.stress.rankings import find_swaps, kendall, ranks, spearman

MakePeople = Callable[..., tuple[Dataset, Any]]


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 12), missing=st.booleans())
def test_kendall_and_spearman_are_scipys(seed: int, n: int, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (n, 4)).astype(float)
    if missing:
        values[rng.random(values.shape) < 0.2] = np.nan
    tau = kendall(values)
    for a in range(4):
        for b in range(4):
            x, y = values[:, a], values[:, b]
            known = ~(np.isnan(x) | np.isnan(y))
            x, y = x[known], y[known]
            if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
                assert np.isnan(tau[a, b])
                assert np.isnan(spearman(values[:, a], values[:, b]))
                continue
            assert tau[a, b] == pytest.approx(stats.kendalltau(x, y).statistic)
            assert spearman(values[:, a], values[:, b]) == pytest.approx(stats.spearmanr(x, y).statistic)
    np.testing.assert_allclose(ranks(values[:, 0]), stats.rankdata(values[:, 0], nan_policy="omit"))


def test_swaps_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    better, noise = rng.random((6, 4)), rng.random((6, 4)) / 5
    found = find_swaps(better, noise)
    expected = set()
    for a in range(4):
        for b in range(a + 1, 4):
            for i in range(6):
                for j in range(i + 1, 6):
                    one, two = better[i, a] - better[j, a], better[i, b] - better[j, b]
                    if one * two < 0:
                        beyond = [abs(d) > np.hypot(noise[i, m], noise[j, m]) for d, m in ((one, a), (two, b))]
                        expected.add((a, b, i, j, all(beyond)))
    got = zip(*(part.tolist() for part in (found.first, found.second, found.one, found.two, found.clear)), strict=True)
    assert set(got) == expected


def test_models_that_two_metrics_rank_differently() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    x = rng.normal(size=n)
    data = Dataset({"x": x, "y": (rng.random(n) < 1 / (1 + np.exp(-2 * x))).astype(int)}, target="y", features=["x"])

    def calibrated(frame: Any) -> Any:
        return 1 / (1 + np.exp(-2 * np.asarray(frame["x"]) + 1.5))

    def timid(frame: Any) -> Any:
        return 0.5 + 0.02 * np.tanh(np.asarray(frame["x"]))

    result = metric_disagreement(
        data, models={"calibrated": calibrated, "timid": timid}, metrics=["accuracy", "brier_score", "auc"]
    )
    agreement = {(row["metric_1"], row["metric_2"]): row for row in result.tables["agreement"].rows()}
    assert agreement[("accuracy", "brier_score")]["tau"] == -1
    assert agreement[("accuracy", "brier_score")]["clear_swaps"] == 1
    swap = next(result.tables["swaps"].rows())
    assert (swap["item_1"], swap["item_2"], swap["clear"]) == ("timid", "calibrated", True)
    assert swap["value_11"] > swap["value_21"]
    assert swap["value_12"] > swap["value_22"]  # a higher Brier score is worse
    assert [finding.code for finding in result.findings] == ["metric_disagreement.swap"]
    assert result.values["different_winners"] == 2
    # the areas under the ROC curve are the same: no order, so no tau
    assert agreement[("accuracy", "auc")]["tau"] is None


def test_metrics_that_agree_have_no_findings() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    data = Dataset({"x": x, "y": x + 0.1 * rng.normal(size=1000)}, target="y", features=["x"])
    models = {f"m{i}": (lambda frame, i=i: np.asarray(frame["x"]) * (1 + i / 3)) for i in range(4)}
    result = metric_disagreement(data, models=models)
    assert all(row["tau"] == 1 for row in result.tables["agreement"].rows())
    assert len(result.tables["swaps"]) == 0
    assert result.findings == ()
    ranked = [r["item"] for r in result.tables["rankings"].rows() if r["metric"] == "mae"]
    assert ranked == ["m0", "m1", "m2", "m3"]
    assert [r["rank"] for r in result.tables["rankings"].rows() if r["metric"] == "mae"] == [1, 2, 3, 4]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_slices_and_scenarios_of_every_task(task: str, people: MakePeople) -> None:
    data, model = people(600, task)
    slices = metric_disagreement(data, model, features=["x", "z"])
    assert slices.values["items"] >= 6
    played = scenarios(data, model, ["label_noise", "score_noise", "covariate_shift"], n_trials=4)
    told = metric_disagreement(played)
    again = metric_disagreement(data, model, scenarios=["label_noise", "score_noise", "covariate_shift"], n_trials=4)
    assert told.to_dict() == again.to_dict()
    assert told.values["items"] == 3


def test_what_cannot_be_ranked_is_told(people: MakePeople) -> None:
    data, model = people(200)
    with pytest.raises(NotApplicable, match="fewer than two models"):
        metric_disagreement(data, models={"one": model})
    with pytest.raises(NotApplicable, match="fewer than two metrics"):
        metric_disagreement(data, model, metrics=["accuracy"])
    with pytest.raises(SpecError, match="map names"):
        metric_disagreement(data, model, across="models")
    with pytest.raises(SpecError, match="Did you mean 'slices'"):
        metric_disagreement(data, model, across="slice")
    with pytest.raises(DataError, match="`positive` must say"):
        metric_disagreement([1, 2])
    with pytest.raises(NotApplicable, match="two slices"):
        metric_disagreement(data, model, min_samples=500)


def test_namesakes_and_complements_are_judged_once_unless_named(people: MakePeople) -> None:
    data, model = people(600)
    told = metric_disagreement(data, model, features=["x"])
    ids = {row["metric"] for row in told.tables["rankings"].rows()}
    assert len(ids & {"recall", "tpr", "fnr"}) == 1
    assert len(ids & {"specificity", "tnr", "fpr"}) == 1
    named = metric_disagreement(data, model, features=["x"], metrics=["recall", "fnr"])
    assert next(named.tables["agreement"].rows())["tau"] == 1


def test_protected_columns_without_any_number_are_not_ranked() -> None:
    rng = np.random.default_rng(0)
    frame = {
        "odd": np.where(rng.random(200) < 0.5, np.inf, np.nan),
        "sex": rng.choice(["F", "M"], 200),
        "y": rng.integers(0, 2, 200),
        "p": rng.random(200),
    }
    data = Dataset(frame, target="y", score="p", protected=["odd", "sex"])
    assert set(metric_disagreement(data).tables["rankings"]["item"].values) == {"sex=F", "sex=M"}
    with pytest.raises(DataError, match="'odd' has no finite number"):
        metric_disagreement(data, features=["odd"])
