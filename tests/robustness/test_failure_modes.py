"""The worst rows by a plain sort; planted reasons and slices are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isonomia import Dataset, SpecError
from isonomia.models import Surface
from isonomia.robustness import failure_modes
from isonomia.robustness.slices.row_failures import harm_of, worst_rows
from isonomia.subject import Subject

MakePeople = Callable[..., tuple[Dataset, Any]]


def test_several_classes_with_probabilities() -> None:
    truth = [0, 1, 2, 0, 1]
    table = np.array([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3], [0.5, 0.3, 0.2]])
    frame = {"y": list("abcab"), **{c: table[:, i] for i, c in enumerate("abc")}, "x": range(5)}
    data = Dataset(frame, target="y", score={"a": "a", "b": "b", "c": "c"}, features=["x"])
    result = failure_modes(data, top_k=3, min_samples=1)
    rows = [row["row"] for row in result.tables["rows"].rows()]
    assert len(rows) == 3
    assert set(rows[:2]) == {3, 4}
    harm = harm_of(Subject.of(truth, y_score=table, task="multiclass").outcome, 0.9)
    expected = [1 - table[i, t] + (table[i].argmax() != t) for i, t in enumerate(truth)]
    np.testing.assert_allclose(harm.size, expected)


def test_numbers_labels_and_scores() -> None:
    residuals = harm_of(Subject.of([1.0, 2, 3, 4, 5], [1.1, 2.0, 5.0, 3.5, 5.2], task="regression").outcome, 0.9)
    assert int(np.argmax(residuals.size)) == 2
    assert residuals.kind.tolist() == ["too_high", "right", "too_high", "too_low", "too_high"]
    labels = harm_of(Subject.of(["a", "b", "c", "a", "b"], ["a", "c", "c", "b", "b"]).outcome, 0.9)
    assert labels.size.tolist() == [0, 1, 0, 1, 0]
    scores = np.array([5.0, -1, 3, 3, 9])
    truth = np.array([1, 0, 0, 1, 0])
    placed = harm_of(Subject.of(truth, y_score=scores).outcome, 0.9)
    for i in range(5):
        others = scores[truth != truth[i]]
        wrong = np.mean((others > scores[i]) + 0.5 * (others == scores[i]))
        assert placed.size[i] == pytest.approx(wrong if truth[i] else 1 - wrong)
    assert placed.kind[4] == "misranked"


def test_wrong_and_confident_comes_first_and_is_called_so() -> None:
    outcome = Subject.of([0, 0, 1, 1], y_score=[0.99, 0.6, 0.8, 0.97]).outcome
    harm = harm_of(outcome, 0.9)
    assert harm.kind.tolist() == ["wrong_confident", "wrong", "right_unsure", "right"]
    assert np.argsort(-harm.size).tolist() == [0, 1, 2, 3]
    own = Surface("binary", (0, 1), label=np.array([0, 1], dtype=np.uint8), probability=np.array([0.9, 0.9]))
    assert harm_of(type(outcome)(np.array([1, 1]), own), 0.9).confidence.tolist() == pytest.approx([0.1, 0.9])


def test_a_planted_slice_has_more_than_its_share(rng: np.random.Generator) -> None:
    n = 4000
    city, x = rng.choice(["north", "south", "east", "west"], n), rng.normal(size=n)
    y = rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(city == "west", 0.5, 0.03)
    frame = {"city": city, "x": x, "y": y, "p": np.where(wrong, 1 - y, y)}
    result = failure_modes(Dataset(frame, target="y", prediction="p"))
    first = result.findings[0]
    assert first.who == {"city": "west"}
    assert first.severity == "warning"
    row = next(result.tables["slices"].rows())
    worst = wrong
    assert row["slice"] == "west"
    assert row["share_of_worst"] == pytest.approx((worst & (city == "west")).sum() / worst.sum())
    assert row["share"] == pytest.approx((city == "west").mean())
    assert [f.who for f in result.findings if f.code == "failure_modes.slice"] == [{"city": "west"}]
    reasons = [str(r["reasons"]) for r in result.tables["rows"].rows() if city[r["row"]] == "west"]
    assert reasons
    assert all("city=west" in reason for reason in reasons)


def test_nothing_is_told_where_errors_fall_by_chance() -> None:
    told = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 1000
        y = rng.integers(0, 2, n)
        frame = {
            "city": rng.choice(list("abcd"), n),
            "x": rng.normal(size=n),
            "y": y,
            "p": np.where(rng.random(n) < 0.1, 1 - y, y),
        }
        told += bool(failure_modes(Dataset(frame, target="y", prediction="p")).findings)
    assert told <= 3


def test_unusual_features_are_named(rng: np.random.Generator) -> None:
    n = 500
    y = np.zeros(n)
    said = rng.normal(0, 0.1, n)
    x, kind = rng.normal(size=n), np.array(["usual"] * n, dtype=object)
    hole = rng.normal(size=n)
    said[7], x[7], kind[7], hole[7] = 50.0, 40.0, "odd", np.nan
    frame = {"x": x, "kind": kind, "hole": hole, "y": y, "said": said}
    result = failure_modes(Dataset(frame, target="y", prediction="said", task="regression"))
    row = next(result.tables["rows"].rows())
    assert row["row"] == 7
    assert row["kind"] == "too_high"
    for part in ("x = 40", "kind = odd (0.2% of rows)", "hole is missing"):
        assert part in str(row["reasons"])
    assert "está ausente" in row["reasons"].text("pt-BR")


def test_positions_are_those_of_the_data_given() -> None:
    frame = {"x": [1.0, 2, 3, 4, 5], "y": [None, 0.0, 1.0, 0.0, 1.0], "p": [0.5, 0.1, 0.9, 0.95, 0.8]}
    rows = list(failure_modes(Dataset(frame, target="y", score="p"), min_samples=1).tables["rows"].rows())
    assert rows[0]["row"] == 3


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_task_and_frame(task: str, people: MakePeople, frame_kind: Any) -> None:
    data, model = people(300, task)
    frame = frame_kind({name: data.column(name).to_numpy() for name in data.columns})
    result = failure_modes(Dataset(frame, **data.options()), model, top_k=5)
    assert len(result.table) == 5
    assert result.to_dict()["tables"]["kinds"]["columns"]


def test_no_error_constant_features_and_bad_options() -> None:
    frame = {"c": [1] * 60, "y": [0, 1] * 30, "p": [0, 1] * 30}
    data = Dataset(frame, target="y", prediction="p")
    result = failure_modes(data)
    assert len(result.tables["rows"]) == 0
    assert any("no error" in str(note) for note in result.notes)
    assert result.findings == ()
    assert worst_rows(np.zeros(5), 0.5).sum() == 0
    for options in ({"top_k": 0}, {"share": 0}, {"confident": 2}, {"features": ["d"]}, {"bins": 1}, {"far": -1}):
        with pytest.raises(SpecError):
            failure_modes(data, **options)
