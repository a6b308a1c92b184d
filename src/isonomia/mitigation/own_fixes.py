"""Fixes of a user's own: estimators that stand in the place of the model, or around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isonomia.data import Task
from isonomia.errors import DataError, IsonomiaError, SpecError
from isonomia.languages import Message
from isonomia.mitigation._training import fit_weighted, inner_has, steps_in_front
from isonomia.mitigation.registry import ALL_TASKS, MITIGATIONS, Mitigation, Need, Stage
from isonomia.parameters import Entry


def own_fix(
    estimator: Any,
    name: str | None = None,
    *,
    title: str | None = None,
    about: str = "A fix of the user's.",
    tasks: Sequence[Task] = ALL_TASKS,
    randomised: bool = False,
    reference: str = "",
) -> Mitigation:
    """A fix made of an estimator of your own, or of one of this package with options that you chose.

    ``MITIGATIONS.add(own_fix(...))`` makes it known by its name; `mitigate` takes the estimator itself too.

    Parameters
    ----------
    estimator : estimator or its class
        With ``fit(X, y)`` and ``predict(X)``; y is 1 for the favourable class. ``fit`` is given ``sensitive_features``
        (the values of each protected attribute, by its name) and ``sample_weight`` where it takes them. With a
        parameter ``estimator`` it is built around the model that is fixed; otherwise it stands in its place, behind the
        steps that prepare the features. With ``fit_scores`` and ``predict_scores`` it works on the scores of a trained
        model (see `Thresholds`).
    name, title, about : str, optional
        Its id, its heading in a report, and one line on what it does; by default the name of its class.
    tasks : sequence of "binary", "multiclass", "regression"
    randomised : bool
        Whether a decision may depend on chance.
    reference : str

    Notes
    -----
    Where ``predict`` takes ``sensitive_features``, it reads the protected attribute when it decides, and is tried only
    with ``attribute_at_decision=True``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> fix = own_fix(LogisticRegression(class_weight="balanced"), "balanced")
    >>> fix.id, fix.stage, fix.needs
    ('balanced', 'in', ())
    """
    instance = estimator() if isinstance(estimator, type) else estimator
    if not hasattr(instance, "predict") or not (hasattr(instance, "fit") or hasattr(instance, "fit_scores")):
        raise SpecError(
            f"A fix must be a name or an estimator with `fit` and `predict`; got {type(instance).__name__}. Give one, "
            "or `fit_scores` and `predict_scores` for a fix of scores."
        )
    label = name or type(instance).__name__
    described: dict[str, Any] = {"id": label, "title": Message.literal(title or label), "about": Message.literal(about)}
    known = next((entry for entry in MITIGATIONS.added() if entry.estimator is type(instance)), None)
    if known is not None:
        chosen = {one.name: getattr(instance, one.name) for one in known.parameters}
        return replace(known, **described, options=chosen)
    after = hasattr(instance, "predict_scores")
    decides = instance.predict_scores if after else instance.predict
    stage: Stage = "after" if after else "in"
    needs: tuple[Need, ...] = ("scores",) if after else ()
    if "sensitive_features" in signature(decides).parameters:
        needs = (*needs, "attribute")
    return Mitigation(
        **described,
        stage=stage,
        estimator=type(instance) if after else OwnFix,
        options=instance.get_params(deep=False) if after else {"fix": instance},
        needs=needs,
        tasks=tuple(tasks),
        randomised=randomised,
        reference=reference,
    )


class OwnFix(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator of a user's as a fix: it is given what it takes, and a failure of it is told as such.

    Parameters
    ----------
    estimator : estimator
        The model that is fixed.
    fix : estimator
    """

    def __init__(self, estimator: Any, fix: Any = None) -> None:
        self.estimator = estimator
        self.fix = fix

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the fix, around the model or in its place."""
        model, front = clone(self.fix), None
        if "estimator" in model.get_params(deep=False):
            model.set_params(estimator=clone(self.estimator))
        elif not hasattr(model, "steps"):
            front = steps_in_front(self.estimator)
        self.front_ = None if front is None else clone(front)
        try:
            features = X if self.front_ is None else self.front_.fit_transform(X, y)
            given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
            taken = signature(model.fit).parameters
            if "sensitive_features" not in taken:
                model = fit_weighted(model, features, y, sample_weight, owner="A fix")
            elif sample_weight is not None and "sample_weight" not in taken:
                raise DataError("The rows have weights, but its fit takes no `sample_weight`.")
            else:
                model = model.fit(features, y, **{key: given[key] for key in given if key in taken})
        except Exception as error:  # an estimator of the user's may raise anything
            raise self._failed(error) from error
        self.estimator_ = model
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        return self

    def predict(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """The decisions of the fix."""
        return self._asked("predict", X, sensitive_features)

    @available_if(inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """The probabilities of the fix."""
        return self._asked("predict_proba", X, sensitive_features)

    def _asked(self, method: str, X: Any, sensitive_features: Any) -> Any:
        check_is_fitted(self)
        ask = getattr(self.estimator_, method)
        takes = "sensitive_features" in signature(ask).parameters
        try:
            features = X if self.front_ is None else self.front_.transform(X)
            return ask(features, **({"sensitive_features": sensitive_features} if takes else {}))
        except Exception as error:  # an estimator of the user's may raise anything
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> IsonomiaError:
        told = str(error) if isinstance(error, IsonomiaError) else f"{type(error).__name__}: {error}"
        return DataError(f"The fix {type(self.fix).__name__} failed: {told}"[:500])


class _Fix(Entry):
    """The name of a mitigation, a mitigation, or an estimator of the user's."""

    def read(self, value: Any) -> Any:
        if isinstance(value, Mitigation):
            return value
        return own_fix(value) if hasattr(value, "fit") or hasattr(value, "fit_scores") else super().read(value)


#: An option that names a fix, or is one.
FIX = _Fix(MITIGATIONS)
