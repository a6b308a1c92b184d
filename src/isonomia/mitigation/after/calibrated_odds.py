"""Calibrated equalized odds: some people of the better-served groups get their group's base rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.languages import msg
from isonomia.mitigation.after.fixes import Fix, MixFix
from isonomia.mitigation.after.mixing import CostConstraint, mixing_rates
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Choice
from isonomia.subject import read_attributes
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class CalibratedOdds(PostMitigator):
    """Equal error costs that keep each group calibrated: a share of each better-served group gets its base rate.

    alpha_g = (c_worst - c_g) / (c_trivial,g - c_g) with the cost c of generalised false positives, false negatives or
    both. Which people are concerned is drawn.

    Parameters
    ----------
    estimator, sensitive, prefit, folds, drop_sensitive, seed
        As in `Thresholds`.
    cost : "fnr", "fpr" or "weighted"
        The error that is equalised.

    Attributes
    ----------
    fix_ : MixFix
    chance_ : float
        The share of the rows of `fit` whose score may be replaced.

    References
    ----------
    G. Pleiss et al. (2017), On fairness and calibration, NeurIPS.

    Examples
    --------
    >>> score, sex = np.array([0.2, 0.4, 0.6, 0.1, 0.3, 0.9]), ["f", "f", "f", "m", "m", "m"]
    >>> fair = CalibratedOdds().fit_scores(score, [0, 1, 0, 0, 0, 1], sensitive_features={"sex": sex})
    >>> [round(rate, 3) for rate in fair.fix_.rates]
    [0.0, 1.0]
    """

    two_classes = True
    __kinds__: ClassVar = {**PostMitigator.__kinds__, "cost": Choice(get_args(CostConstraint))}

    cost: CostConstraint = "weighted"

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        group = groups.codes.astype(np.intp)
        rates, bases = mixing_rates(score, truth, group, groups.size, options["cost"], weights)
        self.chance_ = float(np.average(rates[group] > 0, weights=weights))
        return MixFix(tuple(self.attributes_), tuple(groups.labels), tuple(rates.tolist()), tuple(bases.tolist()))

    def drawn(self, score: Floats, sensitive_features: Any) -> Floats:
        """1 for every person whose score may be replaced, else 0."""
        assert isinstance(self.fix_, MixFix)
        group = self.fix_.group_of(read_attributes(sensitive_features, length=len(score)))
        return (np.array(self.fix_.rates)[group] > 0).astype(float)


MITIGATIONS.add(
    Mitigation(
        id="calibrated_odds",
        title=msg("Calibrated odds"),
        about=msg("gives a random share of the better-served groups their base rate as a score"),
        stage="after",
        estimator=CalibratedOdds,
        needs=("scores", "attribute"),
        tasks=("binary",),
        randomised=True,
        reference="Pleiss et al. (2017)",
    )
)
