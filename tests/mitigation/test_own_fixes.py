"""Fixes of a user's own: classes, estimators with options, and entries, tried and judged beside the registered ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

import isonomia as iso
from isonomia.cli.app import app
from isonomia.mitigation import MITIGATIONS, Thresholds, own_fix

N = 3000
OPTIONS: dict[str, Any] = {"target": "hired", "positive": "yes", "protected": "sex", "limit": 0.1}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Men are hired more often at the same skill: 34 points more."""
    rng = np.random.default_rng(0)
    sex, skill = rng.choice(["F", "M"], N), rng.normal(size=N)
    hired = np.where(skill + (sex == "M") + rng.normal(size=N) > 0.5, "yes", "no")
    return pd.DataFrame({"sex": sex, "skill": skill, "job": rng.choice(list("abc"), N), "hired": hired})


class Blind(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The model, but everyone counts as a man: what is left of the gap is the gap in skill, which is none."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sensitive_features: Any) -> Blind:
        assert set(sensitive_features) == {"sex"}
        assert set(np.unique(y)) in ({0, 1}, {"no", "yes"})
        self.model_ = self.estimator.fit(X.assign(sex="M"), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X.assign(sex="M"))


class Knowing(Blind):
    """As `Blind`, but it asks for the protected attribute when it decides."""

    def predict(self, X: Any, sensitive_features: Any = None) -> Any:
        assert len(sensitive_features["sex"]) == len(X)
        return super().predict(X)


class Failing(Blind):
    def fit(self, X: Any, y: Any) -> Blind:
        raise KeyError("no such column")


def table(found: Any) -> pd.DataFrame:
    return pd.DataFrame(found.table).set_index("method")


def test_a_class_is_tried_and_judged_beside_a_registered_one(people: pd.DataFrame) -> None:
    found = iso.mitigate(people, methods=["reweighing", Blind], **OPTIONS)
    rows = table(found)
    assert rows.loc["Blind", "verdict"] == "meets"
    assert abs(rows.loc["Blind", "gap"]) < 0.06 < rows.loc["none", "gap"]
    assert found.best == "Blind"
    assert set(found.fitted["Blind"].predict(people.head(50))) == {"no", "yes"}


def test_estimators_with_options_keep_them(people: pd.DataFrame) -> None:
    """A tolerance of 30 points is not tightened to the goal of 10; a plain classifier stands in the model's place."""
    wide, balanced = Thresholds(tol=0.3), LogisticRegression(class_weight="balanced")
    found = iso.mitigate(people, methods=["thresholds", wide, balanced], attribute_at_decision=True, **OPTIONS)
    rows = table(found)
    assert rows.loc["thresholds", "gap"] < 0.1
    assert rows.loc["Thresholds", "gap"] == pytest.approx(0.3, abs=0.03)
    assert rows.loc["LogisticRegression", "stage"] == "in"
    assert table(iso.mitigate(people, methods=wide, **OPTIONS)).loc["Thresholds", "note"].startswith("reads the prot")


def test_an_entry_is_known_by_its_name_once_it_is_added(people: pd.DataFrame) -> None:
    entry = own_fix(Blind(), "everyone_a_man", title="Everyone as a man", about="decides as if everyone were a man")
    assert iso.mitigate(people, methods=entry, **OPTIONS).best == "everyone_a_man"
    try:
        MITIGATIONS.add(entry)
        found = iso.mitigate(people, methods="everyone_a_man", **OPTIONS)
        assert found.verdict == "meets"
        assert "Everyone as a man" in found._repr_html_()
        data = iso.Dataset(people, target="hired", positive="yes", protected=["sex"])
        options = {"mitigation": {"methods": ["everyone_a_man"]}}
        columns = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
        model = make_pipeline(columns, LogisticRegression()).fit(people[["sex", "skill"]], people["hired"])
        report = iso.audit(data, model, checks="mitigation", options=options)
        assert "everyone_a_man" in set(report["mitigation"].table["method"])
    finally:
        del MITIGATIONS._entries["everyone_a_man"]


def test_one_that_reads_the_attribute_needs_leave(people: pd.DataFrame) -> None:
    assert own_fix(Knowing).needs == ("attribute",)
    refused = table(iso.mitigate(people, methods=[Knowing, "reweighing"], **OPTIONS))
    assert "reads the protected attribute when it decides" in refused.loc["Knowing", "note"]
    tried = iso.mitigate(people, methods=[Knowing], attribute_at_decision=True, **OPTIONS)
    assert tried.verdict == "meets"


def test_failures_are_told_and_cost_that_fix_alone(people: pd.DataFrame) -> None:
    rows = table(iso.mitigate(people, methods=["reweighing", Failing], **OPTIONS))
    assert rows.loc["Failing", "note"] == "The fix Failing failed: KeyError: 'no such column'"
    assert rows.loc["reweighing", "gap"] < 0.2
    with pytest.raises(iso.DataError, match="The fix Failing failed: KeyError"):
        iso.mitigate(people, methods=Failing, **OPTIONS)
    weighted = people.assign(w=1.5)
    rows = table(iso.mitigate(weighted, methods=["reweighing", Blind], weight="w", **OPTIONS))
    assert "its fit takes no `sample_weight`" in rows.loc["Blind", "note"]


def test_of_parts_of_scikit_learn_it_is_saved_and_loaded(people: pd.DataFrame, tmp_path: Path) -> None:
    """A class of a user's is code, which is loaded only by whoever trusts it; the error names it."""
    found = iso.mitigate(people, methods=[LogisticRegression(class_weight="balanced"), Blind], **OPTIONS)
    path = found.save(tmp_path / "fix.skops", "LogisticRegression")
    again = iso.mitigation.load(path)
    assert list(again.predict(people.head(200))) == list(found.fitted["LogisticRegression"].predict(people.head(200)))
    with pytest.raises(iso.UntrustedError, match=r"test_own_fixes\.Blind"):
        found.save(tmp_path / "blind.skops", "Blind")


def test_the_command_tells_that_code_is_not_written(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page and record are there, and the exit code is the verdict's."""
    monkeypatch.setitem(MITIGATIONS._entries, "everyone_a_man", own_fix(Blind, "everyone_a_man"))
    people.to_csv(tmp_path / "people.csv", index=False)
    options = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--limit", "0.1", "--seed", "0"]
    out = ["--methods", "everyone_a_man", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, ["mitigate", str(tmp_path / "people.csv"), *options, *out])
    assert ended.exit_code == 0, ended.output
    assert "The best fix is not written to a file" in ended.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"mitigation.html", "mitigation.json"}


def test_what_is_no_fix_is_refused(people: pd.DataFrame) -> None:
    for wrong, message in (
        ("reweighting", "Did you mean 'reweighing'"),
        (3, "`methods` must be"),
        ([Blind, Blind], "names 'Blind' more than once"),
    ):
        with pytest.raises(iso.SpecError, match=message):
            iso.mitigate(people, methods=wrong, **OPTIONS)
    with pytest.raises(iso.SpecError, match="A fix must be a name or an estimator with `fit` and `predict`"):
        own_fix(object())
