"""Reweighing: weights of the training rows that make groups and outcomes independent.

For n_a rows in group a, n_y with outcome y and n_ay with both, of n rows and k groups (sums of weights where rows carry
weights; the numbers of a regression in bands of equal mass):

- demographic parity (Kamiran and Calders 2012): w(a, y) = n_a n_y / (n n_ay). Weighted, every group has the outcomes
  of everyone, and its own size.
- equalized odds: w(a, y) = n_y / (k n_ay). Weighted, every group has the same weight among the people of each outcome.

The two are equal only where all groups are of one size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from isonomia.counting import Codes, composite, cross_codes
from isonomia.data import check_weights
from isonomia.errors import DataError
from isonomia.languages import msg
from isonomia.mitigation._outcomes import BANDS, cell_counts, empty_cells, outcome_classes
from isonomia.mitigation._training import TrainingMitigator, fit_weighted
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Choice, Integer, Number, validated
from isonomia.subject import read_attributes
from isonomia.typing import Floats

Target = Literal["demographic_parity", "equalized_odds"]
TARGET = Choice(("demographic_parity", "equalized_odds"))
EMPTY = Choice(("error", "ignore"))


def cell_weights(counts: Floats, target: str) -> Floats:
    """The weight of every cell (group, outcome); 0 for a cell without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if target == "demographic_parity":
            ideal = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        else:
            ideal = np.broadcast_to(counts.sum(axis=0) / counts.shape[0], counts.shape)
        return np.where(counts > 0, ideal / counts, 0.0)


@validated(target=TARGET, bands=Integer(2), empty=EMPTY)
def weights(
    y: Any,
    sensitive_features: Any,
    target: Target = "demographic_parity",
    *,
    sample_weight: Any = None,
    bands: int = BANDS,
    empty: Literal["error", "ignore"] = "error",
) -> Floats:
    """The weight of every row that makes groups and outcomes independent.

    Parameters
    ----------
    y : column
        Outcomes: two or more classes, or numbers.
    sensitive_features : column, frame or array
        The protected attributes; several of them make intersections.
    target : "demographic_parity" or "equalized_odds"
        ``n_a n_y / (n n_ay)`` or ``n_y / (k n_ay)``.
    sample_weight : column, optional
        Weights that the rows already have; the result contains them.
    bands : int
        How many bands of equal mass the numbers of a regression are cut into.
    empty : "error" or "ignore"
        What happens where a group has no row with some outcome: no weight can balance it.

    References
    ----------
    Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination.

    Examples
    --------
    >>> hired = [1, 1, 0, 0, 0, 1, 1, 1, 1, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> weights(hired, sex).round(3).tolist()
    [1.5, 1.5, 0.667, 0.667, 0.667, 0.75, 0.75, 0.75, 0.75, 2.0]
    """
    outcomes = outcome_classes(y, bands=bands)
    groups = composite(read_attributes(sensitive_features, length=len(outcomes)))
    given = check_weights(sample_weight, len(outcomes), what="`sample_weight`")
    counts = cell_counts(groups, outcomes, given)
    _cells_lacking(groups, outcomes, counts, empty)
    return _row_weights(cell_weights(counts, target), groups, outcomes, given)


def _cells_lacking(groups: Codes, outcomes: Codes, counts: Floats, empty: str) -> list[str]:
    """Groups that have no row with some outcome; an error where these are not to be ignored."""
    found = empty_cells(groups, outcomes, counts)
    if found and empty == "error":
        raise DataError(
            f"No weight can balance a group that lacks an outcome: there are no rows of "
            f"{'; '.join(found[:5])}{'; ...' if len(found) > 5 else ''}. Merge groups "
            "(or use fewer bands), or pass empty='ignore' to weight the others."
        )
    return found


def _row_weights(table: Floats, groups: Codes, outcomes: Codes, given: Floats | None) -> Floats:
    """The weight of every row from the weights of its cell, times its own."""
    found: Floats = table.ravel()[cross_codes(groups.codes, outcomes.codes, (groups.size, outcomes.size))]
    return found if given is None else found * given


@dataclass(eq=False, repr=False, kw_only=True)
class Reweigh(TrainingMitigator):
    """An estimator trained with weights that make groups and outcomes independent.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained; its fit must take `sample_weight`. A logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    target : "demographic_parity" or "equalized_odds"
        What the weights aim at.
    bands : int
        How many bands of equal mass the numbers of a regression are cut into.
    clip : float, optional
        The largest weight; None for no limit.
    empty : "error" or "ignore"
        What happens where a group has no row with some outcome: no weight can balance it.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The trained estimator.
    weights_ : array (groups, outcomes)
        The weight of every cell, in the order of `groups_` and `outcomes_`.
    effective_size_ : float
        ``(sum w)^2 / sum w^2``: how many equally weighted rows carry as much information.
    empty_cells_ : list of str
        Groups that have no row with some outcome.

    Notes
    -----
    The attribute is not read at decision time. Fairness is reached for the weighted training labels, not for the
    predictions: compare before and after on people that were not in training.

    References
    ----------
    Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination.

    Examples
    --------
    >>> import numpy as np
    >>> sex, hired = np.repeat(["f", "m"], 5), np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 0])
    >>> fair = Reweigh().fit(np.arange(10.0)[:, None], hired, sensitive_features=sex)
    >>> fair.weights_.round(3).tolist(), round(fair.effective_size_, 2)
    ([[0.667, 1.5], [2.0, 0.75]], 8.28)
    """

    __kinds__: ClassVar = {
        **TrainingMitigator.__kinds__,
        "target": TARGET,
        "bands": Integer(2),
        "clip": Number(above=0).or_none("for no limit"),
        "empty": EMPTY,
    }

    target: Target = "demographic_parity"
    bands: int = BANDS
    clip: float | None = None
    empty: Literal["error", "ignore"] = "error"

    @classmethod
    def takes_prepared(cls, last: Any) -> bool:
        """Always."""
        return True

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        outcomes = outcome_classes(y, regression=not is_classifier(self), bands=options["bands"])
        counts = cell_counts(groups, outcomes, weights)
        self.empty_cells_ = _cells_lacking(groups, outcomes, counts, options["empty"])
        self.outcomes_ = list(outcomes.texts)
        self.weights_ = cell_weights(counts, options["target"])
        if options["clip"] is not None:
            self.weights_ = np.minimum(self.weights_, options["clip"])
        rows = _row_weights(self.weights_, groups, outcomes, weights)
        self.effective_size_ = float(rows.sum() ** 2 / (rows**2).sum())
        return fit_weighted(model, X, y, rows, owner="Reweigh")


MITIGATIONS.add(
    Mitigation(
        id="reweighing",
        title=msg("Reweighing"),
        about=msg("weights the training rows so that groups and outcomes are independent"),
        stage="before",
        estimator=Reweigh,
        needs=("sample_weight",),
        reference="Kamiran and Calders (2012)",
    )
)
