"""What helps: fixes judged on people they have not seen, refusals with reasons, no help where there is no bias."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import isonomia as iso
from isonomia import Cancelled, DataError, Dataset, SpecError, mitigate, mitigation
from isonomia.mitigation import MITIGATIONS
from isonomia.mitigation.judging.goals import read_goals


def applicants(n: int = 3000, seed: int = 0, bias: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b"], n)
    skill, age = rng.normal(size=n), rng.normal(40, 8, n)
    hired = np.where(skill + bias * (sex == "M") + rng.normal(size=n) > 0.5, "yes", "no")
    sexed = (sex == "M") * 1.0
    return pd.DataFrame({"sex": sex, "race": race, "skill": skill, "age": age, "man": sexed, "hired": hired})


ROLES: dict[str, Any] = {"target": "hired", "positive": "yes", "protected": ["sex", "race"]}
NUMBERS = ["skill", "age", "man"]


def data(frame: pd.DataFrame, **roles: Any) -> Dataset:
    return Dataset(frame, **{**ROLES, "features": NUMBERS, **roles})


def test_a_fix_that_helps_is_found_and_saved(tmp_path: Path) -> None:
    frame = applicants()
    found = mitigate(
        data(frame),
        LogisticRegression(),
        limit=0.15,
        attribute_at_decision=True,
        folds=3,
        methods=["thresholds", "match"],
    )
    table = found.table.set_index("method")
    assert table.loc["none", "verdict"] == "exceeds"
    assert found.best in ("thresholds", "match")
    assert found.verdict == "meets"
    (said,) = (row for row in found.tables["outcomes"].rows() if row["method"] == found.best)
    assert (said["outcome"], said["by"]) == ("meets", "sex")
    assert said["value"] == pytest.approx(table.loc[found.best, "gap"])
    assert table.loc["thresholds", "reads_attribute"] == "yes"
    assert set(found.groups["group"].astype(str)) >= {"sex=F", "race=a", "sex=F, race=a", "everyone"}
    assert found.findings[0].code == "mitigation.best"
    rows = frame[NUMBERS]
    best = found.fitted[found.best]
    said = best.predict(rows, sensitive_features=frame["sex"])
    assert abs(np.mean(said[frame.sex == "F"] == "yes") - np.mean(said[frame.sex == "M"] == "yes")) < 0.15
    assert mitigation.load(found.save(tmp_path / "fix.json")) == best.fix_
    again = mitigation.load(found.save(tmp_path / "fix.skops"))
    assert (again.predict(rows, sensitive_features=frame["sex"]) == said).all()
    assert "What helps" in found.to_html()
    assert found.subgroups is not None


def test_what_is_not_allowed_is_listed_with_the_reason() -> None:
    found = mitigate(data(applicants(200)), LogisticRegression(max_iter=1000), folds=2)
    table = found.table.set_index("method")
    assert set(table.index) == {"none", *MITIGATIONS.ids()}
    assert "reads the protected attribute" in str(table.loc["thresholds", "note"])
    assert table.loc["thresholds", "verdict"] == "not_tried"
    tried = table[table.verdict != "not_tried"]
    assert (tried["reads_attribute"] == "no").all()
    assert (tried["share_by_chance"] == 0).all()
    blind = mitigate(data(applicants(800)), KNeighborsClassifier(), folds=2, methods=["reweighing"])
    assert "sample weights" in str(blind.table.set_index("method").loc["reweighing", "note"])


def test_every_person_is_judged_by_a_fix_that_has_not_seen_them() -> None:
    """A fix of shuffled labels must not gain on held-out people what it gains on its own."""
    frame = applicants(1200, bias=0.0)
    rng = np.random.default_rng(3)
    frame["hired"] = rng.permutation(frame["hired"].to_numpy())
    scores = frame.assign(score=rng.random(1200))
    found = mitigate(
        Dataset(scores, **{**ROLES, "features": NUMBERS}, score="score"),
        goal="equal_opportunity",
        attribute_at_decision=True,
        methods=["thresholds"],
        folds=4,
    )
    row = found.table.set_index("method").loc["thresholds"]
    assert row["accuracy"] < max((frame.hired == "no").mean(), 0.5) + 0.03


def test_models_predictions_and_test_people() -> None:
    frame = applicants()
    train, test = frame[:2000], frame[2000:]
    model = LogisticRegression().fit(train[NUMBERS], train["hired"])
    options: dict[str, Any] = {"attribute_at_decision": True, "limit": 0.2, "methods": ["thresholds"]}
    by_model = mitigate(data(train), model=iso.Model.of(model), test=data(test), **options)
    assert len(by_model.decisions["thresholds"]) == 1000
    assert by_model.table.set_index("method").loc["thresholds", "verdict"] in (
        "meets",
        "exceeds",
        "not_enough_evidence",
    )
    every = mitigate(data(train), model=iso.Model.of(model), attribute_at_decision=True, folds=2)
    note = every.table.set_index("method").loc["reweighing", "note"]
    assert "only its predictions" in str(note)
    only = frame.assign(said=model.predict(frame[NUMBERS]))
    decided = mitigate(Dataset(only, **ROLES, features=NUMBERS, prediction="said"), folds=2, attribute_at_decision=True)
    assert "decisions only" in str(decided.table.set_index("method").loc["thresholds", "note"])
    assert decided.best is None


def test_policies_goals_and_limits_that_nothing_meets() -> None:
    frame = applicants(1500)
    ruled = mitigate(
        data(frame), LogisticRegression(), policy="eeoc", folds=2, methods=["thresholds"], attribute_at_decision=True
    )
    assert ruled.table["criterion"].iloc[0] == "disparate_impact"
    hard = mitigate(
        data(frame), LogisticRegression(), limit=0.0, folds=2, methods=["match"], attribute_at_decision=True
    )
    assert hard.best is None
    assert "No fix is shown to meet the limit" in hard.findings[0].message.text()
    assert "the closest is Matching distributions" in hard.findings[0].message.text()
    with pytest.raises(SpecError, match="none is the best"):
        hard.save("fix.json")
    with pytest.raises(SpecError, match="Did you mean 'equalized_odds'"):
        mitigate(data(frame), goal="equalised_odds")
    with pytest.raises(SpecError, match="Unknown policy"):
        mitigate(data(frame), policy="eeocc")


def test_regression_and_several_classes() -> None:
    frame = applicants(1500)
    frame["pay"] = frame.skill + (frame.sex == "M") + np.random.default_rng(0).normal(size=1500)
    numbers = mitigate(
        Dataset(frame, target="pay", protected="sex", features=NUMBERS),
        LinearRegression(),
        limit=0.3,
        attribute_at_decision=True,
        folds=3,
        methods=["match", "reweighing"],
    )
    assert numbers.best == "match"
    frame["grade"] = np.digitize(frame["pay"], [-0.3, 1.0])
    classes = mitigate(
        Dataset(frame, target="grade", protected="sex", features=["skill", "man"], task="multiclass"),
        LogisticRegression(max_iter=1000),
        limit=0.25,
        attribute_at_decision=True,
        folds=3,
        methods=["thresholds"],
    )
    row = classes.table.set_index("method")
    assert row.loc["thresholds", "gap"] < row.loc["none", "gap"]


def test_changes_of_features_stand_in_front_of_the_estimator(tmp_path: Path) -> None:
    frame = applicants(1500)
    found = mitigate(
        data(frame, features=["skill", "age"]),
        LogisticRegression(max_iter=1000),
        attribute_at_decision=True,
        folds=2,
        methods=["repair", "decorrelate"],
    )
    assert set(found.decisions) == {"repair", "decorrelate"}
    rows, sex = frame[["skill", "age"]], frame[["sex"]]
    again = mitigation.load(found.save(tmp_path / "fix.skops", "decorrelate"))
    said = again.predict(rows, sensitive_features=sex)
    assert (said == found.fitted["decorrelate"].predict(rows, sensitive_features=sex)).all()
    assert set(said) == {"yes", "no"}


def test_bad_input_time_and_cancelling() -> None:
    frame = applicants(600)
    rare = frame.assign(sex=np.where(np.arange(600) < 2, "X", frame.sex))
    with pytest.raises(DataError, match="The group X has 2 rows: it would be absent from one of 5 parts"):
        mitigate(data(rare), LogisticRegression())
    with pytest.raises(SpecError, match="true outcomes"):
        mitigate(Dataset(frame.drop(columns="hired"), protected="sex"), LogisticRegression())
    with pytest.raises(SpecError, match="not both"):
        mitigate(data(frame), LogisticRegression(), model=LogisticRegression())
    with pytest.raises(SpecError, match="must name protected attributes"):
        mitigate(data(frame), LogisticRegression(), attributes="age")
    late = mitigate(data(frame), LogisticRegression(), folds=2, max_seconds=1e-9, attribute_at_decision=True)
    assert (late.table[late.table.method != "none"].verdict == "not_tried").all()
    events: list[Any] = []
    mitigate(data(frame), LogisticRegression(), folds=2, methods=["reweighing"], progress=events.append)
    assert events[-1].path == ("mitigate",)
    assert events[-1].done == events[-1].total == 1
    progress = iso.Progress(lambda event: progress.cancel())
    with pytest.raises(Cancelled):
        mitigate(data(frame), LogisticRegression(), folds=2, progress=progress)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [", "cannot be read as YAML"),
        ("{id: p, title: P, rules: 3}", "`rules` must be a list; got 3"),
        (
            "{id: p, title: P, rules: [{name: r, metric: selection_rate, measure: ratio, at_least: high}]}",
            "`rules.0.at_least` .* got 'high'",
        ),
        ("{id: p, title: P, rules: [{name: r, metric: mae, measure: value, at_most: 1}]}", "No rule of the policy"),
    ],
)
def test_bad_policies_are_clear_errors(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=message):
        read_goals("demographic_parity", None, tmp_path / "policy.yaml", "binary", known=["sex"], spread=1.0)


def test_rules_that_fixes_are_not_judged_by_are_named() -> None:
    """Rules about checks; one about everyone is judged, though no fix can be tuned for it."""
    rules = [
        {"name": "parity", "metric": "selection_rate", "measure": "difference", "at_most": 0.1},
        {"name": "good enough", "metric": "accuracy", "measure": "value", "at_least": 0.7},
        {"name": "calm", "kind": "findings", "severity": "critical"},
    ]
    policy = {"id": "own", "title": "Own", "rules": rules}
    goals, ignored = read_goals("disparate_impact", None, policy, "binary", known=["sex"], spread=1.0)
    assert [(goal.criterion, goal.limit) for goal in goals] == [("demographic_parity", 0.1)]
    assert [rule.name for rule in ignored] == ["calm"]


def test_chance_that_is_allowed_takes_nothing_away() -> None:
    """A mixture cannot keep a ratio of rates: single thresholds are tried as without chance."""
    options: dict[str, Any] = {"goal": "disparate_impact", "folds": 2, "methods": ["thresholds"]}
    drawn, single = (
        mitigate(data(applicants(1000)), LogisticRegression(), attribute_at_decision=True, randomised=chance, **options)
        for chance in (True, False)
    )
    assert drawn.decisions["thresholds"].tolist() == single.decisions["thresholds"].tolist()
    assert drawn.table.set_index("method").loc["thresholds", "share_by_chance"] == 0


def test_what_a_method_is_tuned_for_is_in_the_table() -> None:
    """A criterion that stands in for the goal is named; a method that knows neither is not tried."""
    frame = applicants(1500)
    opportunity = mitigate(
        data(frame),
        LogisticRegression(),
        goal="equal_opportunity",
        folds=2,
        methods=["reweighing", "sampling", "thresholds"],
        attribute_at_decision=True,
    ).table.set_index("method")
    assert opportunity.loc["reweighing", "aim"] == "equalized_odds"
    assert opportunity.loc["thresholds", "aim"] == "equal_opportunity"
    assert opportunity["aim"].isna().to_dict() == {
        "none": True,
        "sampling": True,
        "reweighing": False,
        "thresholds": False,
    }
    parity = mitigate(
        data(frame), LogisticRegression(), goal="predictive_parity", folds=2, methods=["reweighing", "sampling"]
    ).table.set_index("method")
    assert parity.loc["reweighing", "verdict"] == "not_tried"
    assert "cannot be tuned for Predictive parity" in str(parity.loc["reweighing", "note"])
    assert parity.loc["sampling", "verdict"] != "not_tried"


def test_a_group_of_one_row_is_named_in_the_singular() -> None:
    frame = applicants(300)
    frame.loc[frame.index[0], "sex"] = "X"
    with pytest.raises(DataError, match="The group X has 1 row: it would be absent"):
        mitigate(data(frame), LogisticRegression(), folds=2)


def rule(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "metric": "selection_rate", "measure": "difference", "at_most": 0.2, **more}


def test_rules_are_about_their_attributes_and_groups() -> None:
    """A rule of race leaves sex alone; one without attributes is about every attribute, whichever is fixed."""
    frame = applicants(2400)
    policy = {"id": "own", "title": "Own", "rules": [rule("of race", attributes=["race"]), rule("of all")]}
    options: dict[str, Any] = {"policy": policy, "folds": 2, "methods": ["thresholds"], "attribute_at_decision": True}
    race = mitigate(data(frame), LogisticRegression(), **options)
    assert (race.best, race.values["attributes"]) == ("thresholds", "sex"), "what breaks the policy worst is fixed"
    sex = mitigate(data(frame), LogisticRegression(), attributes="sex", **options)
    assert sex.table.set_index("method").loc["none", "gap"] > 0.2
    assert sex.judged is not None
    asked = [(one.judgement.rule.attributes, one.judgement.by) for one in sex.judged.each["none"]]
    assert sorted(asked) == [((), ("race",)), ((), ("sex",)), (("race",), ("race",))]
    both = mitigate(data(frame), LogisticRegression(), attributes=["sex", "race"], **options)
    assert both.judged is not None
    of_all = both.judged.of["none"]
    assert both.judged.comparison.gaps.keys[both.judged.figures["none"]] == ("demographic_parity", ("sex",))
    assert not of_all.covers(("sex", "race")), "by: each"
    with pytest.raises(SpecError, match="No rule of the policy is about 'sex'"):
        mitigate(
            data(frame),
            LogisticRegression(),
            attributes="sex",
            policy={"id": "own", "title": "Own", "rules": [rule("of race", attributes=["race"])]},
            folds=2,
            methods=["thresholds"],
            attribute_at_decision=True,
        )
    of_all_pairs = {"id": "own", "title": "Own", "rules": [rule("of all", by="all")]}
    goals, _ = read_goals("demographic_parity", None, of_all_pairs, "binary", known=["sex", "race"], spread=1.0)
    assert goals[0].covers(("sex", "race"))


def test_nothing_meets_a_rule_of_an_attribute_that_is_not_protected() -> None:
    options: dict[str, Any] = {"folds": 2, "methods": ["thresholds"], "attribute_at_decision": True}
    for names, outcome in ((["sex"], "meets"), (["sex", "age"], "not_enough_evidence")):
        policy = {"id": "own", "title": "Own", "rules": [rule("of sex", attributes=names, at_most=0.9)]}
        found = mitigate(data(applicants(2400)), LogisticRegression(), policy=policy, **options)
        assert found.verdict == outcome
    assert "age is not a protected attribute of the data (sex, race)" in " ".join(map(str, found.notes))
    policy = {"id": "own", "title": "Own", "rules": [rule("of rase", attributes=["rase"]), rule("of all")]}
    with pytest.raises(SpecError, match="Did you mean 'race'"):
        mitigate(data(applicants(2400)), LogisticRegression(), policy=policy, **options)


def test_groups_below_the_share_of_a_rule_are_named_and_do_not_block() -> None:
    frame = applicants(3000)
    frame.loc[:39, "race"] = "c"
    frame.loc[:39, "hired"] = "no"
    frame.loc[:39, "skill"] = -5.0
    options: dict[str, Any] = {
        "attributes": "race",
        "folds": 2,
        "methods": ["thresholds"],
        "attribute_at_decision": True,
    }
    every = mitigate(
        data(frame),
        LogisticRegression(),
        policy={"id": "own", "title": "Own", "rules": [rule("all", attributes=["race"])]},
        **options,
    ).table.set_index("method")
    large = mitigate(
        data(frame),
        LogisticRegression(),
        policy={"id": "own", "title": "Own", "rules": [rule("large", min_share=0.02, attributes=["race"])]},
        **options,
    )
    table = large.table.set_index("method")
    assert every.loc["none", "gap"] > 0.3
    assert every.loc["none", "verdict"] == "exceeds"
    assert table.loc["none", "gap"] < 0.1, "40 of 3,000 people are not compared"
    assert table.loc["none", "gap_high"] < 0.2
    assert table.loc["none", "verdict"] == "meets"
    assert large.best == "none"
    assert "Left out below 2.0% of the people: people with race c (40)." in [note.text() for note in large.notes]
    shown = large.to_frame("criteria")
    assert len(shown.drop_duplicates(["method", "by", "criterion"])) == len(shown), "one row per criterion"


def test_standard_deviations_of_a_rule_are_numbers_of_the_outcome() -> None:
    gap = {"name": "mean", "metric": "mean_prediction", "measure": "difference", "at_most": 0.1, "unit": "sd"}
    goals, _ = read_goals(
        "demographic_parity",
        None,
        {"id": "own", "title": "Own", "rules": [gap]},
        "regression",
        known=["sex"],
        spread=12.0,
    )
    assert goals[0].limit == pytest.approx(1.2)
    assert goals[0].deviations == 0.1


def test_without_a_limit_a_gap_of_numbers_may_be_a_fifth_of_their_standard_deviation() -> None:
    """A limit of 0.05 would mean 5 cents of a salary."""
    salary = 50_000 + 20_000 * np.random.default_rng(0).normal(size=400)
    frame = {"sex": np.tile(["F", "M"], 200), "salary": salary, "predicted": salary}
    found = mitigate(frame, target="salary", protected="sex", prediction="predicted", attribute_at_decision=True)
    assert "The limit of demographic parity is 0.20 standard deviations of the true outcomes." in [
        note.text() for note in found.notes
    ]
    (goal,), _ = read_goals("demographic_parity", None, None, "regression", known=["sex"], spread=salary.std())
    assert goal.limit == pytest.approx(0.2 * salary.std())
    (ratio,), _ = read_goals("error_ratio", None, None, "regression", known=["sex"], spread=salary.std())
    assert (ratio.limit, ratio.deviations) == (0.8, None)


def test_a_target_of_one_value_is_refused_before_training() -> None:
    frame = {"sex": ["F", "M"] * 50, "x": list(range(100)), "y": [1] * 100}
    with pytest.raises(iso.DataError, match="'y' has only one value: there is nothing to train a model on"):
        iso.mitigate(frame, LogisticRegression(), target="y", protected=["sex"])
