"""Calibration by group: probabilities, and predicted numbers, that mean the same for everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isonomia.counting import Codes
from isonomia.errors import DataError, SpecError
from isonomia.languages import msg
from isonomia.mitigation._attribute import group_name
from isonomia.mitigation._training import inner_has
from isonomia.mitigation.after.fixes import Fix, LogisticFix, MapFix, ScoreFix, transformed
from isonomia.mitigation.after.maps import isotonic_map, logistic_map
from isonomia.mitigation.after.multicalibration import PatchFix, multicalibrate, subgroup_sets
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Choice, Integer, Number
from isonomia.typing import Floats

Calibration = Literal["isotonic", "logistic", "multicalibration"]


@dataclass(eq=False, repr=False, kw_only=True)
class CalibrateByGroup(PostMitigator):
    """Probabilities calibrated within each group, or within every subgroup at once; numbers, within each group.

    "isotonic" fits a non-decreasing map of the probabilities to the share of positives in each group (of predicted
    numbers to the mean outcome, so that no group is predicted too much or too little); "logistic" fits
    expit(a + b logit p); "multicalibration" corrects, in turn, the subgroup (everyone, each value of each attribute,
    each combination) that is furthest off, in one band of probability or in all, until all are within `alpha` or within
    three standard errors. Subgroups that were found (`discovery.find_subgroups`) take part as further columns of
    `sensitive_features`: one column of truth values for each.

    Parameters
    ----------
    estimator, sensitive, prefit, folds, drop_sensitive, seed
        As in `Thresholds`.
    method : "isotonic", "logistic" or "multicalibration"
        For predicted numbers "isotonic" only.
    alpha : float
        The largest deviation that multicalibration leaves.
    bins : int
        Bands of probability of multicalibration.

    Attributes
    ----------
    fix_ : MapFix, LogisticFix or PatchFix

    References
    ----------
    U. Hebert-Johnson, M. Kim, O. Reingold, G. Rothblum (2018), Multicalibration, ICML.

    Examples
    --------
    >>> score, sex = np.array([0.2, 0.2, 0.8, 0.8] * 50), np.repeat(["f", "m"], 100)
    >>> y = np.where(sex == "f", [0, 1, 1, 1] * 50, [0, 0, 0, 1] * 50)
    >>> fair = CalibrateByGroup().fit_scores(score, y, sensitive_features={"sex": sex})
    >>> fair.transform_scores([0.2, 0.8, 0.2, 0.8], sensitive_features={"sex": ["f", "f", "m", "m"]}).tolist()
    [0.5, 1.0, 0.0, 0.5]
    """

    two_classes = True
    __kinds__: ClassVar = {
        **PostMitigator.__kinds__,
        "method": Choice(get_args(Calibration)),
        "alpha": Number(above=0, below=1),
        "bins": Integer(2),
    }

    method: Calibration = "isotonic"
    alpha: float = 0.01
    bins: int = 10

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        columns, labels = tuple(self.attributes_), tuple(groups.labels)
        if not hasattr(self, "classes_") and options["method"] != "isotonic":
            raise SpecError(f"Predicted numbers are calibrated with method='isotonic'; got {options['method']!r}.")
        if options["method"] != "isotonic" and not ((score >= 0) & (score <= 1)).all():
            raise DataError(
                f"method={options['method']!r} needs probabilities in [0, 1]; got scores from {score.min():.4g} to "
                f"{score.max():.4g}. Use method='isotonic', which takes any scores."
            )
        group = groups.codes.astype(np.intp)
        if options["method"] == "multicalibration":
            _, patches = multicalibrate(
                score,
                truth,
                group,
                subgroup_sets(labels),
                alpha=options["alpha"],
                bins=options["bins"],
                weights=weights,
            )
            members, low, high, shift = zip(*patches, strict=True) if patches else ((), (), (), ())
            return PatchFix(columns, labels, members, low, high, shift)
        parts = []
        for number, name in enumerate(map(group_name, labels)):
            rows = group == number
            if not rows.any():
                raise DataError(f"The group {name} has no rows to be calibrated on.")
            parts.append((score[rows], truth[rows], None if weights is None else weights[rows]))
        if options["method"] == "logistic":
            return LogisticFix(columns, labels, tuple(logistic_map(*part) for part in parts))
        maps = [isotonic_map(*part) for part in parts]
        before, after = (tuple(tuple(one[side].tolist()) for one in maps) for side in (0, 1))
        return MapFix(columns, labels, before, after)

    def transform_scores(self, score: Any, *, sensitive_features: Any) -> Floats:
        """The probabilities after the fix, for probabilities that were made elsewhere."""
        check_is_fitted(self, "fix_")
        return transformed(self.fix_, score, sensitive_features)

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Floats:
        """The probabilities after the fix."""
        check_is_fitted(self)
        rows = self._features(X, reset=False, drop=self.drop_sensitive)
        assert isinstance(self.fix_, ScoreFix)
        p = self.fix_.transform(self._score(self.estimator_, rows), self._known_groups(X, sensitive_features))
        return np.column_stack([1 - p, p])


MITIGATIONS.add(
    Mitigation(
        id="calibrate",
        title=msg("Calibration by group"),
        about=msg("makes a probability or a number mean the same in every group, or in every subgroup"),
        stage="after",
        estimator=CalibrateByGroup,
        needs=("scores", "attribute"),
        tasks=("binary", "regression"),
        reference="Hebert-Johnson, Kim, Reingold and Rothblum (2018)",
    )
)
