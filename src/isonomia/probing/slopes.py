"""How a model's score changes with each column: worked out where its formula is known, measured otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import NotApplicable
from isonomia.probing.autograd import Autograd
from isonomia.probing.oracle import Oracle, Said
from isonomia.typing import Floats

SlopeKind = Literal["linear", "network", "autograd", "differences"]

_LINEAR = ("LogisticRegression", "LogisticRegressionCV", "LinearSVC", "SGDClassifier", "RidgeClassifier", "Perceptron")
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
_ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "identity": (lambda z: z, lambda a: np.ones_like(a)),
    "relu": (lambda z: np.maximum(z, 0.0), lambda a: (a > 0).astype(float)),
    "tanh": (np.tanh, lambda a: 1.0 - a * a),
    "logistic": (lambda z: 1.0 / (1.0 + np.exp(-z)), lambda a: a * (1.0 - a)),
}


class Slopes:
    """The slope of the positive class's score (for several classes: of the decided class's) in every column.

    `kind` says how: "linear" and "network" (scikit-learn's linear classifiers and `MLPClassifier` of two classes, also
    behind a scaler) are exact, "autograd" differentiates a PyTorch module; "differences" asks the model about one unit
    up and one unit down in every column.
    """

    def __init__(self, oracle: Oracle, consult: Callable[[Floats], Said]) -> None:
        self.oracle, self.consult = oracle, consult
        self.domain = oracle.domain
        self._scale, self._estimator = _unwrap(oracle.estimator, self.domain.names)
        self._autograd = Autograd.of(oracle, consult)
        self.kind: SlopeKind = self._kind()

    def _kind(self) -> SlopeKind:
        if self._autograd is not None:
            return "autograd"
        estimator = self._estimator
        two = estimator is not None and len(getattr(estimator, "classes_", ())) == 2
        if not two or self.domain.nominal.any() or self.domain.may_miss.any():
            return "differences"
        name = type(estimator).__name__
        if name in _LINEAR:
            return "linear"
        return "network" if name == "MLPClassifier" else "differences"

    def __call__(self, rows: Floats, columns: NDArray[np.intp]) -> Floats:
        """Slopes (n, d) of rows; only `columns` are worked out where they have to be measured."""
        if self._autograd is not None:
            return self._autograd(rows)
        if self.kind == "differences":
            return self._differences(rows, columns)
        slope = self._linear(rows) if self.kind == "linear" else self._network(rows)
        return slope * self._turn()

    def _turn(self) -> float:
        """-1 where the positive class is the model's first one."""
        classes = self.oracle.classes
        return 1.0 if not classes or str(classes[1]) == str(self._estimator.classes_[1]) else -1.0

    def _linear(self, rows: Floats) -> Floats:
        shift, scale = self._scale
        weight = np.asarray(self._estimator.coef_, dtype=float).ravel()
        slope = np.tile(weight / scale, (len(rows), 1))
        if hasattr(self._estimator, "predict_proba"):
            z = (rows - shift) / scale @ weight + float(np.ravel(self._estimator.intercept_)[0])
            slope *= _steepness(z)[:, None]
        return slope

    def _network(self, rows: Floats) -> Floats:
        """Back-propagation through the layers of an `MLPClassifier` with one output."""
        shift, scale = self._scale
        net = self._estimator
        act, slope_of = _ACTIVATIONS[net.activation]
        layers: list[Floats] = [(rows - shift) / scale]
        for weight, bias in zip(net.coefs_[:-1], net.intercepts_[:-1], strict=True):
            layers.append(act(layers[-1] @ weight + bias))
        z = (layers[-1] @ net.coefs_[-1] + net.intercepts_[-1]).ravel()
        back = _steepness(z)[:, None] @ net.coefs_[-1].T
        for weight, layer in zip(net.coefs_[-2::-1], layers[:0:-1], strict=True):
            back = (back * slope_of(layer)) @ weight.T
        return np.asarray(back / scale)

    def _differences(self, rows: Floats, columns: NDArray[np.intp]) -> Floats:
        """(score one unit up - score one unit down) / distance, at the bounds on one side only."""
        (n, d), k = rows.shape, len(columns)
        sides = []
        for direction in (1.0, -1.0):
            moved = np.repeat(rows[:, None, :], k, axis=1)
            moved[:, np.arange(k), columns] += direction * self.domain.step[columns]
            sides.append(np.clip(moved, self.domain.low, self.domain.high).reshape(n * k, d))
        both = np.concatenate([np.where(np.isnan(np.repeat(rows, k, axis=0)), np.nan, side) for side in sides])
        said = self.consult(np.concatenate([both, rows]))
        score = self._own_score(said, k)
        up, down = (side.reshape(n, k, d)[:, np.arange(k), columns] for side in sides)
        change = (score[: n * k] - score[n * k : 2 * n * k]).reshape(n, k)
        slope = np.zeros_like(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope[:, columns] = np.nan_to_num(change / (up - down), posinf=0.0, neginf=0.0)
        return slope

    def _own_score(self, said: Said, k: int) -> Floats:
        if said.score is None:
            raise NotApplicable("slopes need scores, and the model gives decisions only")
        if said.score.ndim == 1:
            return said.score
        n = len(said) // (2 * k + 1)
        own = cast(NDArray[np.int64], said.label)[-n:]
        place = np.concatenate([np.repeat(own, k), np.repeat(own, k), own])
        return np.asarray(said.score[np.arange(len(said)), place])


def _steepness(z: Floats) -> Floats:
    """The derivative p (1 - p) of the logistic function, above 0 also where p is 1 to the last bit.

    >>> _steepness(np.array([0.0, 40.0, -40.0])).tolist() == [0.25, np.exp(-40), np.exp(-40)]
    True
    """
    small = np.exp(-np.minimum(np.abs(z), 500.0))
    return np.asarray(small / (1.0 + small) ** 2)


def _unwrap(model: Any, names: tuple[str, ...]) -> tuple[tuple[Floats, Floats], Any]:
    """The last estimator of a pipeline of scalers, with the shift and scale before it; None where it is another."""
    shift, scale = np.zeros(len(names)), np.ones(len(names))
    takes = getattr(model, "feature_names_in_", None)
    if takes is not None and tuple(map(str, takes)) != names:
        return (shift, scale), None
    if not hasattr(model, "steps"):
        return (shift, scale), model
    for _, step in model.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if type(step).__name__ not in _SCALERS:
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
    from isonomia.data import default_backend, to_frame

    return to_frame({str(name): rows[:, place] for place, name in enumerate(names)}, default_backend())
