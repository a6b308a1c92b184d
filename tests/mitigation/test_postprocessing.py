"""Fixes after training: optima against brute force and Fairlearn, the rules of estimators, files, bad input."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isonomia import DataError, NotApplicable, SpecError, mitigation
from isonomia.mitigation import CalibrateByGroup, CalibratedOdds, LevelUp, Match, RejectOption, Thresholds
from isonomia.mitigation.after.cuts import Cuts
from isonomia.mitigation.after.mixtures import best_mixture
from isonomia.mitigation.after.rejecting import reject_grid

POST: list[Any] = [Thresholds, LevelUp, RejectOption, CalibratedOdds, Match, CalibrateByGroup]


def _different_on_purpose(estimator: Any) -> dict[str, str]:
    moved = isinstance(estimator, Thresholds)
    return {"check_classifiers_train": "a decision need not follow the largest probability"} if moved else {}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [kind(sensitive=(), folds=0) for kind in POST] + [Match(LinearRegression(), sensitive=(), folds=0)],
    expected_failed_checks=_different_on_purpose,
)
def test_the_rules_of_scikit_learn(estimator: Any, check: Any) -> None:
    with np.errstate(all="ignore"):
        check(estimator)


def people(n: int = 600, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n)
    pay = rng.normal((sex == "m") * 1.0, 1)
    y = np.where(pay + rng.normal(size=n) > 0.4, "yes", "no")
    return pd.DataFrame({"sex": sex, "race": race, "pay": pay, "age": rng.integers(18, 80, n) * 1.0, "y": y})


def rows(scores: list[tuple[int, int, int]]) -> tuple[Any, Any, Any]:
    score, y, group = (np.array(part) for part in zip(*scores, strict=True))
    return score / 10, y, group


SMALL = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1), st.integers(0, 2)), min_size=4, max_size=24)
EVERY = [(s, y, g) for s, y in ((2, 0), (6, 1), (8, 0)) for g in range(3)]


@pytest.mark.parametrize("criterion", ["demographic_parity", "equal_opportunity", "predictive_parity", "accuracy"])
@given(scores=SMALL, tol=st.sampled_from([0.0, 0.1, 0.25]))
def test_deterministic_thresholds_are_the_best_of_all(
    criterion: str, scores: list[tuple[int, int, int]], tol: float
) -> None:
    score, y, group = rows([*scores, *EVERY])
    cuts = [[np.inf, *np.unique(score[group == g])] for g in range(3)]
    best = np.inf
    for chosen in itertools.product(*cuts):
        said = score >= np.array(chosen)[group]
        rates = [_rate(criterion, y[group == g], said[group == g]) for g in range(3)]
        if not np.isnan(rates).any() and max(rates) - min(rates) <= tol + 1e-12:
            best = min(best, int((said != y).sum()))
    fit = Thresholds(criterion=criterion, tol=tol)
    if not np.isfinite(best):
        with pytest.raises(NotApplicable, match="the closest is"):
            fit.fit_scores(score, y, sensitive_features={"g": group})
        return
    fit.fit_scores(score, y, sensitive_features={"g": group})
    found = fit.predict_scores(score, sensitive_features={"g": group})
    assert (found != y).sum() == best


def _rate(criterion: str, y: Any, said: Any) -> float:
    if criterion == "demographic_parity":
        return float(said.mean())
    if criterion == "accuracy":
        return float((said == y).mean())
    rows = y == 1 if criterion == "equal_opportunity" else said
    other = said if criterion == "equal_opportunity" else y
    return float(other[rows].mean()) if rows.any() else np.nan


@given(scores=SMALL)
def test_the_hull_is_that_of_the_points(scores: list[tuple[int, int, int]]) -> None:
    from scipy.spatial import ConvexHull, QhullError

    score, y, group = rows([*scores, *EVERY])
    cuts = Cuts.of(score, y, group, 3)
    hull = cuts.hull()
    for g in range(3):
        part = slice(cuts.start[g], cuts.start[g + 1])
        points = np.column_stack([cuts.fp[part], cuts.tp[part]])
        corner = [[points[-1, 0] + 1, -1.0]]  # below: only the upper hull stays
        try:
            expected = set(ConvexHull(np.vstack([points, corner])).vertices) - {len(points)}
        except QhullError:  # all points on one line: its ends are the hull
            expected = set()
        assert set(np.flatnonzero(hull[part])) >= expected - {0, len(points) - 1}
        slopes = np.diff(points[hull[part]], axis=0)
        assert (slopes[:-1, 1] * slopes[1:, 0] >= slopes[1:, 1] * slopes[:-1, 0] - 1e-9).all()


@pytest.mark.parametrize(("criterion", "constraint"), [("demographic_parity", 0), ("equalized_odds", 1)])
def test_mixtures_reach_fairlearns_optimum(criterion: str, constraint: int, rng: np.random.Generator) -> None:
    fairlearn = pytest.importorskip("fairlearn.postprocessing", reason="the extra `mitigation` is not installed")
    n = 3000
    group = rng.integers(0, 3, n)
    score = np.round(rng.beta(2 + group, 3), 3)
    y = (rng.random(n) < score).astype(int)
    theirs = fairlearn.ThresholdOptimizer(
        estimator=_Given(), constraints=criterion, objective="accuracy_score", prefit=True, grid_size=5000
    ).fit(score[:, None], y, sensitive_features=group)
    said = theirs._pmf_predict(score[:, None], sensitive_features=group)[:, 1]
    error = float(np.mean(said * (1 - y) + (1 - said) * y))
    ours = Thresholds(criterion=criterion, tol=0.0, randomised=True).fit_scores(
        score, y, sensitive_features={"g": group}
    )
    accepted = ours.fix_.acceptance(score, group)
    assert float(np.mean(accepted * (1 - y) + (1 - accepted) * y)) == pytest.approx(error, abs=3e-4)
    if constraint:
        assert ours.chance_ < float(np.mean((said > 1e-9) & (said < 1 - 1e-9)))
    rates = [
        [accepted[(group == g) & (y == c)].mean() for c in (0, 1)] if constraint else [accepted[group == g].mean()]
        for g in range(3)
    ]
    assert np.ptp(rates, axis=0).max() < 1e-6


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are its column."""

    classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> _Given:
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def test_the_linear_program_is_the_best_of_all_vertices(rng: np.random.Generator) -> None:
    score, y, group = np.round(rng.random(200), 2), rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    cuts = Cuts.of(score, y, group, 2)
    rate = (cuts.tp + cuts.fp) / (cuts.positives + cuts.negatives)[cuts.owner]
    vertices, shares = best_mixture(cuts, [rate], cuts.cost(), 0.03)
    cost = float((cuts.cost()[vertices] * shares).sum())
    # by another route: each group's cheapest cost at a rate is the lower hull of its vertices, a line between them
    hull = np.flatnonzero(cuts.hull())
    at = np.linspace(0, 1, 4001)
    parts = [np.interp(at, rate[hull[cuts.owner[hull] == g]], cuts.cost()[hull[cuts.owner[hull] == g]]) for g in (0, 1)]
    steps = round(0.03 * 4000)
    other = min(parts[0][i] + parts[1][max(0, i - steps) : i + steps + 1].min() for i in range(at.size))
    assert cost == pytest.approx(other, abs=0.06)
    assert cost <= other + 1e-9


