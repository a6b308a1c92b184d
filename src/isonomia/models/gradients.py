"""Gradients of a model's score with respect to its inputs: exact where the formula is known, else measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.data import to_frame
from isonomia.errors import NotApplicable
from isonomia.models import estimators
from isonomia.models._autograd import Autograd
from isonomia.typing import Floats, Indices

GradientKind = Literal["linear", "network", "autograd", "differences"]

_ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "identity": (lambda z: z, lambda a: np.ones_like(a)),
    "relu": (lambda z: np.maximum(z, 0.0), lambda a: (a > 0).astype(float)),
    "tanh": (np.tanh, lambda a: 1.0 - a * a),
    "logistic": (lambda z: 1.0 / (1.0 + np.exp(-z)), lambda a: a * (1.0 - a)),
}


class Scored(Protocol):
    """What a model predicts for rows: labels (codes; None for a regression) and scores (None where it gives none).

    `score` is (n,) for two classes (of the positive one) and for a regression, (n, K) for K > 2 classes.
    """

    @property
    def label(self) -> NDArray[np.int64] | None: ...

    @property
    def score(self) -> Floats | None: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs:
    """The columns that a model is differentiated in.

    Attributes
    ----------
    names : tuple of str
    low, high, step : (d,) arrays
        Bounds of each column and the step of a difference.
    kind : str
        "numbers", "codes" where some columns are categories whose codes are the numbers that the model gets, or
        "other" where rows are not what the model gets or may have missing values.
    examples : function
        Draws some rows, on which the output of a PyTorch module is compared with the scores.
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    step: Floats
    kind: Literal["numbers", "codes", "other"] = "numbers"
    examples: Callable[[], Floats]


