"""Distributions, tests between groups, equivalence, incompatibility and the guide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import isonomia as iso
from isonomia import fairness
from isonomia.fairness.criteria.named import CRITERIA


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0, 1]))
def test_distances_are_those_of_scipy(seed: int, weighted: bool, digits: int) -> None:
    rng = np.random.default_rng(seed)
    s = rng.choice(["a", "b"], 300)
    x = np.round(rng.gamma(2, size=300) + 0.3 * (s == "b"), 8 if digits else 1)  # with and without ties
    w = rng.uniform(0.1, 2, 300) if weighted else None
    found = fairness.distribution_parity(x, sensitive_features=s, reference="a", weights=w, n_boot=0)
    row = next(found.tables["distances"].rows())
    a, b = x[s == "a"], x[s == "b"]
    wa, wb = (None, None) if w is None else (w[s == "a"], w[s == "b"])
    assert row["wasserstein"] == pytest.approx(stats.wasserstein_distance(a, b, wa, wb))
    assert row["mean_difference"] == pytest.approx(np.average(b, weights=wb) - np.average(a, weights=wa))
    if w is None:
        assert row["ks"] == pytest.approx(stats.ks_2samp(a, b).statistic)
        assert row["standardised_difference"] == pytest.approx((b.mean() - a.mean()) / np.sqrt((a.var() + b.var()) / 2))
    for quantile in found.tables["quantiles"].rows():
        q = quantile["quantile"]
        expected = [np.quantile(v, q, method="inverted_cdf", weights=u) for v, u in ((b, wb), (a, wa))]
        assert quantile["value"] == pytest.approx(expected[0])
        assert quantile["difference"] == pytest.approx(expected[0] - expected[1])


def test_intervals_of_distances_match_resampled_rows() -> None:
    rng = np.random.default_rng(0)
    s = np.repeat(["a", "b"], 400)
    x = rng.normal(size=800) + 0.8 * (s == "b")
    found = fairness.distribution_parity(x, sensitive_features=s, reference="a", n_boot=1000, quantiles=(0.5,))
    draws: dict[str, list[float]] = {"mean_difference": [], "wasserstein": [], "ks": [], "median": []}
    for _ in range(500):
        i = rng.integers(0, 800, 800)
        a, b = x[i][s[i] == "a"], x[i][s[i] == "b"]
        draws["mean_difference"].append(b.mean() - a.mean())
        draws["wasserstein"].append(stats.wasserstein_distance(a, b))
        draws["ks"].append(stats.ks_2samp(a, b).statistic)
        draws["median"].append(np.median(b) - np.median(a))
    row = next(found.tables["distances"].rows())
    for name in ("mean_difference", "wasserstein", "ks"):
        low, high = np.quantile(draws[name], [0.025, 0.975])
        assert row[f"{name}_high"] == pytest.approx(high, abs=0.04), name
        assert row[f"{name}_low"] == pytest.approx(low, abs=0.05), name
    median = next(found.tables["quantiles"].rows())
    low, high = np.quantile(draws["median"], [0.025, 0.975])
    assert (median["difference_low"], median["difference_high"]) == pytest.approx((low, high), abs=0.06)


def test_equal_distributions_have_intervals_that_reach_zero() -> None:
    hits = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, s = rng.normal(size=400), rng.choice(["a", "b"], 400)
        row = next(fairness.distribution_parity(x, sensitive_features=s, n_boot=200).tables["distances"].rows())
        hits += row["ks_low"] < 0.03
        assert row["ks_low"] <= row["ks"] <= row["ks_high"]
    assert hits >= 17


def test_distributions_several_attributes_control_and_bad_input() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 600), "race": rng.choice(["x", "y", "z"], 600)})
    x = rng.normal(size=600)
    every = fairness.distribution_parity(x, sensitive_features=frame, by="all", n_boot=20)
    assert len(every.table) == 1 + 2 + 5
    held = fairness.distribution_parity(x, sensitive_features=frame["sex"], control=frame[["race"]], n_boot=20)
    assert held.table["race"].tolist() == ["x", "y", "z"]
    best = fairness.distribution_parity(
        [1, 2, 5, 6], sensitive_features=["a", "a", "b", "b"], reference="best", n_boot=0
    )
    assert best.table["reference"].tolist() == ["group=b"]
    with pytest.raises(iso.DataError, match="quantiles"):
        fairness.distribution_parity(x, sensitive_features=frame["sex"], quantiles=(1.5,))


def test_calibration_errors_of_groups_are_compared_in_pairs_alone() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    found = fairness.group_metrics(
        y, (p > 0.5).astype(int), y_score=p, sensitive_features=["a", "b"] * 200, metrics=["ece", "auc"]
    )
    rows = {row["metric"]: row for row in fairness.homogeneity(found).rows()}
    assert rows["ece"]["p_value"] is None
    assert "smaller groups" in str(rows["ece"]["note"])
    assert 0 <= rows["auc"]["p_value"] <= 1


def test_homogeneity_is_chi_square_or_permutation() -> None:
    rng = np.random.default_rng(0)
    p, s = rng.integers(0, 2, 600), rng.choice(["a", "b", "c"], 600)
    found = fairness.homogeneity(fairness.group_metrics(None, p, sensitive_features=s))
    row = next(found.rows())
    table = pd.crosstab(s, p).to_numpy()
    assert row["p_value"] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert str(row["test"]) == "chi-square"
    few = fairness.homogeneity(
        fairness.group_metrics(None, [1] * 3 + [0] * 3 + [0] * 5, sensitive_features=list("aaaaaabbbbb"))
    )
    assert str(next(few.rows())["test"]) == "permutation"


def test_homogeneity_of_means_is_brown_and_forsythes() -> None:
    rng = np.random.default_rng(0)
    said, groups = rng.exponential(size=300), np.repeat(["a", "b", "c"], 100)

    def tested(said: Any, groups: Any) -> dict[str, Any]:
        means = fairness.group_metrics(
            None, said, sensitive_features=groups, n_boot=0, metrics=["mean_prediction"], task="regression"
        )
        return next(fairness.homogeneity(means).rows())

    row = tested(said, groups)
    assert str(row["test"]) == "Brown and Forsythe's test of means"
    parts = [said[groups == group] for group in "abc"]
    assert row["statistic"] == pytest.approx(stats.f_oneway(*parts).statistic)  # the same where sizes are
    variance = np.array([part.var(ddof=1) for part in parts])
    between = 4 * variance.sum() ** 2 / 9 / ((variance**2).sum() / 3 + variance.mean() ** 2)
    p = stats.f.sf(row["statistic"], between, variance.sum() ** 2 / ((variance**2).sum() / 99))
    assert row["p_value"] == pytest.approx(p)
    unequal = np.repeat(["a", "b", "c"], [180, 90, 30])
    parts = [said[unequal == group] for group in "abc"]
    n, mean, variance = (np.array([f(part) for part in parts]) for f in (len, np.mean, lambda x: x.var(ddof=1)))
    expected = n @ (mean - said.mean()) ** 2 / ((1 - n / 300) @ variance)
    assert tested(said, unequal)["statistic"] == pytest.approx(expected)


def test_homogeneity_of_two_groups_is_the_test_of_their_difference() -> None:
    rng = np.random.default_rng(0)
    y, groups = rng.normal(size=300), np.repeat(["a", "b"], [200, 100])
    found = fairness.group_metrics(y, y + rng.standard_t(5, 300), sensitive_features=groups, metrics=["mae"], n_boot=0)
    row = next(fairness.homogeneity(found).rows())
    assert str(row["test"]) == "test of the difference"
    assert row["p_value"] == pytest.approx(found.tables["comparisons"]["p_value"].values[0])


def test_equivalence_of_groups() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    s = rng.choice(["a", "b"], n)
    y = rng.integers(0, 2, n)
    even = (rng.random(n) < np.where(y == 1, 0.7, 0.3)).astype(int)
    shown = fairness.equivalence(y, even, sensitive_features=s, margin=0.05)
    assert shown.shown is True
    assert fairness.equivalence(y[:300], even[:300], sensitive_features=s[:300], margin=0.05).shown is False
    odd = (rng.random(n) < np.where(s == "a", 0.6, 0.4)).astype(int)
    found = fairness.equivalence(None, odd, sensitive_features=s, margin=0.05)
    assert [str(x) for x in found.tables["equivalence"]["conclusion"].values] == ["different by more than the margin"]
    small = (rng.random(n) < np.where(s == "a", 0.5, 0.47)).astype(int)
    inside = fairness.equivalence(None, small, sensitive_features=s, margin=0.1)
    assert [str(x) for x in inside.tables["equivalence"]["conclusion"].values] == ["different by less than the margin"]
    numbers = rng.normal(size=n)
    means = fairness.equivalence(None, numbers, sensitive_features=s, margin=0.1, task="regression")
    assert means.shown is True
    row = next(means.tables["equivalence"].rows())
    gap = numbers[s == "b"].mean() - numbers[s == "a"].mean()
    error = np.sqrt(numbers[s == "a"].var() / (s == "a").sum() + numbers[s == "b"].var() / (s == "b").sum())
    sign = 1 if row["group"] == "group=b" else -1
    assert row["difference"] == pytest.approx(sign * gap)
    assert row["p_equivalence"] == pytest.approx(stats.norm.cdf((abs(gap) - 0.1) / error), abs=1e-3)
    with pytest.raises(iso.SpecError, match="margin"):
        fairness.equivalence(None, odd, sensitive_features=s, margin=-1)


@settings(max_examples=15)
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_forced_values_are_identities(p: float, tpr: float, fpr: float) -> None:
    """Each formula gives back a group's own figure when its own rates are kept."""
    from isonomia.fairness.criteria.conflicts import CONFLICTS

    rate = p * tpr + (1 - p) * fpr
    own = {"tpr": tpr, "fpr": fpr, "selection_rate": rate, "ppv": p * tpr / rate}
    for conflict in CONFLICTS:
        forced = conflict.value({name: own[name] for name in conflict.kept}, np.array([p]))
        assert float(forced[0]) == pytest.approx(own[conflict.forced]), conflict.id


