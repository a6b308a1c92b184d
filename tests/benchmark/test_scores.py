"""Matching and scores: against brute force, with a method that knows the truth, and with one that guesses."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isonomia.benchmark import BUDGETS, CENTRE, Answer, Claim, Setting
from isonomia.benchmark.contestants import CONTESTANTS, contestant
from isonomia.benchmark.matching import assign, jaccard, relation
from isonomia.benchmark.pair_scores import score_pairs
from isonomia.benchmark.scenes import Scene, build
from isonomia.benchmark.subgroup_scores import score_subgroups

SMALL = replace(CENTRE, n_pairs=3, group_rows=150, background=1500, judged=4000, model="oracle", bias=-2.0)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return build(SMALL, 1)


def test_jaccard_by_sets() -> None:
    rng = np.random.default_rng(0)
    found, true = list(rng.random((4, 60)) < 0.4), list(rng.random((3, 60)) < 0.3)
    sets = [[{*np.flatnonzero(rows)} for rows in side] for side in (found, true)]
    expected = [[len(a & b) / len(a | b) for b in sets[1]] for a in sets[0]]
    assert jaccard(found, true) == pytest.approx(np.array(expected))
    assert jaccard([], true).shape == (0, 3)
    assert jaccard([np.zeros(5, bool)], [np.zeros(5, bool)]).tolist() == [[0.0]]


@settings(max_examples=60, deadline=None)
@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(0, 1)))
def test_assignment_is_the_best_of_all(overlap: Any) -> None:
    rows, columns = overlap.shape
    wide = overlap if rows <= columns else overlap.T
    best = (0, 0.0)
    for chosen in permutations(range(wide.shape[1]), wide.shape[0]):
        hits = [wide[i, j] for i, j in enumerate(chosen) if wide[i, j] >= 0.5]
        best = max(best, (len(hits), sum(hits)))
    found = assign(overlap)
    assert len(found) == best[0]
    assert sum(overlap[i, j] for i, j in found) == pytest.approx(best[1])
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def test_relations() -> None:
    rows = np.arange(1000)
    true = rows < 200
    found = {"exact": rows < 201, "too general": rows < 900, "too special": rows < 60, "miss": rows >= 190}
    assert all(relation(mask, true) == name for name, mask in found.items())
    assert relation((rows >= 100) & (rows < 300), true) == "overlap"
    assert relation(np.zeros(1000, bool), true) == "miss"


def test_who_knows_the_truth_scores_one(scene: Scene) -> None:
    perfect = contestant("tests.benchmark.own_methods:PERFECT")
    scores = score_subgroups(scene, perfect.ask(scene, BUDGETS["b10k"], 0, perfect))
    for name in (
        "precision",
        "recall",
        "f1",
        "ap",
        "mrr",
        "best_jaccard",
        "coverage",
        "row_precision",
        "f1_realised",
    ):
        assert scores[name] == 1, name
    assert scores["descriptions"]["exact"] == scores["n_truths"] == 3
    assert scores["recall_by_jaccard"] == [1.0] * 10
    assert scores["claimed"]
    assert scores["decision"]
    assert scores["confirmed"] == 1


def test_who_guesses_scores_nothing(scene: Scene) -> None:
    guess = contestant("tests.benchmark.own_methods:GUESS")
    found = [score_subgroups(scene, guess.ask(scene, BUDGETS["b10k"], seed, guess)) for seed in range(5)]
    assert max(scores["f1"] for scores in found) == 0
    assert max(scores["best_jaccard"] for scores in found) < 0.35
    assert not any(scores["claimed"] for scores in found)


def test_the_wrong_sign_and_repeats_do_not_count(scene: Scene) -> None:
    wrong = tuple(Claim(rows=truth.rows, sign=-truth.sign) for truth in scene.truths)
    assert score_subgroups(scene, Answer(claims=wrong))["f1"] == 0
    again = tuple(Claim(rows=scene.truths[0].rows, sign=scene.truths[0].sign) for _ in range(3))
    scores = score_subgroups(scene, Answer(claims=again))
    assert (scores["precision"], scores["recall"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert scores["redundancy"] == 1
    assert scores["ap"] == pytest.approx(1 / 3)


def test_no_claim_scores_zero_and_a_null_has_no_score(scene: Scene) -> None:
    assert score_subgroups(scene, Answer())["f1"] == 0
    null = build(replace(SMALL, bias=0.0), 0)
    assert null.truths == ()
    scores = score_subgroups(null, Answer(claims=(Claim(rows=np.ones(len(null.fresh), bool), sign=1, p=0.01),)))
    assert "f1" not in scores
    assert scores["claimed"]
    assert not scores["decision"]


def test_the_truth_is_what_the_oracle_does(scene: Scene) -> None:
    """The oracle shifts the people of each truth as the bias says, and nobody else."""
    anyone = np.any([truth.rows for truth in scene.truths], axis=0)
    assert np.abs(scene.shift[~anyone]).max() < 1e-12
    assert all(truth.realised and -0.45 < truth.shift < -0.1 for truth in scene.truths)
    assert scene.outcome.mean() > scene.score.mean() + 0.01


def test_the_oracle_is_calibrated_without_bias() -> None:
    """Outcomes of a null depart from the oracle's probabilities by chance alone, in every tenth of the scores."""
    null = build(replace(SMALL, bias=0.0, background=20_000, aleatoric=1.0, epistemic=0.6), 0)
    tenth = np.searchsorted(np.quantile(null.score, np.arange(0.1, 1, 0.1)), null.score)
    for part in range(10):
        rows = tenth == part
        spread = np.sqrt((null.score[rows] * (1 - null.score[rows])).sum())
        assert abs((null.outcome[rows] - null.score[rows]).sum()) < 4 * spread


