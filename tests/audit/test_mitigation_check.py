"""The check `mitigation`: fixes tried within an audit, and remedies that link to what they did."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import isonomia as iso
from isonomia.audit import CHECKS
from isonomia.evidence import FIXES, REMEDIES
from isonomia.mitigation import MITIGATIONS, Mitigated
from isonomia.report import content_hash, schema

FEATURES = ["skill", "proxy"]
CHECKS_RUN = ["group_fairness", "mitigation"]


def people(n: int = 3000, bonus: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """Hiring, pay and grades with a bonus for men, whom a column betrays."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"race": rng.choice(["a", "b"], n), "sex": rng.choice(["F", "M"], n)})
    frame["skill"] = rng.normal(size=n)
    frame["proxy"] = (frame.sex == "M") + rng.normal(scale=0.4, size=n)
    merit = frame.skill + bonus * (frame.sex == "M") + rng.normal(size=n)
    grade = np.array(["low", "middle", "high"])[np.digitize(merit, [0.0, 1.0])]
    return frame.assign(hired=np.where(merit > 0.5, "yes", "no"), pay=merit, grade=grade)


def data(frame: pd.DataFrame, target: str = "hired", **roles: Any) -> iso.Dataset:
    if target == "hired":
        roles["positive"] = "yes"
    return iso.Dataset(frame, target=target, protected=["race", "sex"], features=FEATURES, **roles)


def audited(target: str, model: Any, frame: pd.DataFrame | None = None, **options: Any) -> iso.Report:
    frame = people() if frame is None else frame
    fitted = model.fit(frame[FEATURES], frame[target])
    policy = options.pop("policy", None)
    return iso.audit(
        data(frame, target),
        fitted,
        checks=CHECKS_RUN,
        policy=policy,
        options={"mitigation": options} if options else None,
    )


@pytest.fixture(scope="module")
def hired() -> iso.Report:
    return audited("hired", LogisticRegression(), policy="eeoc", attribute_at_decision=True)


def test_predictions_are_fixed_for_the_rules_of_the_policy(hired: iso.Report) -> None:
    result = hired["mitigation"]
    assert isinstance(result, Mitigated)
    assert result.verdict == "meets"
    assert result.best in ("thresholds", "level_up", "match", "reject_option")
    table = result.table.set_index("method")
    assert table.loc["none", "criterion"] == "disparate_impact"
    assert table.loc["none", "verdict"] == "exceeds"
    assert table.loc["reweighing", "verdict"] == "not_tried"
    assert result.values["attributes"] == "sex"  # what breaks the policy worst, not the first
    assert {finding.severity for finding in hired.document["mitigation"].findings} == {"notice"}
    assert hired.document["mitigation"].outcome == "issue"


def test_findings_count_the_people_they_are_about(hired: iso.Report) -> None:
    """A fix that meets: whose decisions it changes. None that does: whom the gap still concerns. People are rows."""
    met = audited("hired", LogisticRegression(), limit=0.15, goal="demographic_parity", attribute_at_decision=True)
    best, result = next(one for one in met.findings if one.code == "mitigation.best"), met["mitigation"]
    assert isinstance(result, Mitigated)
    changes = result.to_frame("changes")
    changed = changes[(changes["method"] == result.best) & (changes["group"] == "everyone")]["changed"].item()
    assert best.people is not None
    assert best.people.value == changed > 0
    none = audited("hired", LogisticRegression(), limit=0.001, goal="demographic_parity", methods=["reweighing"])
    missed = next(one for one in none.findings if one.code == "mitigation.none_meets")
    assert missed.people is not None
    groups = none["mitigation"].to_frame("groups").query("method == 'reweighing' and metric == 'selection_rate'")  # type: ignore[union-attr]
    by_sex = groups[groups["by"] == "sex"]
    behind = by_sex.loc[by_sex["after"].idxmin()]
    assert missed.people.value == pytest.approx((by_sex["after"].max() - behind["after"]) * behind["n"])
    assert missed.people.low <= missed.people.value <= missed.people.high
    weighted = people().assign(weight=3.0)
    model = LogisticRegression().fit(weighted[FEATURES], weighted.hired)
    triple = iso.audit(
        data(weighted, weight="weight"),
        model,
        checks=["mitigation"],
        options={"mitigation": {"limit": 0.15, "goal": "demographic_parity", "attribute_at_decision": True}},
    )
    found = next(one for one in triple.findings if one.code == "mitigation.best")
    assert found.people is not None
    assert found.people.value == pytest.approx(changed)
    lowered = [one for one in (*met.findings, *none.findings) if one.code == "mitigation.levels_down"]
    for one in lowered:
        assert one.people is not None
        assert one.people.value == pytest.approx(-one.estimate.value * one.n)  # type: ignore[union-attr]
    assert lowered
    own = [one for one in hired.findings if one.code.startswith("mitigation.")]
    assert own
    assert all(one.people is not None for one in own)


