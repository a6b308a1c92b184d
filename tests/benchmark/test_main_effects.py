"""Main effects of factors that vary together: against the covariance of another route, and on a known score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from isonomia.benchmark import CENTRE, Grid
from isonomia.benchmark.main_effects import main_effects, main_effects_table
from isonomia.benchmark.settings import RANGES, sobol_points
from isonomia.benchmark.summary import Cells, row_of
from isonomia.benchmark.words import FACTORS


def test_one_factor_as_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(30)
    y = 0.2 + 0.5 * x + 0.1 * rng.standard_normal(30)
    effects, errors = main_effects(x[:, None], y)
    line = stats.linregress(x, y)
    assert effects[0] == pytest.approx(line.slope)
    assert errors[0] == pytest.approx(line.stderr)


def test_a_score_that_depends_on_two_factors() -> None:
    """A score that rises by 0.4 with the size of the bias and falls by 0.2 with the other attributes."""
    points = tuple(sobol_points(64))
    grid = Grid(id="fake", purpose="", settings=(CENTRE, *points), seeds=2, budget="b10k")
    rng = np.random.default_rng(1)

    def record(spec: dict[str, Any]) -> dict[str, Any]:
        bias, other = (
            (spec[name] - RANGES[name][0]) / (RANGES[name][1] - RANGES[name][0]) for name in ("bias", "granularity")
        )
        score = 0.5 - 0.4 * bias - 0.2 * other + 0.01 * rng.standard_normal()
        return {"status": "done", "reason": None, "complete": True, "scores": {"f1": score}, "costs": {"seconds": 1.0}}

    specs = list(grid.cells({"sliceline": {}}))
    cells = Cells("fake", [row_of(spec, record(spec)) for spec in specs])
    table = main_effects_table(cells, "subgroups")
    assert table is not None
    rows = {str(row["factor"]): row for row in table.rows()}
    assert len(rows) == len(RANGES)
    expected = dict.fromkeys(RANGES, 0.0) | {"bias": -0.4, "granularity": -0.2}
    for name, effect in expected.items():
        row = rows[FACTORS[name].text("en")]
        assert row["effect"] == pytest.approx(effect, abs=0.02), name
        assert row["effect_low"] < row["effect"] < row["effect_high"]
    few = Cells("fake", [row for row in cells.rows if row["bias"] == CENTRE.bias])
    assert main_effects_table(few, "subgroups") is None
    assert main_effects_table(replace(cells, rows=cells.rows[:20]), "subgroups") is None
