"""Subgroups that a search found are the groups of fixes, also for people whom the search has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from isonomia import DataError, Dataset, NotApplicable, SpecError, mitigate
from isonomia.discovery import find_subgroups
from isonomia.mitigation import CalibrateByGroup, Reduce, Thresholds, subgroup_columns


def towns(n: int = 6000, seed: int = 0) -> pd.DataFrame:
    """Scores that know too little about old people in the north: many of them are refused although they would repay."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"town": rng.choice(["north", "south"], n), "age": rng.integers(20, 80, n), "skill": rng.normal(size=n)}
    )
    frame["sex"] = rng.choice(["F", "M"], n)
    hidden = (frame.town == "north") & (frame.age >= 60)
    frame["paid"] = (frame.skill + 1.5 * hidden + 0.5 * rng.normal(size=n) > 0.3).astype(int)
    frame["score"] = 1 / (1 + np.exp(-3 * (frame.skill - 0.3)))
    return frame


FEATURES = ["town", "age", "skill"]
ROLES: dict[str, Any] = {"target": "paid", "positive": 1, "protected": "sex", "features": FEATURES, "score": "score"}


def searched(frame: pd.DataFrame) -> Any:
    wrong = ((frame.score >= 0.5) != frame.paid).astype(float)
    return find_subgroups(frame[["town", "age"]], errors=wrong, k=2, method="sliceline")


def test_columns_of_other_people_follow_the_conditions_that_were_found() -> None:
    found = searched(towns())
    other = towns(2000, seed=1)
    columns = subgroup_columns(found, other, overlapping=True)
    age = found.features["age"]
    for name, one in zip(columns, found.subgroups, strict=True):
        expected = np.ones(len(other), dtype=bool)
        for feature, codes in one.conditions.items():
            if feature == "town":
                expected &= other.town.isin([found.features["town"].labels[code] for code in codes])
            else:
                inner = np.asarray(age.edges)[1:-1]
                expected &= np.isin(np.searchsorted(inner, other.age, side="right"), codes)
        assert (columns[name] == expected).all()
        assert expected.any()
    own = subgroup_columns(found, towns())["subgroup"]
    assert ((own != "others") == (found.mask(0) | found.mask(1))).all()


def test_thresholds_calibration_and_reduction_take_them() -> None:
    frame, later = towns(), towns(seed=1)
    found = searched(frame)
    groups, other = (subgroup_columns(found, one) for one in (frame, later))

    def gap(decided: Any, groups: Any) -> float:
        inside = groups["subgroup"] != "others"
        return abs(float(decided[inside].mean() - decided[~inside].mean()))

    fix = Thresholds(criterion="equal_opportunity", tol=0.02).fit_scores(
        frame.score, frame.paid, sensitive_features=groups
    )
    decided = fix.predict_scores(later.score, sensitive_features=other)
    before = (later.score >= 0.5).to_numpy()
    inside = other["subgroup"] != "others"
    assert (decided[inside] == later.paid[inside]).mean() > (before[inside] == later.paid[inside]).mean() + 0.1
    each, others = (subgroup_columns(found, one, overlapping=True) for one in (frame, later))
    calibrated = CalibrateByGroup(method="multicalibration").fit_scores(
        frame.score, frame.paid, sensitive_features=each
    )
    p = calibrated.transform_scores(later.score, sensitive_features=others)
    assert abs(p[inside].mean() - later.paid[inside].mean()) < 0.05
    assert abs(later.score[inside].mean() - later.paid[inside].mean()) > 0.2
    X = frame[["age", "skill"]].assign(north=frame.town == "north").astype(float)
    two = {"subgroup": groups["subgroup"] != "others"}
    fair = Reduce(LogisticRegression(max_iter=500), eps=0.05).fit(X, frame.paid, sensitive_features=two)
    assert fair.gap_ <= 0.05
    assert gap(fair.predict(X), groups) <= 0.05


def test_mitigate_searches_among_the_people_that_fixes_are_tuned_on() -> None:
    fixed = mitigate(
        Dataset(towns(), **ROLES),
        groups="found",
        goal="equal_opportunity",
        limit=0.25,
        methods=["thresholds"],
        attribute_at_decision=True,
        folds=2,
    )
    rows = {row["method"]: row for row in fixed.tables["methods"].rows()}
    assert rows["none"]["verdict"] == "exceeds"
    assert rows["thresholds"]["gap_change_high"] < -0.1
    assert fixed.found is not None
    assert "north" in str(fixed.tables["found"]["slice"].values[0])
    assert set(fixed.groups["group"].astype(str)) >= {"subgroup=found", "sex=F"}
    again = mitigate(
        Dataset(towns(seed=1), **ROLES),
        groups=fixed.found,
        goal="equal_opportunity",
        limit=0.25,
        methods=["thresholds"],
        attribute_at_decision=True,
        folds=2,
    )
    assert next(r for r in again.tables["methods"].rows() if r["method"] == "none")["gap"] > 0.3


def test_subgroups_are_found_for_an_estimator_that_is_trained() -> None:
    frame = towns().assign(north=lambda f: (f.town == "north").astype(int))
    data = Dataset(frame, target="paid", positive=1, protected="sex", features=["age", "skill", "north"])
    fixed = mitigate(
        data, LogisticRegression(), groups="found", methods=["thresholds"], attribute_at_decision=True, folds=2
    )
    assert fixed.found is not None
    assert set(fixed.groups["group"].astype(str)) >= {"subgroup=found", "sex=F"}


def test_where_errors_are_alike_everywhere_nothing_is_found() -> None:
    rng = np.random.default_rng(2)
    frame = towns(3000)
    frame["paid"] = rng.integers(0, 2, 3000)
    frame["score"] = rng.random(3000)
    with pytest.raises(NotApplicable, match="no subgroup with more errors was found"):
        mitigate(Dataset(frame, **ROLES), groups="found", methods=["thresholds"], attribute_at_decision=True, folds=2)


def test_bad_input_is_named() -> None:
    found = searched(towns())
    with pytest.raises(DataError, match="'town', which is not a column"):
        subgroup_columns(found, {"age": [30]})
    with pytest.raises(DataError, match="No value of 'town' is known"):
        subgroup_columns(found, {"age": [30], "town": ["east"]})
    with pytest.raises(SpecError, match="'protected', 'found' or a result"):
        mitigate(Dataset(towns(500), **ROLES), groups="foundd")  # type: ignore[arg-type]