def test_equalized_odds_without_chance(rng: np.random.Generator) -> None:
    group = rng.integers(0, 4, 8000)
    score = rng.beta(2 + group, 4)
    y = (rng.random(8000) < score).astype(int)
    fit = Thresholds(criterion="equalized_odds", tol=0.06).fit_scores(score, y, sensitive_features={"g": group})
    said = fit.predict_scores(score, sensitive_features={"g": group})
    gaps = [np.ptp([said[(group == g) & (y == c)].mean() for g in range(4)]) for c in (0, 1)]
    assert max(gaps) <= 0.06 + 1e-9
    assert fit.chance_ == 0
    mixed = Thresholds(criterion="equalized_odds", tol=0.06, randomised=True)
    mixed.fit_scores(score, y, sensitive_features={"g": group})
    accepted = mixed.fix_.acceptance(score, group)
    assert (said == y).mean() <= np.mean(np.where(y == 1, accepted, 1 - accepted)) + 1e-9
    assert (said == y).mean() > 0.55


def test_ratios_and_costs(rng: np.random.Generator) -> None:
    group = rng.integers(0, 2, 4000)
    score = rng.beta(2 + group, 4)
    y = (rng.random(4000) < score).astype(int)
    said = Thresholds(criterion="disparate_impact", tol=0.2).fit_scores(score, y, sensitive_features={"g": group})
    rates = [said.predict_scores(score, sensitive_features={"g": group})[group == g].mean() for g in (0, 1)]
    assert min(rates) / max(rates) >= 0.8 - 1e-9
    dear = Thresholds(false_negative_cost=5.0).fit_scores(score, y, sensitive_features={"g": group})
    cheap = Thresholds().fit_scores(score, y, sensitive_features={"g": group})
    given = {"sensitive_features": {"g": group}}
    assert dear.predict_scores(score, **given).mean() > cheap.predict_scores(score, **given).mean()


