"""One rule for which groups count, at every door: enough rows, and enough cases of the very rate."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isonomia as iso
from isonomia.audit import Spec
from isonomia.fairness import equal_opportunity, group_metrics, suite
from isonomia.policies import Policy
from isonomia.subject import Settings

#: Group: positives, of whom selected; negatives, of whom selected.
PEOPLE = {"a": (200, 160, 200, 60), "b": (200, 150, 200, 50), "few": (19, 4, 81, 20)}


def people() -> pd.DataFrame:
    parts = []
    for name, (positives, hits, negatives, false) in PEOPLE.items():
        y = np.repeat([1, 0], [positives, negatives])
        p = np.concatenate([np.arange(positives) < hits, np.arange(negatives) < false]).astype(int)
        parts.append(pd.DataFrame({"race": name, "y": y, "p": p}))
    return pd.concat(parts, ignore_index=True)


ROLES: dict[str, Any] = {"target": "y", "prediction": "p", "protected": ["race"]}
GAP = 160 / 200 - 150 / 200


def test_a_group_with_few_cases_of_a_rate_counts_at_no_door() -> None:
    frame = people()
    assert equal_opportunity(frame, **ROLES).difference.value == pytest.approx(GAP)
    found = suite(frame, **ROLES, n_boot=50)
    measures = found.tables["measures"]
    row = [str(title) for title in measures["measure"].values].index("Equal opportunity")
    assert measures["value"].values[row] == pytest.approx(GAP)
    part = found.score_parts["race"]["equal_opportunity"].score
    assert part.value == pytest.approx(1 - GAP), "the score is made of the gap shown beside it"
    result = group_metrics(frame, metrics=["tpr", "selection_rate"], **ROLES, n_boot=50)
    gaps = {row["metric"]: row for row in result.tables["disparities"].rows()}
    assert gaps["tpr"]["difference"] == pytest.approx(GAP)
    assert "few" in str(gaps["selection_rate"]["lowest"]), "100 rows are enough for a rate of rows"
    assert any("fewer than 30 cases" in str(note) for note in result.notes)


def test_a_verdict_quotes_no_rate_of_few_cases() -> None:
    rule = {"name": "gap", "metric": "tpr", "measure": "difference", "at_most": 0.3}
    report = iso.audit(
        people(), **ROLES, policy={"id": "own", "title": "own", "rules": [rule]}, checks="group_fairness", n_boot=50
    )
    assert report.verdict is not None
    one = report.verdict.criteria[0]
    assert one.estimate.value == pytest.approx(GAP)
    assert one.outcome == "not_enough_evidence", "nobody is shown to be treated well who was left out"
    assert "fewer than 30 cases of this rate: few people (19)" in str(one.sentence)
    assert not [finding for finding in report.findings if "tpr" in finding.code and "few" in finding.who.values()]


def test_fixes_are_judged_by_the_same_groups() -> None:
    rng = np.random.default_rng(0)
    frame = people()
    frame["skill"] = frame["y"] + rng.normal(0, 0.7, len(frame))
    frame = pd.concat([frame] * 2, ignore_index=True)
    few = frame["race"] == "few"
    frame = pd.concat([frame[~few], frame[few].iloc[:100]], ignore_index=True)
    found = iso.mitigate(
        frame.drop(columns="p"),
        "logistic",
        target="y",
        protected=["race"],
        goal="equal_opportunity",
        folds=2,
        methods=["thresholds"],
        attribute_at_decision=True,
    )
    assert found.judged is not None
    assert {one.outcome for one in found.judged.each["none"]} <= {"exceeds", "not_enough_evidence"}
    assert "Groups too small to compare, so that no fix is shown to meet the limit: race=few." in map(str, found.notes)


def test_two_small_groups_are_told_their_sizes_and_what_to_do() -> None:
    found = iso.fairness.demographic_parity([1, 0, 1, 1], sensitive_features={"sex": ["f", "f", "m", "m"]})
    said = found.interpretation()
    assert "women (2)" in said
    assert "men (2)" in said
    assert "at least 30" in said
    for advice in ("ollect", "merge", "min_per_group="):
        assert advice in said
    assert found.passes is None
    said = iso.fairness.equal_opportunity([1, 0] * 40, [1, 0] * 40, sensitive_features=["f"] * 20 + ["m"] * 60)
    assert "f (10)" in said.interpretation(), "cases of the rate"
    assert "min_per_group=" in found.interpretation("pt-BR")
    assert iso.fairness.demographic_parity(
        [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"], min_per_group=2
    ).difference.value == pytest.approx(0.5)


def test_every_door_has_the_same_default() -> None:
    doors = {
        "audit": inspect.signature(iso.audit).parameters["min_per_group"].default,
        "settings": Settings().min_per_group,
        "policy": Policy.model_fields["min_per_group"].default,
        "spec": Spec.model_fields["min_per_group"].default,
        "function": equal_opportunity(people(), **ROLES).metrics.min_per_group,  # type: ignore[union-attr]
        "groups": group_metrics(people(), metrics=["tpr"], **ROLES).min_per_group,
    }
    assert set(doors.values()) == {30}, doors