def test_every_remedy_with_a_fix_says_what_it_did(hired: iso.Report) -> None:
    result = hired["mitigation"]
    assert isinstance(result, Mitigated)
    gaps = result.to_frame("criteria").set_index(["method", "by", "criterion"])
    found = [one for one in hired.findings if one.code == "group_fairness.selection_rate" and set(one.who) == {"sex"}]
    (finding,) = found
    assert finding.tried is not None
    assert finding.tried.method == result.best
    row = gaps.loc[(result.best, "sex", "demographic_parity")]
    points = (100 * row.before, 100 * row.after)
    before, after = (f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in points)
    assert f"falls from {before} to {after} points" in finding.tried.message.text()
    assert "accuracy" in finding.tried.message.text()
    assert finding.tried.message.text("pt-BR").startswith("Testado: ")
    for other in hired.findings:
        assert (other.tried is not None) == (other.remedy in FIXES), other.code


def test_a_fix_that_leaves_a_gap_as_wide_is_not_offered_as_a_remedy(hired: iso.Report) -> None:
    result = hired["mitigation"]
    assert isinstance(result, Mitigated)
    gaps = result.to_frame("criteria").set_index(["method", "by", "criterion"])
    outcomes = set()
    for method in ("thresholds", "level_up", "match", "reject_option"):
        for by in ("race", "sex"):
            row = gaps.loc[(method, by, "demographic_parity")]
            tried = result.effect([method], metric="selection_rate", by=[by])
            assert tried is not None
            helps = row.after < row.before and not np.isclose(row.after, row.before)
            start = (
                f"Tried: {MITIGATIONS[method].title}. The gap" if helps else "None of the fixes tried narrows this gap"
            )
            assert tried.message.text().startswith(start), (method, by, row.before, row.after)
            outcomes.add(helps)
    assert outcomes == {True, False}


def test_remedies_link_to_it_in_html_markdown_and_json(hired: iso.Report) -> None:
    tried = next(finding.tried for finding in hired.findings if finding.tried)
    page = hired.to_html()
    assert tried.message.text() in page
    assert 'href="#table-mitigation-methods"' in page
    assert 'id="table-mitigation-methods"' in page
    portuguese = hired.to_html("pt-BR")
    assert "Ver o que foi testado" in portuguese
    assert tried.message.text("pt-BR") in portuguese
    fragment = hired.to_html(page=False)
    assert tried.message.text() in fragment
    assert "Show what was tried" not in fragment  # a fragment has no links
    assert tried.message.text() in hired.to_markdown()
    record = json.loads(json.dumps(hired.to_dict()))
    linked = [finding["tried"] for finding in record["findings"] if finding["tried"]]
    assert linked[0]["evidence"] == "mitigation/methods"
    assert linked[0]["method"] in MITIGATIONS
    import jsonschema

    jsonschema.validate(record, schema())
    again = iso.Report.from_dict(record)
    assert [finding.tried for finding in again.findings] == [finding.tried for finding in hired.findings]
    for finding in record["findings"]:
        del finding["tried"]
    record["sha256"] = content_hash(record)
    assert all(finding.tried is None for finding in iso.Report.from_dict(record).findings)


