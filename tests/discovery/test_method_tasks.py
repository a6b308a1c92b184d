"""Every method works for the tasks it declares, and refuses the others before any work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from isonomia import Dataset, SpecError
from isonomia.audit.check_registry import read_check_options
from isonomia.discovery import METHODS, Method, SearchResult, find_pairs, find_subgroups
from isonomia.errors import DataError

TASKS = ("binary", "multiclass", "regression")


def case(task: str) -> tuple[Dataset, Any]:
    rng = np.random.default_rng(7)
    rows = pd.DataFrame({"sex": rng.integers(0, 2, 300), "a": rng.integers(0, 4, 300), "b": rng.integers(0, 3, 300)})
    score = 2 * rows.sex + rows.a - rows.b + rng.normal(0, 1, 300)
    outcome = {
        "binary": (score > 2).astype(int),
        "multiclass": pd.cut(score, [-99, 1, 3, 99], labels=["low", "middle", "high"]).astype(str),
        "regression": score,
    }[task]
    tree = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    model = tree(max_depth=3, random_state=0).fit(rows, outcome)
    positive = {"positive": 1} if task == "binary" else {}
    features = ["sex", "a", "b"]
    roles: dict[str, Any] = {"target": "y", "protected": ["sex"], "features": features, "task": task, **positive}
    return Dataset(rows.assign(y=outcome), **roles), model


def search(method: Method, task: str) -> Any:
    data, model = case(task)
    if method.finds == "pairs":
        return find_pairs(data, model, method=method.id, max_tests=40)
    return find_subgroups(data, model, method=method.id, max_l=2)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.id)
@pytest.mark.filterwarnings("ignore")
def test_a_method_does_what_it_declares(method: Method, task: str) -> None:
    if task in method.tasks:
        found = search(method, task)
        assert found.tables
        assert isinstance(found, SearchResult)
        assert found.method == method.id
        assert {"TSN", "DSN", "SUR", "DSS", "total_time"} <= found.to_dict()["metrics"].keys()
        return
    with pytest.raises(DataError, match=rf"'{method.id}' is for {' and '.join(method.tasks)} tasks; this is a {task}"):
        search(method, task)


def test_one_registry_holds_both_kinds() -> None:
    subgroups, pairs = METHODS.where(finds="subgroups"), METHODS.where(finds="pairs")
    assert METHODS.ids() == (*subgroups.ids(), *pairs.ids())
    assert "themis" in pairs
    assert "themis" not in subgroups
    assert len(subgroups) + len(pairs) == len(METHODS)
    with pytest.raises(SpecError, match="Unknown method 'sliceline'"):
        pairs["sliceline"]
    with pytest.raises(SpecError, match="Unknown method 'themis'"):
        find_subgroups({"x": [1, 2]}, method="themis", errors=[0, 1])


def test_a_part_of_a_registry_sees_what_is_added_later(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = METHODS.where(finds="pairs")
    monkeypatch.setattr(METHODS, "_entries", {one.id: one for one in METHODS})
    pairs.add(replace(METHODS["themis"], id="themis_again"))
    assert "themis_again" in pairs
    assert "themis_again" in METHODS
    assert "themis_again" not in METHODS.where(finds="subgroups")


def test_a_task_is_refused_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise AssertionError("the search started")

    for kind in ("subgroups", "pairs"):
        method = replace(
            next(iter(METHODS.where(finds=kind))), id="never", run=fail, tasks=("regression",), parameters=()
        )
        monkeypatch.setattr(METHODS, "_entries", {**{one.id: one for one in METHODS}, "never": method})
        with pytest.raises(DataError, match="'never' is for regression tasks; this is a binary task"):
            search(method, "binary")


def test_options_of_a_search_are_validated_before_an_audit() -> None:
    with pytest.raises(SpecError, match=r"The method 'exact' has no option 'max_boxs'. Did you mean 'max_boxes'"):
        read_check_options({"pairs": {"method": "exact", "options": {"max_boxs": 3}}})
    with pytest.raises(SpecError, match=r"`options\.pairs\.options\.max_boxes` must be a whole number"):
        read_check_options({"pairs": {"method": "exact", "options": {"max_boxes": 0}}})
    with pytest.raises(SpecError, match="The method 'auto' has no option 'min_tests'"):
        read_check_options({"pairs": {"options": {"min_tests": 3}}})
    given = {"pairs": {"method": "exact", "options": {"max_boxes": 3}}}
    assert read_check_options(given) == given
