"""The words that people bring from scikit-learn, Fairlearn and the command line: taken, or answered with ours."""

from __future__ import annotations

import pydoc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import recall_score

import isonomia as iso
from isonomia.errors import IsonomiaError, SpecError, UnknownName
from isonomia.metrics import METRICS
from isonomia.parameters.other_words import INSTEAD, OPTIONS
from isonomia.policies import load_policy

ROOMS = ("audit", "benchmark", "data", "discovery", "evidence", "explain", "fairness", "metrics", "mitigation",
         "models", "policies", "report", "robustness", "store", "study", "subject")  # fmt: skip


@pytest.fixture(scope="module")
def loans() -> dict[str, Any]:
    """Three groups of 100 with planted rates, and weights that double one of them."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], 100)
    truth = rng.integers(0, 2, 300)
    decided = (rng.random(300) < np.repeat([0.3, 0.5, 0.8], 100)).astype(int)
    return {"y": truth, "p": decided, "group": group, "weight": np.where(group == "a", 2.0, 1.0)}


def test_options_by_another_name_are_the_options(loans: dict[str, Any]) -> None:
    y, p, group, weight = (loans[name] for name in ("y", "p", "group", "weight"))
    half = np.arange(300) % 2
    given: Any = {"sample_weight": weight, "control_features": half, "pos_label": 1, "random_state": 3}
    theirs = iso.fairness.group_metrics(y, p, sensitive_features=group, **given)
    own = iso.fairness.group_metrics(y, p, sensitive_features=group, weights=weight, control=half, positive=1, seed=3)
    pd.testing.assert_frame_equal(theirs.by_group, own.by_group)
    swapped = iso.fairness.demographic_parity(y, p, sensitive_features=group, pos_label=0)  # type: ignore[call-arg]
    assert swapped.by_group["selection_rate"].tolist() == pytest.approx([1 - p[group == one].mean() for one in "abc"])
    data = iso.Dataset(loans, target="y", prediction="p", protected=["group"], sample_weight="weight")  # type: ignore[call-arg]
    assert data.roles.weight == "weight"
    with pytest.raises(SpecError, match="`sample_weight` is another name of `weights`; give only one"):
        iso.fairness.suite(y, p, sensitive_features=group, weights=weight, sample_weight=weight)  # type: ignore[call-arg]


def test_metrics_by_group_are_read_as_a_metric_frame(loans: dict[str, Any]) -> None:
    y, p, group = loans["y"], loans["p"], loans["group"]
    frame = MetricFrame(
        metrics={"selection_rate": selection_rate, "recall": recall_score}, y_true=y, y_pred=p, sensitive_features=group
    )
    ours = iso.fairness.group_metrics(y, p, sensitive_features=group, metrics=["selection_rate", "recall"])
    assert ours["recall"]["recall"].tolist() == pytest.approx(frame.by_group["recall"].tolist())
    assert "selection_rate" not in ours["recall"]
    assert ours["tpr"].equals(ours["recall"]), "another name of the metric is enough"
    for name in ("selection_rate", "recall"):
        assert float(ours.overall[name]) == pytest.approx(frame.overall[name])
        assert float(ours.difference()[name]) == pytest.approx(frame.difference()[name])
        assert float(ours.ratio(name)) == pytest.approx(frame.ratio()[name])
        assert float(ours.group_min(name)) == pytest.approx(frame.group_min()[name])
        assert float(ours.group_max()[name]) == pytest.approx(frame.group_max()[name])
    assert ours.difference("selection_rate").low is not None
    with pytest.raises(SpecError, match="'f1' was not measured; measured are selection_rate, recall"):
        ours["f1"]
    two = {"group": group, "half": np.arange(300) % 2}
    each = iso.fairness.group_metrics(y, p, sensitive_features=two, by="each", metrics=["selection_rate"])
    with pytest.raises(SpecError, match="several ways: group; half"):
        each.difference()
    assert float(each.difference("selection_rate", by="group")) == pytest.approx(frame.difference()["selection_rate"])


@pytest.mark.parametrize(
    ("ask", "instead"),
    [
        (lambda: iso.fairness.MetricFrame, "group_metrics(y_true, y_pred, sensitive_features=...)"),
        (lambda: iso.fairness.demographic_parity_difference, "demographic_parity("),
        (lambda: iso.fairness.equalized_odds_ratio, "equalized_odds("),
        (lambda: iso.fairness.equal_opportunity_difference, "equal_opportunity("),
        (lambda: iso.fairness.selection_rate, "evaluate('selection_rate', y_true, y_pred)"),
        (lambda: iso.metrics.roc_auc_score, "evaluate('auc', y_true, y_pred)"),
        (lambda: iso.fairness.demographic_party, "Did you mean 'demographic_parity'"),
        (lambda: iso.audits, "Did you mean 'audit'"),
        (lambda: iso.fairness.guide("credit").show, "print(it)"),
        (lambda: iso.fairness.guide("credit").tabels, "Did you mean 'tables'"),
        (lambda: iso.audit({"a": [1, 0]}, [1, 0], checks="representation").summary, "verdict"),
    ],
)
def test_a_name_that_is_something_else_here_is_answered(ask: Any, instead: str) -> None:
    with pytest.raises(UnknownName) as caught:
        ask()
    assert instead in str(caught.value)
    assert isinstance(caught.value, AttributeError), "so that hasattr and getattr with a default work"


def test_every_answer_can_be_followed(loans: dict[str, Any]) -> None:
    """What is written instead is run as it is written."""
    y, p, group = loans["y"], loans["p"], loans["group"]
    names = {"y_true": y, "y_pred": p, "fairness": iso.fairness, "metrics": iso.metrics, **vars(iso.fairness)}
    for room in ("isonomia.fairness", "isonomia.metrics"):
        for instead in INSTEAD[room].values():
            code = instead.replace("sensitive_features=...", "sensitive_features=group")
            if "auc" in code or "log_loss" in code or any(word in code for word in ("'mae'", "'mse'", "mean_pred")):
                assert code.split("'")[1] in METRICS
                continue
            assert eval(code, {**names, "group": group, "isonomia": iso}) is not None
    for word in ("Thresholds", "Reduce", "Decorrelate"):
        assert any(instead.startswith(word) for instead in INSTEAD["isonomia.mitigation"].values())
        assert hasattr(iso.mitigation, word)


def test_a_fix_names_its_own_option() -> None:
    with pytest.raises(SpecError, match=r"`Thresholds` has no option 'constraints'. Did you mean 'criterion'"):
        iso.mitigation.Thresholds(constraints="demographic_parity")  # type: ignore[call-arg]
    with pytest.raises(SpecError, match="`Reweigh` has no option 'foo'"):
        iso.mitigation.Reweigh(foo=1)  # type: ignore[call-arg]


def test_too_many_values_by_position_are_refused_with_the_names() -> None:
    with pytest.raises(SpecError, match=r"`find_subgroups` takes data, model by position; got 3 values.*y_pred="):
        iso.discovery.find_subgroups({"a": [1, 0]}, [1, 0], [1, 0])  # type: ignore[misc]
    with pytest.raises(SpecError, match=r"`Dataset` takes frame by position; got 2 values.*target="):
        iso.Dataset({"a": [1]}, "a")  # type: ignore[misc]
    with pytest.raises(SpecError, match=r"Two reports are compared at a time; got 3. Compare each with the first"):
        iso.compare("a", "b", "c")


def test_a_model_predicts_as_its_estimator_does() -> None:
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200)})
    for labels in (["no", "yes"], ["a", "b", "c"], [0, 1]):
        truth = np.array(labels)[np.digitize(rows["x"], [0.0] if len(labels) == 2 else [-0.5, 0.5])]
        fitted = LogisticRegression().fit(rows, truth)
        model = iso.Model.of(fitted)
        assert model.predict(rows).tolist() == fitted.predict(rows).tolist()
        np.testing.assert_allclose(model.predict_proba(rows), fitted.predict_proba(rows))
        assert model.predict(rows.to_numpy()).tolist() == fitted.predict(rows).tolist()
    line = LinearRegression().fit(rows, rows["x"] * 2)
    np.testing.assert_allclose(iso.Model.of(line).predict(rows), line.predict(rows))
    with pytest.raises(IsonomiaError, match="gives no probabilities"):
        iso.Model.of(line).predict_proba(rows)
    codes = LogisticRegression().fit(rows, (rows["x"] > 0).astype(int))
    assert set(iso.Model.of(codes, classes=["bad", "good"]).predict(rows)) == {"bad", "good"}
    strict = iso.Model.of(codes, threshold=0.9)
    assert strict.predict(rows).tolist() == (codes.predict_proba(rows)[:, 1] >= 0.9).astype(int).tolist()
    assert iso.Model.of(lambda frame: frame["x"] > 0).predict(rows).tolist() == (rows["x"] > 0).tolist()


def test_a_surface_is_made_of_a_plain_frame() -> None:
    rows = pd.DataFrame({"x": [-1.0, 1.0, 2.0, -2.0]})
    fitted = LogisticRegression().fit(rows, ["no", "yes", "yes", "no"])
    surface = iso.Model.of(fitted, positive="yes").surface(rows)
    assert surface.classes == ("no", "yes")
    assert surface.label.tolist() == [0, 1, 1, 0]  # type: ignore[union-attr]
    with pytest.raises(IsonomiaError, match="`positive` must say which value of the model's classes"):
        iso.Model.of(fitted).surface(rows)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_its_public_names_alone(room: str) -> None:
    module = getattr(iso, room)
    assert dir(module) == sorted(module.__all__)


def test_help_begins_with_the_call() -> None:
    text = pydoc.plain(pydoc.render_doc(iso.audit))
    assert text.index("Examine what a model does to the people in a dataset.") < text.index("PACKAGE CONTENTS")
    assert "class Any" not in text
    assert "ModuleType" not in text.split("DATA")[0]


def test_a_check_without_its_facts_is_refused() -> None:
    with pytest.raises(
        SpecError, match=r"@check\('mine', title=..., question=..., purpose=...\).*nothing was registered"
    ):

        @iso.audit.check  # type: ignore[arg-type]
        def mine(subject: Any) -> Any:
            return subject


def test_an_unknown_key_of_a_rule_lists_the_keys_of_a_rule() -> None:
    rule = {"name": "approval", "kind": "metric", "metric": "selection_rate", "limit": 0.8}
    with pytest.raises(SpecError) as caught:
        load_policy({"id": "p", "title": "P", "rules": [rule]})
    text = str(caught.value)
    assert "rules.0.limit" in text
    assert "'at_least'" in text
    assert "'legal_basis'" not in text, "a key of the policy"


def test_every_word_stands_for_one_of_ours() -> None:
    assert not {own for owns in OPTIONS.values() for own in owns} & set(OPTIONS)
