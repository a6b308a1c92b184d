"""Which factor matters most: main effects from settings that vary all of them at once (Sobol points)."""

from __future__ import annotations

import numpy as np

from isonomia.benchmark.settings import RANGES, Setting
from isonomia.benchmark.summary import PRIMARY, Cells, Finds
from isonomia.benchmark.tables import METHOD
from isonomia.benchmark.words import FACTORS
from isonomia.evidence import Column, Estimate, Table
from isonomia.evidence.intervals import student_interval
from isonomia.languages import msg
from isonomia.typing import Floats

#: A setting that departs from the centre in at least this many factors varies them together.
_TOGETHER = 3
#: Settings per coefficient below which effects are not given.
_ENOUGH = 2


def varied_together(cells: Cells) -> list[Setting]:
    """The settings with something to find in which several numeric factors depart from the centre at once."""
    return [
        setting
        for setting in cells.to_find()
        if sum(getattr(setting, name) != getattr(cells.centre, name) for name in RANGES) >= _TOGETHER
    ]


def main_effects(scaled: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Least-squares effects of factors on a score, and their standard errors.

    Parameters
    ----------
    scaled : array (settings, factors)
        Where a setting is in the range of each factor: 0 at the low end, 1 at the high end.
    scores : array (settings,)

    Examples
    --------
    >>> scaled = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]])
    >>> effects, errors = main_effects(scaled, 0.3 + 0.4 * scaled[:, 0] - 0.1 * scaled[:, 1])
    >>> effects.round(6).tolist()
    [0.4, -0.1]
    """
    design = np.column_stack([np.ones(len(scaled)), scaled])
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ scores
    residual = scores - design @ found
    variance = float(residual @ residual) / (len(design) - design.shape[1])
    return found[1:], np.sqrt(variance * np.diag(inverse))[1:]


def _value(setting: Setting, factor: str) -> float:
    """Where a setting is on a factor: of the similarity, what was reached."""
    return float(setting.similarity_reached if factor == "similarity" else getattr(setting, factor))


def main_effects_table(cells: Cells, finds: Finds) -> Table | None:
    """The change in the score from the low to the high end of each factor; None with too few such settings."""
    settings = varied_together(cells)
    scores = cells.scores(finds, PRIMARY[finds], settings)
    low, high = np.array(list(RANGES.values())).T
    points = np.array([[_value(one, name) for name in RANGES] for one in settings], dtype=float)
    scaled = (points.reshape(-1, len(RANGES)) - low) / (high - low)
    coefficients = len(RANGES) + 1
    rows = []
    for method, values in zip(scores.methods, scores.by_setting.T, strict=True):
        known = ~np.isnan(values)
        n = int(known.sum())
        if n < _ENOUGH * coefficients or np.linalg.matrix_rank(scaled[known] - scaled[known].mean(0)) < len(RANGES):
            continue
        effects, errors = main_effects(scaled[known], values[known])
        lows, highs = student_interval(effects, errors, n - coefficients + 1)
        for name, effect, down, up in zip(RANGES, effects.tolist(), lows.tolist(), highs.tolist(), strict=True):
            rows.append({"factor": FACTORS[name], "method": method, "effect": Estimate(effect, down, up, n, "student")})
    if not rows:
        return None
    fields = (
        Column("factor", title=msg("Factor")),
        METHOD,
        Column("effect", format="points", title=msg("Effect")),
    )
    title = msg("Change in the score from the low to the high end of each factor, all varied at once")
    return Table.from_rows(rows, fields, title=title)
