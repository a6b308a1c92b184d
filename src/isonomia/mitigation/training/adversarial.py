"""Adversarial training: a network predicts the outcome while another one fails to guess the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from isonomia.counting import Codes
from isonomia.errors import DataError, require
from isonomia.languages import msg
from isonomia.mitigation._attribute import named_table
from isonomia.mitigation._training import MetaMitigator, TrainingMitigator, rows_by_weight
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.training.adversary import PURPOSE, adversary_engine, one_thread
from isonomia.mitigation.training.network import NetworkClassifier, NetworkRegressor
from isonomia.models.columns import number_matrix
from isonomia.parameters import SEED, Choice, Integer, Number, Several
from isonomia.typing import Floats

#: Passes over the data, and steps, at least.
EPOCHS, STEPS = 20, 1_500


@dataclass(eq=False, repr=False, kw_only=True)
class Adversarial(TrainingMitigator):
    """A small network trained against an adversary that guesses the group (Fairlearn's torch engine).

    Parameters
    ----------
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    task : "classification" or "regression"
        What is predicted.
    goal : "demographic_parity" or "equalized_odds"
        Whether the adversary sees the prediction alone, or with the outcome.
    layers : list of int
        The sizes of the hidden layers.
    alpha : float
        How strongly the adversary counts.
    learning_rate : float
        The step of the optimiser.
    epochs : int, optional
        Passes over the data; by default 20, and more of few rows: 1,500 steps at least, which an adversary needs.
    batch_size : int
        Rows per step.
    seed : int
        The start of the random weights.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the network.

    Notes
    -----
    Slow and sensitive to the seed: try several. Features must be numbers, standardised. The attribute is not read at
    decision time. With everyone as one group there is no adversary: the network alone is trained. Training needs
    fairlearn and torch; the trained network needs neither. Fairlearn's engine takes no sample weights: each row is
    repeated or left out as its weight asks, so that as many rows are trained on.

    References
    ----------
    Zhang, Lemoine and Mitchell (2018), Mitigating unwanted biases with adversarial learning.

    Examples
    --------
    >>> Adversarial(layers=[8], epochs=5).get_params()["goal"]
    'demographic_parity'
    """

    __kinds__: ClassVar = {
        **TrainingMitigator.__kinds__,
        "task": Choice(("classification", "regression")),
        "goal": Choice(("demographic_parity", "equalized_odds")),
        "layers": Several(Integer(1)),
        "alpha": Number(at_least=0),
        "learning_rate": Number(above=0),
        "epochs": Integer(1).or_none("for as many as an adversary needs"),
        "batch_size": Integer(1),
        "seed": SEED,
    }

    estimator: Any = field(init=False)  # there is none inside
    task: Literal["classification", "regression"] = "classification"
    goal: Literal["demographic_parity", "equalized_odds"] = "demographic_parity"
    layers: Sequence[int] = (32,)
    alpha: float = 1.0
    learning_rate: float = 0.001
    epochs: int | None = None
    batch_size: int = 128
    seed: int = 0

    @classmethod
    def takes_prepared(cls, last: Any) -> bool:
        """Always."""
        return True

    def _template(self) -> Any:
        adversarial = require("fairlearn.adversarial", extra="mitigation", purpose=PURPOSE)
        kind = "Classifier" if self.task == "classification" else "Regressor"
        hidden = [part for size in self.layers for part in (size, "leaky_relu")]
        return getattr(adversarial, f"AdversarialFairness{kind}")(
            backend=adversary_engine(),
            predictor_model=hidden,
            adversary_model=[8, "leaky_relu"],
            constraints=self.goal,
            learning_rate=self.learning_rate,
            alpha=self.alpha,
            epochs=EPOCHS if self.epochs is None else self.epochs,
            batch_size=self.batch_size,
            shuffle=True,
            random_state=self.seed,
        )

    def _features(self, X: Any, *, reset: bool, drop: bool = False) -> Floats:
        rows = super()._features(X, reset=reset, drop=drop)
        table = named_table(rows)
        dense: Any = rows.toarray() if issparse(rows) else rows  # type: ignore[attr-defined]
        numbers = np.asarray(dense, dtype=float) if table is None else number_matrix(table, make="Adversarial")
        if not np.isfinite(numbers).all():
            raise DataError(
                "Adversarial needs finite numbers, but X contains NaN or infinity. Fill them or drop the rows."
            )
        return numbers

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        who = groups.codes.astype(int)
        if weights is not None:
            rows = rows_by_weight(weights, self.seed)
            X, y, who = X[rows], y[rows], who[rows]
        if self.attributes_ and len(np.unique(who)) < 2:
            raise DataError("Adversarial needs at least two groups: there is nothing to guess.")
        if self.task == "classification" and len(np.unique(y)) < 2:
            raise DataError("Adversarial needs outcomes of at least two classes; y has one class.")
        if self.epochs is None:
            model.set_params(epochs=max(EPOCHS, ceil(STEPS / ceil(len(y) / self.batch_size))))
        if not self.attributes_:
            model.set_params(backend=adversary_engine(alone=True))
        try:
            with one_thread():
                model.fit(X, y, sensitive_features=who)
        except RuntimeError as error:  # torch's, where a network has left the numbers
            raise DataError(
                f"Adversarial training diverged ({error}). Standardise the features, or lower learning_rate."
            ) from error
        module = model.backendEngine_.predictor_model
        if self.task == "regression":
            return NetworkRegressor().read(module)
        network = NetworkClassifier().read(module)
        network.classes_ = np.unique(y)
        return network

    @available_if(lambda self: self.task == "classification")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the trained network."""
        return self._ask("predict_proba", X)

    def __sklearn_tags__(self) -> Any:
        tags = super(MetaMitigator, self).__sklearn_tags__()
        classifies = self.task == "classification"
        tags.estimator_type = "classifier" if classifies else "regressor"
        tags.input_tags.sparse = True
        tags.classifier_tags, tags.regressor_tags = (ClassifierTags(), None) if classifies else (None, RegressorTags())
        return tags


MITIGATIONS.add(
    Mitigation(
        id="adversarial",
        title=msg("Adversarial training"),
        about=msg("trains a network against an adversary that guesses the group"),
        stage="in",
        estimator=Adversarial,
        needs=("fairlearn", "torch"),
        slow=True,
        reference="Zhang and others (2018)",
    )
)