def test_pairs_are_asked_again(scene: Scene) -> None:
    who = CONTESTANTS["observed"]
    answer = who.ask(scene, BUDGETS["b10k"], 0, who)
    scores = score_pairs(scene, answer, BUDGETS["b10k"])
    assert scores["validity"] == 1
    assert scores["recall"] == 1
    assert scores["attributed"] == 1  # the oracle looks at no protected attribute but for the biases
    assert scores["pairs_at"][-1] == scores["valid"] == len(answer.pairs.pairs)
    assert answer.metrics["n_model_rows"] <= 10_000
    lied = replace(answer.pairs.pairs, other=answer.pairs.pairs.first[:, answer.pairs.pairs.columns])
    scores = score_pairs(scene, replace(answer, pairs=replace(answer.pairs, pairs=lied)), BUDGETS["b10k"])
    assert (scores["valid"], scores["validity"], scores["recall"], scores["f1"]) == (0, 0, 0, 0)


def test_nobody_is_treated_differently_by_a_null() -> None:
    null = build(replace(SMALL, bias=0.0), 0)
    for name in ("observed", "random_people", "auto"):
        who = CONTESTANTS[name]
        scores = score_pairs(null, who.ask(null, BUDGETS["b10k"], 0, who), BUDGETS["b10k"])
        assert not scores["claimed"], name
        assert scores["decision"], name


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_other_tasks_have_answers(task: Any) -> None:
    made = build(replace(SMALL, task=task), 1)
    for name in ("divexplorer", "gerryfair", "biasscan", "sliceline"):
        who = CONTESTANTS[name]
        options = {"n_randomisations": 0, "bias_scan_num_iters": 2} if name == "biasscan" else who.options
        scores = score_subgroups(made, who.ask(made, BUDGETS["b10k"], 0, replace(who, options=options)))
        assert 0 <= scores["f1"] <= 1
        assert scores["n_claims"] > 0, name
    who = CONTESTANTS["observed"]
    assert score_pairs(made, who.ask(made, BUDGETS["b10k"], 0, who), BUDGETS["b10k"])["recall"] == 1


def test_text_of_a_setting() -> None:
    assert Setting().text == "centre"
    assert Setting(group_rows=50, judged=10).text == "group_rows=50"
