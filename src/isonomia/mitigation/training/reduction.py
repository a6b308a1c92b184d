"""Reduction: parity as costs in training (Agarwal and others 2018, 2019).

min over mixtures Q of models of err(Q), subject to rates that differ by at most eps between groups. Each step is a
weighted fit on signed costs. Fairlearn's exponentiated gradient and grid search take any estimator; a logistic
regression has a shorter way here: a price per group, found in a handful of warm-started fits. For numbers, prices shift
targets (equal means) or raise weights (bounded errors), with any estimator.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from isonomia.counting import Codes, mean_by
from isonomia.errors import DataError, SpecError, require
from isonomia.languages import msg
from isonomia.mitigation._outcomes import outcome_classes
from isonomia.mitigation._training import TrainingMitigator, fit_weighted, prepare, weight_argument
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.training.ensemble import Ensemble
from isonomia.mitigation.training.logistic import fit_at_prices
from isonomia.mitigation.training.parity import OUTCOMES, Parity
from isonomia.mitigation.training.regression import fit_bounded_losses, fit_equal_means
from isonomia.mitigation.training.weighted_moments import weighted_moment
from isonomia.parameters import SEED, Boolean, Choice, Integer, Number
from isonomia.typing import Bools, Floats

Goal = Literal[
    "demographic_parity",
    "equalized_odds",
    "equal_opportunity",
    "predictive_equality",
    "mean_error_equality",
    "bounded_loss",
]
Solver = Literal["auto", "price", "exponentiated_gradient", "grid"]
#: The goals of numbers.
NUMBER_GOALS = ("demographic_parity", "mean_error_equality", "bounded_loss")
#: Fairlearn's names of the goals.
MOMENTS = {
    "demographic_parity": "DemographicParity",
    "equalized_odds": "EqualizedOdds",
    "equal_opportunity": "TruePositiveRateParity",
    "predictive_equality": "FalsePositiveRateParity",
}


@dataclass(eq=False, repr=False, kw_only=True)
class Reduce(TrainingMitigator):
    """An estimator of two classes, or of numbers, trained so that groups differ by at most `eps`.

    Parameters
    ----------
    estimator : estimator, optional
        What is trained; its fit must take `sample_weight`. A logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; several make intersections, an empty list makes everyone one
        group. None where the attribute comes as `sensitive_features`.
    goal : "demographic_parity", "equalized_odds", "equal_opportunity", "predictive_equality", \