def test_the_page_has_its_pictures(hired: iso.Report) -> None:
    kinds = [picture.kind for picture in hired["mitigation"].pictures]
    assert kinds == ["front", "forest", "slopes", "flows", "forest"]
    drawn = hired["mitigation"].to_html(page=False)
    assert drawn.count("<svg ") == 2 * len(kinds)


def test_without_permission_the_model_is_trained_again() -> None:
    report = audited("hired", LogisticRegression(), policy="eeoc")
    result = report["mitigation"]
    assert isinstance(result, Mitigated)
    # none reads the attribute when it decides; a linear model is trained quickly
    assert set(result.decisions) == {"reweighing", "sampling", "massaging", "minimax", "reduction"}
    assert (result.table["reads_attribute"] == "no").all()
    assert "trained again on parts of the audited rows" in " ".join(note.text() for note in result.notes)
    table = result.table.set_index("method")
    assert table.loc["reweighing", "gap"] > table.loc["none", "gap"] + 0.1  # a ratio: larger is better


def test_what_is_tried_follows_from_the_trainings_that_it_takes() -> None:
    forest = RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0)
    few = audited("hired", forest, max_fits=4)["mitigation"]
    more = audited("hired", forest)["mitigation"]
    most = audited("hired", forest, max_fits=60)["mitigation"]
    found = [set(result.decisions) for result in (few, more, most) if isinstance(result, Mitigated)]
    assert found == [
        {"reweighing", "sampling"},
        {"reweighing", "sampling", "massaging"},
        {"reweighing", "sampling", "massaging", "minimax"},
    ]


