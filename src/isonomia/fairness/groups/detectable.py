"""How small a gap a comparison could have shown, in each direction, at the level that its test has to reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.evidence import Column, Format, Table, detectable_means, detectable_rates
from isonomia.languages import msg
from isonomia.typing import Bools, Floats

#: What stands behind a comparison: (rate of those compared with, their rows, rows of the group, share of the reference
#: that is not the group itself), or (standard error,); then how many references were looked at.
Behind = tuple[float, ...]

BELOW, ABOVE = "detectable_below", "detectable_above"
_TITLES = {BELOW: msg("detectable below the reference"), ABOVE: msg("detectable above the reference")}
_NONE = {
    BELOW: msg("no gap below the reference is detectable with so few rows"),
    ABOVE: msg("no gap above the reference is detectable with so few rows"),
}


def detectable_columns(behind: Sequence[Behind], alpha: float, style: Format | None) -> tuple[Column, Column]:
    """The smallest gaps below and above the reference that a test at level alpha finds in 80% of the cases.

    Their keys are what stands behind each comparison, so that they can be computed again at another level.
    """
    below, above = np.full((2, len(behind)), np.nan)
    known = np.zeros(len(behind), dtype=bool)
    rates = [row for row, parts in enumerate(behind) if len(parts) == 5]
    means = [row for row, parts in enumerate(behind) if len(parts) == 2]
    if rates:
        parts = np.array([behind[row] for row in rates])
        rate, reference, size, scale, looks = parts.T
        known[rates] = ~np.isnan(parts).any(axis=1)
        for number in np.unique(looks):
            at = looks == number
            rows = np.array(rates)[at]
            gaps = detectable_rates(rate[at], reference[at], size[at], alpha=_alone(alpha, number))
            below[rows], above[rows] = (gap * scale[at] for gap in gaps)
    for row in means:
        error, number = behind[row]
        below[row] = above[row] = detectable_means(error, alpha=_alone(alpha, number))
    return _column(BELOW, below, known, behind, style), _column(ABOVE, above, known, behind, style)


def _alone(alpha: float, looks: float) -> float:
    """The level of one comparison among so many that the reference was picked from."""
    return float(alpha if looks <= 1 else -np.expm1(np.log1p(-alpha) / looks))


def _column(name: str, values: Floats, known: Bools, behind: Sequence[Behind], style: Format | None) -> Column:
    absent = np.isnan(values) & known
    reasons = [_NONE[name] if one else None for one in absent.tolist()] if absent.any() else None
    return Column(name, values, reason=reasons, format=style, title=_TITLES[name], keys=list(behind))


def detectable_at(table: Table, alpha: float) -> Table:
    """The table with its detectable gaps at another level; one without them as it is."""
    if BELOW not in table:
        return table
    column = table[BELOW]
    behind = [tuple(float("nan") if part is None else float(part) for part in key) for key in column.keys or ()]
    return table.with_columns(*detectable_columns(behind, alpha, column.format))
