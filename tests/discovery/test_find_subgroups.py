"""The one entrance: what it reads, what it refuses, what it gives back; with a method that looks at one column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import isonomia as iso
from isonomia.data.engines.engine import part_of
from isonomia.discovery import METHODS, Method, Problem, Search, Subgroup, find_subgroups
from isonomia.errors import DataError, SpecError
from isonomia.evidence import Column, Estimate
from isonomia.languages import msg
from isonomia.parameters import Integer, Parameter
from isonomia.report.figures import draw


def _look(problem: Problem) -> Search:
    column = problem.features[0]
    found = [_measure(problem, Subgroup({column.name: (code,)})) for code in range(column.size)]
    return Search(tuple(found), msg("error rate"), tested=column.size, columns=(Column("gap", format="num"),))


def _measure(problem: Problem, subgroup: Subgroup) -> Subgroup:
    loss, mask = problem.loss(), subgroup.mask(problem.by_name)
    value = float(loss[mask].mean())
    return Subgroup(
        subgroup.conditions, {"gap": value - loss.mean()}, Estimate(value, n=int(mask.sum())), loss.mean(), 0.01
    )


@pytest.fixture(autouse=True)
def _method() -> Iterator[None]:
    METHODS.add(
        Method(
            id="first_column",
            purpose="looks at one column",
            needs=("errors",),
            run=_look,
            parameters=(Parameter("depth", Integer(1), 1, "-"),),
            measure=_measure,
        )
    )
    yield
    METHODS._entries.pop("first_column")


COLUMNS = {"sex": ["F", "M", "F", "M"] * 25, "age": list(range(0, 100, 2)) * 2}
TRUE = [0, 1] * 50
PRED = [0, 1, 1, 1] * 25


def test_every_kind_of_frame_gives_the_same_table(frame_kind: Callable[[Mapping[str, Any]], Any]) -> None:
    result = find_subgroups(frame_kind(COLUMNS), method="first_column", y_true=TRUE, y_pred=PRED, protected=["sex"])
    rows = list(result.tables["subgroups"].rows())
    assert [row["slice"] for row in rows] == ["sex = F", "sex = M"]
    assert [row["subgroup_key"] for row in rows] == ["F|*", "M|*"]
    assert [row["sex"] for row in rows] == ["F", "M"]
    assert [row["age"] for row in rows] == [None, None]
    assert [row["size"] for row in rows] == [50, 50]
    assert [row["support"] for row in rows] == [0.5, 0.5]
    assert [row["outcome"] for row in rows] == [0.5, 1.0]  # share of favourable decisions
    assert [row["diff_outcome"] for row in rows] == [-0.25, 0.25]
    assert [row["gap"] for row in rows] == [0.25, -0.25]
    assert result.metrics["TSN"] == 2
    assert result.metrics["SUR"] == result.metrics["DSR"] == 1.0
    seconds, by_value = result.metrics["total_time"], result.metrics["dsn_by_attr_value"]
    one = {"TSN": 50, "DSN": 1, "SUR": 0.02, "DSS": seconds}
    assert by_value == {"total": {"TSN": 2, "DSN": 2, "SUR": 1.0, "DSS": seconds / 2}, "sex=F": one, "sex=M": one}
    assert result.mask(1).tolist() == [False, True] * 50
    assert result.to_dict()["metrics"]["DSN"] == 2


def test_a_dataset_brings_target_and_predictions() -> None:
    data = iso.Dataset({**COLUMNS, "y": TRUE, "said": PRED}, target="y", prediction="said", protected=["sex"])
    result = find_subgroups(data, method="first_column")
    assert list(result.table["gap"]) == [0.25, -0.25]
    assert "y" not in result.table.columns


def test_numbers_are_binned_and_read_in_their_own_units() -> None:
    result = find_subgroups(
        COLUMNS, method="first_column", y_true=TRUE, y_pred=PRED, features=["age"], bins={"age": [0, 25, 60, 99]}
    )
    assert list(result.table["slice"]) == ["age in [0, 25)", "age in [25, 60)", "age in [60, 99]"]


def test_holdout_measures_on_other_rows_and_adjusts_for_what_is_listed() -> None:
    result = find_subgroups(COLUMNS, method="first_column", y_true=TRUE, y_pred=PRED, holdout=0.4, seed=3)
    assert sum(result.table["size"]) == (part_of(np.arange(100), (0.4, 0.6), seed=3) == 2).sum()
    assert list(result.table["p_adjusted"]) == [0.02, 0.02]


def test_repeats_are_left_out_when_asked() -> None:
    twice = {"a": COLUMNS["sex"]}
    result = find_subgroups(twice, method="first_column", y_true=TRUE, y_pred=PRED, max_overlap=0.5, k=1)
    assert len(result.table) == 1


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"k": 0}, SpecError, "`k` must be a whole number of at least 1; got 0"),
        ({"max_l": 0}, SpecError, "`max_l` must be"),
        ({"min_support": 1.5}, SpecError, r"`min_support` must be .*a number in \(0, 1\].*; got 1.5"),
        ({"min_support": 101}, SpecError, "at least 1 and at most 100"),
        ({"y_pred": None}, DataError, "needs errors"),
        ({"method": "first_colum"}, SpecError, "Did you mean 'first_column'"),
        ({"deph": 2}, SpecError, "has no option 'deph'. Did you mean 'depth'"),
        ({"errors": [-1.0] * 100}, DataError, "must not be negative"),
        ({"errors": [1.0] * 3}, DataError, "has 3 values, but the data has 100 rows"),
        ({"weights": [0.0] * 100}, DataError, "not all of them zero"),
        ({"max_memory": 10}, SpecError, "`max_memory` must be a whole number of at least 1048576"),
        ({"max_seconds": 0}, SpecError, "`max_seconds` must be"),
        ({"holdout": 1.0}, SpecError, r"`holdout` must be a number in \(0, 1\)"),
        ({"max_overlap": 2.0}, SpecError, "`max_overlap` must be"),
        ({"binning": "quantil"}, SpecError, "Did you mean 'quantile'"),
        ({"bins": {"agee": 3}}, SpecError, "`bins` names 'agee'"),
        ({"protected": ["gender"]}, DataError, "`protected` must name"),
    ],
)
def test_bad_input_is_told(change: dict[str, Any], error: type[Exception], words: str) -> None:
    given: dict[str, Any] = {"method": "first_column", "y_true": TRUE, "y_pred": PRED, **change}
    with pytest.raises(error, match=words):
        find_subgroups(COLUMNS, **given)


def test_probabilities_as_predictions_are_cut_at_a_half() -> None:
    result = find_subgroups(COLUMNS, method="first_column", y_true=TRUE, y_pred=np.array([0.2, 0.9, 0.7, 0.8] * 25))
    assert list(result.table["gap"]) == [0.25, -0.25]


def test_neighbours_of_a_subgroup() -> None:
    columns = {"sex": ["F", "M"] * 100, "city": ["x", "x", "y", "y"] * 50, "zone": ["n"] * 190 + ["s"] * 10}
    errors = [1.0, 0.0, 0.0, 0.0] * 50
    result = find_subgroups(columns, method="first_column", errors=errors)
    around = result.around(0)
    rows = list(around.tables["around"].rows())
    told = {row["slice"]: (row["relation"].text(), row["size"], row["outcome"]) for row in rows}
    assert told == {
        "sex = F": ("this subgroup", 100, 0.5),
        "everyone": ("without a condition", 200, 0.25),
        "sex = F, city = x": ("with one more", 50, 1.0),
        "sex = F, city = y": ("with one more", 50, 0.0),
        "sex = F, zone = n": ("with one more", 95, pytest.approx(48 / 95)),
    }
    assert draw(around.pictures[0], around.tables["around"]).data
    with pytest.raises(SpecError, match="`index` must be a row"):
        result.around(7)


def test_overlaps_are_told_a_metric_at_a_time(rng: np.random.Generator) -> None:
    columns = {"a": rng.integers(0, 2, 400), "b": rng.integers(0, 2, 400)}
    truth = rng.integers(0, 2, 400)
    said = np.where(columns["a"] == 1, 1 - truth, truth)
    options: dict[str, Any] = {"method": "sliceline", "metric": ("fpr", "fnr"), "k": 1, "max_overlap": 0.5}
    result = find_subgroups(columns, y_true=truth, y_pred=said, **options)
    assert list(result.table["metric"]) == ["fpr", "fnr"]
    assert list(result.table["slice"]) == ["a = 1", "a = 1"]
    measures = {finding.message.params["measure"].text() for finding in result.findings}
    assert measures == {"false positive rate", "false negative rate"}