def test_equal_base_rates_force_nothing() -> None:
    y, said = np.tile([1, 0], 200), np.tile([1, 1, 0, 0, 1, 0], 67)[:400]
    found = fairness.incompatibility(y, said, sensitive_features={"s": ["a"] * 200 + ["b"] * 200}, n_boot=50)
    assert found.compatible is True
    assert np.allclose(found.tables["conflicts"]["gap"].values, 0.0, atol=1e-12)
    assert not found.findings
    assert "may hold at once" in found.explain()


def test_scores_cannot_be_calibrated_and_balanced() -> None:
    rng = np.random.default_rng(0)
    s = np.repeat(["a", "b"], 3000)
    score = rng.beta(np.where(s == "a", 2, 4), 3)
    y = (rng.random(6000) < score).astype(int)  # calibrated in both groups
    found = fairness.incompatibility(
        y, (score > 0.5).astype(int), y_score=score, sensitive_features={"s": s}, n_boot=200
    )
    row = next(row for row in found.tables["conflicts"].rows() if "Calibration" in str(row["kept"]))
    p, m1 = [y[s == g].mean() for g in "ab"], score[y == 1].mean()
    expected = [q * (1 - m1) / (1 - q) for q in p]
    assert (row["lowest_value"], row["highest_value"]) == pytest.approx((min(expected), max(expected)))
    now = [score[(s == g) & (y == 0)].mean() for g in "ab"]
    assert row["gap_now"] == pytest.approx(abs(now[0] - now[1]))
    assert row["gap_low"] < row["gap"] < row["gap_high"]


