"""The suite: its score, its criteria against brute force and Fairlearn, what it tells and what it does not."""

from __future__ import annotations

import json
from typing import Any

import fairlearn.metrics as fl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isonomia as iso
from isonomia import fairness


def people(n: int, seed: int, gap: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    y = rng.integers(0, 2, n)
    p = (rng.uniform(size=n) < np.where(y == 1, 0.7, 0.3) + gap * (sex == "M")).astype(int)
    return {"y": y, "p": p, "frame": pd.DataFrame({"sex": sex, "race": race}), "w": rng.uniform(0.2, 2, n)}


def test_equal_treatment_scores_exactly_one() -> None:
    y = np.tile([1, 1, 0, 0, 0], 60)
    p = np.tile([1, 0, 1, 0, 0], 60)
    frame = pd.DataFrame({"sex": np.repeat(["F", "M"], 150), "race": np.tile(np.repeat(["a", "b", "c"], 25), 4)})
    for config in ("quick", "medium", "full"):
        found = fairness.suite(y, p, sensitive_features=frame, config=config, n_boot=50)  # type: ignore[arg-type]
        assert found.overall_fairness_score == 1.0
        assert not found.critical_issues
        assert not found.warnings
        assert {name: sum(part.weight for part in own.values()) for name, own in found.score_parts.items()} == (
            pytest.approx({"sex": 1.0, "race": 1.0})
        )


def test_a_group_without_positive_decisions_scores_near_zero() -> None:
    y = np.tile([1, 0], 200)
    p = np.where(np.arange(400) < 200, 0, y)
    found = fairness.suite(y, p, sensitive_features={"sex": ["F"] * 200 + ["M"] * 200}, n_boot=100)
    assert found.overall_fairness_score == 0.0
    assert len(found.critical_issues) == 1
    assert "Women are selected 0.00 times as often as men" in str(found.critical_issues[0])
    assert "compliance" in " ".join(map(str, found.notes))


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.booleans())
def test_the_score_is_the_mean_over_attributes_of_weighted_sums(seed: int, weighted: bool) -> None:
    case = people(400, seed, gap=0.1)
    w = case["w"] if weighted else np.ones(400)
    found = fairness.suite(
        case["y"],
        case["p"],
        sensitive_features=case["frame"],
        weights=w if weighted else None,
        config="quick",
        n_boot=0,
        min_per_group=1,
    )
    scores = []
    for name in ("sex", "race"):
        rates, tprs = [], []
        for value in sorted(set(case["frame"][name])):
            i = (case["frame"][name] == value).to_numpy()
            rates.append(np.average(case["p"][i], weights=w[i]))
            j = i & (case["y"] == 1)
            tprs.append(np.average(case["p"][j], weights=w[j]))
        parity = min(rates) / max(rates)
        scores.append(0.3 * parity + 0.3 * (1 - (max(tprs) - min(tprs))) + 0.4 * parity)
    assert found.overall_fairness_score == pytest.approx(np.mean(scores))
    told = [sum(part.contribution for part in own.values()) for own in found.score_parts.values()]
    assert np.mean(told) == pytest.approx(found.overall_fairness_score)


def test_measures_are_those_of_fairlearn() -> None:
    case = people(900, 3, gap=0.15)
    y, p = case["y"], case["p"]
    found = fairness.suite(y, p, sensitive_features=case["frame"], n_boot=100, min_per_group=1)
    for by in ("sex", "race", "sex x race"):
        s = case["frame"][by.split(" x ")]
        expected = {
            "demographic_parity": fl.demographic_parity_difference(y, p, sensitive_features=s),
            "disparate_impact": fl.demographic_parity_ratio(y, p, sensitive_features=s),
            "equal_opportunity": fl.equal_opportunity_difference(y, p, sensitive_features=s),
            "equalized_odds": fl.equalized_odds_difference(y, p, sensitive_features=s),
            "equalized_odds_mean": fl.equalized_odds_difference(y, p, sensitive_features=s, agg="mean"),
        }
        for name, value in expected.items():
            figure = found.criteria[tuple(by.split(" x ")), name].figure
            assert figure.value == pytest.approx(value), (by, name)
            assert figure.low is not None
            assert figure.low <= figure.value <= figure.high


