"""Conformal sets: coverage as promised, shown by group, repaired group by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from isonomia import DataError, Dataset, NotApplicable, SpecError
from isonomia.robustness import conformal, conformal_quantile


def people(n: int, task: str, seed: int, *, uneven: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.2, 0.8])
    frame: dict[str, Any] = {"sex": sex, "x": rng.normal(size=n)}
    spread = np.where((sex == "F") & uneven, 4.0, 1.0)
    if task == "regression":
        frame["y"] = rng.normal(size=n)
        frame["said"] = frame["y"] + rng.normal(size=n) * spread
        return Dataset(frame, target="y", prediction="said", protected=["sex"])
    k = 2 if task == "binary" else 4
    logits = rng.normal(size=(n, k)) * 1.5
    table = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    flat = np.where(((sex == "F") & uneven)[:, None], 1 / k, table)
    frame["y"] = (flat.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)
    frame |= {f"p{i}": table[:, i] for i in range(k)}
    score: Any = "p1" if k == 2 else {i: f"p{i}" for i in range(k)}
    features = ["sex", "x"]
    return Dataset(frame, target="y", score=score, protected=["sex"], features=features)


CASES = [("regression", "auto"), ("binary", "threshold"), ("multiclass", "threshold"), ("multiclass", "adaptive")]


@pytest.mark.parametrize(("task", "score"), CASES)
def test_coverage_is_within_its_interval(task: str, score: Any) -> None:
    """Given n calibration rows, coverage is Beta(k, n + 1 - k); of m rows seen, a beta-binomial count."""
    told = 0
    for seed in range(5):
        result = conformal(people(4000, task, seed), alpha=0.1, score=score, seed=seed)
        k = int(np.ceil(2001 * 0.9))
        held = round(result.values["coverage"].value * 2000)
        low, high = stats.betabinom.ppf([0.0005, 0.9995], 2000, k, 2001 - k)
        assert low <= held <= high
        told += len(result.findings)
    assert told <= 1  # false alarms about groups, at 5% a run


@pytest.mark.parametrize(("task", "score"), CASES)
def test_a_group_that_is_not_covered_is_told_and_repaired(task: str, score: Any) -> None:
    data = people(6000, task, 3, uneven=True)
    result = conformal(data, score=score)
    told = [finding.who for finding in result.findings]
    assert {"sex": "F"} in told
    rows = {row["group"]: row for row in result.tables["coverage"].rows() if isinstance(row["group"], str)}
    assert rows["F"]["high"] < 0.9 < rows["M"]["high"]
    repaired = conformal(data, score=score, by_group=True)
    mended = {row["group"]: row for row in repaired.tables["coverage"].rows() if isinstance(row["group"], str)}
    assert mended["F"]["size"] > rows["F"]["size"]
    assert mended["F"]["coverage"] == pytest.approx(0.9, abs=0.05)
    assert rows["F"]["coverage"] < mended["F"]["coverage"] - 0.03


def test_intervals_and_sets_equal_brute_force() -> None:
    known, new = people(300, "regression", 0), people(200, "regression", 1)
    result = conformal(new, calibration=known, alpha=0.2)
    scores = sorted(np.abs(known.column("y").to_numpy() - known.column("said").to_numpy()))
    width = scores[int(np.ceil(301 * 0.8)) - 1]
    inside = np.abs(new.column("y").to_numpy() - new.column("said").to_numpy()) <= width
    assert result.values["coverage"].value == pytest.approx(inside.mean())
    assert result.values["size"] == pytest.approx(2 * width)
    for name in ("F", "M"):
        row = next(row for row in result.tables["coverage"].rows() if row["group"] == name)
        assert row["coverage"] == pytest.approx(inside[new.column("sex").to_numpy() == name].mean())


def test_sets_of_classes_hold_the_probable_ones() -> None:
    known, new = people(500, "multiclass", 0), people(400, "multiclass", 1)
    result = conformal(new, calibration=known)
    table = np.column_stack([new.column(f"p{i}").to_numpy() for i in range(4)])
    old = np.column_stack([known.column(f"p{i}").to_numpy() for i in range(4)])
    own = 1 - old[np.arange(500), known.column("y").to_numpy()]
    limit = np.sort(own)[int(np.ceil(501 * 0.9)) - 1]
    sizes = (1 - table <= limit).sum(axis=1)
    assert [row["n"] for row in result.tables["set_sizes"].rows()] == np.bincount(sizes).tolist()
    assert {row["group"] for row in result.tables["by_class"].rows()} == {"0", "1", "2", "3"}


def test_weights_of_one_change_nothing(rng: np.random.Generator) -> None:
    scores = rng.exponential(size=137)
    assert conformal_quantile(scores, 0.1, np.full(137, 3.0)) == conformal_quantile(scores, 0.1)
    assert conformal_quantile(scores[:5], 0.1, np.ones(5)) == np.inf


def test_too_few_rows_give_endless_intervals_and_say_so() -> None:
    result = conformal(people(12, "regression", 0), alpha=0.05)
    assert result.values["size"].value is None
    assert any("infinite" in note.text() for note in result.notes)


def test_bad_input_is_named() -> None:
    data = people(100, "regression", 0)
    for options, told in [({"alpha": 0}, "`alpha`"), ({"score": "apss"}, "`score` must be one of")]:
        with pytest.raises(SpecError, match=told):
            conformal(data, **options)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="is for classes"):
        conformal(data, score="adaptive")
    with pytest.raises(DataError, match="too small"):
        conformal(people(3, "regression", 0))
    with pytest.raises(DataError, match="same task"):
        conformal(data, calibration=people(50, "binary", 0))
    labels = Dataset({"x": [1, 2, 3, 4] * 5, "y": [0, 1] * 10, "s": [0, 1] * 10}, target="y", prediction="s")
    with pytest.raises(NotApplicable, match="probabilities"):
        conformal(labels)
    with pytest.raises(DataError, match="protected"):
        conformal(
            Dataset(
                {"x": np.arange(8.0), "y": np.arange(8.0) / 3, "s": np.arange(8.0)},
                target="y",
                prediction="s",
                task="regression",
            ),
            by_group=True,
        )
