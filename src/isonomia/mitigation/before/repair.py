"""Quantile repair: every numeric feature gets the same distribution in every group, and keeps its order within each.

With F_a the distribution function of the feature in group a and Q_g the quantile function in group g, a value x of a
person in group a becomes x' = (1 - l) x + l med_g Q_g(F_a(x)) (Feldman and others 2015). Ties have their middle rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.languages import msg
from isonomia.mitigation.before.changing import FeatureMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Number
from isonomia.typing import Floats, Indices


def distribution(values: Floats, weights: Floats | None) -> Floats:
    """The different values and the middle ranks, from 0 for the smallest to 1 for the largest: (2, m).

    >>> distribution(np.array([3.0, 1.0, 1.0, 5.0]), None).tolist()
    [[1.0, 3.0, 5.0], [0.16666666666666666, 0.6666666666666666, 1.0]]
    """
    different, index = np.unique(values, return_inverse=True)
    mass = sum_by(index, weights, different.size)
    one = mass.sum() / values.size  # the weight of an average row
    middle = np.cumsum(mass) - (mass + one) / 2
    spread = mass.sum() - one
    ranks = np.full(different.size, 0.5) if spread <= 0 else np.clip(middle / spread, 0, 1)
    return np.stack([different, ranks])


@dataclass(eq=False, repr=False, kw_only=True)
class Repair(FeatureMitigator):
    """Numeric features with the same distribution in every group.

    Parameters
    ----------
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    level : float in [0, 1]
        How far each value moves: 0 changes nothing, 1 makes the distributions equal.

    Attributes
    ----------
    distributions_ : list (features) of lists (groups) of arrays (2, m)
        The values of each feature in each group at fit and their ranks.
    changed_, untouched_ : list
        The columns that are repaired, and those that are not numbers.

    Notes
    -----
    The attribute is read at decision time. Each feature is repaired alone: combinations of features may still tell the
    groups apart, and labels stay as they are. A group that was not in the data at fit is refused.

    References
    ----------
    Feldman, Friedler, Moeller, Scheidegger and Venkatasubramanian (2015), Certifying and removing disparate impact.

    Examples
    --------
    >>> X, sex = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]]), ["f"] * 3 + ["m"] * 3
    >>> Repair().fit_transform(X, sensitive_features=sex).ravel().tolist()
    [6.0, 7.0, 8.0, 6.0, 7.0, 8.0]
    """

    __kinds__: ClassVar = {**FeatureMitigator.__kinds__, "level": Number(at_least=0, at_most=1)}

    level: float = 1.0

    def _learn(
        self, numbers: Floats, attribute: Codes, y: NDArray[Any] | None, weights: Floats | None, options: dict[str, Any]
    ) -> None:
        members = [attribute.codes == group for group in range(attribute.size)]
        self.distributions_ = [
            [distribution(column[rows], None if weights is None else weights[rows]) for rows in members]
            for column in numbers.T
        ]

    def _change(self, numbers: Floats, attribute: Indices) -> Floats:
        repaired = numbers.copy()
        for index, by_group in enumerate(self.distributions_):
            for group, (values, ranks) in enumerate(by_group):
                rows = attribute == group
                rank = np.interp(numbers[rows, index], values, ranks)
                common = np.median([np.interp(rank, at, value) for value, at in by_group], axis=0)
                repaired[rows, index] = (1 - self.level) * numbers[rows, index] + self.level * common
        return repaired if len(self.groups_) > 1 else numbers


MITIGATIONS.add(
    Mitigation(
        id="repair",
        title=msg("Repair of features"),
        about=msg("gives every numeric feature the same distribution in every group"),
        stage="before",
        estimator=Repair,
        needs=("attribute",),
        reference="Feldman and others (2015)",
    )
)
