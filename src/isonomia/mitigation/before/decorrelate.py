"""Decorrelation: numeric features without their linear relation to the protected attribute.

X' = X - alpha (S - mean S) W, with W the least-squares coefficients of X on S - mean S. Only linear dependence goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import DataError
from isonomia.languages import msg
from isonomia.mitigation.before.changing import FeatureMitigator
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.parameters import Number
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class Decorrelate(FeatureMitigator):
    """Numeric features that are uncorrelated with the protected attribute.

    Parameters
    ----------
    sensitive : str or list of str, optional
        The columns of X that hold the protected attributes: numbers as they are, other values as one indicator each.
        None where the attribute comes as `sensitive_features`.
    alpha : float in [0, 1]
        How much of the correlation goes: 0 changes nothing, 1 removes all of it.

    Attributes
    ----------
    coefficients_ : array (columns of S, features)
        The least-squares coefficients W.
    means_ : array (columns of S,)
        The means of the attribute's columns at fit.
    changed_, untouched_ : list
        The columns that are changed, and those that are not numbers.

    Notes
    -----
    The attribute is read at decision time. Only correlation is removed: a tree or a network may still find the
    attribute in the features; suited to linear models. The same projection as Fairlearn's ``CorrelationRemover``.

    Examples
    --------
    >>> X, sex = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]]), ["f"] * 3 + ["m"] * 3
    >>> Decorrelate().fit_transform(X, sensitive_features=sex).ravel().round(9).tolist()
    [6.0, 7.0, 8.0, 6.0, 7.0, 8.0]
    """

    __kinds__: ClassVar = {**FeatureMitigator.__kinds__, "alpha": Number(at_least=0, at_most=1)}

    alpha: float = 1.0

    def _attribute_at_fit(self, X: Any, sensitive_features: Any) -> tuple[Codes, ...]:
        attributes = self._attributes(X, sensitive_features)
        self.attributes_ = [column.name for column in attributes]
        self.values_ = [None if _numeric(column) else list(column.labels) for column in attributes]
        return attributes

    def _attribute_later(self, X: Any, sensitive_features: Any) -> tuple[Codes, ...]:
        return self._attributes(X, sensitive_features)

    def _learn(
        self,
        numbers: Floats,
        attribute: tuple[Codes, ...],
        y: NDArray[Any] | None,
        weights: Floats | None,
        options: dict[str, Any],
    ) -> None:
        S = self._encoded(attribute, len(numbers))
        mass = np.ones(len(numbers)) if weights is None else weights
        self.means_ = mass @ S / mass.sum()
        root = np.sqrt(mass)[:, None]
        self.coefficients_ = np.linalg.lstsq((S - self.means_) * root, numbers * root, rcond=None)[0]

    def _change(self, numbers: Floats, attribute: tuple[Codes, ...]) -> Floats:
        S = self._encoded(attribute, len(numbers))
        return np.asarray(numbers - self.alpha * (S - self.means_) @ self.coefficients_)

    def _encoded(self, attributes: tuple[Codes, ...], rows: int) -> Floats:
        """Numbers as they are, other values as indicators of all but the first."""
        if len(attributes) != len(self.values_):
            raise DataError(f"Decorrelate was fitted with {len(self.values_)} attributes; got {len(attributes)}.")
        blocks = [np.empty((rows, 0))]
        for column, known in zip(attributes, self.values_, strict=True):
            if known is None and _numeric(column):
                blocks.append(np.array(column.labels, dtype=float)[column.codes][:, None])
                continue
            unseen = [label for label in column.observed().labels if known is None or label not in known]
            if unseen or known is None:
                raise DataError(
                    f"Decorrelate met a value of '{column.name}' that it was not fitted on: {unseen[0]!r}. Fit it on "
                    "data with every value, or merge rare ones."
                )
            table = np.array([[label == value for value in known[1:]] for label in column.labels], dtype=float)
            blocks.append(table.reshape(len(column.labels), -1)[column.codes])
        return np.hstack(blocks)


def _numeric(column: Codes) -> bool:
    return all(isinstance(label, int | float) and not isinstance(label, bool) for label in column.labels)


MITIGATIONS.add(
    Mitigation(
        id="decorrelate",
        title=msg("Decorrelation of features"),
        about=msg("removes the linear relation between the features and the protected attribute"),
        stage="before",
        estimator=Decorrelate,
        needs=("attribute",),
        reference="Fairlearn, CorrelationRemover",
    )
)
