"""How much a reader has to read: an audit of Adult is a few entries, and every finding is in exactly one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso

ADULT = Path(__file__).parents[3] / "shared" / "data" / "adult.csv.gz"
needs_adult = pytest.mark.skipif(not ADULT.is_file(), reason="the Adult census file is not beside this checkout")


def adult(n: int) -> tuple[iso.Dataset, pd.DataFrame, pd.Series]:
    table = pd.read_csv(ADULT, skipinitialspace=True).drop(columns="fnlwgt").fillna("unknown")
    table["income"] = table["income"].str.rstrip(".")
    table = table.sample(n, random_state=0).reset_index(drop=True)
    train, test = table[: n // 2], table[n // 2 :].reset_index(drop=True)
    data = iso.Dataset(
        test,
        target="income",
        positive=">50K",
        protected=["sex", "race"],
        privileged={"sex": "Male", "race": "White"},
    )
    return data, train.drop(columns="income"), train["income"]


def fitted(kind: str, features: pd.DataFrame, target: pd.Series) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    numbers = features.select_dtypes("number").columns
    texts = features.columns.difference(numbers)
    if kind == "linear":
        columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), (StandardScaler(), numbers))
        return make_pipeline(columns, LogisticRegression(max_iter=300)).fit(features, target)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((encoder, texts), remainder="passthrough")
    return make_pipeline(columns, HistGradientBoostingClassifier(max_iter=40, random_state=0)).fit(features, target)


def whole(report: iso.Report) -> bool:
    listed = sorted(id(finding) for entry in report.folds for finding in entry.findings)
    return listed == sorted(map(id, report.findings))


@needs_adult
@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_a_standard_audit_of_adult_reads_as_at_most_eight_entries(kind: str) -> None:
    data, features, target = adult(24_000)
    report = iso.audit(data, fitted(kind, features, target), policy="eeoc", n_boot=100)
    assert len(report.findings) > 8
    assert len(report.folds) <= 8
    assert whole(report)
    first = report.folds[0].first
    assert (first.tier, dict(first.who), first.metric) == ("policy", {"sex": "Female"}, "selection_rate")
    assert first.people_at_least > 100


@needs_adult
def test_a_full_audit_of_adult_reads_as_at_most_fifteen_entries() -> None:
    data, features, target = adult(4_000)
    quick = {"pairs": {"max_tests": 500}, "perturb": {"n_trials": 2}, "scenarios": {"n_trials": 3}}
    report = iso.audit(data, fitted("linear", features, target), checks="full", policy="eeoc", n_boot=50, options=quick)
    assert len(report.folds) <= 15
    assert whole(report)
    questions = [entry for entry in report.folds if entry.first.topic == "use"]
    checks = {check for entry in questions for check in entry.checks}
    assert {"counterfactual", "proxies"} <= checks


def _three_attributes(seed: int) -> iso.Dataset:
    """People of three attributes, the decision of each of which lowers the chance of approval."""
    draws = np.random.default_rng(seed)
    n = 4_000
    columns = {name: draws.choice(list("xyz"), n, p=[0.5, 0.3, 0.2]) for name in "abc"}
    chance = 0.7 - sum(0.15 * (column == "z") for column in columns.values())
    decision = np.where(draws.random(n) < chance, "yes", "no")
    frame = pd.DataFrame({**columns, "decision": decision, "truth": decision})
    privileged = dict.fromkeys("abc", "x")
    return iso.Dataset(
        frame, target="truth", positive="yes", protected=list("abc"), privileged=privileged, prediction="decision"
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_narrower_group_is_listed_with_the_widest_that_explains_it(seed: int) -> None:
    report = iso.audit(_three_attributes(seed), checks=["group_fairness"], n_boot=50)
    table = report["group_fairness"].tables["comparisons"]
    reach = {
        (metric, frozenset(key)): (-table["difference"].high[row], -table["difference"].low[row])
        for row, (key, metric) in enumerate(zip(table["group"].keys, table["metric"].values, strict=True))
        if table["difference"].low[row] is not None
    }
    narrow = [one for one in report.findings if len(one.who) > 1 and one.estimate.value < 0]
    assert any(len(one.who) == 3 for one in narrow)
    for finding in narrow:
        people = frozenset(finding.who.items())
        home = frozenset(finding.explained_by.items()) or people
        beyond = [  # what would explain the group under which it stands
            other
            for (metric, other), ends in reach.items()
            if metric == finding.metric and other < home and ends[1] >= reach[finding.metric, home][0]
        ]
        assert not beyond
        entry = next(entry for entry in report.folds if finding in entry.findings)
        if finding.severity != "notice":
            together = [one.explained_by or one.who for one in entry.findings if one.severity != "notice"]
            assert {frozenset(who.items()) for who in together} == {home}
