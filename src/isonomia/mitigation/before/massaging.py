"""Massaging: training labels nearest the border are changed until every group has the same share of positives.

With n_g rows in group g, PR_g their positive rate and PR that of everyone, n_g |PR_g - PR| labels of group g are
flipped: from positive to negative those ranked lowest where PR_g > PR, from negative to positive those ranked highest
where PR_g < PR. For two groups both numbers are M = n_F n_U (PR_F - PR_U) / n, and the overall rate stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import DataError
from isonomia.languages import msg
from isonomia.mitigation._outcomes import cell_counts, outcome_classes
from isonomia.mitigation._training import TrainingMitigator, fit_weighted
from isonomia.mitigation.before.ranking import favourable_scores
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import SEED
from isonomia.typing import Floats, Indices


def labels_to_flip(counts: Floats) -> Floats:
    """How many labels of each group change: above 0 from positive to negative, below 0 the other way.

    >>> labels_to_flip(np.array([[3.0, 2.0], [1.0, 4.0]])).tolist()
    [-1.0, 1.0]
    """
    sizes, positives = counts.sum(axis=1), counts[:, 1]
    return np.asarray(positives - sizes * positives.sum() / sizes.sum())


@dataclass(eq=False, repr=False, kw_only=True)
class Massage(TrainingMitigator):
    """An estimator trained on labels of which those nearest the border were changed.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained, on two classes. A logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    ranker : estimator, optional
        What ranks the rows, cross-fitted; the estimator itself by default.
    seed : int
        The start of the random folds of the ranker.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The trained estimator.
    exact_flips_ : array (groups,)
        ``n_g (PR_g - PR)`` per group: positives too many (above 0) or too few (below 0).
    flipped_ : array
        The indices of the training rows whose labels were changed.

    Notes
    -----
    The model learns from labels that were not observed; state how many (`flipped_`) wherever its results are shown.

    References
    ----------
    Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat([0, 1], 50)
    >>> X = rng.normal(sex, 1)[:, None]
    >>> hired = (X[:, 0] > 0.5).astype(int)
    >>> fair = Massage().fit(X, hired, sensitive_features=sex)
    >>> fair.exact_flips_.tolist(), len(fair.flipped_)
    ([-8.5, 8.5], 16)
    """

    __kinds__: ClassVar = {**TrainingMitigator.__kinds__, "seed": SEED}

    ranker: Any = None
    seed: int = 0

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        labels = outcome_classes(y, regression=False)
        self.exact_flips_, self.flipped_ = np.zeros(groups.size), np.empty(0, dtype=np.intp)
        if groups.size > 1 and labels.size != 2:
            raise DataError(f"Massage is for two classes; y has {labels.size}. Reweigh and Resample take any number.")
        if groups.size > 1:
            self.exact_flips_ = labels_to_flip(cell_counts(groups, labels, weights))
            scores = favourable_scores(self.ranker or model, X, y, options["seed"])
            self.flipped_ = self._chosen(groups, labels.codes.astype(bool), scores, weights)
        changed = y.copy()
        if self.flipped_.size:
            first, second = np.array(labels.labels, dtype=y.dtype)
            changed[self.flipped_] = np.where(y[self.flipped_] == second, first, second)
        return fit_weighted(model, X, changed, weights, owner="Massage")

    def _chosen(self, groups: Codes, positive: NDArray[np.bool_], scores: Floats, weights: Floats | None) -> Indices:
        """The rows nearest the border, as many per group as bring the rate nearest to that of everyone."""
        chosen = []
        for group, flips in enumerate(self.exact_flips_.tolist()):
            rows = np.flatnonzero((groups.codes == group) & (positive == (flips > 0)))
            ranked = rows[np.argsort(scores[rows] if flips > 0 else -scores[rows], kind="stable")]
            mass = np.cumsum(np.ones(rows.size) if weights is None else weights[ranked])
            chosen.append(ranked[: np.argmin(np.abs(np.append(0.0, mass) - abs(flips)))])
        return np.sort(np.concatenate(chosen))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None and self._names():
            tags.classifier_tags.multi_class = False
        return tags


MITIGATIONS.add(
    Mitigation(
        id="massaging",
        title=msg("Massaging"),
        about=msg("changes the training labels nearest the border until the groups have the same rate"),
        stage="before",
        estimator=Massage,
        needs=("scores",),
        tasks=("binary",),
        changes_labels=True,
        fits=6,
        reference="Kamiran and Calders (2012)",
    )
)