def test_a_gap_of_precision_names_what_was_tried() -> None:
    """Favourable decisions about one group are right less often: the finding's remedy has a fix that was tried."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 4000)
    merit = rng.random(4000)
    hired = np.where(rng.random(4000) < np.where(sex == "F", 0.55 * merit, merit), "yes", "no")
    frame = pd.DataFrame({"sex": sex, "merit": merit, "hired": hired})
    model = LogisticRegression().fit(frame[["merit"]], frame["hired"])
    report = iso.audit(
        iso.Dataset(frame, target="hired", positive="yes", protected="sex", features=["merit"]),
        iso.Model.of(model),
        checks=["group_fairness", "mitigation"],
    )
    precision = [one for one in report.findings if one.code == "group_fairness.ppv"]
    assert precision
    assert all(one.remedy == "compare_precision" for one in precision)
    assert precision[0].tried is not None
    assert "Predictive parity by sex" in precision[0].tried.message.text()


def test_training_rows_are_what_fixes_are_fitted_on() -> None:
    frame = people(4000)
    train, test = frame.iloc[:2000], frame.iloc[2000:].reset_index(drop=True)
    model = LogisticRegression().fit(train[FEATURES], train.hired)
    options = {"train": data(train), "methods": ["reweighing"], "max_rows": 1500}
    report = iso.audit(data(test), model, checks=["mitigation"], options={"mitigation": options})
    result = report["mitigation"]
    assert isinstance(result, Mitigated)
    assert len(result.decisions["reweighing"]) == 1500
    notes = " ".join(note.text() for note in result.notes)
    assert "trained again on the training rows" in notes
    assert "1,500 of 2,000 rows were sampled." in notes


def test_several_classes_and_numbers() -> None:
    grade = audited("grade", LogisticRegression(), methods=["reweighing", "thresholds"], attribute_at_decision=True)
    result = grade["mitigation"]
    assert isinstance(result, Mitigated)
    assert set(result.decisions) == {"reweighing", "thresholds"}
    assert any(finding.tried for finding in grade.findings)
    pay = audited("pay", LinearRegression(), attribute_at_decision=True)
    numbers = pay["mitigation"]
    assert isinstance(numbers, Mitigated)
    assert set(numbers.decisions) == {"calibrate", "match"}
    assert "0.20 standard deviations of the true outcomes" in " ".join(note.text() for note in numbers.notes)
    linked = [finding.tried for finding in pay.findings if finding.tried]
    assert linked
    for tried in linked:
        text = tried.message.text()
        assert "mean absolute error changes by" in text or text.startswith("None of the fixes tried narrows"), text


def test_nothing_is_found_on_fair_data() -> None:
    frame = people(3000, bonus=0.0)
    report = audited("hired", LogisticRegression(), frame, attribute_at_decision=True, limit=0.2)
    section = report.document["mitigation"]
    assert section.outcome == "passed"
    result = section.result
    assert isinstance(result, Mitigated)
    assert result.best == "none"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            {},
            "no fix could be tried: trains a model, and only its predictions are given; reads the protected",
        ),
        ({"attribute_at_decision": True}, "needs scores, and there are decisions only"),
        ({"methods": ["adversarial"]}, "trains a model, and only its predictions are given"),
    ],
)
def test_not_applicable_with_a_reason(given: dict[str, Any], reason: str) -> None:
    frame = people(600).assign(said=lambda frame: np.where(frame.skill > 0, "yes", "no"))
    report = iso.audit(data(frame, prediction="said"), checks=["mitigation"], options={"mitigation": given})
    section = report.document["mitigation"]
    assert section.outcome == "not_applicable"
    assert reason in str(section.reason)


def test_not_applicable_without_outcomes_attributes_or_an_estimator() -> None:
    frame = people(600)
    model = LogisticRegression().fit(frame[FEATURES], frame.hired)

    def reason(dataset: iso.Dataset, model: Any, **options: Any) -> str:
        section = iso.audit(dataset, model, checks=["mitigation"], options={"mitigation": options}).document[
            "mitigation"
        ]
        assert section.outcome == "not_applicable"
        return str(section.reason)

    blind = iso.Dataset(frame, target="hired", positive="yes", features=FEATURES)
    assert "no protected attribute" in reason(blind, model)
    unknown = iso.Dataset(frame[[*FEATURES, "sex"]], protected=["sex"], features=FEATURES)
    assert "no target" in reason(unknown, iso.Model.of(model, positive="yes"))
    function = iso.Model.of(lambda rows: model.predict_proba(rows)[:, 1], classes=["no", "yes"], features=FEATURES)
    assert "not a scikit-learn estimator" in reason(data(frame), function, methods=["reweighing"])
    frame.loc[0, ["race", "sex"]] = "X"
    assert "fewer than 2 rows" in reason(data(frame), model)


def test_an_audit_of_a_model_does_not_change_with_the_seconds_it_takes() -> None:
    defaults = {one.name: one.default for one in CHECKS["mitigation"].parameters}
    assert defaults["max_seconds"] is None  # its budget is rows and parts, so that the same spec gives the same report
    assert defaults["max_rows"] == 5000


def test_fixes_of_remedies_are_registered() -> None:
    assert set(FIXES) <= set(REMEDIES)
    for methods in FIXES.values():
        assert set(methods) <= set(MITIGATIONS.ids())


class Stubborn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Can be fitted on many rows only."""

    def fit(self, X: Any, y: Any) -> Stubborn:
        if len(X) < 400:
            raise ValueError("too few rows for me")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(np.asarray(X["x"], dtype=float) > 0).astype(int)]


def test_a_model_that_cannot_be_trained_again_does_not_end_the_audit() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": rng.choice(["F", "M"], 400)})
    frame["y"] = (frame.x + (frame.sex == "M") + rng.normal(size=400) > 0).astype(int)
    model = Stubborn().fit(frame[["x", "sex"]], frame.y)
    report = iso.audit(iso.Dataset(frame, target="y", protected=["sex"]), model, checks=["mitigation"])
    (section,) = report.document.sections
    assert section.outcome == "failed"
    assert "Training Stubborn on 200 people failed. ValueError: too few rows for me" in str(section.reason)