class Gradients:
    """The gradient of the score of the positive class (with more than two classes: of the predicted class).

    `kind` says how it is computed: "linear" and "network" (scikit-learn's linear classifiers and `MLPClassifier` for
    two classes, also behind scalers) are exact, "autograd" differentiates a PyTorch module, "differences" asks the
    model about one step up and one step down in every column.

    Parameters
    ----------
    model : estimator, module or function
    score : function
        Predicts for rows of the inputs, see `Scored`.
    inputs : Inputs
    positive : function, optional
        The positive class, where it is known by the time a gradient is needed; the estimator's second class otherwise.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> inputs = Inputs(
    ...     names=("a", "b"), low=np.zeros(2), high=np.ones(2), step=np.full(2, 0.5), examples=lambda: np.zeros((1, 2))
    ... )
    >>> def score(rows):
    ...     return SimpleNamespace(label=None, score=3 * rows[:, 0] - rows[:, 1])
    >>> gradients = Gradients(score, score, inputs)
    >>> gradients.kind, gradients(np.array([[0.5, 0.5]]), np.array([0, 1])).tolist()
    ('differences', [[3.0, -1.0]])
    """

    def __init__(
        self,
        model: Any,
        score: Callable[[Floats], Scored],
        inputs: Inputs,
        *,
        positive: Callable[[], Any] | None = None,
    ) -> None:
        self.score, self.inputs, self.positive = score, inputs, positive
        self._scale, self._estimator = _behind_scalers(model, inputs.names)
        self._autograd = None
        if inputs.kind != "other":
            self._autograd = Autograd.of(model, inputs.examples, lambda rows: score(rows).score)
        self.kind: GradientKind = self._kind()

    def _kind(self) -> GradientKind:
        if self._autograd is not None:
            return "autograd"
        if len(getattr(self._estimator, "classes_", ())) != 2 or self.inputs.kind != "numbers":
            return "differences"
        name = type(self._estimator).__name__
        if name in estimators.LINEAR_CLASSIFIERS:
            return "linear"
        return "network" if name == "MLPClassifier" else "differences"

    def __call__(self, rows: Floats, columns: Indices) -> Floats:
        """Gradients (n, d) of rows; where they have to be measured, only in `columns` (0 in the others)."""
        if self._autograd is not None:
            return self._autograd(rows)
        if self.kind == "differences":
            return self._differences(rows, columns)
        gradient = self._linear(rows) if self.kind == "linear" else self._network(rows)
        return gradient * self._sign()

    def _sign(self) -> float:
        """-1 where the positive class is the estimator's first."""
        positive = None if self.positive is None else self.positive()
        return 1.0 if positive is None or str(positive) == str(self._estimator.classes_[1]) else -1.0

    def _linear(self, rows: Floats) -> Floats:
        shift, scale = self._scale
        weight = np.asarray(self._estimator.coef_, dtype=float).ravel()
        gradient = np.tile(weight / scale, (len(rows), 1))
        if hasattr(self._estimator, "predict_proba"):
            z = (rows - shift) / scale @ weight + float(np.ravel(self._estimator.intercept_)[0])
            gradient *= _logistic_derivative(z)[:, None]
        return gradient

    def _network(self, rows: Floats) -> Floats:
        """Back-propagation through the layers of an `MLPClassifier` with one output."""
        shift, scale = self._scale
        net = self._estimator
        activation, derivative = _ACTIVATIONS[net.activation]
        layers: list[Floats] = [(rows - shift) / scale]
        for weight, bias in zip(net.coefs_[:-1], net.intercepts_[:-1], strict=True):
            layers.append(activation(layers[-1] @ weight + bias))
        z = (layers[-1] @ net.coefs_[-1] + net.intercepts_[-1]).ravel()
        back = _logistic_derivative(z)[:, None] @ net.coefs_[-1].T
        for weight, layer in zip(net.coefs_[-2::-1], layers[:0:-1], strict=True):
            back = (back * derivative(layer)) @ weight.T
        return np.asarray(back / scale)

    def _differences(self, rows: Floats, columns: Indices) -> Floats:
        """(score one step up - score one step down) / distance; at a bound, on one side only."""
        (n, d), k = rows.shape, len(columns)
        sides = []
        for direction in (1.0, -1.0):
            moved = np.repeat(rows[:, None, :], k, axis=1)
            moved[:, np.arange(k), columns] += direction * self.inputs.step[columns]
            sides.append(np.clip(moved, self.inputs.low, self.inputs.high).reshape(n * k, d))
        both = np.concatenate([np.where(np.isnan(np.repeat(rows, k, axis=0)), np.nan, side) for side in sides])
        score = _own_score(self.score(np.concatenate([both, rows])), n, k)
        up, down = (side.reshape(n, k, d)[:, np.arange(k), columns] for side in sides)
        change = (score[: n * k] - score[n * k : 2 * n * k]).reshape(n, k)
        gradient = np.zeros_like(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            gradient[:, columns] = np.nan_to_num(change / (up - down), posinf=0.0, neginf=0.0)
        return gradient


def _own_score(scored: Scored, n: int, k: int) -> Floats:
    """Scores of n x k rows up, n x k rows down and the n rows themselves, of the class predicted for these."""
    if scored.score is None:
        raise NotApplicable("gradients need scores, and the model gives decisions only")
    if scored.score.ndim == 1:
        return scored.score
    own = cast(NDArray[np.int64], scored.label)[-n:]
    column = np.concatenate([np.repeat(own, k), np.repeat(own, k), own])
    return np.asarray(scored.score[np.arange(len(column)), column])


def _logistic_derivative(z: Floats) -> Floats:
    """The derivative p (1 - p) of the logistic function, above 0 also where p is 1 to the last bit.

    >>> _logistic_derivative(np.array([0.0, 40.0, -40.0])).tolist() == [0.25, np.exp(-40), np.exp(-40)]
    True
    """
    small = np.exp(-np.minimum(np.abs(z), 500.0))
    return np.asarray(small / (1.0 + small) ** 2)


def _behind_scalers(model: Any, names: tuple[str, ...]) -> tuple[tuple[Floats, Floats], Any]:
    """The shift and scale of the scalers before the last estimator, and that estimator; None behind other steps."""
    shift, scale = np.zeros(len(names)), np.ones(len(names))
    takes = getattr(model, "feature_names_in_", None)
    if takes is not None and tuple(map(str, takes)) != names:
        return (shift, scale), None
    if not hasattr(model, "steps"):
        return (shift, scale), model
    for _, step in model.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if type(step).__name__ not in estimators.SCALERS:
            return (shift, scale), None
        points = step.transform(_named(np.stack([np.zeros(len(names)), np.ones(len(names))]), step))
        slope = np.asarray(points[1] - points[0], dtype=float)
        if (slope == 0).any():
            return (shift, scale), None
        inner = -np.asarray(points[0], dtype=float) / slope  # the value that becomes 0
        shift, scale = shift + scale * inner, scale / slope
    return (shift, scale), model.steps[-1][1]


def _named(rows: Floats, step: Any) -> Any:
    names = getattr(step, "feature_names_in_", None)
    if names is None:
        return rows
    return to_frame({str(name): rows[:, index] for index, name in enumerate(names)})