def test_offsets_bring_class_rates_together(rng: np.random.Generator) -> None:
    group = rng.integers(0, 2, 3000)
    raw = rng.random((3000, 3)) + np.column_stack([group * 0.4, np.zeros(3000), (1 - group) * 0.3])
    probability = raw / raw.sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=row) for row in probability])
    fit = Thresholds(tol=0.04).fit_scores(probability, y, sensitive_features={"g": group})
    said = fit.predict_scores(probability, sensitive_features={"g": group})
    rates = np.array([[np.mean(said[group == g] == k) for k in range(3)] for g in (0, 1)])
    before = np.array([[np.mean(probability[group == g].argmax(1) == k) for k in range(3)] for g in (0, 1)])
    assert np.ptp(before, axis=0).max() > 0.3
    assert np.ptp(rates, axis=0).max() <= 0.041


@given(scores=SMALL, tol=st.sampled_from([0.05, 0.3]))
def test_levelling_up_refuses_nobody(scores: list[tuple[int, int, int]], tol: float) -> None:
    score, y, group = rows([*scores, *EVERY])
    up = LevelUp(tol=tol).fit_scores(score, y, sensitive_features={"g": group})
    said = up.predict_scores(score, sensitive_features={"g": group})
    assert (said >= (score >= 0.5)).all()
    rates = [said[group == g].mean() for g in range(3)]
    assert max(rates) - min(rates) <= tol + 1e-9
    least = LevelUp(minimum=0.6).fit_scores(score, y, sensitive_features={"g": group})
    said = least.predict_scores(score, sensitive_features={"g": group})
    assert (said >= (score >= 0.5)).all()
    assert min(said[group == g].mean() for g in range(3)) >= 0.6


def test_the_reject_option_judges_every_pair_as_a_loop_would(rng: np.random.Generator) -> None:
    group = rng.integers(0, 2, 500)
    score = np.round(rng.beta(2 + group, 3), 2)
    y = (rng.random(500) < score).astype(int)
    grid = reject_grid(score, y, group, np.array([False, True]), n_thresholds=12, n_margins=7)
    for i, j in itertools.product(range(12), range(7)):
        t, m = grid.threshold[i, j], grid.margin[i, j]
        near = (score > t - m) & (score <= t + m)
        said = np.where(near, group == 0, score > t)
        assert grid.gap[i, j] == pytest.approx(said[group == 0].mean() - said[group == 1].mean())
        assert grid.balanced_accuracy[i, j] == pytest.approx((said[y == 1].mean() + 1 - said[y == 0].mean()) / 2)
    low, high = grid.cuts()
    fit = RejectOption(privileged=1, thresholds=12, margins=7).fit_scores(score, y, sensitive_features={"g": group})
    expected = score >= np.where(group == 0, low, high)
    assert (fit.predict_scores(score, sensitive_features={"g": group}) == expected).all()


@pytest.mark.parametrize("cost", ["fpr", "fnr", "weighted"])
def test_calibrated_odds_equalise_the_cost_in_expectation(cost: Any, rng: np.random.Generator) -> None:
    group = rng.integers(0, 2, 40000)
    score = np.clip(rng.beta(3, 3, 40000) + np.where(group == 1, rng.normal(0, 0.3, 40000), 0), 0.01, 0.99)
    y = (rng.random(40000) < np.where(group == 1, score, 0.5 * score + 0.25)).astype(int)
    fit = CalibratedOdds(cost=cost).fit_scores(score, y, sensitive_features={"g": group})
    rate, base = np.array(fit.fix_.rates), np.array(fit.fix_.bases)
    mixed = (1 - rate[group]) * score + rate[group] * base[group]
    costs = []
    for g in (0, 1):
        own = group == g
        fp, fn = mixed[own & (y == 0)].mean(), (1 - mixed[own & (y == 1)]).mean()
        both = 0.5 * (fp * (1 - base[g]) + fn * base[g])
        costs.append({"fpr": fp, "fnr": fn, "weighted": both}[cost])
    assert 0 < rate.max() < 1
    assert costs[0] == pytest.approx(costs[1], abs=1e-9)
    assert fit.chance_ == pytest.approx((rate[group] > 0).mean())


