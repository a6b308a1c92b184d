"""Functions of a user's as metrics: their values, cheap intervals that cover, and everywhere that names are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, median_absolute_error, recall_score, roc_auc_score

import isonomia as iso
from isonomia import SpecError, Subject
from isonomia.fairness import group_metrics
from isonomia.metrics import METRICS, evaluate, evaluate_all, own_metric, score

RNG = np.random.default_rng(7)
N = 1000
SEX, ETHNICITY = RNG.choice(["F", "M"], N), RNG.choice(list("abcde"), N)
TRUE = RNG.integers(0, 2, N)
SAID = np.where(RNG.random(N) < np.where(SEX == "F", 0.7, 0.9), TRUE, 1 - TRUE)
WORDS = np.array(["refused", "granted"])


def rightly_granted(y_true: Any, y_pred: Any) -> float:
    """The share of those who deserve it who are granted it; the labels are words."""
    return float(np.mean(y_pred[y_true == "granted"] == "granted"))


def frame() -> pd.DataFrame:
    return pd.DataFrame({"sex": SEX, "y": WORDS[TRUE], "said": WORDS[SAID], "score": (SAID + RNG.random(N)) / 2})


def dataset(**roles: Any) -> iso.Dataset:
    roles = {"target": "y", "positive": "granted", "prediction": "said", "protected": ["sex"], **roles}
    return iso.Dataset(frame(), **roles)


@pytest.fixture
def registered() -> Iterator[Callable[..., None]]:
    """Adds metrics to the registry, for this test."""
    added: list[str] = []

    def add(function: Callable[..., Any], name: str | None = None, **facts: Any) -> None:
        added.append(METRICS.add(own_metric(function, name, **facts)).id)

    yield add
    for name in added:
        del METRICS._entries[name]


# how often it is asked ---------------------------------------------------------------------------------------------


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    calls: list[int] = []

    def counting(y_true: Any, y_pred: Any) -> Any:
        calls.append(len(y_true))
        return function(y_true, y_pred)

    return counting, calls


def test_three_functions_and_ten_groups_cost_six_calls_for_each_group() -> None:
    """200 bootstrap samples were 2,200 calls for each function, 5 seconds in all."""
    sensitive = pd.DataFrame({"sex": SEX, "ethnicity": ETHNICITY})
    for function in (accuracy_score, recall_score, f1_score):
        own, calls = counted(function)
        found = group_metrics(TRUE, SAID, sensitive_features=sensitive, metrics={"own": own})
        assert len(found.by_group) == 10
        assert found.by_group["own_low"].notna().all()
        groups = len(calls) / 6  # the value, with four rows added, and one more in each of four cells
        assert groups == int(groups) <= 12


def test_other_routes_ask_at_most_41_times_for_a_set() -> None:
    weights = RNG.uniform(1, 2, N)

    def weighted(y_true: Any, y_pred: Any, sample_weight: Any) -> float:
        calls.append(1)
        return float(np.average(y_true == y_pred, weights=sample_weight))

    for n, expected in ((1, 1), (30, 31), (40, 41), (41, 21), (N, 21)):
        calls: list[int] = []
        evaluate(weighted, TRUE[:n], SAID[:n], weights=weights[:n], positive=1)
        assert len(calls) == expected, n


def test_the_same_seed_gives_the_same_intervals_however_busy_the_machine() -> None:
    numbers = TRUE + RNG.normal(size=N)
    first, again, other = (evaluate(median_absolute_error, numbers, SAID + 0.5, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


# values and intervals by an independent route ----------------------------------------------------------------------


def test_intervals_are_those_of_the_registered_metric() -> None:
    sensitive = pd.DataFrame({"sex": SEX, "ethnicity": ETHNICITY})
    functions = {"own_f1": own_metric(f1_score, "own_f1", bounds=(0, 1)), "f1": "f1"}
    both = group_metrics(TRUE, SAID, sensitive_features=sensitive, metrics=functions, by="all").by_group
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(both[f"own_f1{end}"], both[f"f1{end}"], atol=0.004)
    gaps = group_metrics(TRUE, SAID, sensitive_features=SEX, metrics=functions).comparisons.set_index("metric")
    for column in ("difference_low", "difference_high", "ratio_low", "ratio_high"):
        assert gaps.loc["own_f1", column] == pytest.approx(gaps.loc["f1", column], abs=0.004)


def test_left_out_one_by_one_a_mean_has_students_interval() -> None:
    true, said = RNG.normal(size=25), RNG.normal(size=25)
    found = evaluate(lambda y_true, y_pred: np.mean(np.abs(y_true - y_pred)), true, said)
    off = np.abs(true - said)
    wanted = stats.t.interval(0.95, 24, off.mean(), stats.sem(off))
    assert (found.low, found.high) == pytest.approx(wanted)
    assert found.method == "jackknife"


@pytest.mark.parametrize(
    ("make", "truth", "n"),
    [
        (lambda y, p: f1_score(y, p, zero_division=0), 0.6, 40),
        (lambda y, p: float(np.mean(y != p) * 7), 1.4, 25),
    ],
)
def test_intervals_cover(make: Any, truth: float, n: int) -> None:
    """Labels with 3 in 10 positive, wrong once in five: F1 is 2 * .24 / (.3 + .38), a cost of 7 is 1.4 a row."""
    truth = 2 * 0.24 / (0.3 + 0.38) if truth == 0.6 else truth
    rng, inside = np.random.default_rng(3), 0
    for _ in range(200):
        y = (rng.random(n) < 0.3).astype(int)
        found = evaluate(make, y, np.where(rng.random(n) < 0.8, y, 1 - y), positive=1)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= truth <= found.high
    assert inside >= 183  # 95% less three standard errors


def test_a_quantile_has_a_bootstrap_where_it_asks_for_one() -> None:
    own = own_metric(median_absolute_error, interval="bootstrap")
    numbers, off = RNG.normal(size=N), np.random.default_rng(1).exponential(size=N)
    found = evaluate(own, numbers, numbers + off, n_boot=100)
    assert found.method == "bootstrap"
    assert found.low < np.log(2) < found.high
    result = group_metrics(numbers, numbers + 1, sensitive_features=SEX, metrics=[own], n_boot=100)
    assert any("percentiles of 100 bootstrap samples" in str(note) for note in result.notes)


def test_rows_that_stand_for_several_count_as_often() -> None:
    table = frame().groupby(["sex", "y", "said"]).size().reset_index(name="n")
    subject = Subject.from_counts(table, target="y", prediction="said", positive="granted", protected=["sex"])
    rows = group_metrics(dataset(), metrics=[rightly_granted]).by_group
    counted = group_metrics(subject, metrics=[rightly_granted]).by_group
    pd.testing.assert_frame_equal(pd.DataFrame(counted), pd.DataFrame(rows), check_dtype=False)


# why there is none -------------------------------------------------------------------------------------------------


def test_absent_intervals_have_a_reason_in_the_table() -> None:
    def failing(y_true: Any, y_pred: Any) -> float:
        if len(y_true) != 5:
            raise RuntimeError("not five rows")
        return 1.0

    cases: list[tuple[Any, int, str]] = [
        (accuracy_score, 1, "there is one row"),
        (lambda y_true, y_pred: 3.0, 30, "every row has the same value"),
        (failing, 5, "the function gives no number when some of the rows are changed"),
    ]
    for function, n, reason in cases:
        found = evaluate(function, TRUE[:n], SAID[:n], positive=1)
        assert found.value is not None
        assert found.low is None
        assert reason in str(found.note)
        groups = np.r_[["a"] * n, ["b"] * 5]
        rows = np.r_[:n, :5]
        table = group_metrics(
            TRUE[rows], SAID[rows], sensitive_features=groups, metrics={"own": function}, positive=1
        ).by_group
        assert reason in table["note"].iloc[0]
    left_out = group_metrics(TRUE, SAID, sensitive_features=SEX, metrics=[accuracy_score], n_boot=0).by_group
    assert "`n_boot` is 0" in left_out["note"].iloc[0]


# scores and weights ------------------------------------------------------------------------------------------------


def test_scores_go_to_the_argument_that_is_called_so() -> None:
    data = dataset(score="score")
    seen: list[Any] = []

    def cost(y_true: Any, y_pred: Any, y_score: Any) -> float:
        seen.append((set(y_true) | set(y_pred), y_score))
        return float(np.mean(y_score[y_true == 1]))

    found = evaluate_all(data, None, [own_metric(roc_auc_score, "area"), "auc", cost])
    assert found["area"].value == pytest.approx(found["auc"].value)  # "granted" is the first of the alphabet
    assert found["area"].low == pytest.approx(found["auc"].low, abs=0.02)
    assert seen[0][0] == {0, 1}
    assert found["cost"].value == pytest.approx(data.frame["score"][data.frame["y"] == "granted"].mean())
    assert "needs probability or score" in str(evaluate_all(dataset(), None, [cost])["cost"].note)


def test_a_registered_function_without_weights_does_not_stop_an_audit(registered: Any) -> None:
    registered(rightly_granted, higher_is_better=True)
    weighted = iso.Dataset(
        frame().assign(w=1.5), target="y", positive="granted", prediction="said", protected=["sex"], weight="w"
    )
    listed = iso.audit(weighted, checks="quick")["performance"].to_frame("metrics").set_index("metric")
    assert listed.loc["rightly_granted", "value"] is None or np.isnan(listed.loc["rightly_granted", "value"])
    assert listed.loc["Accuracy", "value"] > 0.7
    note = evaluate_all(weighted, None, ["rightly_granted"])["rightly_granted"].note
    assert "the rows have weights, and it takes none" in str(note)
    with pytest.raises(SpecError, match="takes no `sample_weight`"):
        group_metrics(weighted, metrics=["rightly_granted"])


# everywhere that names are taken -----------------------------------------------------------------------------------


def test_one_metric_of_two_columns() -> None:
    share = np.mean(SAID[TRUE == 1] == 1)
    for found in (
        evaluate(rightly_granted, WORDS[TRUE], WORDS[SAID], positive="granted"),
        score(WORDS[TRUE], WORDS[SAID], metric=rightly_granted, positive="granted"),
        evaluate_all(dataset(), None, [rightly_granted])["rightly_granted"],
    ):
        assert found.value == pytest.approx(share)


def test_audits_list_it_and_policies_judge_it(registered: Any) -> None:
    """Women who deserve it are granted it in 70% of the cases, men in 90%: a gap of 20 points, a ratio of 0.78."""
    facts: dict[str, Any] = {"higher_is_better": True, "bounds": (0, 1), "shown_as": "pct"}
    registered(rightly_granted, title="Rightly granted", **facts)
    rules = [
        {"name": "gap", "metric": "rightly_granted", "measure": "difference", "at_most": 0.05},
        {"name": "wide gap", "metric": "rightly_granted", "measure": "difference", "at_most": 0.4},
        {"name": "ratio", "metric": "rightly_granted", "measure": "ratio", "at_least": 0.95},
        {"name": "everyone", "metric": "rightly_granted", "measure": "value", "at_least": 0.7},
    ]
    report = iso.audit(dataset(), checks="quick", policy={"id": "own", "title": "Own", "rules": rules})
    assert [one.outcome for one in report.verdict.criteria] == ["exceeds", "meets", "exceeds", "meets"]
    assert "Rightly granted is 6" in str(report.verdict.criteria[0].sentence)
    women, men = (np.mean(SAID[(TRUE == 1) & (sex == SEX)]) for sex in "FM")
    assert report.verdict.criteria[0].estimate.value == pytest.approx(men - women)
    assert report.verdict.criteria[2].estimate.value == pytest.approx(women / men)
    listed = report["performance"].to_frame("metrics").set_index("metric")
    assert listed.loc["Rightly granted", "value"] == pytest.approx(np.mean(SAID[TRUE == 1]))


def test_no_door_that_takes_names_ends_in_an_error_of_python(registered: Any) -> None:
    from sklearn.linear_model import LogisticRegression

    registered(rightly_granted, higher_is_better=True)
    table = frame().assign(x=RNG.normal(size=N), z=RNG.normal(size=N), t=np.repeat(["2020", "2021"], N // 2))
    model = LogisticRegression().fit(table[["x", "z"]], table["y"])
    data = iso.Dataset(table, target="y", positive="granted", protected=["sex"], features=["x", "z"], time="t")
    room, names = iso.robustness, ["rightly_granted"]
    for ask in (
        lambda: room.metric_disagreement(data, model, metrics=[*names, "accuracy"]),
        lambda: room.sensitivity(data, model, metrics=names),
        lambda: room.perturb(data, model, metrics=names),
        lambda: room.scenarios(data, model, metric=names[0]),
        lambda: room.subgroup_diagnostics(data, model, metrics=names),
        lambda: iso.fairness.over_time(data, model, metrics=names),
        lambda: iso.fairness.equivalence(data, model, metrics=names),
    ):
        assert ask().tables
    for refused in (
        lambda: room.weak_spots(data, model, metric=names[0]),
        lambda: room.threshold_sweep(data, model, metrics=names),
    ):
        with pytest.raises(SpecError, match="rightly_granted"):
            refused()
