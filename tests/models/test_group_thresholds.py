"""A threshold for each group: decisions, parts of the rows, reports, and what needs one threshold for all."""

from __future__ import annotations

import numpy as np
import pytest

import isonomia as iso
from isonomia import Dataset, NotApplicable, Subject
from isonomia.counting import Codes
from isonomia.errors import DataError
from isonomia.models import GroupThresholds, Surface
from isonomia.robustness import threshold_sweep
from isonomia.robustness.stress.decisions import with_probability

RNG = np.random.default_rng(3)
SEX = RNG.choice(["F", "M"], 400)
P = RNG.random(400).round(3)
Y = (RNG.random(400) < P).astype(int)
CUTS = {"M": 0.7, "F": 0.3}
BY_HAND = [int(p >= CUTS[sex]) for p, sex in zip(P, SEX, strict=True)]


def thresholds() -> GroupThresholds:
    return GroupThresholds.of(Codes.encode(SEX, name="sex"), CUTS)


def surface() -> Surface:
    return Surface.of_probabilities(P, classes=(0, 1), threshold=thresholds())


def test_decisions_follow_from_each_groups_threshold() -> None:
    assert surface().label is not None
    assert surface().label.tolist() == BY_HAND  # type: ignore[union-attr]
    scores = Surface.of_scores(P * 10 - 5, classes=(0, 1), threshold=GroupThresholds(thresholds().groups, (-2.0, 2.0)))
    assert scores.label.tolist() == [int(10 * p - 5 >= (-2 if s == "F" else 2)) for p, s in zip(P, SEX, strict=True)]  # type: ignore[union-attr]


def test_a_threshold_is_replaced_both_ways_and_other_decisions_stay() -> None:
    single = Surface.of_probabilities(P, classes=(0, 1))
    assert single.with_threshold(thresholds()).label.tolist() == BY_HAND  # type: ignore[union-attr]
    back = surface().with_threshold(0.5)
    assert back.threshold == 0.5
    assert back.label.tolist() == single.label.tolist()  # type: ignore[union-attr]
    elsewhere = single.with_label(np.zeros(400, dtype=np.uint8)).with_threshold(thresholds())
    lowered = (SEX == "F") & (P >= 0.3) & (P < 0.5)
    assert elsewhere.label.tolist() == lowered.astype(int).tolist()  # type: ignore[union-attr]


def test_some_of_the_rows_keep_their_groups_thresholds() -> None:
    rows = np.flatnonzero(P > 0.25)[::-3]
    part = surface().take(rows)
    assert isinstance(part.threshold, GroupThresholds)
    assert part.threshold.by_row.tolist() == [CUTS[SEX[row]] for row in rows]
    moved = with_probability(part, 1 - P[rows])
    assert moved.label.tolist() == [int(1 - P[row] >= CUTS[SEX[row]]) for row in rows]  # type: ignore[union-attr]


def test_a_subject_takes_these_decisions_and_the_report_states_the_thresholds() -> None:
    rows = np.arange(100, 400)
    data = Dataset({"sex": SEX[rows].tolist(), "y": Y[rows], "x": P[rows]}, target="y", positive=1, protected=["sex"])
    part = surface().take(rows)
    assert Subject.of(data, part).surface.label.tolist() == BY_HAND[100:]  # type: ignore[union-attr]
    report = iso.audit(data, part, checks=["group_fairness"], n_boot=0)
    assert report.document.subject["threshold"] == {"sex": {"F": 0.3, "M": 0.7}}
    assert iso.Report.from_dict(report.to_dict()).document.subject["threshold"] == report.document.subject["threshold"]
    single = iso.audit(data, part.with_threshold(0.5), checks=["group_fairness"], n_boot=0)
    assert "threshold" not in single.document.subject


def test_moving_one_threshold_does_not_apply() -> None:
    data = Dataset({"y": Y, "x": P}, target="y", positive=1)
    with pytest.raises(NotApplicable, match="each group of 'sex' has its own threshold"):
        threshold_sweep(Subject.of(data, surface()), n_boot=0)


def test_thresholds_fit_their_groups_and_rows() -> None:
    groups = Codes.encode(SEX, name="sex")
    with pytest.raises(DataError, match="no threshold for 'M' in 'sex'"):
        GroupThresholds.of(groups, {"F": 0.3})
    with pytest.raises(DataError, match="2 groups, but there are 1 thresholds"):
        GroupThresholds(groups, (0.5,))
    with pytest.raises(DataError, match="finite"):
        GroupThresholds(groups, (0.5, float("nan")))
    with pytest.raises(DataError, match="thresholds for 400 rows, but 2 predictions"):
        Surface.of_probabilities([0.1, 0.2], classes=(0, 1), threshold=thresholds())
    with pytest.raises(DataError, match="needs probabilities or scores"):
        Surface.of_numbers([1.0]).with_threshold(0.5)