"mean_error_equality" or "bounded_loss"
        Which rates shall be alike. For numbers: "demographic_parity" (mean predictions), "mean_error_equality" (mean
        errors), or "bounded_loss" (every group's mean squared error is at most `eps`).
    eps : float
        How much two groups may differ on the training rows: rates (at most 1), or means in the unit of y.
    solver : "auto", "price", "exponentiated_gradient" or "grid"
        How it is found: "price" for a logistic regression (also at the end of a pipeline) and for numbers; the others
        by Fairlearn, for two classes. "auto" takes "price" where it applies, else the exponentiated gradient.
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
        The largest difference between groups (for "bounded_loss" the largest mean squared error of a group) and the
        share of errors (for numbers the mean squared error), on the training rows.
    fits_ : int
        How many models were trained on all rows.

    Notes
    -----
    The attribute is not read at decision time. The limit is reached on the training rows; compare before and after on
    other people. A model that is blind to the attribute may lower every group: look at each group's rate. Where the
    features hardly tell more about the outcome than about the group, a single linear model pays more errors for the
    limit than a mixture of several: compare with ``solver="exponentiated_gradient", deterministic=False``. A group of n
    people cannot come nearer to the others than about 1 / n. Equal means leave the rest of the distribution as it is:
    `Match` makes distributions equal.

    References
    ----------
    Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A reductions approach to fair classification.
    Agarwal, Dudik and Wu (2019), Fair regression: quantitative definitions and reduction-based algorithms.

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
        "goal": Choice(get_args(Goal)),
        "eps": Number(above=0),
        "solver": Choice(("auto", "price", "exponentiated_gradient", "grid")),
        "deterministic": Boolean(),
        "rounds": Integer(1),
        "seed": SEED,
    }

    goal: Goal = "demographic_parity"
    eps: float = 0.01
    solver: Solver = "auto"
    deterministic: bool = True
    rounds: int = 50
    seed: int = 0

    @classmethod
    def takes_prepared(cls, last: Any) -> bool:
        """Where its own solver trains: Fairlearn's takes other tables than the steps may make."""
        return isinstance(last, LogisticRegression) or is_regressor(last)

    def _train(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        if not is_classifier(self):
            return self._train_numbers(model, X, y, groups, weights, options)
        if options["goal"] not in OUTCOMES:
            raise SpecError(
                f"The goal '{options['goal']}' is for numbers; for classes there are {', '.join(OUTCOMES)}."
            )
        if options["eps"] > 1:
            raise SpecError(f"`eps` must be a number in (0, 1] for rates; got {options['eps']:g}.")
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
        self.solver_ = _solver(options["solver"], model)
        if self.solver_ == "price":
            found, self.fits_ = _by_price(model, X, np.array(labels.labels), parity, options)
        else:
            found = self._by_fairlearn(model, X, y, parity, weights, options)
        chance = isinstance(found, Ensemble) and found.chance
        shares = found.predict_proba(X)[:, 1] if chance else _decisions(found, X, labels.labels[1]).astype(float)
        self.gap_ = float(np.ptp(parity.rates(shares), axis=1).max())
        self.error_ = float(parity.weights @ np.abs(shares - parity.positive))
        return found

    def _train_numbers(
        self, model: Any, X: Any, y: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        goal = options["goal"]
        if goal not in NUMBER_GOALS or options["solver"] not in ("auto", "price"):
            raise SpecError(
                f"For numbers there are the goals {', '.join(NUMBER_GOALS)} with solver='price'; got goal='{goal}' "
                f"and solver='{options['solver']}'."
            )
        self.solver_ = "price" if groups.size > 1 else "none"
        last, matrix, whole = prepare(model, X, y)
        of_errors = goal == "mean_error_equality"
        train = fit_bounded_losses if goal == "bounded_loss" else partial(fit_equal_means, of_errors=of_errors)
        found, self.fits_ = train(last, matrix, y.astype(float), groups, weights, options["eps"], options["rounds"])
        predicted = np.asarray(found.predict(matrix), dtype=float)
        compared = {
            "demographic_parity": predicted,
            "mean_error_equality": predicted - y,
            "bounded_loss": (predicted - y) ** 2,
        }[goal]
        figures = mean_by(groups.codes, compared, groups.size, weights)
        self.gap_ = float(figures.max() if goal == "bounded_loss" else np.ptp(figures))
        self.error_ = float(np.average((predicted - y) ** 2, weights=weights))
        return whole(found)

    def _by_fairlearn(
        self, model: Any, X: Any, y: NDArray[Any], parity: Parity, weights: Floats | None, options: dict[str, Any]
    ) -> Any:
        """The models of Fairlearn's search: the best of them, or a draw."""
        argument = weight_argument(model)
        if argument is None:
            fit_weighted(model, X, y, parity.weights, owner="Reduce")  # refuses with the usual message
        reductions = require("fairlearn.reductions", extra="mitigation", purpose=f"The solver '{self.solver_}'")
        # Fairlearn compares each group with everyone: within eps / 2 of them, groups differ by at most eps
        name, half = MOMENTS[options["goal"]], options["eps"] / 2
        if weights is None:
            moment = getattr(reductions, name)(difference_bound=half)
        else:
            moment = weighted_moment(reductions, name, half, weights)
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


def _solver(chosen: str, model: Any) -> str:
    last = model.steps[-1][1] if type(model) is Pipeline else model
    linear = isinstance(last, LogisticRegression)
    if chosen == "price" and not linear:
        raise DataError(
            f"solver='price' is for a logistic regression (and for numbers); here it is {type(last).__name__}. Choose "
            "solver='auto'."
        )
    return ("price" if linear else "exponentiated_gradient") if chosen == "auto" else chosen


def _by_price(model: Any, X: Any, classes: NDArray[Any], parity: Parity, options: dict[str, Any]) -> tuple[Any, int]:
    """A logistic regression at the prices that keep the gap within the limit; the other steps are fitted once."""
    last, matrix, whole = prepare(model, X, classes[parity.positive.astype(int)])
    draws = None if options["deterministic"] else options["seed"]
    trained, fits = fit_at_prices(last, matrix, classes, parity, options["eps"], options["rounds"], draws=draws)
    return whole(trained), fits


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
        tasks=("binary", "regression"),
        fits=20,
        reference="Agarwal and others (2018)",
    )
)
