"""The interval of R2, the share of a variance that is explained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isonomia.evidence.mean_intervals import Arrays, hall_ends
from isonomia.typing import Floats

#: Cases behind the squared errors, and behind the squared deviations of labels, that are a degree of freedom of an R2.
ERRORS_PER_DEGREE, LABELS_PER_DEGREE = 1.5, 5.5
#: The lower end of an R2 has at least so many: nothing else would bound it.
FEWEST_DEGREES = 3.0
#: Fewer (effective) rows than this have no interval of R2.
FEWEST_EXPLAINED = 7


@dataclass(frozen=True, eq=False)
class ExplainedEnds(Arrays):
    """Shares of a variance that are explained (R2), by the logarithm of what is left: Hall's interval of log(1 - R2).

    Samples with long tails understate their variance. Those of labels make R2 look too small, so the upper end has the
    degrees of freedom of their squared deviations; those of errors make it look too large, so the lower end has those
    of the squared errors: the cases behind each sum, over `LABELS_PER_DEGREE` and `ERRORS_PER_DEGREE`. Skewness moves
    an end away and never closer: it rests on the same few cases.

    Attributes
    ----------
    value, error, skewness
        R2; the standard error and the skewness of log(1 - R2) by the delta method.
    of_errors, of_labels
        Cases, (sum v)^2 / sum v^2, of the squared errors and of the squared deviations of labels.
    size
        The (effective) rows; below seven there is no interval.
    """

    value: Floats
    error: Floats
    skewness: Floats
    of_errors: Floats
    of_labels: Floats
    size: Floats

    def at(self, tail: float | Floats) -> tuple[Floats, Floats]:
        """Both ends at this tail probability."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            left, skewness = np.log(1 - self.value), self.skewness
            freedom = np.fmax(self.of_errors / ERRORS_PER_DEGREE, FEWEST_DEGREES)
            _, most = hall_ends(left, self.error, np.maximum(skewness, 0.0), freedom, tail)
            freedom = np.fmax(self.of_labels / LABELS_PER_DEGREE, 1.0)
            least, _ = hall_ends(left, self.error, np.minimum(skewness, 0.0), freedom, tail)
            low, high = 1 - np.exp(most), 1 - np.exp(least)
        unknown = ~((self.size >= FEWEST_EXPLAINED) & np.isfinite(low) & np.isfinite(high))
        return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
