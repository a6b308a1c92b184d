"""Fixes after training: thresholds against Fairlearn, many groups, the reject option, and what twelve fixes did."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark, best_of, faster
from benchmarks.people import people

ROWS = 48_842


def scored(rows: int) -> tuple[Any, Any, Any, Any]:
    """Scores, outcomes, sex and the ten groups of sex and race."""
    frame = people(rows, columns="str")
    rng = np.random.default_rng(0)
    y = frame["label"].to_numpy()
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.6 * y - 1.3 + 0.3 * (frame["sex"] == "Male").to_numpy())))
    return score, y, {"sex": frame["sex"].to_numpy()}, frame[["sex", "race"]]


@benchmark("mitigation_thresholds")
def mitigation_thresholds(scale: Scale) -> Iterator[Row]:
    """Thresholds by group, the reject option and before/after of twelve fixes, on 48,842 people."""
    from isonomia.mitigation import RejectOption, Thresholds, before_after

    rows = scale.rows(ROWS)
    score, y, sex, both = scored(rows)
    for criterion in ("demographic_parity", "equalized_odds"):
        fix = Thresholds(criterion=criterion, tol=0.0, randomised=True)

        def ours(fix: Any = fix) -> Any:
            return fix.fit_scores(score, y, sensitive_features=sex).fix_

        seconds, found = best_of(ours, scale.repeats(5))
        group = (sex["sex"] == "Male").astype(int)
        yield _against_fairlearn(criterion, (score, y, sex["sex"]), seconds, found.acceptance(score, group), scale)
    for case, given in (("two groups", sex), ("ten groups (race x sex)", both)):
        seconds, _ = best_of(
            lambda given=given: Thresholds().fit_scores(score, y, sensitive_features=given),  # type: ignore[misc]
            scale.repeats(5),
        )
        yield Row(
            f"thresholds for parity without chance, {case}",
            rows,
            seconds,
            measure="seconds",
            value=seconds,
            target=Target("at most", 0.15),
        )
    seconds, _ = best_of(lambda: RejectOption().fit_scores(score, y, sensitive_features=sex), scale.repeats(5))
    yield Row(
        "reject option, 5,000 pairs", rows, seconds, measure="seconds", value=seconds, target=Target("at most", 0.06)
    )
    before = (score >= 0.5).astype(int)
    after = [(score + 0.01 * k * (sex["sex"] == "Female") >= 0.5).astype(int) for k in range(12)]
    seconds, _ = best_of(lambda: _twelve(y, before, after, sex), scale.repeats(5))
    yield Row(
        "before and after of twelve fixes, 1,000 resamples",
        rows,
        seconds,
        measure="seconds",
        value=seconds,
        target=Target("at most", 0.1),
    )
    seconds, _ = best_of(lambda: before_after(y, before, after[5], sensitive_features=sex), scale.repeats(5))
    yield Row("before and after of one fix, with tables", rows, seconds, measure="seconds", value=seconds)


def _twelve(y: Any, before: Any, after: list[Any], sex: Any) -> Any:
    from isonomia.mitigation.judging.before_after import read_comparison

    named = {f"fix {number}": one for number, one in enumerate(after)}
    return read_comparison(y, before, named, "each", {"sensitive_features": sex, "n_boot": 1000})


def _against_fairlearn(criterion: str, data: tuple[Any, Any, Any], seconds: float, accepted: Any, scale: Scale) -> Row:
    score, y, group = data
    case = f"thresholds for {criterion.replace('_', ' ')}, mixtures"
    try:
        import fairlearn
        from fairlearn.postprocessing import ThresholdOptimizer
    except ImportError:
        return Row(case, len(y), seconds, "fairlearn", note="the extra `mitigation` is not installed")
    peer = ThresholdOptimizer(estimator=_given(), constraints=criterion, prefit=True)

    def theirs() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return peer.fit(score[:, None], y, sensitive_features=group)

    other, _ = best_of(theirs, scale.repeats(3))
    said = peer._pmf_predict(score[:, None], sensitive_features=group)[:, 1]
    right = [float(np.mean(np.where(y == 1, p, 1 - p))) for p in (accepted, said)]
    return faster(
        case,
        len(y),
        seconds,
        f"fairlearn {fairlearn.__version__}",
        other,
        target=8,
        difference=max(0.0, right[1] - right[0]),
        compared=1,
        note=f"accuracy in training {right[0]:.5f} and {right[1]:.5f}: compared is whether ours is not lower",
    )


def _given() -> Any:
    """A classifier whose probabilities are its column."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict(self, X: Any) -> Any:
            return np.asarray(X)[:, 0]

        def __sklearn_is_fitted__(self) -> bool:
            return True

    return Given()
