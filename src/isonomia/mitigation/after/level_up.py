"""Levelling up: lower thresholds for the groups behind, and higher ones for nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, count_by
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.mitigation._attribute import group_name
from isonomia.mitigation.after.cuts import Cuts
from isonomia.mitigation.after.fixes import Fix, ThresholdFix
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.after.thresholds import best_cuts, criterion_values
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Number, Text
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class LevelUp(PostMitigator):
    """Lower thresholds until every group reaches a minimum rate, or the gap is closed; nobody loses a grant.

    Of the cuts at or below each group's present threshold the cheapest are taken such that every group's rate is at
    least `minimum` (where given), or else that max - min over groups is at most `tol`.

    Parameters
    ----------
    estimator, sensitive, prefit, folds, drop_sensitive, seed
        As in `Thresholds`.
    criterion : str
        What is levelled: "demographic_parity" (selection rates), "equal_opportunity" (true positive rates), a metric.
    minimum : float, optional
        The rate that every group has to reach; None closes the gap to `tol`.
    tol : float
        The largest gap.
    threshold : float
        The present threshold of everyone.

    Attributes
    ----------
    fix_ : ThresholdFix

    References
    ----------
    E. Delaney et al. (2024), OxonFair, arXiv 2407.13710.

    Examples
    --------
    >>> score, sex = np.array([0.2, 0.4, 0.6, 0.6, 0.7, 0.9]), ["f", "f", "f", "m", "m", "m"]
    >>> up = LevelUp(tol=0.4).fit_scores(score, [0, 1, 1, 0, 1, 1], sensitive_features={"sex": sex})
    >>> up.predict_scores(score, sensitive_features={"sex": sex}).tolist()
    [0, 1, 1, 1, 1, 1]
    """

    two_classes = True
    __kinds__: ClassVar = {
        **PostMitigator.__kinds__,
        "criterion": Text("a criterion or a metric of counts"),
        "minimum": Number(at_least=0, at_most=1).or_none("to close the gap"),
        "tol": Number(at_least=0, at_most=1),
        "threshold": Number(),
    }

    criterion: str = "demographic_parity"
    minimum: float | None = None
    tol: float = 0.05
    threshold: float = 0.5

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        cuts = Cuts.of(score, truth, groups.codes, groups.size, weights)
        # a cut between the scores on both sides of the present threshold decides as that does, and keeps it
        accepts = count_by(groups.codes[score >= self.threshold], groups.size)
        selected = Cuts.of(score, truth, groups.codes, groups.size)
        allowed = (selected.tp + selected.fp) >= accepts[cuts.owner] - 0.5
        if options["minimum"] is not None:
            values, _ = criterion_values(cuts, options["criterion"], groups.labels)
            reached = np.all([value >= options["minimum"] - 1e-12 for value in values], axis=0)
            possible = count_by(cuts.owner[reached & allowed], groups.size) > 0
            if not possible.all():
                first = group_name(groups.labels[int(np.argmin(possible))])
                raise NotApplicable(
                    msg("no threshold brings {group} to {minimum:pct}", group=first, minimum=options["minimum"])
                )
            allowed &= reached
        width = 1.0 if options["minimum"] is not None else options["tol"]
        chosen = best_cuts(cuts, options["criterion"], width, cuts.cost(), groups.labels, allowed)
        at = np.minimum(cuts.threshold[chosen], self.threshold)
        return ThresholdFix(
            columns=tuple(self.attributes_),
            groups=tuple(groups.labels),
            thresholds=tuple((value,) for value in at.tolist()),
            shares=((1.0,),) * groups.size,
        )


MITIGATIONS.add(
    Mitigation(
        id="level_up",
        title=msg("Levelling up"),
        about=msg("lowers the thresholds of groups with lower rates; nobody loses a favourable decision"),
        stage="after",
        estimator=LevelUp,
        needs=("scores", "attribute"),
        tasks=("binary",),
        reference="Delaney et al. (2024)",
    )
)
