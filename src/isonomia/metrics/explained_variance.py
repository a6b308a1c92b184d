"""The spread of R2 in sets of rows, from sums over them: its delta method needs moments of errors and labels."""

from __future__ import annotations

from math import comb

import numpy as np

from isonomia.evidence.explained_intervals import ExplainedEnds
from isonomia.metrics.set_sums import Sums
from isonomia.typing import Floats

#: Powers (i, j) whose sums of w^3 e^2i y^j the third moment of R2 follows from; e are errors, y labels.
POWERS = tuple((i, j) for i in range(4) for j in range(2 * (3 - i) + 1))


def explained_ends(sums: Sums, centre: Floats, value: Floats, error: Floats, size: Floats) -> ExplainedEnds:
    """What is known of R2 and of its spread.

    A row adds z = w (e^2 / SSE - d^2 / SST) to log(1 - R2), with d the label less its mean in the set.

    Parameters
    ----------
    sums
        Of the parts 1, e^2, y and y^2, the last three less `centre`; its cubes are sums of `POWERS`.
    value, error, size
        R2, its standard error and the effective rows of each set.
    """
    weight, squared, label, _ = np.moveaxis(sums.sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = label / weight + centre[1]
        left = squared + weight * centre[0]
        total = left / (1 - value)
        spread = error / (1 - value)
        zero, one = np.zeros_like(mean), np.ones_like(mean)
        deviation = np.stack([centre[2] - 2 * mean * centre[1] + mean**2, zero, -2 * mean, one], axis=-1)
        residual = np.stack([centre[0] * one, one, zero, zero], axis=-1)
        of_errors, of_labels = left**2 / _fourth(sums, residual), total**2 / _fourth(sums, deviation)
        skewness = np.clip(_third(sums.cubes, mean, 1 / left, -1 / total) / spread**3, -1.0, 1.0)
    return ExplainedEnds(
        value=value, error=spread, skewness=skewness, of_errors=of_errors, of_labels=of_labels, size=size
    )


def _fourth(sums: Sums, part: Floats) -> Floats:
    """The sum of w^2 v^2, v a linear function of the parts."""
    return np.asarray(np.einsum("...i,...ij,...j->...", part, sums.squares, part))


def _third(cubes: Floats, mean: Floats, of_error: Floats, of_label: Floats) -> Floats:
    """The sum of w^3 (a e^2 + b (y - mean)^2)^3, expanded in powers of e^2 and y."""
    total = np.zeros_like(mean)
    for k, (i, j) in enumerate(POWERS):
        power = 2 * (3 - i)
        factor = comb(3, i) * of_error**i * of_label ** (3 - i) * comb(power, j) * (-mean) ** (power - j)
        total = total + factor * cubes[..., k]
    return total