def test_incompatibility_is_for_two_classes_with_labels() -> None:
    with pytest.raises(iso.NotApplicable, match="two classes"):
        fairness.incompatibility([0.5, 1.5], [0.5, 1.25], sensitive_features=["a", "b"])
    with pytest.raises(iso.NotApplicable, match="no target"):
        fairness.incompatibility(None, [0, 1], sensitive_features=["a", "b"])
    alone = fairness.incompatibility([1, 0, 1], [1, 0, 0], sensitive_features=["a", "a", "b"])
    assert alone.compatible is None


def test_the_guide_knows_its_criteria() -> None:
    every = fairness.guide()
    assert len(every.table) == sum(len(fairness.guide(use).table) for use in fairness.USES)
    assert {str(t) for t in every.tables["guide"]["criterion"].values} <= {str(d.title) for d in CRITERIA.values()}
    assert "Para justiça, exigir primeiro" in fairness.guide("justice").explain("pt-BR")
    with pytest.raises(iso.SpecError, match="Did you mean 'credit'"):
        fairness.guide("credt")  # type: ignore[arg-type]


def compas(shared_data: Path) -> dict[str, Any]:
    frame = pd.read_csv(shared_data / "compas.csv.gz")
    frame = frame[frame["race"].isin(["African-American", "Caucasian"])]
    return {
        "y_true": frame["two_year_recid"],
        "y_pred": (frame["decile_score"] >= 5).astype(int),
        "sensitive_features": frame["race"],
    }