@pytest.mark.parametrize("weighted", [False, True])
def test_other_measures_are_those_of_brute_force(weighted: bool) -> None:
    case = people(900, 5, gap=0.15)
    y, p, s = case["y"], case["p"], case["frame"]["race"].to_numpy()
    w = case["w"] if weighted else np.ones(len(y))
    groups = sorted(set(s))

    def rates(top: Any, bottom: Any) -> list[float]:
        return [w[top & bottom & (s == g)].sum() / w[bottom & (s == g)].sum() for g in groups]

    options = {"sensitive_features": s, "n_boot": 0, "weights": w if weighted else None}
    gap = lambda values: max(values) - min(values)  # noqa: E731
    expected = {
        "predictive_equality": gap(rates(p == 1, y == 0)),
        "negative_predictive_parity": gap(rates(y == 0, p == 0)),
        "overall_accuracy_equality": gap(rates(y == p, y >= 0)),
    }
    for name, value in expected.items():
        assert getattr(fairness, name)(y, p, **options).difference.value == pytest.approx(value), name
    errors = [w[(y == 1) & (p == 0) & (s == g)].sum() / w[(y == 0) & (p == 1) & (s == g)].sum() for g in groups]
    treated = fairness.treatment_equality(y, p, **options)
    assert treated.ratio.value == pytest.approx(min(errors) / max(errors))
    assert "wrong refusals for each wrong approval" in treated.interpretation()
    assert "recusa errada" in treated.interpretation("pt-BR")


def test_average_odds_is_held_against_the_threshold_when_asked() -> None:
    y = np.tile([1] * 40 + [0] * 40, 2)
    p = np.r_[[1] * 32 + [0] * 8 + [1] * 8 + [0] * 32, [1] * 24 + [0] * 16 + [1] * 8 + [0] * 32]
    s = ["a"] * 80 + ["b"] * 80
    worst = fairness.equalized_odds(y, p, sensitive_features=s, threshold=0.15)
    mean = fairness.equalized_odds(y, p, sensitive_features=s, threshold=0.15, aggregate="mean")
    assert (worst.difference.value, worst.passes) == (pytest.approx(0.2), False)
    assert (mean.figure.value, mean.passes) == (pytest.approx(0.1), True)
    with pytest.raises(iso.SpecError, match="aggregate"):
        fairness.equalized_odds(y, p, sensitive_features=s, aggregate="median")  # type: ignore[arg-type]


def test_several_classes_worst_and_mean() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.choice(["x", "y", "z"], 900), rng.choice(["a", "b"], 900)
    p = np.where(rng.uniform(size=900) < 0.6, y, rng.choice(["x", "y", "z"], 900))
    found = fairness.suite(y, p, sensitive_features={"s": s}, n_boot=50)
    gaps = [abs((p[s == "a"] == k).mean() - (p[s == "b"] == k).mean()) for k in "xyz"]
    assert found.criteria[("s",), "demographic_parity"].figure.value == pytest.approx(max(gaps))
    assert found.criteria[("s",), "demographic_parity_mean"].figure.value == pytest.approx(np.mean(gaps))
    assert 0 <= found.overall_fairness_score <= 1


def test_numbers() -> None:
    rng = np.random.default_rng(0)
    s = rng.choice(["a", "b"], 800)
    y = rng.normal(size=800)
    even = fairness.suite(y, y + rng.normal(scale=0.3, size=800), sensitive_features={"s": s}, n_boot=100)
    odd = fairness.suite(y, y + 1.0 * (s == "a"), sensitive_features={"s": s}, n_boot=100)
    assert even.overall_fairness_score > 0.85 > 0.7 > odd.overall_fairness_score
    assert any("Mean parity" in str(message) for message in odd.warnings)
    assert {"distributions", "quantiles"} <= set(odd.tables)
    same = fairness.suite(
        np.tile(y, 2), np.tile(y + 0.1, 2), sensitive_features={"s": ["a"] * 800 + ["b"] * 800}, n_boot=20
    )
    assert same.overall_fairness_score == pytest.approx(1.0)


