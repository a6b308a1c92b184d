"""Data that a method cannot do with: a clear error, or a row of the table that says why it was not tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from isonomia import DataError, Dataset, SpecError, mitigate, mitigation
from isonomia.evidence import Finding

NUMBERS = ["skill", "proxy"]


def applicants(n: int = 1000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "skill": rng.normal(size=n)})
    man = (frame.sex == "M").to_numpy()
    frame["proxy"] = man + rng.normal(scale=0.4, size=n)
    return frame.assign(hired=np.where(frame.skill + man + rng.normal(size=n) > 0.5, "yes", "no"))


def tried(frame: pd.DataFrame, estimator: Any = None, **options: Any) -> Any:
    data = Dataset(frame, target="hired", positive="yes", protected="sex", features=NUMBERS)
    given = {"folds": 2, "attribute_at_decision": True, **options}
    return mitigate(data, LogisticRegression() if estimator is None else estimator, **given)


def notes(found: Any) -> dict[str, str]:
    table = found.table.set_index("method")
    return table[table.verdict == "not_tried"]["note"].astype(str).to_dict()


def test_an_estimator_without_weights_is_flagged_for_each_method_that_needs_them() -> None:
    found = notes(
        tried(applicants(600), KNeighborsClassifier(), methods=["reweighing", "reduction", "minimax", "sampling"])
    )
    assert set(found) == {"reweighing", "reduction", "minimax"}
    assert set(found.values()) == {"needs an estimator that takes sample weights"}


def test_one_class_in_a_group_is_flagged_and_the_goal_that_needs_both_is_an_error() -> None:
    frame = applicants()
    frame.loc[frame.sex == "F", "hired"] = "no"
    found = notes(tried(frame, methods=["reweighing", "sampling", "thresholds", "calibrate"], limit=0.9))
    assert "F with y = 1" in found["reweighing"]
    assert "F with y = 1" in found["sampling"]
    assert "thresholds" not in found, "rates of decisions exist for everyone"
    with pytest.raises(DataError, match="cannot be compared by equal_opportunity: fewer than two of them have enough"):
        tried(frame, methods=["thresholds", "match"], goal="equal_opportunity")


def test_why_a_method_was_not_tried_is_written_in_the_language_of_the_report() -> None:
    frame = applicants()
    frame.loc[frame.sex == "F", "hired"] = "no"
    frame.loc[:3, "skill"] = np.nan
    found = tried(
        frame,
        make_pipeline(SimpleImputer(), LogisticRegression()),
        methods=["sampling", "repair", "reject_option"],
        limit=0.9,
        goal="overall_accuracy_equality",
    )
    reasons = [row["note"] for row in found.tables["methods"].rows() if row["verdict"] == "not_tried"]
    texts = " ".join(reason.text("pt-BR") for reason in reasons)
    assert "Nenhuma amostra equilibra um grupo ao qual falta um resultado" in texts
    assert "X contém NaN ou infinito em 'skill'" in texts
    assert "não pode ser" in texts


def test_a_group_absent_from_a_fold_is_an_error_that_names_it() -> None:
    frame = applicants()
    frame.loc[:2, "sex"] = "X"
    with pytest.raises(DataError, match="The group X has 3 rows: it would be absent from one of 5 parts"):
        tried(frame, folds=5)


def test_an_attribute_missing_at_decision_time_is_an_error() -> None:
    frame = applicants()
    fair = mitigation.Thresholds(LogisticRegression()).fit(frame[NUMBERS], frame.hired, sensitive_features=frame.sex)
    with pytest.raises(DataError, match="Thresholds has no protected attribute"):
        fair.predict(frame[NUMBERS])
    scores, unknown = fair.estimator_.predict_proba(frame[NUMBERS])[:, 1], frame.sex.where(frame.index > 0, None)
    with pytest.raises(DataError, match="The fix was not fitted on 'missing' in 'sex'"):
        fair.fix_.predict(scores, sensitive_features={"sex": unknown})
    with pytest.raises(DataError, match="met a group that it was not fitted on: missing"):
        fair.predict(frame[NUMBERS], sensitive_features=unknown)
    by_name = mitigation.Repair(sensitive="sex").fit(frame[[*NUMBERS, "sex"]])
    with pytest.raises(ValueError, match="yet now missing:\n- sex"):
        by_name.transform(frame[NUMBERS].assign(gender="F"))


def test_an_impossible_limit_names_the_closest_fix() -> None:
    found = tried(applicants(), limit=0.0, methods=["thresholds", "match"])
    assert found.best is None
    assert found.verdict in ("exceeds", "not_enough_evidence")
    assert "No fix is shown to meet the limit of 0 " in found.findings[0].message.text()
    assert "the closest is" in found.findings[0].message.text()


def test_a_fix_that_is_worse_than_one_answer_for_all_is_flagged_and_never_the_best() -> None:
    """Mean errors can be brought together by predictions that nobody would use."""
    rng = np.random.default_rng(0)
    frame = applicants(3000).drop(columns="proxy")
    man = (frame.sex == "M").to_numpy()
    frame["pay"] = 1000 * (frame.skill + 1.5 * man + rng.normal(size=3000))
    frame["hint"] = 0.15 * man + rng.normal(size=3000)
    pay = Dataset(frame, target="pay", protected="sex", features=["skill", "hint"])
    options: dict[str, Any] = {"goal": "mean_error_equality", "folds": 2, "methods": ["reduction"]}
    found = mitigate(pay, LinearRegression(), limit=1400.0, **options)
    table = found.table.set_index("method")
    constant = np.mean(np.abs(frame.pay - frame.pay.median()))
    assert table.loc["none", "mae"] < constant < table.loc["reduction", "mae"]
    assert table["beats_constant"].to_dict() == {"none": "yes", "reduction": "no"}
    assert table.loc["reduction", "gap"] < 1400.0 < table.loc["none", "gap"]
    assert (found.best, found.verdict) == (None, "exceeds")
    assert "and to be better than the same answer for everyone" in found.findings[0].message.text()
    note = next(note for note in found.notes if "none of them is offered as the best" in note.text())
    assert note.params["constant"] == pytest.approx(constant, rel=1e-3)
    assert "Prever a mediana para todos" in note.text("pt-BR")
    useful = mitigate(pay, LinearRegression(), limit=1e5, **options)
    assert useful.best == "none"


def test_decisions_that_are_right_less_often_than_one_answer_for_all() -> None:
    """Scores that tell the group and nothing else: matched, they keep the limit, and are right less often than a yes
    for everyone.
    """
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 4000, p=[0.3, 0.7])
    rate = np.where(sex == "F", 0.1, 0.8)
    frame = pd.DataFrame({"sex": sex, "score": rate + rng.uniform(-0.1, 0.1, 4000), "hired": rng.random(4000) < rate})
    data = Dataset(frame, target="hired", positive=True, protected="sex", score="score")
    options: dict[str, Any] = {"limit": 0.1, "methods": ["match"], "folds": 2, "attribute_at_decision": True}
    found = mitigate(data, **options)
    table = found.table.set_index("method")
    assert table.loc["match", "accuracy"] < np.mean(frame.hired) < table.loc["none", "accuracy"]
    assert table["beats_constant"].to_dict() == {"none": "yes", "match": "no"}
    assert table.loc["match", "verdict"] == "meets"
    assert (found.best, found.verdict) == (None, "exceeds")
    assert "choose the objective balanced accuracy" in " ".join(note.text() for note in found.notes)
    with pytest.raises(SpecError, match="No fix meets the goal"):
        found.save("fix.json")
    fair = frame.assign(hired=rng.random(4000) < 0.9, score=rng.random(4000))  # worse than a yes for everyone already
    chance = mitigate(data.replace(fair), **{**options, "limit": 0.01})
    assert set(chance.table["beats_constant"]) == {"yes"}


def test_findings_count_the_people_they_are_about() -> None:
    """A fix that meets: whose decisions change. One that does not: whom the gap still concerns. Lowered groups."""
    frame = applicants(2000)
    best = tried(frame, limit=0.2, methods=["thresholds"])
    found: Finding = best.findings[0]
    assert found.code == "mitigation.best"
    assert found.people is not None
    before = best.to_frame("changes").query("method == 'thresholds' and group == 'everyone'")
    assert found.people.value == before["changed"].item()
    trades = next(one for one in best.findings if one.code == "mitigation.trades")
    assert trades.people is not None
    assert trades.people.value == pytest.approx(-trades.estimate.value * trades.n)
    assert 0 < trades.people.low < trades.people.value < trades.people.high
    missed = tried(frame, limit=0.001, methods=["match"]).findings[0]
    assert missed.code == "mitigation.none_meets"
    assert missed.people.value == pytest.approx(missed.estimate.value * (frame.sex == "F").sum(), rel=0.2)
    pay = Dataset(frame.assign(pay=frame.skill + frame.proxy), target="pay", protected="sex", features=["skill"])
    numbers = mitigate(pay, LinearRegression(), limit=5.0, folds=2, methods=["match"], attribute_at_decision=True)
    assert all(one.people is not None and one.people.value is None for one in numbers.findings)


def test_calibration_of_scores_that_are_not_probabilities() -> None:
    score, y, sex = np.linspace(-3, 3, 200), np.arange(200) % 2, np.repeat(["F", "M"], 100)
    for method in ("logistic", "multicalibration"):
        with pytest.raises(DataError, match=r"needs probabilities in \[0, 1\]; got scores from -3 to 3"):
            mitigation.CalibrateByGroup(method=method).fit_scores(score, y, sensitive_features={"sex": sex})  # type: ignore[arg-type]
    fair = mitigation.CalibrateByGroup().fit_scores(score, y, sensitive_features={"sex": sex})
    assert set(fair.predict_scores(score, sensitive_features={"sex": sex})) <= {0, 1}


def test_an_error_that_rises_is_said_to_rise() -> None:
    """Less error is better: a group whose mean absolute error grows is the one that is worse off."""
    rng = np.random.default_rng(0)
    y, sex = rng.normal(size=2000), np.repeat(["F", "M"], 1000)
    was, now = y + rng.normal(scale=0.3, size=2000), y + rng.normal(scale=np.where(sex == "F", 0.9, 0.3))
    result = mitigation.before_after(y, was, now, sensitive_features={"sex": sex}, task="regression")
    found = next(one for one in result.findings if "absolute error" in one.message.text())
    assert found.code == "before_after.levels_down"
    assert found.message.text() == "Mean absolute error rises for women and falls for no group."
    assert found.who == {"sex": "F"}
    levelling = result.levelling.set_index("metric")
    assert levelling.loc["mae", "lowered"] == "sex=F"
    assert result.tables["price"]["accuracy_per_point"].title.text() == "error gained per point"
