"""A trained network as arrays: it predicts without the library that trained it, and is saved like any estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from isonomia.typing import Floats

#: The slope of a leaky rectifier below 0, as PyTorch has it.
LEAK = 0.01


class _Network(BaseEstimator):  # type: ignore[misc]
    """Fully connected layers with leaky rectifiers between them.

    Attributes
    ----------
    weights_, biases_ : lists of arrays
        Of each layer, (outputs, inputs) and (outputs,).
    """

    weights_: list[Floats]
    biases_: list[Floats]

    def read(self, module: Any) -> Any:
        """Take the layers of a PyTorch module."""
        layers = [layer for layer in module.modules() if hasattr(layer, "in_features")]
        self.weights_ = [layer.weight.detach().cpu().numpy().astype(float) for layer in layers]
        self.biases_ = [layer.bias.detach().cpu().numpy().astype(float) for layer in layers]
        return self

    def outputs(self, X: Any) -> Floats:
        """What the last layer gives, (n, outputs)."""
        values = np.asarray(X, dtype=float)
        for index, (weight, bias) in enumerate(zip(self.weights_, self.biases_, strict=True)):
            if index:
                values = np.where(values > 0, values, LEAK * values)
            values = values @ weight.T + bias
        return values


class NetworkClassifier(ClassifierMixin, _Network):  # type: ignore[misc]
    """A network whose last layer gives log odds: of the second of two classes, or of each of several.

    Attributes
    ----------
    classes_ : array
    """

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes."""
        outputs = self.outputs(X)
        if outputs.shape[1] == 1:
            return np.column_stack([expit(-outputs[:, 0]), expit(outputs[:, 0])])
        return np.asarray(softmax(outputs, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The more likely class."""
        outputs = self.outputs(X)
        index = (outputs[:, 0] >= 0).astype(np.intp) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
        return np.asarray(self.classes_[index])


class NetworkRegressor(RegressorMixin, _Network):  # type: ignore[misc]
    """A network whose last layer gives a number."""

    def predict(self, X: Any) -> Floats:
        """The numbers."""
        return self.outputs(X)[:, 0]
