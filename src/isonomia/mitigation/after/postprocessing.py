"""The base of fixes after training: scores of a model, tuned on people it has not seen, then changed by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isonomia.counting import Codes, composite
from isonomia.data import check_weights, index_of, listed, to_numpy
from isonomia.errors import DataError, NotApplicable
from isonomia.languages import msg
from isonomia.mitigation._attribute import SENSITIVE
from isonomia.mitigation._training import DROP_SENSITIVE, MetaMitigator, fit_weighted, inner_has, weight_argument
from isonomia.mitigation.after.fixes import Fix, expit, plain_scores
from isonomia.mitigation.before.ranking import take_rows
from isonomia.parameters import SEED, Boolean, Integer
from isonomia.subject import read_attributes
from isonomia.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class PostMitigator(MetaMitigator):
    """Changes the scores or decisions of a trained estimator, group by group.

    A subclass writes `_tune`, which returns the `Fix` for scores.
    """

    __kinds__: ClassVar = {
        "sensitive": SENSITIVE,
        "prefit": Boolean(),
        "folds": Integer(0),
        "drop_sensitive": DROP_SENSITIVE,
        "seed": SEED,
    }
    #: Whether it is defined for two classes only.
    two_classes: ClassVar[bool] = False
    prefit: bool = False
    folds: int = 3
    seed: int = 0
    fix_: Fix = field(init=False)

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        """The fix for these scores; `truth` holds codes of `classes_` (numbers for a regression)."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Train the estimator (unless it is trained already), then tune the fix.

        The fix is tuned on predictions for rows that the estimator was not trained on (`folds` parts); with
        ``folds=0`` on its own training rows, and with ``prefit=True`` on the rows given.

        Parameters
        ----------
        X : frame or array
            The features.
        y : column
            The outcomes.
        sensitive_features : column, frame or array, optional
            The protected attributes, where they are not columns of X.
        sample_weight : column, optional
            A weight per row.
        """
        options = self._options()
        rows, outcomes, groups, weights = self._read(X, y, sensitive_features, sample_weight)
        if self.prefit:
            self.estimator_ = self.estimator
        else:
            self.estimator_ = _fitted(self._template(), rows, outcomes, weights)
        self._learn_classes(getattr(self.estimator_, "classes_", np.unique(outcomes)))
        if self.two_classes and len(getattr(self, "classes_", ())) > 2:
            raise DataError(
                f"{type(self).__name__}: Only binary classification is supported. The type of the target is "
                f"multiclass ({len(self.classes_)} classes)."
            )
        score = self._score(self.estimator_, rows)
        if not self.prefit and self.folds > 1:
            score = self._out_of_fold(rows, outcomes, weights, score)
        self.fix_ = self._fix(score, self._codes(outcomes), groups, weights, options)
        return self

    def _fix(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        """The fix for the rows that have any weight."""
        if weights is not None and (weights <= 0).any():
            used = weights > 0
            score, truth, groups, weights = score[used], truth[used], groups.take(used), weights[used]
        if hasattr(self, "classes_") and (truth.size == 0 or truth.min() == truth.max()):
            raise DataError(f"{type(self).__name__} needs people of at least two classes; all are of one class.")
        classes = tuple(self.classes_.tolist()) if hasattr(self, "classes_") else ()
        return replace(self._tune(score, truth, groups, weights, options), classes=classes, seed=options["seed"])

    def fit_scores(
        self,
        score: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        classes: Any = None,
        regression: bool = False,
    ) -> Self:
        """Tune the fix on scores that were made elsewhere.

        Parameters
        ----------
        score : column or table
            Probabilities (n,) of the second class or (n, K), or predicted numbers.
        y : column
            The outcomes.
        classes : sequence, optional
            The classes in the order of the scores; those of y, sorted, where left out.
        regression : bool
            Whether the scores are predicted numbers.
        """
        options = self._options()
        outcomes = np.asarray(to_numpy(y)) if regression else self._target(y)
        if not regression:
            self.classes_ = np.unique(outcomes) if classes is None else np.asarray(classes)
        attributes = read_attributes(sensitive_features, length=len(outcomes))
        groups = composite([column.observed() for column in attributes])
        self.attributes_, self.groups_ = [column.name for column in attributes], list(groups.labels)
        weights = check_weights(sample_weight, len(outcomes), what="`sample_weight`")
        values = plain_scores(score)
        if self.two_classes and values.ndim == 2:
            raise NotApplicable(msg("{name} is defined for two classes", name=type(self).__name__))
        self.fix_ = self._fix(values, self._codes(outcomes), groups, weights, options)
        return self

    def predict_scores(self, score: Any, *, sensitive_features: Any) -> NDArray[Any]:
        """The decisions about scores that were made elsewhere."""
        check_is_fitted(self, "fix_")
        return self.fix_.predict(score, sensitive_features=sensitive_features)

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """The decisions after the fix."""
        check_is_fitted(self)
        rows = self._features(X, reset=False, drop=self.drop_sensitive)
        group = self._known_groups(X, sensitive_features)
        decided = self.fix_.decide(self._score(self.estimator_, rows), group)
        return self.classes_[decided] if hasattr(self, "classes_") else decided

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the estimator, which a change of decisions leaves as they are."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._features(X, reset=False, drop=self.drop_sensitive))

    def score(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> float:
        """The accuracy of the decisions, or R² of a regression."""
        from sklearn.metrics import accuracy_score, r2_score

        predicted = self.predict(X, sensitive_features=sensitive_features)
        measure: Callable[..., Any] = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, predicted, sample_weight=sample_weight))

    def _learn_classes(self, classes: NDArray[Any]) -> None:
        if is_classifier(self):
            self.classes_ = np.asarray(classes)

    def _codes(self, outcomes: NDArray[Any]) -> NDArray[Any]:
        if not hasattr(self, "classes_"):
            return outcomes.astype(float)
        known = tuple(self.classes_.tolist())
        labelled = Codes.encode(outcomes, name="y")
        found = [index_of(label, known) for label in labelled.labels]
        if None in found:
            raise DataError(f"y has values that the estimator does not know; it knows {listed(known)}.")
        return np.array(found, dtype=np.intp)[labelled.codes]

    def _score(self, estimator: Any, rows: Any) -> Floats:
        """Probabilities of the positive class (or of all, for several), else scores, else predicted numbers."""
        if not is_classifier(self):
            return np.asarray(estimator.predict(rows), dtype=float)
        if hasattr(estimator, "predict_proba"):
            table = np.asarray(estimator.predict_proba(rows), dtype=float)
            return np.ascontiguousarray(table[:, 1]) if table.shape[1] == 2 else table
        if hasattr(estimator, "decision_function"):
            return expit(np.asarray(estimator.decision_function(rows), dtype=float))
        raise NotApplicable(msg("the estimator gives decisions only, and the fix needs probabilities or scores"))

    def _out_of_fold(self, rows: Any, outcomes: NDArray[Any], weights: Floats | None, score: Floats) -> Floats:
        """Scores of each row from an estimator that was not trained on it."""
        folds = min(self.folds, len(outcomes))
        if is_classifier(self):
            smallest = int(np.unique(outcomes, return_counts=True)[1].min())
            if smallest < 2:
                return score
            folds = min(folds, smallest)
            splits = StratifiedKFold(folds, shuffle=True, random_state=self.seed).split(outcomes, outcomes)
        else:
            splits = KFold(folds, shuffle=True, random_state=self.seed).split(outcomes)
        out = score.copy()
        for train, test in splits:
            part = None if weights is None else weights[train]
            model = _fitted(self._template(), take_rows(rows, train), outcomes[train], part)
            out[test] = self._score(model, take_rows(rows, test))
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None and self.two_classes:
            tags.classifier_tags.multi_class = False
        return tags


def _fitted(template: Any, rows: Any, outcomes: NDArray[Any], weights: Floats | None) -> Any:
    """The template trained; weights are given to estimators that take them."""
    model = clone(template)
    return fit_weighted(model, rows, outcomes, weights if weight_argument(model) else None, owner="A fix")
