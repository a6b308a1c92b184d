"""Matching distributions: every group's scores are moved towards the distribution between all groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isonomia.counting import Codes
from isonomia.languages import msg
from isonomia.mitigation.after.fixes import Fix, MapFix, transformed
from isonomia.mitigation.after.maps import barycentre_maps
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Number
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class Match(PostMitigator):
    """Scores or predicted numbers with the same distribution in every group: parity at every threshold.

    g(x, a) = sum_s p_s Q_s(F_a(f(x))) with F_a the distribution function of group a, Q_s the quantiles of group s and
    p_s its share: the Wasserstein barycentre. The prediction goes a share of the way, (1 - share) f + share g.

    Parameters
    ----------
    estimator, sensitive, prefit, folds, drop_sensitive, seed
        As in `Thresholds`; the estimator may be a regressor.
    share : float
        How far predictions go: 0 leaves them, 1 makes the groups' distributions equal.

    Attributes
    ----------
    fix_ : MapFix

    References
    ----------
    E. Chzhen et al. (2020), Fair regression with Wasserstein barycenters, NeurIPS.

    Examples
    --------
    >>> pay, sex = np.array([1.0, 2.0, 3.0, 11.0, 12.0, 13.0]), ["f"] * 3 + ["m"] * 3
    >>> fair = Match().fit_scores(pay, pay, sensitive_features={"sex": sex}, regression=True)
    >>> fair.predict_scores(pay, sensitive_features={"sex": sex}).round(6).tolist()
    [6.0, 7.0, 8.0, 6.0, 7.0, 8.0]
    """

    two_classes = True
    __kinds__: ClassVar = {**PostMitigator.__kinds__, "share": Number(at_least=0, at_most=1)}

    share: float = 1.0

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        maps = barycentre_maps(score, groups.codes.astype(np.intp), groups.size, weights)
        before, after = (tuple(tuple(one[side].tolist()) for one in maps) for side in (0, 1))
        return MapFix(tuple(self.attributes_), tuple(groups.labels), before, after, options["share"])

    def transform_scores(self, score: Any, *, sensitive_features: Any) -> Floats:
        """The scores after the fix."""
        check_is_fitted(self, "fix_")
        return transformed(self.fix_, score, sensitive_features)


MITIGATIONS.add(
    Mitigation(
        id="match",
        title=msg("Matching distributions"),
        about=msg("moves the scores of every group towards a common distribution"),
        stage="after",
        estimator=Match,
        needs=("scores", "attribute"),
        tasks=("binary", "regression"),
        reference="Chzhen et al. (2020)",
    )
)
