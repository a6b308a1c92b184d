"""A subject made of counts gives the figures of its rows."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import isonomia as iso
from isonomia import Subject
from isonomia.audit import CHECKS as EVERY

CHECKS = ("representation", "performance", "group_fairness", "fairness_suite", "equivalence", "entropy")


def rows(task: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 2000
    labels = ["no", "yes"] if task == "binary" else ["a", "b", "c"]
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["x", "y", "z"], n)})
    frame["y"] = rng.choice(labels, n)
    frame["p"] = np.where(rng.random(n) < 0.7, frame["y"], rng.choice(labels, n))
    return frame


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_an_audit_of_counts_equals_that_of_the_rows(task: str, frame_kind: Any) -> None:
    frame = rows(task)
    roles: Any = {"positive": "yes"} if task == "binary" else {}
    checks = [*CHECKS, *(("incompatibility",) if task == "binary" else ())]
    data = iso.Dataset(frame, target="y", prediction="p", protected=["sex", "race"], **roles)
    whole = iso.audit(data, checks=checks, n_boot=100)
    cells = frame.groupby(["sex", "race", "y", "p"]).size().reset_index(name="n")
    table = frame_kind({name: cells[name].tolist() for name in cells.columns})
    counted = iso.audit(Subject.from_counts(table, target="y", prediction="p", **roles), checks=checks, n_boot=100)
    for one, other in zip(counted.document.sections, whole.document.sections, strict=True):
        assert one.outcome == other.outcome
        if one.result is not None:
            for key, part in other.result.tables.items():  # type: ignore[union-attr]
                mine = pd.DataFrame({c.name: list(c.values) for c in one.result.tables[key].columns})
                theirs = pd.DataFrame({c.name: list(c.values) for c in part.columns})
                pd.testing.assert_frame_equal(mine, theirs, obj=f"{one.code}/{key}")


def test_columns_that_carry_the_usual_names_need_no_naming(frame_kind: Any) -> None:
    """The table of the README: of 100 women 30 are granted, of 100 men 60."""
    table = frame_kind(
        {
            "group": ["women", "women", "men", "men"],
            "truth": ["yes", "no", "yes", "no"],
            "prediction": ["yes", "no", "yes", "no"],
            "count": [30, 70, 60, 40],
        }
    )
    subject = Subject.from_counts(table, positive="yes")
    assert repr(subject) == "Subject(200 rows, binary, by group)"
    assert [str(note) for note in subject.notes] == [
        "The columns are known by their names: prediction is the decision, truth the true outcome, count the number of "
        "rows."
    ]
    figure = iso.fairness.demographic_parity(subject).difference
    assert figure.value == pytest.approx(0.3)
    plain = {"sex": ["F", "M"], "decision": [1, 0], "n": [40, 60]}
    alone = Subject.from_counts(plain)
    assert alone.outcome.truth is None
    assert "No column of true outcomes is named: decision is taken as the decision" in str(alone.notes[0])
    assert Subject.from_counts(plain, prediction="decision", count="n").notes == ()


def test_a_table_of_counts_says_which_column_it_lacks() -> None:
    with pytest.raises(iso.DataError, match=r"needs a column for `prediction`.*'sex', 'said', 'n'"):
        Subject.from_counts({"sex": ["F"], "said": [1], "n": [4]})
    with pytest.raises(iso.DataError, match="needs a column for `count`"):
        Subject.from_counts({"sex": ["F"], "prediction": [1], "how_many": [4]})
    with pytest.raises(iso.DataError, match="several columns that may be its `count`: 'n', 'count'"):
        Subject.from_counts({"sex": ["F"], "prediction": [1], "n": [4], "count": [4]})


def test_weight_sums_spread_over_the_rows_of_a_combination() -> None:
    frame = rows("binary").assign(w=1.0)
    frame.loc[frame["sex"] == "F", "w"] = 2.5
    cells = frame.groupby(["sex", "y", "p"]).agg(n=("w", "size"), w=("w", "sum")).reset_index()
    counted = Subject.from_counts(cells, target="y", prediction="p", weight="w", positive="yes")
    rowwise = Subject.of(frame["y"], frame["p"], weights=frame["w"], sensitive_features=frame[["sex"]], positive="yes")
    counted = counted.in_rows()
    assert counted.weights is not None
    assert rowwise.weights is not None
    assert counted.weights.sum() == pytest.approx(rowwise.weights.sum())
    for label in (0, 1):
        for code in (0, 1):
            share = [
                s.weights[(s.attributes[0].codes == code) & (s.surface.label == label)].sum()  # type: ignore[index]
                for s in (counted, rowwise)
            ]
            assert share[0] == pytest.approx(share[1])


POLICY = {
    "id": "both",
    "title": "A rule over everyone, and one between groups",
    "min_per_group": 5,
    "rules": [
        {"name": "accuracy", "metric": "accuracy", "measure": "value", "at_least": 0.5},
        {"name": "selection", "metric": "selection_rate", "measure": "difference", "at_most": 0.2},
    ],
}
LABELS = st.sampled_from(["no", "yes"])
TABLES = st.lists(
    st.tuples(st.sampled_from(["F", "M", None]), st.sampled_from(["x", "y"]), LABELS, LABELS, st.integers(0, 40)),
    min_size=4,
    max_size=16,
).filter(lambda cells: {c[2] for c in cells if c[4]} == {"no", "yes"} and sum(c[4] for c in cells) > 2)


@given(TABLES, st.booleans(), st.sampled_from(["group", "exclude"]))
@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_every_check_of_counts_gives_the_figures_of_the_rows(cells: Any, weighted: bool, missing: Any) -> None:
    """Repeated combinations, zero counts, missing values, weights: the same tables at every door."""
    assume(any(cell[4] and cell[0] is not None for cell in cells))
    table = pd.DataFrame(cells, columns=["sex", "race", "y", "p", "n"])
    table["w"] = np.where(table["race"] == "x", 2.5, 0.5) * table["n"]
    options: Any = {"weight": "w"} if weighted else {}
    counted = Subject.from_counts(
        table, target="y", prediction="p", protected=["sex", "race"], positive="yes", **options
    )
    frame = table.loc[table.index.repeat(table["n"])].reset_index(drop=True)
    single = Subject.of(
        frame["y"].tolist(),
        frame["p"].tolist(),
        sensitive_features=frame[["sex", "race"]],
        weights=(frame["w"] / frame["n"]).tolist() if weighted else None,
        positive="yes",
    )
    assert counted.counts is not None
    assert (len(counted), counted.n_given) == (len(single), len(frame))
    if weighted:
        assert set(counted.weights) == set(single.weights)
        counted, single = with_exact_sums(counted), with_exact_sums(single)
    # the suite compares groups with everyone, whose effective size is not a sum of theirs where weights differ
    names = [entry.id for entry in EVERY if entry.counted and not (weighted and entry.id == "fairness_suite")]
    ours, theirs = (
        iso.audit(one, checks=names, policy=POLICY, n_boot=50, missing=missing) for one in (counted, single)
    )
    same_document(ours, theirs)


def with_exact_sums(subject: Subject) -> Subject:
    """The same weights as multiples of a half: sums over cells and over rows are the same to the last digit."""
    return replace(subject, weights=np.rint(subject.weights / min(subject.weights)) / 2)


def same_document(ours: iso.Report, theirs: iso.Report) -> None:
    one, other = ours.to_dict(), theirs.to_dict()
    for volatile in ("created", "timings", "fingerprint", "sha256"):
        one.pop(volatile, None)
        other.pop(volatile, None)
    assert_close(one, other, "report")


def assert_close(one: Any, other: Any, where: str) -> None:
    """Equal up to rounding: sums over cells and over rows add the same numbers in another order."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            if key != "seconds":
                assert_close(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_close(a, b, f"{where}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True), where
    else:
        assert one == other, where


def test_a_thousand_million_rows_take_no_memory() -> None:
    """A billion people in eight combinations: every check of counts runs, with a policy, in a few megabytes."""
    sexes, truths, predictions = (part.ravel() for part in np.meshgrid(["F", "M"], [0, 1], [0, 1], indexing="ij"))
    counts = np.array([300, 100, 50, 250, 250, 150, 30, 370]) * 1_000_000
    table = {"sex": sexes, "y": truths, "p": predictions, "n": counts}
    # there are neither probabilities, times, features nor other rows to compare with
    without = {"calibration", "group_calibration", "over_time", "threshold_sweep", "conformal", "drift"}
    without |= {"missingness", "duplicates", "weak_spots", "metric_disagreement", "overfit", "hidden_subgroups"}
    without |= {"failure_modes"}
    names = [entry.id for entry in EVERY if entry.counted and entry.id not in without]
    assert len(names) == 7
    tracemalloc.start()
    subject = Subject.from_counts(table, target="y", prediction="p", positive=1)
    report = iso.audit(subject, checks=names, policy="eeoc", n_boot=50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(subject) == 1_500_000_000
    assert peak < 64 << 20
    assert {section.outcome for section in report.document.sections} <= {"issue", "passed"}
    groups = {row["group"]: row for row in report["group_fairness"].tables["by_group"].rows()}
    assert groups["sex=F"]["n"] == 700_000_000
    assert groups["sex=F"]["selection_rate"] == pytest.approx(350 / 700)
    assert groups["sex=M"]["tpr"] == pytest.approx(370 / 400)
    assert report.verdict is not None
    assert report.verdict.outcome == "exceeds"  # 50% against 65% is below four fifths


def test_what_needs_single_rows_does_not_apply_to_very_many() -> None:
    table = {"sex": ["F", "F", "M"], "y": [1, 0, 1], "p": [0, 0, 1], "n": [30, 50, 400_000_000]}
    subject = Subject.from_counts(table, target="y", prediction="p")
    report = iso.audit(subject, checks=["failure_modes"])
    assert "it needs single rows, and these are counts of 400,000,080 rows" in str(report.document.sections[0].reason)
    with pytest.raises(iso.NotApplicable, match="single rows"):
        iso.robustness.failure_modes(subject)


def test_rows_are_repeated_where_they_are_needed() -> None:
    """What does not count gets rows, with the settings of the caller, made once."""
    table = {"sex": ["F", "F", "M"], "y": [1, None, 0], "p": [0, 0, 1], "n": [3, 5, 4]}
    subject = Subject.from_counts(table, target="y", prediction="p")
    single = Subject.of(subject, level=0.9)
    assert single.counts is None
    assert single.settings.level == 0.9
    assert single.truth.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert single.attributes[0].codes.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert (len(single), single.n_given, single.n_dropped) == (7, 12, 5)
    assert single.predictions is Subject.of(subject).predictions


def test_the_fingerprint_of_counts_depends_on_the_counts() -> None:
    table = {"sex": ["F", "M"], "p": [0, 1], "n": [3, 4]}
    other = {**table, "n": [4, 4]}
    prints = {Subject.from_counts(one, prediction="p").fingerprint for one in (table, other, table)}
    assert len(prints) == 2


def test_what_needs_features_does_not_apply() -> None:
    table = {"sex": ["F", "F", "M"], "y": [1, 0, 1], "p": [0, 0, 1], "n": [30, 50, 40]}
    report = iso.audit(Subject.from_counts(table, target="y", prediction="p"), checks=["weak_spots", "proxies"])
    assert [section.outcome for section in report.document.sections] == ["not_applicable", "not_applicable"]
    assert all("there are no features" in str(section.reason) for section in report.document.sections)


def test_a_missing_target_is_left_out_with_all_its_rows() -> None:
    table = {"sex": ["F", "F", "M"], "y": [1, None, 0], "p": [0, 0, 1], "n": [30, 50, 40]}
    subject = Subject.from_counts(table, target="y", prediction="p")
    assert (len(subject), subject.n_dropped, subject.in_rows().truth.sum()) == (70, 50, 30)
    assert str(subject.notes[0]) == "50 rows without a target are left out."


@pytest.mark.parametrize(
    ("counts", "message"),
    [([1, -1], "whole numbers"), ([0, 0], "not all"), ([1.5, 1], "whole numbers"), (["a", "b"], "whole numbers")],
)
def test_counts_are_checked(counts: Any, message: str) -> None:
    with pytest.raises(iso.DataError, match=message):
        Subject.from_counts({"sex": ["F", "M"], "p": [0, 1], "n": counts}, prediction="p")


def test_names_are_checked() -> None:
    with pytest.raises(iso.DataError, match="no column 'hird'"):
        Subject.from_counts({"hired": [0, 1], "n": [3, 4]}, prediction="hird")
    with pytest.raises(iso.SpecError, match="cannot be used with counts"):
        Subject.from_counts({"p": [0, 1], "n": [3, 4]}, prediction="p", y_true=[0, 1])  # type: ignore[call-arg]
