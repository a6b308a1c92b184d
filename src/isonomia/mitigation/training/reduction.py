"""Reduction: parity of rates as costs in training (Agarwal and others 2018).

min over mixtures Q of models of err(Q), subject to rates that differ by at most eps between groups. Each step is a
weighted fit on signed costs. Fairlearn's exponentiated gradient and grid search take any estimator; a logistic
regression and two groups have a shorter way here: one price per limit, found by a secant over warm-started fits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar, Literal

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from isonomia.counting import Codes
from isonomia.errors import DataError, require
from isonomia.languages import msg
from isonomia.mitigation._outcomes import outcome_classes
from isonomia.mitigation._training import TrainingMitigator, fit_weighted, weight_argument
from isonomia.mitigation.before.ranking import take_rows
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.training.ensemble import Ensemble
from isonomia.mitigation.training.parity import OUTCOMES, Found, Parity, sharpened, within_limit
from isonomia.parameters import SEED, Boolean, Choice, Integer, Number
from isonomia.typing import Bools, Floats

Goal = Literal["demographic_parity", "equalized_odds", "equal_opportunity", "predictive_equality"]
Solver = Literal["auto", "price", "exponentiated_gradient", "grid"]
#: Rows on which the price is guessed before all rows are fitted.
FEW = 8000
#: Fairlearn's names of the goals.
MOMENTS = {
    "demographic_parity": "DemographicParity",
    "equalized_odds": "EqualizedOdds",
    "equal_opportunity": "TruePositiveRateParity",
    "predictive_equality": "FalsePositiveRateParity",
}


class Reduce(TrainingMitigator):
    """An estimator of two classes trained so that rates differ by at most `eps` between groups.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained; its fit must take `sample_weight`. A logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    goal : "demographic_parity", "equalized_odds", "equal_opportunity" or "predictive_equality"
        Which rates shall be alike.
    eps : float
        How much the rates of two groups may differ on the training rows.
    solver : "auto", "price", "exponentiated_gradient" or "grid"
        How it is found: "price" for a logistic regression (also at the end of a pipeline), two groups and one rate; the
        others by Fairlearn. "auto" takes "price" where it applies, else the exponentiated gradient.
    deterministic : bool
        Whether one model is chosen: the one with the fewest errors among those within the limit. Otherwise a decision
        is that of a model drawn by chance.
    rounds : int
        Fits of the search, at most (for "grid": models).
    seed : int
        The start of the draws where chance decides.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.

    Attributes
    ----------
    estimator_ : estimator
        The trained model, or the `Ensemble` that draws one.
    solver_ : str
        The solver that was used.
    gap_, error_ : float
        The largest difference between groups and the share of errors, on the training rows.
    fits_ : int
        How many models were trained on all rows.

    Notes
    -----
    The attribute is not read at decision time. The limit is reached on the training rows; compare before and after on
    other people. A model that is blind to the attribute may lower every group: look at each group's rate. Where the
    features hardly tell more about the outcome than about the group, a single linear model pays more errors for the
    limit than a mixture of several: compare with ``solver="exponentiated_gradient", deterministic=False``.

    References
    ----------
    Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A reductions approach to fair classification.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat([0, 1], 500)
    >>> X = rng.normal(size=(1000, 2)) + sex[:, None] * [1, 0]
    >>> y = (X.sum(axis=1) + rng.normal(size=1000) > 0.5).astype(int)
    >>> plain, fair = (Reduce(eps=eps).fit(X, y, sensitive_features=sex) for eps in (1.0, 0.02))
    >>> round(plain.gap_, 2), fair.gap_ <= 0.02, fair.solver_
    (0.3, True, 'price')
    """

    __kinds__: ClassVar = {
        **TrainingMitigator.__kinds__,
        "goal": Choice(tuple(OUTCOMES)),
        "eps": Number(above=0, at_most=1),
        "solver": Choice(("auto", "price", "exponentiated_gradient", "grid")),
        "deterministic": Boolean(),
        "rounds": Integer(1),
        "seed": SEED,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        sensitive: str | Sequence[str] | None = None,
        goal: Goal = "demographic_parity",
        eps: float = 0.01,
        solver: Solver = "auto",
        deterministic: bool = True,
        rounds: int = 50,
        seed: int = 0,
        drop_sensitive: bool = False,
    ) -> None:
        self.estimator = estimator
        self.sensitive = sensitive
        self.goal = goal
        self.eps = eps
        self.solver = solver
        self.deterministic = deterministic
        self.rounds = rounds
        self.seed = seed
        self.drop_sensitive = drop_sensitive

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        labels = outcome_classes(y, regression=False)
        if groups.size == 1:
            self.solver_, self.gap_, self.fits_ = "none", 0.0, 1
            found = fit_weighted(model, X, y, weights, owner="Reduce")
            self.error_ = float(np.average(np.asarray(found.predict(X)) != y, weights=weights))
            return found
        if labels.size != 2:
            raise DataError(f"Reduce is for two classes; y has {labels.size}. Reweigh and Minimax take any number.")
        mass = np.ones(len(y)) if weights is None else weights
        parity = Parity(positive=labels.codes == 1, weights=mass / mass.sum(), groups=groups, goal=options["goal"])
        self.solver_ = _solver(options["solver"], model, parity)
        if self.solver_ == "price":
            found, self.fits_ = _by_price(model, X, np.array(labels.labels), parity, options)
        else:
            found = self._by_fairlearn(model, X, y, parity, weights, options)
        chance = isinstance(found, Ensemble) and found.chance
        shares = found.predict_proba(X)[:, 1] if chance else _decisions(found, X, labels.labels[1]).astype(float)
        self.gap_ = float(np.ptp(parity.rates(shares), axis=1).max())
        self.error_ = float(parity.weights @ np.abs(shares - parity.positive))
        return found

    def _by_fairlearn(
        self, model: Any, X: Any, y: NDArray[Any], parity: Parity, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        """The models of Fairlearn's search: the best of them, or a draw."""
        if weights is not None:
            raise DataError("Fairlearn's reductions do not take sample weights. Choose solver='price', or Reweigh.")
        argument = weight_argument(model)
        if argument is None:
            fit_weighted(model, X, y, parity.weights, owner="Reduce")  # refuses with the usual message
        reductions = require("fairlearn.reductions", extra="mitigation", purpose=f"The solver '{self.solver_}'")
        # Fairlearn compares each group with everyone: within eps / 2 of them, groups differ by at most eps
        moment = getattr(reductions, MOMENTS[options["goal"]])(difference_bound=options["eps"] / 2)
        if self.solver_ == "grid":
            search = reductions.GridSearch(
                model, moment, grid_size=options["rounds"], sample_weight_name=argument, constraint_weight=0.5
            )
        else:
            search = reductions.ExponentiatedGradient(
                model, moment, eps=min(0.01, options["eps"]), max_iter=options["rounds"], sample_weight_name=argument
            )
        with sklearn.config_context(enable_metadata_routing=False), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of pandas, about Fairlearn's own series
            search.fit(X, parity.positive.astype(int), sensitive_features=parity.groups.codes.astype(int))
        models = [_relabelled(one, np.unique(y)) for one in search.predictors_]
        self.fits_ = len(models)
        if self.solver_ == "exponentiated_gradient" and not options["deterministic"]:
            shares = np.asarray(search.weights_, dtype=float)
            used = shares > 1e-9
            kept = [one for one, used_one in zip(models, used, strict=True) if used_one]
            return Ensemble(kept, shares[used] / shares[used].sum(), chance=True, seed=options["seed"])
        return _best(models, X, y, parity, options["eps"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None and self._names():
            tags.classifier_tags.multi_class = False
        return tags


def _solver(asked: str, model: Any, parity: Parity) -> str:
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    simple = isinstance(last, LogisticRegression) and parity.groups.size == 2 and len(OUTCOMES[parity.goal]) == 1
    if asked == "price" and not simple:
        raise DataError(
            "solver='price' is for a logistic regression, two groups and one rate; here it is "
            f"{type(last).__name__}, {parity.groups.size} groups and the goal '{parity.goal}'. Choose solver='auto'."
        )
    return ("price" if simple else "exponentiated_gradient") if asked == "auto" else asked


def _by_price(model: Any, X: Any, classes: NDArray[Any], parity: Parity, options: dict[str, Any]) -> tuple[Any, int]:
    """A logistic regression at the price that keeps the gap within the limit; the other steps are fitted once."""
    steps = model.steps if isinstance(model, Pipeline) else [("model", model)]
    labels = classes[parity.positive.astype(int)]
    matrix = X
    with sklearn.config_context(enable_metadata_routing=False):
        if len(steps) > 1:
            matrix = model[:-1].fit_transform(X, labels)
        last = clone(steps[-1][1]).set_params(warm_start=True)
        if last.solver == "lbfgs" and isinstance(matrix, np.ndarray) and matrix.shape[0] > 10 * matrix.shape[1]:
            last.set_params(solver="newton-cholesky")  # the same optimum, in a few steps

        def search(part: Any, within: Parity, near: Found | None) -> Found:
            def fit(price: float) -> tuple[Any, Bools]:
                costs = within.costs(price)
                sizes = np.abs(costs)
                with warnings.catch_warnings():
                    # at the optimum rounding stops Newton's line search; scikit-learn then ends with lbfgs by itself
                    warnings.filterwarnings("ignore", message="Line search of Newton", category=ConvergenceWarning)
                    last.fit(part, classes[(costs < 0).astype(int)], sample_weight=sizes / sizes.mean())
                return deepcopy(last), _decisions(last, part, classes[1])

            return within_limit(fit, within, options["eps"], options["rounds"], near)

        near = None
        some = np.arange(0, len(labels), max(len(labels) // FEW, 1))
        if len(some) <= len(labels) / 2 and parity.take(some).smallest() >= 100:
            near = search(take_rows(matrix, some), parity.take(some), None)  # a guess from some of the rows
        found = search(matrix, parity, near)
        if found.price != 0:
            _sharpen(found.model, matrix, parity, options["eps"])
    trained = found.model.set_params(warm_start=steps[-1][1].warm_start, solver=steps[-1][1].solver)
    if isinstance(model, Pipeline):
        trained = Pipeline([*model.steps[:-1], (steps[-1][0], trained)])
    return trained, found.fits


def _sharpen(model: Any, matrix: Any, parity: Parity, eps: float) -> None:
    """Move the boundary of a linear model where that leaves fewer errors within the limit."""
    target = parity.contrast() * len(parity.positive)
    line = Ridge(alpha=1.0).fit(matrix, target, sample_weight=parity.weights * len(parity.positive))
    score = np.asarray(model.decision_function(matrix), dtype=float)
    better = sharpened(score, np.asarray(line.predict(matrix), dtype=float), parity, eps)
    if better is None:
        return
    shift, cut = better
    model.coef_ = model.coef_ + shift * line.coef_[None, :]
    model.intercept_ = model.intercept_ + shift * line.intercept_ - cut


def _decisions(model: Any, X: Any, positive: Any) -> Bools:
    return np.asarray(model.predict(X) == positive)


def _best(models: list[Any], X: Any, y: NDArray[Any], parity: Parity, eps: float) -> Any:
    """The model with the fewest errors among those within the limit; that with the smallest gap where none is."""
    judged = []
    for one in models:
        decisions = _decisions(one, X, np.unique(y)[1])
        judged.append((parity.gap(decisions), parity.error(decisions)))
    inside = [index for index, (gap, _) in enumerate(judged) if gap <= eps]
    if inside:
        return models[min(inside, key=lambda index: judged[index][1])]
    return models[min(range(len(models)), key=lambda index: judged[index])]


def _relabelled(model: Any, classes: NDArray[Any]) -> Any:
    """A model trained on 0 and 1, with the classes of the data."""
    return model if classes.tolist() == [0, 1] else Ensemble([model], [1.0], names=classes)


MITIGATIONS.add(
    Mitigation(
        id="reduction",
        title=msg("Reduction"),
        about=msg("trains under costs that keep the rates of the groups within a limit"),
        stage="in",
        estimator=Reduce,
        needs=("sample_weight",),
        tasks=("binary",),
        reference="Agarwal and others (2018)",
    )
)