def test_matching_makes_distributions_equal_on_new_people(rng: np.random.Generator) -> None:
    from scipy.stats import ks_2samp, spearmanr

    group = rng.integers(0, 2, 8000)
    number = rng.normal(group * 2.0, 1 + group)
    half = np.arange(8000) < 4000
    fit = Match().fit_scores(number[half], number[half], sensitive_features={"g": group[half]}, regression=True)
    moved = fit.predict_scores(number[~half], sensitive_features={"g": group[~half]})
    sides = [moved[group[~half] == g] for g in (0, 1)]
    assert ks_2samp(number[group == 0], number[group == 1]).statistic > 0.4
    assert ks_2samp(*sides).statistic < 2 / np.sqrt(min(map(len, sides)))
    for g in (0, 1):
        assert spearmanr(moved[group[~half] == g], number[~half][group[~half] == g]).statistic > 0.9999
    part = Match(share=0.0).fit_scores(number, number, sensitive_features={"g": group}, regression=True)
    assert part.predict_scores(number, sensitive_features={"g": group}) == pytest.approx(number)


def _calibration_error(p: Any, y: Any) -> float:
    band = np.clip((p * 10).astype(int), 0, 9)
    return float(sum(abs((y - p)[band == b].sum()) for b in range(10)) / len(y))


@pytest.mark.parametrize("method", ["isotonic", "logistic", "multicalibration"])
def test_calibration_by_group_on_new_people(method: Any, rng: np.random.Generator) -> None:
    n = 20000
    group, race = rng.integers(0, 2, n), rng.integers(0, 3, n)
    true = rng.beta(2, 2, n)
    y = (rng.random(n) < true).astype(int)
    odds = np.log(true / (1 - true))
    score = 1 / (1 + np.exp(-(odds * (1 + group) + 0.8 * group)))  # too sure, and too high, about one group
    half = np.arange(n) < n // 2
    given = {"g": group, "race": race}
    fit = CalibrateByGroup(method=method).fit_scores(
        score[half], y[half], sensitive_features={k: v[half] for k, v in given.items()}
    )
    p = fit.transform_scores(score[~half], sensitive_features={k: v[~half] for k, v in given.items()})
    own = group[~half] == 1
    assert _calibration_error(score[~half][own], y[~half][own]) > 0.1
    assert _calibration_error(p[own], y[~half][own]) < 0.04
    assert np.mean((p - y[~half]) ** 2) < np.mean((score[~half] - y[~half]) ** 2)


def test_isotonic_and_logistic_maps_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    from sklearn.isotonic import IsotonicRegression

    score = rng.random(3000)
    y = (rng.random(3000) < score**2).astype(int)
    given = {"sensitive_features": {"g": np.zeros(3000)}}
    isotonic = CalibrateByGroup().fit_scores(score, y, **given).transform_scores(score, **given)
    assert isotonic == pytest.approx(IsotonicRegression(out_of_bounds="clip").fit(score, y).predict(score))
    logit = np.log(score / (1 - score))[:, None]
    logistic = CalibrateByGroup(method="logistic").fit_scores(score, y, **given).transform_scores(score, **given)
    theirs = LogisticRegression(C=1e10, max_iter=1000).fit(logit, y).predict_proba(logit)[:, 1]
    assert logistic == pytest.approx(theirs, abs=2e-3)  # Platt's targets shrink a little