def test_without_labels_and_with_few_rows() -> None:
    found = fairness.suite(None, [1, 0] * 40, sensitive_features={"s": ["a"] * 40 + ["b"] * 40}, n_boot=20)
    assert found.overall_fairness_score == 1.0
    assert set(found.score_parts["s"]) == {"statistical_parity", "disparate_impact"}
    small = fairness.suite([1, 0, 1], [1, 0, 0], sensitive_features={"s": ["a", "a", "b"]}, n_boot=20)
    assert small.overall_fairness_score is None
    assert "enough rows" in str(small.assessment)
    json.dumps(small.to_dict(), allow_nan=False)


def test_privileged_groups_and_references() -> None:
    p = [1] * 30 + [0] * 70 + [1] * 50 + [0] * 50 + [1] * 60 + [0] * 40
    s = ["x"] * 100 + ["y"] * 100 + ["z"] * 100
    plain = fairness.suite(None, p, sensitive_features={"s": s}, n_boot=50)
    named = fairness.suite(None, p, sensitive_features={"s": s}, privileged="y", n_boot=50)
    assert plain.score_parts["s"]["disparate_impact"].score.value == pytest.approx(0.5)
    assert named.score_parts["s"]["disparate_impact"].score.value == pytest.approx(0.6), "against the privileged group"
    rows = {(str(r["against"]), r["group"]): r["ratio"] for r in named.tables["references"].rows()}
    assert rows["the best-off group", "s=x"] == pytest.approx(0.5)
    assert rows["the privileged group", "s=z"] == pytest.approx(1.2)
    assert rows["everyone", "s=x"] == pytest.approx(0.3 / (140 / 300))
    with pytest.raises(iso.SpecError, match="privileged"):
        fairness.suite(None, p, sensitive_features={"s": s, "t": s}, privileged="y")
    with pytest.raises(iso.SpecError, match="quick"):
        fairness.suite(None, p, sensitive_features=s, config="quik")  # type: ignore[arg-type]


def test_an_intersection_is_told_only_where_it_is_worse() -> None:
    rng = np.random.default_rng(0)
    sex, race = np.repeat(["F", "M"], 1000), np.tile(np.repeat(["a", "b"], 500), 2)
    chance = np.where((sex == "F") & (race == "b"), 0.1, 0.5)
    p = (rng.uniform(size=2000) < chance).astype(int)
    found = fairness.suite(None, p, sensitive_features={"sex": sex, "race": race}, n_boot=100)
    told = [(finding.code.split(".")[1], tuple(finding.who)) for finding in found.findings]
    assert ("disparate_impact", ("sex", "race")) in told
    gap = (rng.uniform(size=2000) < np.where(sex == "F", 0.2, 0.6)).astype(int)
    only = fairness.suite(None, gap, sensitive_features={"sex": sex, "race": race}, n_boot=100)
    assert {tuple(finding.who) for finding in only.findings} == {("sex",)}


def test_conditional_parity_and_simpson() -> None:
    said = [1] * 72 + [0] * 8 + [1] * 20 + [0] * 100 + [1] * 96 + [0] * 24 + [1] * 8 + [0] * 72
    sex = ["F"] * 200 + ["M"] * 200
    department = ["easy"] * 80 + ["hard"] * 120 + ["easy"] * 120 + ["hard"] * 80
    found = fairness.conditional_statistical_parity(
        said, sensitive_features={"sex": sex}, control={"department": department}, reference={"sex": "M"}
    )
    row = next(found.tables["adjusted"].rows())
    parts = [(72 / 80 - 96 / 120, 80 * 120 / 200), (20 / 120 - 8 / 80, 120 * 80 / 200)]
    assert row["difference"] == pytest.approx(sum(d * w for d, w in parts) / sum(w for _, w in parts))
    assert row["plain_difference"] == pytest.approx(92 / 200 - 104 / 200)
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert any("Simpson" in str(note) for note in found.notes)
    assert found.difference.value == pytest.approx(0.1)
    inside = fairness.suite(None, said, sensitive_features={"sex": sex}, control={"department": department}, n_boot=50)
    assert "conditional" in inside.tables


