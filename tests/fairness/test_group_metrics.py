"""Group metrics against Fairlearn, scikit-learn, brute force, and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk

import isonomia as iso
from isonomia.evidence import wilson
from isonomia.fairness import group_metrics

COUNTS = ["selection_rate", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "accuracy", "f1"]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(20, 200))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return {
        "y_true": rng.integers(0, 2, n),
        "y_pred": rng.integers(0, 2, n),
        "frame": pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["a", "b", "c"], n)}),
        "weights": rng.uniform(0.1, 3, n),
    }


def brute(metric: str, y: np.ndarray, p: np.ndarray, w: np.ndarray) -> float | None:
    cells = {
        "selection_rate": (p == 1, np.ones_like(p, bool)),
        "tpr": ((p == 1) & (y == 1), y == 1),
        "fpr": ((p == 1) & (y == 0), y == 0),
        "tnr": ((p == 0) & (y == 0), y == 0),
        "fnr": ((p == 0) & (y == 1), y == 1),
        "ppv": ((y == 1) & (p == 1), p == 1),
        "npv": ((y == 0) & (p == 0), p == 0),
        "accuracy": (y == p, np.ones_like(p, bool)),
    }
    if metric == "f1":
        tp, wrong = w[(y == 1) & (p == 1)].sum(), w[y != p].sum()
        return 2 * tp / (2 * tp + wrong) if 2 * tp + wrong else None
    top, bottom = cells[metric]
    return w[top].sum() / w[bottom].sum() if bottom.any() else None


@given(cases(), st.booleans())
def test_values_equal_brute_force_by_intersection(case: dict[str, Any], weighted: bool) -> None:
    w = case["weights"] if weighted else np.ones(len(case["y_true"]))
    result = group_metrics(
        case["y_true"],
        case["y_pred"],
        sensitive_features=case["frame"],
        metrics=COUNTS,
        n_boot=0,
        weights=case["weights"] if weighted else None,
    )
    frame = result.by_group
    assert frame["n"].sum() == len(w)
    for row in frame.to_dict("records"):
        rows = ((case["frame"]["sex"] == row["sex"]) & (case["frame"]["race"] == row["race"])).to_numpy()
        assert row["n"] == rows.sum()
        for metric in COUNTS:
            expected = brute(metric, case["y_true"][rows], case["y_pred"][rows], w[rows])
            if expected is None:
                assert np.isnan(row[metric]), metric
                assert row["note"], "a missing value says why"
            else:
                assert row[metric] == pytest.approx(expected, abs=1e-10)


@settings(max_examples=5)
@given(cases(), st.booleans())
def test_fairlearn_agrees(case: dict[str, Any], weighted: bool) -> None:
    result = group_metrics(
        case["y_true"],
        case["y_pred"],
        sensitive_features=case["frame"],
        by="all",
        n_boot=0,
        verify="fairlearn",
        weights=case["weights"] if weighted else None,
        metrics=["selection_rate", "tpr", "ppv", "accuracy", "f1"],
    )
    assert result.values["fairlearn_largest_gap"].value < 1e-12
    assert result.values["fairlearn_agrees"] is True


def test_a_wrong_value_would_not_agree() -> None:
    from dataclasses import replace

    from isonomia.fairness.groups.verify import verify_with_fairlearn
    from isonomia.subject import Subject

    y, p = np.array([1, 0, 1, 0]), np.array([1, 1, 0, 0])
    result = group_metrics(y, p, sensitive_features=["a", "a", "b", "b"], metrics=["accuracy"], n_boot=0)
    part = result.measured["accuracy"]
    wrong = replace(result, measured={"accuracy": replace(part, value=part.value + 0.01)})
    assert verify_with_fairlearn(wrong, Subject.of(y, p).outcome).values["fairlearn_agrees"] is False


@given(cases())
def test_permuting_rows_changes_nothing(case: dict[str, Any]) -> None:
    order = np.random.default_rng(1).permutation(len(case["y_true"]))
    first = group_metrics(case["y_true"], case["y_pred"], sensitive_features=case["frame"], n_boot=50)
    frame = case["frame"].iloc[order]
    second = group_metrics(case["y_true"][order], case["y_pred"][order], sensitive_features=frame, n_boot=50)
    pd.testing.assert_frame_equal(first.comparisons, second.comparisons)


@given(cases())
def test_doubling_rows_keeps_values_and_narrows_intervals(case: dict[str, Any]) -> None:
    once = group_metrics(case["y_true"], case["y_pred"], sensitive_features=case["frame"]["sex"], n_boot=0)
    twice = group_metrics(
        np.tile(case["y_true"], 2),
        np.tile(case["y_pred"], 2),
        n_boot=0,
        sensitive_features=pd.concat([case["frame"]["sex"]] * 2, ignore_index=True),
    )
    for metric in ("selection_rate", "accuracy"):
        a, b = once.by_group, twice.by_group
        np.testing.assert_allclose(a[metric], b[metric])
        widths = [(x[f"{metric}_high"] - x[f"{metric}_low"]).to_numpy() for x in (a, b)]
        assert (widths[1] < widths[0]).all()


def test_swapping_group_and_reference_flips_the_sign() -> None:
    rng = np.random.default_rng(0)
    y, p, s = rng.integers(0, 2, 500), rng.integers(0, 2, 500), rng.choice(["a", "b"], 500)
    one = group_metrics(y, p, sensitive_features=s, reference="a").comparisons
    two = group_metrics(y, p, sensitive_features=s, reference="b").comparisons
    np.testing.assert_allclose(one["difference"], -two["difference"])
    np.testing.assert_allclose(one["difference_low"], -two["difference_high"], atol=1e-12)
    np.testing.assert_allclose(one["ratio"], 1 / two["ratio"])
    np.testing.assert_allclose(one["p_value"], two["p_value"])


def test_an_unused_category_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 90), rng.integers(0, 2, 90)
    s = pd.Series(rng.choice(["a", "b"], 90))
    plain = group_metrics(y, p, sensitive_features=s)
    unused = group_metrics(y, p, sensitive_features=s.astype(pd.CategoricalDtype(["z", "b", "a"])))
    assert plain.by_group["selection_rate"].tolist() == unused.by_group["selection_rate"].tolist()
    assert plain.comparisons["p_value"].tolist() == unused.comparisons["p_value"].tolist()


def test_intervals_and_p_values_by_scipy() -> None:
    y = np.ones(400, dtype=int)
    p = np.r_[np.ones(60), np.zeros(140), np.ones(90), np.zeros(110)].astype(int)
    s = ["a"] * 200 + ["b"] * 200
    result = group_metrics(y, p, sensitive_features=s, metrics=["selection_rate"], reference="b", n_boot=4000)
    row = result.by_group.iloc[0]
    assert (row["selection_rate_low"], row["selection_rate_high"]) == pytest.approx(wilson(60, 200))
    gap = result.comparisons.iloc[0]
    chi2 = stats.chi2_contingency([[60, 140], [90, 110]], correction=False)
    assert gap["p_value"] == pytest.approx(stats.chi2.sf(chi2.statistic * 399 / 400, 1))
    # the percentile interval of the difference against the normal approximation
    error = np.sqrt(0.3 * 0.7 / 200 + 0.45 * 0.55 / 200)
    assert gap["difference_low"] == pytest.approx(-0.15 - 1.96 * error, abs=0.01)
    assert gap["difference_high"] == pytest.approx(-0.15 + 1.96 * error, abs=0.01)


def test_bootstrap_of_counts_matches_resampling_rows() -> None:
    rng = np.random.default_rng(3)
    n = 600
    y, p, s, w = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.choice(["a", "b"], n), rng.uniform(0.2, 4, n)
    for weights in (None, w):
        result = group_metrics(y, p, sensitive_features=s, metrics=["f1"], weights=weights, reference="a", n_boot=3000)
        gap = result.comparisons.iloc[0]
        draws = []
        for _ in range(1500):
            i = rng.integers(0, n, n)
            use = np.ones(n) if weights is None else weights[i]
            a, b = (brute("f1", y[i][s[i] == g], p[i][s[i] == g], use[s[i] == g]) for g in "ab")
            draws.append(b - a)
        low, high = np.quantile(draws, [0.025, 0.975])
        assert gap["difference_low"] == pytest.approx(low, abs=0.012)
        assert gap["difference_high"] == pytest.approx(high, abs=0.012)


def test_a_group_without_positives_has_no_tpr() -> None:
    result = group_metrics([1, 1, 0, 0], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"], metrics=["tpr"])
    frame = result.by_group
    assert np.isnan(frame["tpr"].iloc[1])
    assert "positive" in frame["note"].iloc[1]
    assert result.comparisons["difference"].isna().all()
    assert result.comparisons["p_value"].isna().all()
    payload = result.to_dict()
    assert payload["tables"]["by_group"]["columns"][2]["values"][1] is None


def test_multiclass_is_one_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    y, p, s = rng.choice(["x", "y", "z"], 300), rng.choice(["x", "y", "z"], 300), rng.choice(["a", "b"], 300)
    result = group_metrics(y, p, sensitive_features=s)
    frame = result.by_group
    for group, row in zip("ab", frame.to_dict("records"), strict=True):
        inside = s == group
        assert row["accuracy"] == pytest.approx(sk.accuracy_score(y[inside], p[inside]))
        assert row["macro_f1"] == pytest.approx(sk.f1_score(y[inside], p[inside], average="macro"))
        for label in "xyz":
            assert row[f"selection_rate[{label}]"] == pytest.approx((p[inside] == label).mean())
            assert row[f"tpr[{label}]"] == pytest.approx((p[inside & (y == label)] == label).mean())


@pytest.mark.parametrize("weighted", [False, True])
def test_regression_means_and_errors(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    y, s = rng.normal(size=400), rng.choice(["a", "b"], 400)
    p = y + rng.normal(scale=0.3, size=400) + 0.2 * (s == "b")
    w = rng.uniform(0.5, 2, 400) if weighted else None
    result = group_metrics(y, p, sensitive_features=s, weights=w, reference="a", n_boot=4000)
    for group, row in zip("ab", result.by_group.to_dict("records"), strict=True):
        i = s == group
        use = None if w is None else w[i]
        assert row["mean_prediction"] == pytest.approx(np.average(p[i], weights=use))
        assert row["mae"] == pytest.approx(sk.mean_absolute_error(y[i], p[i], sample_weight=use))
        assert row["rmse"] == pytest.approx(sk.root_mean_squared_error(y[i], p[i], sample_weight=use))
    gap = result.comparisons.set_index("metric").loc["mean_error"]
    if not weighted:
        test = stats.ttest_ind((p - y)[s == "b"], (p - y)[s == "a"], equal_var=False)
        interval = test.confidence_interval()
        assert gap["difference_low"] == pytest.approx(interval.low, abs=0.006)
        assert gap["difference_high"] == pytest.approx(interval.high, abs=0.006)
    assert gap["p_value"] < 1e-6
    assert np.isnan(gap["ratio"]), "a metric that can be negative has no ratio"


def test_scores_by_group() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 300), rng.choice(["a", "b"], 300)
    score = np.clip(0.3 * y + rng.uniform(size=300) * 0.7, 0, 1)
    result = group_metrics(y, score > 0.5, y_score=score, sensitive_features=s, metrics=["auc", "logloss"], positive=1)
    for group, row in zip("ab", result.by_group.to_dict("records"), strict=True):
        assert row["auc"] == pytest.approx(sk.roc_auc_score(y[s == group], score[s == group]))
        assert row["auc_low"] < row["auc"] < row["auc_high"]
    assert result.comparisons["p_value"].between(0, 1).all()


def test_control_compares_within_strata() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    dept, sex = rng.choice(["easy", "hard"], n), rng.choice(["F", "M"], n)
    sex = np.where(rng.uniform(size=n) < 0.6, np.where(dept == "hard", "F", "M"), sex)
    p = (rng.uniform(size=n) < np.where(dept == "easy", 0.7, 0.2)).astype(int)
    plain = group_metrics(None, p, sensitive_features={"sex": sex}, reference="M").comparisons
    held = group_metrics(None, p, sensitive_features={"sex": sex}, control={"dept": dept}, reference="M").comparisons
    assert plain["difference"].iloc[0] < -0.15
    assert held["dept"].tolist() == ["easy", "hard"]
    assert held["difference"].abs().max() < 0.08


def test_references() -> None:
    p = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 40 + [1] * 20 + [0] * 10
    s = ["a"] * 40 + ["b"] * 50 + ["c"] * 30
    pick = lambda reference: group_metrics(None, p, sensitive_features=s, reference=reference).comparisons  # noqa: E731
    assert set(pick("largest")["reference"]) == {"group=b"}
    assert set(pick("best")["reference"]) == {"group=a"}
    assert set(pick("c")["reference"]) == {"group=c"}
    overall = pick("overall").set_index("group")
    assert set(overall["reference"]) == {"overall"}
    assert overall.loc["group=b", "difference"] == pytest.approx(10 / 50 - 60 / 120)
    # the test is against the others, of whom the group is no part
    table = [[10, 40], [50, 20]]
    statistic = stats.chi2_contingency(table, correction=False).statistic * 119 / 120
    assert overall.loc["group=b", "p_value"] == pytest.approx(stats.chi2.sf(statistic, 1))
    pooled = pick({"group": ["a", "c"]}).set_index("group")
    assert pooled.loc["group=b", "difference"] == pytest.approx(0.2 - 50 / 70)


def test_missing_values_of_attributes() -> None:
    p, s = [1, 0, 1, 0, 1, 1], ["a", "a", None, "b", "b", None]
    kept = group_metrics(None, p, sensitive_features=s).by_group
    assert kept["group"].tolist() == ["a", "b", "missing"]
    assert group_metrics(None, p, sensitive_features=s, missing="exclude").by_group["n"].sum() == 4
    with pytest.raises(iso.DataError, match="2 rows have a missing protected value"):
        group_metrics(None, p, sensitive_features=s, missing="error")


def test_the_kind_of_frame_comes_back(frame_kind: Any) -> None:
    frame = frame_kind({"sex": ["F", "M"] * 20, "y": [0, 1, 1, 1] * 10, "p": [0, 1, 1, 0] * 10})
    data = iso.Dataset(frame)
    attributes = data.column("sex").to_native()
    result = group_metrics(data.column("y").to_native(), data.column("p").to_native(), sensitive_features=attributes)
    assert type(result.by_group).__module__.split(".")[0] == type(data.frame).__module__.split(".")[0]
    assert len(result.by_group) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [0, 1], "y_pred": [0, 1, 1], "sensitive_features": ["a", "b", "a"]}, "2 true outcomes for 3 rows"),
        ({"y_true": None, "y_pred": [0, 1, 1], "sensitive_features": ["a", "b"]}, "2 rows in 'group', but there are 3"),
        ({"y_true": ["no", "yes"], "y_pred": ["no", "yes"], "sensitive_features": ["a", "b"]}, "`positive` must say"),
        ({"y_true": [0, 1, 0], "y_pred": [0.2, 0.7, 0.9], "sensitive_features": ["a", "b", "a"]}, "scores"),
        ({"y_true": [0, 1, 2], "y_pred": [0, 1, 2], "task": "binary", "sensitive_features": ["a", "b", "a"]}, "binary"),
        ({"y_true": None, "y_pred": [], "sensitive_features": []}, "no rows|no value"),
        ({"y_true": None, "y_pred": [0, 1], "sensitive_features": ["a", "b"], "metrics": ["tpr"]}, "needs true labels"),
        (
            {"y_true": None, "y_pred": [0, 1], "sensitive_features": ["a", "b"], "metrics": ["selecton_rate"]},
            "Did you mean",
        ),
        ({"y_true": None, "y_pred": [0, 1], "sensitive_features": ["a", "b"], "weights": [1, -1]}, "weights"),
        ({"y_true": None, "y_pred": [0, 1], "sensitive_features": ["a", "b"], "reference": "c"}, "must be a value of"),
        ({"y_true": None, "y_pred": [0, 1], "sensitive_features": ["a", "b"], "level": 95}, "level"),
        ({"y_true": [None, None], "y_pred": [0, 1], "task": "binary", "sensitive_features": ["a", "b"]}, "missing"),
    ],
)
def test_bad_input_says_what_was_found(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(iso.IsonomiaError, match=message):
        group_metrics(arguments.pop("y_true"), arguments.pop("y_pred"), **arguments)


def test_five_thousand_groups_are_refused() -> None:
    n = 6000
    with pytest.raises(iso.DataError, match="too many for groups"):
        group_metrics(None, np.zeros(n, dtype=int), sensitive_features=np.arange(n).astype(str))


def test_one_group_and_one_row() -> None:
    one = group_metrics([1], [1], sensitive_features=["a"], metrics=["selection_rate", "tpr"])
    assert len(one.by_group) == 1
    assert len(one.comparisons) == 0
    assert one.disparities["note"].notna().all()


def test_means_far_from_zero_keep_their_digits() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.normal(size=600), rng.choice(["a", "b"], 600)
    p = y + rng.normal(scale=0.1, size=600) + 0.3 * (s == "b")
    near = group_metrics(y, p, sensitive_features=s, reference="a", seed=4).comparisons
    far = group_metrics(y + 1e9, p + 1e9, sensitive_features=s, reference="a", seed=4).comparisons
    for column in ("difference", "difference_low", "difference_high"):
        np.testing.assert_allclose(far[column], near[column], atol=1e-5)


def test_a_group_without_a_miss_has_an_interval_with_width() -> None:
    y = np.tile([0, 1], 60)
    p = np.where(np.arange(120) < 60, y, 1 - y)
    p[60:100] = y[60:100]
    result = group_metrics(y, p, sensitive_features=["a"] * 60 + ["b"] * 60, metrics=["f1", "matthews_corrcoef"])
    row = result.by_group.iloc[0]
    assert (row["f1"], row["f1_high"]) == (1.0, 1.0)
    assert 0.85 < row["f1_low"] < 0.95, "30 of 30 positives found show no more than about 90%"
    assert 0.75 < row["matthews_corrcoef_low"] < 0.92


def test_auc_of_groups_has_the_interval_of_the_metric() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 200), rng.choice(["a", "b"], 200)
    score = np.where(s == "a", np.clip(0.4 * y + rng.uniform(size=200) * 0.6, 0, 1), (y + 0.5) / 2)
    result = group_metrics(y, score > 0.5, y_score=score, sensitive_features=s, metrics=["auc"], positive=1).by_group
    for group, row in zip("ab", result.to_dict("records"), strict=True):
        surface = iso.Surface.of_probabilities(score[s == group], classes=(0, 1))
        alone = iso.metrics.evaluate("auc", y[s == group], surface)
        assert (row["auc_low"], row["auc_high"]) == pytest.approx((alone.low, alone.high))
    assert result["auc_low"].iloc[1] < 1.0, "perfect separation in few rows is not certain"


def test_false_negatives_per_false_positive() -> None:
    y, p = np.array([1, 1, 1, 0, 0, 1, 0, 0]), np.array([0, 0, 1, 1, 0, 0, 0, 0])
    result = group_metrics(y, p, sensitive_features=["a"] * 5 + ["b"] * 3, metrics=["fn_fp_ratio"]).by_group
    assert result["fn_fp_ratio"].iloc[0] == 2.0
    assert np.isnan(result["fn_fp_ratio"].iloc[1])
    assert "false positives" in result["note"].iloc[1]