@pytest.mark.parametrize("kind", POST)
def test_estimators_with_frames_searches_and_files(kind: Any, tmp_path: Path) -> None:
    data = people()
    X, y = data.drop(columns="y"), data["y"]
    inner = make_pipeline(
        make_column_transformer((StandardScaler(), ["pay", "age"]), (OneHotEncoder(), ["race"])), LogisticRegression()
    )
    fair = kind(inner, sensitive="sex", drop_sensitive=True).fit(X, y)
    assert set(fair.predict(X)) <= {"yes", "no"}
    assert fair.predict_proba(X).shape == (600, 2)
    assert len(cross_val_predict(kind(inner, sensitive="sex"), X, y, cv=2)) == 600
    search = GridSearchCV(kind(inner, sensitive="sex", folds=0), {"estimator__logisticregression__C": [0.1, 1.0]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.5
    by_array = kind(inner).fit(X, y, sensitive_features=X["sex"])
    assert by_array.predict(X, sensitive_features=X["sex"]).shape == (600,)
    with pytest.raises(DataError, match="no protected attribute"):
        by_array.predict(X)
    again = mitigation.load(mitigation.save(fair, tmp_path / "fix.skops"))
    assert again.predict(X).tolist() == fair.predict(X).tolist()
    fix = mitigation.load(mitigation.save(fair, tmp_path / "fix.json"))
    assert fix == fair.fix_
    assert (tmp_path / "fix.json").stat().st_size < 100_000


def test_prefit_estimators_are_left_as_they_are() -> None:
    data = people()
    X, y = data[["pay", "age"]], data["y"]
    inner = LogisticRegression().fit(X, y)
    before = inner.coef_.copy()
    fair = Thresholds(inner, prefit=True, tol=0.02).fit(X, y, sensitive_features=data["sex"])
    assert fair.estimator_ is inner
    assert (inner.coef_ == before).all()
    said = fair.predict(X, sensitive_features=data["sex"]) == "yes"
    assert abs(said[data["sex"] == "f"].mean() - said[data["sex"] == "m"].mean()) <= 0.02 + 1e-9


def test_bad_input_is_explained(tmp_path: Path) -> None:
    score, y, sex = np.array([0.2, 0.8, 0.3, 0.9]), [0, 1, 1, 1], ["f", "f", "m", "m"]
    with pytest.raises(DataError, match=r"False positive rate is not defined for the group m"):
        Thresholds(criterion="equalized_odds").fit_scores(score, y, sensitive_features={"sex": sex})
    with pytest.raises(SpecError, match="Did you mean 'demographic_parity'"):
        Thresholds(criterion="demographic_party").fit_scores(score, y, sensitive_features={"sex": sex})
    with pytest.raises(SpecError, match="A mixture of thresholds"):
        Thresholds(criterion="predictive_parity", randomised=True).fit_scores(score, y, sensitive_features={"sex": sex})
    fit = Thresholds().fit_scores(score, y, sensitive_features={"sex": sex})
    with pytest.raises(DataError, match="was not fitted on 'x'"):
        fit.predict_scores(score, sensitive_features={"sex": ["f", "x", "m", "m"]})
    with pytest.raises(DataError, match="got 2 columns"):
        fit.predict_scores(score, sensitive_features={"sex": sex, "race": sex})
    with pytest.raises(DataError, match="privileged group 'z' does not occur"):
        RejectOption(privileged="z").fit_scores(score, y, sensitive_features={"sex": sex})
    (tmp_path / "no.json").write_text("[1, 2]")
    with pytest.raises(DataError, match="does not hold a fix"):
        mitigation.load(tmp_path / "no.json")
    with pytest.raises(DataError, match="Save it as skops"):
        mitigation.save(LogisticRegression(), tmp_path / "x.json")


def test_offsets_count_people_by_their_weight(rng: np.random.Generator) -> None:
    """Rates by weight are within the tolerance; a weight of 3 counts like three rows."""
    probability = rng.dirichlet([2, 2, 2], 900)
    group = np.arange(900) % 2
    probability[group == 1] = probability[group == 1] ** [1.6, 1.0, 0.7]
    probability /= probability.sum(axis=1, keepdims=True)
    y, times = rng.integers(0, 3, 900), rng.integers(1, 4, 900)
    fix = Thresholds(tol=0.04)
    fix.fit_scores(probability, y, sensitive_features={"g": group}, sample_weight=times * 0.5)
    said = fix.predict_scores(probability, sensitive_features={"g": group})
    for k in range(3):
        rates = [np.average(said[group == g] == k, weights=times[group == g]) for g in (0, 1)]
        assert abs(rates[0] - rates[1]) <= 0.04 + 1e-9
    rows = np.repeat(np.arange(900), times)
    again = Thresholds(tol=0.04).fit_scores(probability[rows], y[rows], sensitive_features={"g": group[rows]})
    repeated = again.predict_scores(probability, sensitive_features={"g": group})
    assert (repeated == said).mean() > 0.99
