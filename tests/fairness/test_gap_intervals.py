"""The gap between two equal groups has the same interval at every door that shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia import Dataset, audit, fairness, robustness
from isonomia.evidence import Estimate

N = 60
SEX = np.repeat(["F", "M"], N)
TRUTH = np.tile(np.repeat([1, 0], N // 2), 2)
SAID = np.tile(np.repeat([1, 0, 1, 0], N // 4), 2)  # both groups: half are selected, half of the positives found
OPTIONS: dict[str, Any] = {"n_boot": 4000, "seed": 3}


def ends(row: Any, name: str) -> tuple[float, float, float]:
    return row[name], row[f"{name}_low"], row[f"{name}_high"]


def of(figure: Estimate) -> tuple[float, float, float]:
    assert figure.value is not None
    assert figure.low is not None
    assert figure.high is not None
    return figure.value, figure.low, figure.high


def by_group(metric: str, what: str) -> tuple[float, float, float]:
    result = fairness.group_metrics(TRUTH, SAID, sensitive_features={"sex": SEX}, metrics=[metric], **OPTIONS)
    return ends(next(result.tables["disparities"].rows()), what)


def disparity(metric: str, what: str) -> tuple[float, float, float]:
    result = fairness.group_metrics(TRUTH, SAID, sensitive_features={"sex": SEX}, metrics=[metric], **OPTIONS)
    return of(result.disparity(metric)[what == "ratio"])


def criterion(metric: str, what: str) -> tuple[float, float, float]:
    if metric == "selection_rate":
        found = fairness.demographic_parity(SAID, sensitive_features={"sex": SEX}, **OPTIONS)
    else:
        found = fairness.equal_opportunity(TRUTH, SAID, sensitive_features={"sex": SEX}, **OPTIONS)
    return of(getattr(found, what))


def suite(metric: str, what: str) -> tuple[float, float, float]:
    result = fairness.suite(TRUTH, SAID, sensitive_features={"sex": SEX}, config="quick", **OPTIONS)
    name = (
        "Equal opportunity" if metric == "tpr" else "Demographic parity" if what == "difference" else "Disparate impact"
    )
    row = next(row for row in result.tables["measures"].rows() if str(row["measure"]) == name)
    return row["value"], row["low"], row["high"]


def score(metric: str, what: str) -> tuple[float, float, float]:
    result = fairness.suite(TRUTH, SAID, sensitive_features={"sex": SEX}, config="quick", **OPTIONS)
    part = {"selection_rate": "Statistical parity", "tpr": "Equal opportunity"}[metric]
    value, low, high = ends(next(r for r in result.tables["score"].rows() if str(r["part"]) == part), "score")
    return (value, low, high) if what == "ratio" else (1 - value, 1 - high, 1 - low)


def data() -> Dataset:
    frame = {"sex": SEX, "y": TRUTH, "said": SAID, "score": 0.25 + 0.5 * SAID, "x": np.arange(2.0 * N)}
    return Dataset(frame, target="y", prediction="said", score="score", protected=["sex"], features=["x"], positive=1)


def sweep(metric: str, what: str) -> tuple[float, float, float]:
    result = robustness.threshold_sweep(data(), thresholds=[0.5], **OPTIONS)
    row = next(row for row in result.tables["gaps"].rows() if row["gap"] == f"{metric}_{what}")
    return row["value"], row["low"], row["high"]


def verdict(metric: str, what: str) -> tuple[float, float, float]:
    limit = {"at_most": 0.1} if what == "difference" else {"at_least": 0.8}
    rule = {"name": "gap", "metric": metric, "measure": what, "against": "best", "by": "each", **limit}
    policy = {"id": "own", "title": "Own", "rules": [rule]}
    report = audit(data(), checks="performance", policy=policy, **OPTIONS)
    return of(report.verdict.criteria[0].estimate)


#: (door, metric, figure): a score shows the ratio of selection rates and the difference of true positive rates.
DOORS = [
    (door, metric, what)
    for door in (disparity, criterion, suite, score, sweep, verdict)
    for metric, what in [("selection_rate", "difference"), ("selection_rate", "ratio"), ("tpr", "difference")]
    if (door, metric, what) != (score, "selection_rate", "difference")
]


@pytest.mark.parametrize(("door", "metric", "what"), DOORS)
def test_equal_groups_have_one_interval_at_every_door(door: Any, metric: str, what: str) -> None:
    value, low, high = by_group(metric, what)
    assert value == (0.0 if what == "difference" else 1.0)
    assert (low == value) if what == "difference" else (high == value)
    assert 0.15 < high - low < 0.6
    # doors that count other cells draw other replicates: equal but for the noise of 4,000 of them
    assert door(metric, what) == pytest.approx((value, low, high), abs=0.02)
