"""One judge: what `mitigate` says of a fixed model under a policy is what an audit of it says, criterion by criterion.

200 generated problems: one or two attributes of two to four groups, some with missing values, small groups or groups
treated worse; decisions and scores, no trained model; policies of every kind. And a report is no different from itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.errors import NotApplicable

POLICIES: list[Any] = [
    "eeoc",
    "us-lending",
    "engineering",
    {
        "id": "own",
        "title": "Own",
        "min_per_group": 20,
        "rules": [
            {"name": "gap", "metric": "selection_rate", "measure": "difference", "at_most": 0.08, "by": "all"},
            {"name": "hits", "metric": "tpr", "measure": "ratio", "at_least": 0.7, "min_share": 0.05},
            {"name": "right", "metric": "accuracy", "measure": "value", "at_least": 0.7},
            {"name": "f1", "metric": "f1", "measure": "difference", "at_most": 0.2},
        ],
    },
    {
        "id": "two",
        "title": "Two",
        "rules": [
            {"name": "times", "metric": "selection_rate", "measure": "ratio", "at_most": 1.3, "attributes": ["a"]},
            {"name": "alarms", "metric": "fpr", "measure": "difference", "at_most": 0.1, "against": "reference"},
        ],
    },
]
#: Cheap ones; one that cannot be fitted (a group that is in one part only) is left out.
FIXES = ["reject_option", "level_up"]
Found = dict[tuple[str, tuple[str, ...]], tuple[str, float | None]]


def problem(seed: int) -> tuple[pd.DataFrame, list[str], Any, dict[str, Any]]:
    """People with a true outcome and a score, what is protected, a policy, and further roles."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(150, 1500))
    names = ["a", "b"][: int(rng.integers(1, 3))]
    frame: dict[str, Any] = {}
    shift = np.zeros(n)
    for name in names:
        share = rng.dirichlet(np.full(int(rng.integers(2, 5)), 2.0)) + 0.02
        code = rng.choice(share.size, n, p=share / share.sum())
        shift += rng.normal(scale=rng.choice([0.0, 0.4, 1.0]), size=share.size)[code]
        frame[name] = np.array(list("wxyz"), dtype=object)[code]
        if rng.random() < 0.4:
            frame[name][rng.permutation(n)[: max(4, int(n * rng.choice([0.005, 0.05, 0.2])))]] = None
    skill = rng.normal(size=n)
    frame["y"] = (skill + rng.normal(size=n) > 0.2).astype(int)
    frame["score"] = 1 / (1 + np.exp(-1.5 * (skill + shift)))
    first = pd.Series(frame["a"]).dropna().iloc[0]
    roles: dict[str, Any] = {"privileged": {"a": first}} if rng.random() < 0.3 else {}
    return pd.DataFrame(frame), names, POLICIES[seed % len(POLICIES)], roles


def of_audit(frame: pd.DataFrame, decided: Any, protected: list[str], policy: Any, roles: Any) -> Found:
    rows = frame.drop(columns="score").assign(said=decided)
    data = iso.Dataset(rows, target="y", prediction="said", protected=protected, **roles)
    verdict = iso.audit(data, checks=["representation"], policy=policy).verdict
    assert verdict is not None
    return {(one.rule, one.by): (one.outcome, one.estimate.value) for one in verdict.criteria}


def of_fix(found: Any, method: str) -> Found:
    rows = [row for row in found.tables["outcomes"].rows() if row["method"] == method]
    ways = [tuple(row["by"].split(" x ")) if row["by"] else () for row in rows]
    return {(row["rule"], by): (row["outcome"], row["value"]) for by, row in zip(ways, rows, strict=True)}


def fixed(data: iso.Dataset, policy: Any) -> Any:
    """What a cheap fix does; None where no groups can be compared."""
    try:
        return iso.mitigate(data, policy=policy, methods=FIXES, attribute_at_decision=True, folds=2)
    except NotApplicable:
        return None


@pytest.mark.parametrize("part", range(8))
def test_a_fix_and_an_audit_of_the_fixed_model_agree(part: int) -> None:
    outcomes: list[str] = []
    for seed in range(25 * part, 25 * (part + 1)):
        frame, protected, policy, roles = problem(seed)
        data = iso.Dataset(frame, target="y", score="score", protected=protected, **roles)
        before = (frame["score"] >= 0.5).astype(int).to_numpy()
        found = fixed(data, policy)
        if found is None:
            audited = of_audit(frame, before, protected, policy, roles)
            assert {outcome for outcome, _ in audited.values()} == {"not_enough_evidence"}, seed
            continue
        said = {"none": before, **found.decisions}
        for method, decided in said.items():
            audited = of_audit(frame, decided, protected, policy, roles)
            mitigated = of_fix(found, method)
            assert mitigated == audited, (seed, method)
            outcomes += [outcome for outcome, _ in mitigated.values()]
    assert len(outcomes) > 60
    assert {"meets", "exceeds", "not_enough_evidence"} <= {*outcomes}


@pytest.mark.parametrize("policy", ["eeoc", "engineering"])
def test_on_other_people(policy: str) -> None:
    """Trained on some and judged on others: the file that is written, audited on the same others, says the same."""
    rng = np.random.default_rng(3)
    n = 4000
    sex = rng.choice(["F", "M"], n)
    skill = rng.normal(size=n)
    hired = (skill + 0.8 * (sex == "M") + rng.normal(size=n) > 0.5).astype(int)
    frame = pd.DataFrame({"sex": sex, "skill": skill, "hired": hired})
    roles: dict[str, Any] = {"target": "hired", "protected": ["sex"]}
    train, test = iso.Dataset(frame[:2000], **roles), iso.Dataset(frame[2000:], **roles)
    found = iso.mitigate(train, "logistic", policy=policy, methods=["reweighing"], test=test)
    verdict = iso.audit(test, found.fitted["reweighing"], checks=["representation"], policy=policy).verdict
    assert verdict is not None
    audited = {(one.rule, one.by): (one.outcome, one.estimate.value) for one in verdict.criteria}
    assert of_fix(found, "reweighing") == audited
    assert found.verdict == verdict.outcome


def test_the_outcomes_are_told_in_both_languages() -> None:
    frame, protected, _, roles = problem(0)
    data = iso.Dataset(frame, target="y", score="score", protected=protected, **roles)
    found = iso.mitigate(data, policy="engineering", methods=FIXES, attribute_at_decision=True, folds=2)
    for language, title in (("en", "What the policy says of each fix"), ("pt-BR", "O que a política diz")):
        assert title in found.to_html(language)


@pytest.mark.parametrize("part", range(4))
def test_a_report_and_itself_do_not_differ(part: int) -> None:
    for seed in range(50 * part, 50 * (part + 1)):
        frame, protected, policy, roles = problem(seed)
        rows = frame.assign(said=(frame["score"] >= 0.5).astype(int)).drop(columns="score")
        data = iso.Dataset(rows, target="y", prediction="said", protected=protected, **roles)
        report = iso.audit(data, checks=["group_fairness"], policy=policy, n_boot=0)
        compared = iso.compare(report, iso.Report.from_dict(report.to_dict()))
        assert not compared.differences, seed
        assert {str(state) for state in compared.tables["findings"]["state"].values} <= {"unchanged"}, seed
        assert compared.exit_code == 0, seed