def test_a_control_factor_that_empties_cells_is_flagged() -> None:
    said, sex = [1, 0] * 60, ["F"] * 60 + ["M"] * 60
    found = fairness.conditional_statistical_parity(said, sensitive_features=sex, control={"same": sex})
    assert found.passes is None
    assert any("nothing can be compared" in str(note) for note in found.notes)
    with pytest.raises(iso.SpecError, match="explain itself away"):
        fairness.conditional_statistical_parity(said, sensitive_features={"sex": sex}, control={"sex": sex})


@given(st.integers(0, 1000))
@settings(max_examples=6)
def test_permuting_rows_changes_nothing(seed: int) -> None:
    case = people(300, seed)
    order = np.random.default_rng(seed).permutation(300)
    first = fairness.suite(case["y"], case["p"], sensitive_features=case["frame"], n_boot=30)
    second = fairness.suite(case["y"][order], case["p"][order], sensitive_features=case["frame"].iloc[order], n_boot=30)
    assert first.to_dict() == second.to_dict()


def test_every_kind_of_frame(frame_kind: Any) -> None:
    data = iso.Dataset(frame_kind({"sex": ["F", "M"] * 40, "y": [0, 1, 1, 1] * 20, "p": [0, 1, 1, 0] * 20}))
    native = {name: data.column(name).to_native() for name in ("sex", "y", "p")}
    found = fairness.suite(native["y"], native["p"], sensitive_features=native["sex"], n_boot=20)
    assert type(found.table).__module__.split(".")[0] == type(data.frame).__module__.split(".")[0]


def test_many_classes() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 40, 3000), rng.choice(["a", "b", "c"], 3000)
    p = np.where(rng.uniform(size=3000) < 0.7, y, rng.integers(0, 40, 3000))
    found = fairness.suite(y, p, sensitive_features=s, task="multiclass", config="quick")
    figure = found.criteria[("group",), "demographic_parity_mean"].figure
    assert figure.low == 0.0
    assert figure.value < figure.high < 0.1


def test_scores_are_compared_too() -> None:
    case = people(600, 0)
    score = np.random.default_rng(0).uniform(size=600) + 0.2 * (case["frame"]["sex"] == "M")
    found = fairness.suite(case["y"], case["p"], sensitive_features=case["frame"], y_score=score, n_boot=30)
    rows = {row["group"]: row for row in found.tables["distributions"].rows()}
    assert max(rows["sex=F"]["ks"] if "sex=F" in rows else 0, rows["sex=M"]["ks"] if "sex=M" in rows else 0) > 0.1
    with pytest.raises(iso.DataError, match="600 predictions, but 10 scores"):
        fairness.suite(case["y"], case["p"], sensitive_features=case["frame"], y_score=score[:10])


def test_conditional_parity_with_listed_references() -> None:
    said, sex = [1, 0] * 100, ["F"] * 90 + ["M"] * 110
    factor = {"level": (["low"] * 5 + ["high"] * 5) * 20}
    found = fairness.conditional_statistical_parity(
        said, sensitive_features={"sex": sex}, control=factor, reference={"sex": ["F"]}
    )
    assert list(found.tables["adjusted"]["reference"].values) == ["sex=F"]


def test_any_kind_of_result_is_read_back_as_what_it_wrote() -> None:
    found = fairness.suite([0, 1, 1, 0] * 20, [0, 1, 0, 1] * 20, sensitive_features=["a", "a", "b", "b"] * 20)
    kept = type(found).from_dict(found.to_dict())
    assert kept.to_dict() == {key: value for key, value in found.to_dict().items() if key in kept.to_dict()}
    assert kept.tables["by_group"].to_dict() == found.tables["by_group"].to_dict()
