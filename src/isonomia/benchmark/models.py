"""The models that are examined: the generator's own rule, and what learners make of its labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data import Dataset
from isonomia.data.synthetic import Synthetic
from isonomia.models.estimators import learner
from isonomia.registry import Registry
from isonomia.typing import Floats

#: Nodes of the rule that averages a probability over normal noise in the score.
_NODES = 9


@dataclass(frozen=True)
class BenchmarkModel:
    """A learner of the benchmark.

    Attributes
    ----------
    id, purpose : str
    classifier, regressor : callable
        From a seed to an estimator that was not trained.
    scaled : bool
        Whether numbers are standardised for it.
    blind : bool
        Whether it is trained without the protected columns.
    """

    id: str
    purpose: str
    classifier: Callable[[int], Any]
    regressor: Callable[[int], Any]
    scaled: bool = False
    blind: bool = False

    def train(self, data: Dataset, seed: int) -> Any:
        """A pipeline from the features of a dataset to its target, trained."""
        from sklearn.compose import ColumnTransformer
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        names = [name for name in data.features if not (self.blind and name in data.protected)]
        texts = [name for name in names if data.kinds[name] in ("category", "boolean")]
        numeric = [name for name in names if name not in texts]
        encoder = ColumnTransformer(
            [
                ("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
                ("numbers", StandardScaler() if self.scaled else "passthrough", numeric),
            ],
        )
        make = self.regressor if data.task == "regression" else self.classifier
        model = Pipeline([("encode", encoder), ("learn", make(seed))])
        target = data.column(str(data.target)).to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a net that is stopped early is what users have
            return model.fit(data.feature_frame(), target)


BENCHMARK_MODELS: Registry[BenchmarkModel] = Registry("benchmark_model", word="model")


@dataclass(frozen=True, eq=False)
class Oracle:
    """The generator's own scorer, bias included, with the interface of an estimator.

    Its probability is that of the label given a person's columns: noise in the score is averaged out, so without bias
    no group's outcomes depart from it.
    """

    made: Synthetic
    aleatoric: float
    epistemic: float
    classes_: NDArray[Any] = field(init=False)
    _estimator_type: Literal["classifier", "regressor"] = field(init=False)
    #: `predict` is the most probable class: it need not be asked for.
    own_decision_: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        regression = self.made.dataset.task == "regression"
        object.__setattr__(self, "_estimator_type", "regressor" if regression else "classifier")
        if not regression:
            labels = self.made.dataset.column(str(self.made.dataset.target)).to_numpy()
            favourable = self.made.dataset.positive
            order = np.unique(labels).tolist()
            if favourable is not None:
                order = [label for label in order if label != favourable] + [favourable]
            object.__setattr__(self, "classes_", np.asarray(order))

    def probabilities(self, frame: Any, *, biased: bool = True) -> Floats:
        """The probability of each class, from the least to the most favourable, shape (n, K)."""
        from scipy.special import expit

        score = self.made.scores(frame, biased=biased)
        spread = np.sqrt(self.aleatoric**2 + self._doubt(frame) ** 2)
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        at = score[:, None] + spread[:, None] * nodes
        cuts = self.made.scorer.cuts
        above = np.stack([expit(at - cut) @ (weights / weights.sum()) for cut in cuts], axis=1)
        ends = np.column_stack([np.ones(len(score)), above, np.zeros(len(score))])
        return np.asarray(ends[:, :-1] - ends[:, 1:], dtype=float)

    def _doubt(self, frame: Any) -> Floats:
        """The standard deviation of the score over the ensemble of models."""
        scorer = self.made.scorer
        design = scorer.design(self.made.copula.codes(frame))
        levels = np.full(len(design), self.epistemic)
        return scorer.score(design, levels, np.random.default_rng(0))[1]

    def predict_proba(self, frame: Any) -> Floats:
        """As `probabilities`, bias included."""
        return self.probabilities(frame)

    def predict(self, frame: Any) -> NDArray[Any]:
        """The number of a regression, or the most probable class."""
        if self.made.dataset.task == "regression":
            return self.made.scores(frame)
        return np.asarray(self.classes_[self.probabilities(frame).argmax(axis=1)])


class NumberOracle(Oracle):
    """The oracle of a regression: an estimator that gives numbers alone."""

    predict_proba = None  # type: ignore[assignment]


def oracle(made: Synthetic, *, aleatoric: float, epistemic: float) -> Oracle:
    """The generator's own scorer as a model."""
    kind = NumberOracle if made.dataset.task == "regression" else Oracle
    return kind(made, aleatoric, epistemic)


_BOOSTING: dict[str, Any] = {
    "classifier": learner("sklearn.ensemble:HistGradientBoostingClassifier", max_iter=80),
    "regressor": learner("sklearn.ensemble:HistGradientBoostingRegressor", max_iter=80),
}

BENCHMARK_MODELS.add(
    BenchmarkModel(
        id="logistic",
        purpose="logistic or ridge regression",
        classifier=learner("sklearn.linear_model:LogisticRegression", max_iter=1000),
        regressor=learner("sklearn.linear_model:Ridge"),
        scaled=True,
    ),
    BenchmarkModel(
        id="forest",
        purpose="random forest of 50 trees",
        classifier=learner("sklearn.ensemble:RandomForestClassifier", n_estimators=50, min_samples_leaf=5),
        regressor=learner("sklearn.ensemble:RandomForestRegressor", n_estimators=50, min_samples_leaf=5),
    ),
    BenchmarkModel(id="boosting", purpose="gradient boosting, 80 rounds", **_BOOSTING),
    BenchmarkModel(
        id="network",
        purpose="neural network, layers of 32 and 16",
        classifier=learner("sklearn.neural_network:MLPClassifier", hidden_layer_sizes=(32, 16), max_iter=40),
        regressor=learner("sklearn.neural_network:MLPRegressor", hidden_layer_sizes=(32, 16), max_iter=40),
        scaled=True,
    ),
    BenchmarkModel(
        id="boosting_blind", purpose="gradient boosting without the protected columns", blind=True, **_BOOSTING
    ),
)
