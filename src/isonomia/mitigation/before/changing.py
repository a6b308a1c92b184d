"""The base of transformers: the numeric features in, changed, in the kind of table that came."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from isonomia.data import check_weights
from isonomia.errors import DataError
from isonomia.mitigation._attribute import SENSITIVE, Mitigator, named_table
from isonomia.models.columns import number_matrix
from isonomia.typing import Floats


class FeatureMitigator(TransformerMixin, Mitigator):  # type: ignore[misc]
    """A transformer of numeric features that knows the protected attribute; its columns are not part of the result.

    A subclass writes `_learn` and `_change`. Columns of texts stay as they are; `untouched_` names them.
    """

    __kinds__: ClassVar = {"sensitive": SENSITIVE}

    def _learn(
        self, numbers: Floats, attribute: Any, y: NDArray[Any] | None, weights: Floats | None, options: dict[str, Any]
    ) -> None:
        raise NotImplementedError

    def _change(self, numbers: Floats, attribute: Any) -> Floats:
        raise NotImplementedError

    def _attribute_at_fit(self, X: Any, sensitive_features: Any) -> Any:
        return self._learn_groups(X, sensitive_features)

    def _attribute_later(self, X: Any, sensitive_features: Any) -> Any:
        return self._known_groups(X, sensitive_features)

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
        """Learn the change.

        Parameters
        ----------
        X : frame or array
            The features.
        y : column, optional
            The outcomes, where the change depends on them.
        sensitive_features : column, frame or array, optional
            The protected attributes, where they are not columns of X.
        sample_weight : column, optional
            A weight per row.
        """
        options = self._options()
        _, numbers = self._numbers(X, reset=True)
        attribute = self._attribute_at_fit(X, sensitive_features)
        weights = check_weights(sample_weight, len(numbers), what="`sample_weight`")
        outcomes = None if y is None else self._target(y)
        self._learn(numbers, attribute, outcomes, weights, options)
        return self

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """The changed features, as the kind of table that X is."""
        check_is_fitted(self)
        table, numbers = self._numbers(X, reset=False)
        changed = self._change(numbers, self._attribute_later(X, sensitive_features))
        return changed if table is None else self._as_table(table, changed)

    def _as_table(self, table: nw.DataFrame[Any], changed: Floats) -> Any:
        series = [
            nw.new_series(name, np.ascontiguousarray(changed[:, index]), backend=table.implementation)
            for index, name in enumerate(self.changed_)
        ]
        return table.with_columns(*series).to_native()

    def fit_transform(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
        """Learn the change and apply it to the same rows."""
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X, sensitive_features=sensitive_features)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of the result."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if known is None:
            known = [f"x{index}" for index in range(self.n_features_in_)] if input_features is None else input_features
        elif input_features is not None and list(input_features) != list(known):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(known) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to {self.n_features_in_}")
        return np.array([name for name in known if name not in self._names()], dtype=object)

    def _numbers(self, X: Any, *, reset: bool) -> tuple[nw.DataFrame[Any] | None, Floats]:
        """X without the protected columns (None for an array), and its numeric columns as one matrix."""
        table = named_table(X)
        if table is None:
            numbers = validate_data(self, X, reset=reset, dtype=np.float64)
            self._remember(reset, list(range(numbers.shape[1])), [])
            return None, numbers
        validate_data(self, table.to_native(), reset=reset, skip_check_array=True)
        kept = table.drop(*[name for name in self._names() if name in table.columns])
        if reset:
            numeric = [name for name, kind in kept.schema.items() if kind.is_numeric() or kind == nw.Boolean]
            self._remember(reset, numeric, [name for name in kept.columns if name not in numeric])
        numbers = number_matrix(kept.select(self.changed_), make=type(self).__name__)
        gaps = [name for index, name in enumerate(self.changed_) if not np.isfinite(numbers[:, index]).all()]
        if gaps:
            raise DataError(f"X contains NaN or infinity in {', '.join(map(repr, gaps[:10]))}; impute these first.")
        return kept, numbers

    def _remember(self, reset: bool, changed: list[Any], untouched: list[str]) -> None:
        if reset:
            self.changed_, self.untouched_ = changed, untouched
