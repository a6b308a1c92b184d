"""Reject option: near the threshold the unprivileged are accepted and the privileged are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, mean_by
from isonomia.data import index_of
from isonomia.errors import DataError
from isonomia.languages import msg
from isonomia.mitigation._attribute import group_name
from isonomia.mitigation.after.fixes import Fix, ThresholdFix
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.after.rejecting import RejectMetric, reject_grid
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Anything, Choice, Integer, Number
from isonomia.typing import Bools, Floats, Indices


@dataclass(eq=False, repr=False, kw_only=True)
class RejectOption(PostMitigator):
    """Within a margin of the threshold, unprivileged people are accepted and privileged people refused.

    Threshold t and margin m are the pair of highest balanced accuracy among those with |gap| <= tol, on a grid of
    t in [.01, .99] and m in [0, min(t, 1 - t)]. More than two groups: every group other than the privileged is
    favoured, and the gap is the widest to the privileged.

    Parameters
    ----------
    estimator, sensitive, prefit, folds, drop_sensitive, seed
        As in `Thresholds`.
    privileged : value or tuple of values, optional
        The privileged group; by default the one with the highest selection rate at 0.5.
    criterion : "demographic_parity", "equal_opportunity" or "average_odds"
        The rates that are compared: of selection, of true positives, or the mean of true and false positive rates.
    tol : float
        The largest gap; where none is within it the smallest gap is taken (`met_`).
    thresholds, margins : int
        Size of the grid.

    Attributes
    ----------
    fix_ : ThresholdFix
    threshold_, margin_ : float
    met_ : bool
        Whether the gap is within the tolerance on the rows of fit.

    References
    ----------
    F. Kamiran, A. Karim, X. Zhang (2012), Decision theory for discrimination-aware classification, ICDM.

    Examples
    --------
    >>> score, sex = np.array([0.2, 0.45, 0.6, 0.3, 0.55, 0.9]), ["f", "f", "f", "m", "m", "m"]
    >>> fair = RejectOption(privileged="m", tol=0.0)
    >>> fair = fair.fit_scores(score, [0, 1, 1, 0, 0, 1], sensitive_features={"sex": sex})
    >>> fair.predict_scores(score, sensitive_features={"sex": sex}).tolist()
    [0, 1, 1, 0, 1, 1]
    """

    two_classes = True
    __kinds__: ClassVar = {
        **PostMitigator.__kinds__,
        "privileged": Anything(),
        "criterion": Choice(get_args(RejectMetric)),
        "tol": Number(at_least=0, at_most=1),
        "thresholds": Integer(2),
        "margins": Integer(2),
    }

    privileged: Any = None
    criterion: RejectMetric = "demographic_parity"
    tol: float = 0.05
    thresholds: int = 100
    margins: int = 50

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        group = groups.codes.astype(np.intp)
        privileged = self._privileged(score, group, groups, weights)
        at: tuple[float, float] = (0.5, 0.5)
        if groups.size > 1:
            grid = reject_grid(
                score,
                truth,
                group,
                privileged,
                limit=options["tol"],
                metric=options["criterion"],
                n_thresholds=options["thresholds"],
                n_margins=options["margins"],
                weights=weights,
            )
            at = grid.cuts()
            self.threshold_, self.margin_ = float(grid.threshold[grid.best]), float(grid.margin[grid.best])
            self.met_ = grid.met
        return ThresholdFix(
            columns=tuple(self.attributes_),
            groups=tuple(groups.labels),
            thresholds=tuple((at[1] if high else at[0],) for high in privileged),
            shares=((1.0,),) * groups.size,
        )

    def _privileged(self, score: Floats, group: Indices, groups: Codes, weights: Floats | None) -> Bools:
        if self.privileged is None:
            rate = mean_by(group, score >= 0.5, groups.size, weights)
            return np.asarray(np.arange(groups.size) == np.nanargmax(rate))
        wanted = self.privileged if isinstance(self.privileged, tuple) else (self.privileged,)
        found = np.array(
            [all(index_of(v, [w]) is not None for v, w in zip(label, wanted, strict=True)) for label in groups.labels]
        )
        if not found.any():
            raise DataError(
                f"The privileged group {self.privileged!r} does not occur. Groups: "
                f"{', '.join(map(group_name, groups.labels[:12]))}."
            )
        return found


MITIGATIONS.add(
    Mitigation(
        id="reject_option",
        title=msg("Reject option"),
        about=msg("near the threshold accepts the unprivileged and refuses the privileged"),
        stage="after",
        estimator=RejectOption,
        needs=("scores", "attribute"),
        tasks=("binary",),
        reference="Kamiran, Karim and Zhang (2012)",
    )
)
