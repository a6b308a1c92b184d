"""Values of trees beside those of shap and woodelf, which were computed once (see `reference_values.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import isonomia as iso

REFERENCE = json.loads((Path(__file__).parent / "reference_values.json").read_text(encoding="utf-8"))
NAMES = [f"x{at}" for at in range(5)]
OUTPUTS: dict[str, dict[str, Any]] = {
    "probability": {"output": "probability", "method": "trees"},
    "log odds": {"output": "log_odds", "method": "trees"},
    "rescaled": {"output": "rescaled", "method": "trees"},
    "paths": {"output": "probability", "method": "tree_paths"},
}


@pytest.mark.parametrize("case", REFERENCE["values"])
def test_values_equal_those_of_the_other_library(case: str) -> None:
    library, kind, output = case.split(", ")
    rows, truth, n = np.array(REFERENCE["rows"]), np.array(REFERENCE["truth"]), REFERENCE["people"]
    forest = RandomForestClassifier(6, max_depth=4, random_state=0)
    boosting = GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=0)
    model = {"forest": forest, "boosting": boosting}[kind].fit(rows, truth)
    if not np.allclose(model.predict_proba(rows[:n])[:, 1], REFERENCE["probability"][kind], rtol=0, atol=1e-12):
        pytest.skip(f"this scikit-learn trains another {kind} than {REFERENCE['made_with']['scikit-learn']} did")
    columns = {name: rows[:, at] for at, name in enumerate(NAMES)}
    back = {name: values[-REFERENCE["background"] :] for name, values in columns.items()}
    data = iso.Dataset({**columns, "y": truth}, target="y")
    found = iso.explain.shapley(
        data,
        iso.Model.of(model, features=NAMES),
        background=iso.Dataset(back).frame,
        rows=np.arange(n),
        **OUTPUTS[output],
    )
    # shap keeps thresholds and leaves in 64 bits, sums in another order, and "rescaled" divides by small differences
    np.testing.assert_allclose(found.values, REFERENCE["values"][case], rtol=0, atol=1e-7)
    assert library in ("shap", "woodelf")
    assert np.abs(found.values).max() > 0.05