def synthetic_compas() -> dict[str, Any]:
    """The published counts of both groups (ProPublica 2016): false and true negatives and positives."""
    counts = {"African-American": (990, 805, 532, 1369), "Caucasian": (1139, 349, 461, 505)}
    y, p, race = [], [], []
    for name, (tn, fp, fn, tp) in counts.items():
        y += [0] * (tn + fp) + [1] * (fn + tp)
        p += [0] * tn + [1] * fp + [0] * fn + [1] * tp
        race += [name] * (tn + fp + fn + tp)
    return {"y_true": y, "y_pred": p, "sensitive_features": {"race": race}}


def check_story(case: dict[str, Any]) -> None:
    odds = fairness.equalized_odds(**case)
    assert odds.passes is False
    assert odds.decided is True
    assert fairness.predictive_parity(**case).passes is True
    found = fairness.incompatibility(**case)
    assert found.compatible is False
    told = found.explain()
    assert "Base rates differ by race" in told
    assert "51%" in told
    assert "39%" in told
    rows = {(str(row["kept"]), str(row["forced"])): row for row in found.tables["conflicts"].rows()}
    forced = rows["Predictive parity and equal opportunity", "False positive rate"]
    assert forced["highest"] == "race=African-American"
    assert forced["gap"] > 0.1, "equal predictive values force false positive rates apart"
    assert rows["Equalized odds", "Positive predictive value"]["gap"] > 0.08, "and equal odds predictive values"
    assert "taxas de base diferem" in found.explain("pt-BR").lower()
    assert [finding.severity for finding in found.findings] == ["notice"]


def test_compas_story_on_published_counts() -> None:
    check_story(synthetic_compas())


def test_compas_story(shared_data: Path) -> None:
    check_story(compas(shared_data))


def test_the_best_group_of_all_rows_is_the_reference_in_every_stratum() -> None:
    rng = np.random.default_rng(0)
    n = 900
    s, r, c = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n), rng.choice(["x", "y"], n)
    p = rng.normal(size=n) + (s == "m") * np.where(c == "x", 1.0, -1.0)
    w = rng.integers(1, 4, n).astype(float)
    frame = pd.DataFrame({"s": s, "r": r, "c": c, "p": p, "w": w})
    found = (
        fairness.distribution_parity(
            p, sensitive_features={"s": s, "r": r}, control={"c": c}, weights=w, by="all", reference="best", n_boot=20
        )
        .tables["distances"]
        .frame("pandas")
    )
    for names in (["s"], ["r"], ["s", "r"]):
        means = frame.groupby(names).apply(lambda rows: np.average(rows["p"], weights=rows["w"]))
        top = means.idxmax()
        best = ", ".join(f"{k}={v}" for k, v in zip(names, [top] if len(names) == 1 else top, strict=True))
        for stratum in ("x", "y"):
            own = found[(found["c"] == stratum) & (found["group"].str.count("=") == len(names))]
            own = own[own["group"].str.startswith(names[0])]
            assert set(own["reference"]) == {best}
            assert len(own) == len(means) - 1
