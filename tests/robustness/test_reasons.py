"""A number that is missing has its reason beside it, in every table and every estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isonomia import Dataset
from isonomia.evidence import Estimate, Result
from isonomia.languages import Message
from isonomia.robustness import (
    drift,
    local_robustness,
    overfit,
    perturb,
    scenarios,
    sensitivity,
    threshold_sweep,
    weak_spots,
)
from isonomia.robustness.missing_reasons import no_value, of_slices, of_trials


def data(n: int = 900, seed: int = 0) -> Dataset:
    """People of "north" have no positive label; hardly anyone has a high score."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["north", "south", "tiny"], n, p=[0.4, 0.59, 0.01])
    x = rng.normal(size=n)
    y = ((x + rng.normal(0, 0.5, n) > 1) & (city != "north")).astype(int)
    columns = {"x": x, "city": city, "sex": rng.choice(["f", "m"], n), "y": y}
    return Dataset(columns, target="y", protected=["sex"])


def model(frame: Any) -> Any:
    """Accepts very high x alone, so that disturbed rows may leave nobody accepted."""
    x = np.asarray(frame["x"], dtype=float)
    return np.where((x > 2.2) & (x < 2.3), 0.9, 0.1 + 0.01 * np.tanh(x))


def holes(result: Result, *, but: tuple[str, ...] = ()) -> list[tuple[str, dict[str, Any]]]:
    """Rows of tables with a number that is missing and no note."""
    found = []
    for name, table in result.tables.items():
        numbers = [c.name for c in table.columns if (c.format or "text") != "text" and c.name not in but]
        for row in table.rows():
            if any(row[column] is None for column in numbers) and not row.get("note"):
                found.append((name, row))
    return found


def noted(result: Result, table: str) -> list[str]:
    return [str(row["note"]) for row in result.tables[table].rows() if row["note"] is not None]


def test_perturb_tells_why_a_metric_has_no_value() -> None:
    result = perturb(
        data(), model, metrics=["precision", "auc"], metric="accuracy", levels=[0, 0.3], perturbers="raw", n_trials=4
    )
    assert holes(result) == []
    rows = [row for row in result.tables["metrics"].rows() if str(row["metric"]) == "Precision" and row["level"] > 0]
    bare = [row for row in rows if row["value"] is None]
    for row in bare:
        assert "trials" in str(row["note"])
    assert any("one trial" in text for text in noted(result, "metrics"))  # level 0 is tried once


def test_a_model_that_accepts_nobody_has_no_precision() -> None:
    def shy(frame: Any) -> Any:
        x = np.asarray(frame["x"], dtype=float)
        known = np.isin(x, seen)
        return np.where(known & (x > 1) & (x < seen.max()), 0.9, 0.1)  # disturbed values stay within what was seen

    given = data()
    seen = np.asarray(given.column("x").to_numpy())
    result = perturb(given, shy, metrics=["precision"], metric="accuracy", levels=[0.2], perturbers="raw", n_trials=3)
    assert holes(result) == []
    row = next(row for row in result.tables["metrics"].rows() if str(row["metric"]) == "Precision")
    assert row["value"] is None
    assert row["base"] is not None
    assert isinstance(row["note"], Message)
    assert "no value in 3 of 3 trials" in str(row["note"])
    assert row["note"].text("pt-BR").startswith("sem valor em 3 de 3 repetições")


@pytest.mark.parametrize("metric", ["auc", "recall", "error_rate"])
def test_overfit_tells_why_a_slice_has_no_gap(metric: str) -> None:
    one, two = data(seed=1), data(seed=2)
    result = overfit(one, two, model, metric=metric, features=["city", "x"])
    assert holes(result, but=("std_gap", "max_gap", "mean_gap")) == []
    north = next(row for row in result.tables["slices"].rows() if row["slice"] == "north")
    if metric == "error_rate":
        assert north["note"] is None
    else:
        assert north["gap"] is None
        assert str(north["note"]).startswith("no value on the training rows")


def test_weak_spots_tell_why_a_slice_has_no_value() -> None:
    result = weak_spots(data(), model, metric="recall", features=["city", "x"], pairs=True)
    assert holes(result, but=("severity", "severity_low", "severity_high", "low", "high")) == []
    north = next(row for row in result.tables["slices"].rows() if row["slice"] == "north")
    assert north["value"] is None
    assert "no value" in str(north["note"])


def test_scenarios_and_sensitivity_tell_why() -> None:
    played = scenarios(data(), model, scenarios=["label_noise", "class_imbalance"], n_trials=4)
    assert holes(played) == []
    describes = [row for row in played.tables["scenarios"].rows() if row["degradation"] is None]
    assert describes
    grown = sensitivity(data(), model, scenarios=["label_noise"], n_trials=3)
    assert holes(grown) == []


def test_thresholds_groups_and_drift_tell_why() -> None:
    assert holes(threshold_sweep(data(), model)) == []
    firm = local_robustness(data(), model, n_iterations=5)
    assert holes(firm) == []
    assert "others are compared with it" in noted(firm, "groups")
    assert "a category is replaced, not shifted" in noted(firm, "flips") or noted(firm, "flips")
    assert holes(drift(data(seed=1), data(seed=2))) == []


def test_an_estimate_keeps_the_message_and_json_its_english_text() -> None:
    missing = Estimate.missing(no_value("nobody is accepted", 2, 5), n=3)
    assert missing.to_dict()["note"]["text"] == "no value in 2 of 5 trials: nobody is accepted"
    assert Estimate(0.5).to_dict()["note"] is None
    infinite = Estimate(float("inf"))
    assert infinite.to_dict()["value"] == {"$": "float", "value": "inf"}
    assert Estimate.from_dict(infinite.to_dict()) == infinite
    assert Estimate.from_dict(missing.to_dict()) == missing


def test_reasons_are_given_where_something_is_missing_only() -> None:
    from isonomia.metrics import METRICS

    recall, rate = METRICS["recall"], METRICS["selection_rate"]
    full, part = np.array([0.1, 0.2]), np.array([0.1, np.nan])
    assert of_trials(recall, 0.5, full) is None
    assert "1 of 2" in str(of_trials(recall, 0.5, part))
    assert "no baseline value" in str(of_trials(recall, np.nan, full))
    assert "is descriptive" in str(of_trials(rate, 0.5, full))
    notes = of_slices(recall, part, np.array([50, 50]), 30)
    assert notes[0] is None
    assert "no value" in str(notes[1])
    assert "fewer than 30 rows" in str(of_slices(recall, full, np.array([50, 5]), 30)[1])
