"""Thresholds by group: the cheapest cuts of the groups' scores that keep a criterion within its tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Never

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import DataError, NotApplicable, SpecError, close_to
from isonomia.fairness.criteria.named import OF_DECISIONS
from isonomia.languages import msg
from isonomia.metrics import METRICS, Metric, of_class
from isonomia.mitigation._attribute import group_name
from isonomia.mitigation.after.cuts import Cuts
from isonomia.mitigation.after.fixes import Fix, OffsetFix, ThresholdFix
from isonomia.mitigation.after.mixtures import best_mixture
from isonomia.mitigation.after.offsets import OffsetSearch
from isonomia.mitigation.after.postprocessing import PostMitigator
from isonomia.mitigation.after.windows import best_in_two_windows, best_in_window, smallest_width
from isonomia.mitigation.registry import CLASSES, MITIGATIONS, Mitigation
from isonomia.parameters import Boolean, Number, Text
from isonomia.subject import read_attributes
from isonomia.typing import Bools, Floats, Indices

#: Rates that are linear in the counts of a group, so that mixtures of thresholds can be optimised.
LINEAR = ("selection_rate", "tpr", "recall", "fpr", "tnr", "specificity", "fnr", "accuracy", "error_rate")


def criterion_metrics(criterion: str) -> tuple[tuple[str, ...], bool]:
    """The metrics that a criterion compares, and whether by their ratio; any metric of counts is one by itself."""
    if criterion in OF_DECISIONS:
        description = OF_DECISIONS[criterion]
        return description.metrics, description.measure == "ratio"
    if criterion in METRICS and METRICS[criterion].of_decisions:
        return (criterion,), False
    known = [*OF_DECISIONS, *(name for name in METRICS.names() if METRICS[name].of_decisions)]
    raise SpecError(f"Unknown criterion {criterion!r}.{close_to(criterion, known)}")


def criterion_values(cuts: Cuts, criterion: str, groups: Sequence[tuple[Any, ...]]) -> tuple[list[Floats], bool]:
    """The values of the criterion's metrics at every cut (logarithms where ratios are compared)."""
    names, ratio = criterion_metrics(criterion)
    values = []
    for name in names:
        compute = METRICS[name].from_counts
        assert compute is not None
        value = compute(cuts.tables)
        for g, group in enumerate(map(group_name, groups)):
            if np.isnan(value[cuts.start[g] : cuts.start[g + 1]]).all():
                _not_defined(METRICS[name], group)
        if ratio:
            with np.errstate(divide="ignore"):
                value = np.where(value > 0, np.log(value), np.nan)
        values.append(value)
    return values, ratio


def _not_defined(metric: Metric, group: str) -> Never:
    raise DataError(
        f"{metric.title.text()} is not defined for the group {group}: {metric.undefined.text()}. Merge it with another "
        "group, or choose another criterion."
    )


def class_metrics(criterion: str, classes: Sequence[Any]) -> tuple[list[Metric], bool]:
    """The metrics of several classes that a criterion compares, one per class unless they are about all at once."""
    names, ratio = criterion_metrics(criterion)
    found: list[Metric] = []
    for name in names:
        metric = METRICS[name]
        whole = "multiclass" in metric.tasks
        found += [metric] if whole else [of_class(metric, code, label) for code, label in enumerate(classes)]
    return found, ratio


def gap_width(tol: float, ratio: bool) -> float:
    """The largest difference of the values that are compared: of rates, or of their logarithms for ratios."""
    return -float(np.log(1 - min(tol, 1 - 1e-9))) if ratio else tol


def by_group(cuts: Cuts, values: NDArray[Any]) -> list[NDArray[Any]]:
    """Values of cuts, group by group."""
    return [values[a:b] for a, b in zip(cuts.start[:-1], cuts.start[1:], strict=True)]


def best_cuts(
    cuts: Cuts,
    criterion: str,
    tol: float,
    cost: Floats,
    groups: Sequence[tuple[Any, ...]],
    allowed: Bools | None = None,
) -> Indices:
    """One cut per group at the smallest cost with the criterion's gap at most `tol`, as indices of all cuts."""
    values, ratio = criterion_values(cuts, criterion, groups)
    width = gap_width(tol, ratio)
    may = None if allowed is None else by_group(cuts, allowed)
    parts = [by_group(cuts, value) for value in values]
    costs = by_group(cuts, cost)
    one = len(parts) == 1
    chosen = best_in_window(parts[0], costs, width, may) if one else best_in_two_windows(parts, costs, width, may)
    if chosen is None:
        closest = smallest_width(parts[0], may)
        raise NotApplicable(
            msg(
                "no thresholds bring the gap to {tol:num4}; the closest is {closest:num4}",
                tol=tol,
                closest=1 - float(np.exp(-closest)) if ratio else closest,
            )
        )
    return chosen + cuts.start[:-1]


def can_be_mixed(criterion: str) -> bool:
    """Whether a mixture of thresholds can keep a criterion: its rates are linear in the decisions.

    >>> can_be_mixed("equalized_odds"), can_be_mixed("disparate_impact")
    (True, False)
    """
    names, ratio = criterion_metrics(criterion)
    return not ratio and all(name in LINEAR for name in names)


@dataclass(eq=False, repr=False, kw_only=True)
class Thresholds(PostMitigator):
    """A threshold for each group: the cheapest that keep a criterion within a tolerance.

    Every cut of every group's scores is considered. min sum_g (c_fp FP_g + c_fn FN_g) subject to max - min over groups
    of the criterion's rate(s) <= tol. One rate is searched exactly for any number of groups; two rates (equalized
    odds) by a grid of windows with exchanges. ``randomised=True`` solves the linear program over the vertices of the
    groups' ROC hulls instead, which mixes thresholds. Several classes: offsets of the class probabilities, for any
    criterion, of which every class is held to the tolerance; they are found by moving one at a time.

    Parameters
    ----------
    estimator : classifier, optional
        What predicts; a logistic regression by default.
    sensitive : str or list of str, optional
        The columns of X that hold the protected attribute; None where it comes as `sensitive_features`.
    criterion : str
        A criterion of `fairness` ("demographic_parity", "equal_opportunity", "equalized_odds", "predictive_parity",
        "disparate_impact", ...) or any metric that is a function of counts.
    tol : float
        The largest gap; for a ratio the smallest ratio is 1 - tol.
    false_positive_cost, false_negative_cost : float
        What an error costs.
    randomised : bool
        Whether some decisions may be drawn.
    prefit : bool
        Whether the estimator is trained already.
    folds : int
        Folds for the scores that thresholds are tuned on; 0 tunes on the training rows.
    drop_sensitive : bool
        Whether the columns of the protected attribute are hidden from the estimator.
    seed : int
        Of folds and draws.

    Attributes
    ----------
    fix_ : ThresholdFix or OffsetFix
        The thresholds (or offsets) by group; `to_dict` writes them.
    chance_ : float
        The share of the rows of `fit` whose decision is drawn.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.
    A. Cruz, M. Hardt (2024), Unprocessing seven years of algorithmic fairness, ICLR.

    Examples
    --------
    >>> score, sex = np.array([0.1, 0.4, 0.6, 0.7, 0.8, 0.9]), ["f", "f", "f", "m", "m", "m"]
    >>> fair = Thresholds(tol=0.0).fit_scores(score, [0, 1, 1, 0, 1, 1], sensitive_features={"sex": sex})
    >>> fair.predict_scores(score, sensitive_features={"sex": sex}).tolist()
    [0, 1, 1, 0, 1, 1]
    """

    __kinds__: ClassVar = {
        **PostMitigator.__kinds__,
        "criterion": Text("a criterion or a metric of counts"),
        "tol": Number(at_least=0, at_most=1),
        "false_positive_cost": Number(at_least=0),
        "false_negative_cost": Number(at_least=0),
        "randomised": Boolean(),
    }

    criterion: str = "demographic_parity"
    tol: float = 0.05
    false_positive_cost: float = 1.0
    false_negative_cost: float = 1.0
    randomised: bool = False

    def _tune(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        if score.ndim == 2:
            return self._tune_classes(score, truth, groups, weights, options)
        cuts = Cuts.of(score, truth, groups.codes, groups.size, weights)
        cost = cuts.cost(options["false_positive_cost"], options["false_negative_cost"])
        if options["randomised"]:
            chosen, shares = self._mixture(cuts, cost, options)
        else:
            chosen = best_cuts(cuts, options["criterion"], options["tol"], cost, groups.labels)
            shares = np.ones(groups.size)
        owner = cuts.owner[chosen]
        fix = ThresholdFix(
            columns=tuple(self.attributes_),
            groups=tuple(groups.labels),
            thresholds=tuple(tuple(cuts.threshold[chosen[owner == g]].tolist()) for g in range(groups.size)),
            shares=tuple(tuple(shares[owner == g].tolist()) for g in range(groups.size)),
        )
        accepted = fix.acceptance(score, groups.codes.astype(np.intp))
        self.chance_ = float(np.average((accepted > 0) & (accepted < 1), weights=weights))
        return fix

    def _mixture(self, cuts: Cuts, cost: Floats, options: dict[str, Any]) -> tuple[Indices, Floats]:
        if not can_be_mixed(options["criterion"]):
            raise SpecError(
                f"A mixture of thresholds can keep rates within a tolerance ({', '.join(LINEAR)}); "
                f"{options['criterion']!r} is not one of them. Use randomised=False."
            )
        values, _ = criterion_values(cuts, options["criterion"], self.groups_)
        return best_mixture(cuts, values, cost, options["tol"])

    def _tune_classes(
        self, score: Floats, truth: NDArray[Any], groups: Codes, weights: Floats | None, options: dict[str, Any]
    ) -> Fix:
        metrics, ratio = class_metrics(options["criterion"], self.classes_.tolist())
        search = OffsetSearch(
            score,
            truth,
            groups.codes.astype(np.intp),
            groups.size,
            metrics,
            gap_width(options["tol"], ratio),
            ratio,
            np.ones(len(truth)) if weights is None else weights,
        )
        labels = search.tables.sum(axis=2, keepdims=True) * np.ones(score.shape[1])  # any decision about anyone
        for metric, value in zip(metrics, search.rates(labels), strict=True):
            if np.isnan(value).any():
                _not_defined(metric, group_name(groups.labels[int(np.isnan(value).argmax())]))
        offsets = search.run(options["seed"])
        if not search.gap <= search.width + 1e-9:
            closest = search.gap if not ratio else 1 - float(np.exp(-search.gap))
            raise NotApplicable(
                msg(
                    "no offsets bring the gaps of all classes to {tol:num4}; the closest found is {closest:num4}",
                    tol=options["tol"],
                    closest=closest,
                )
            )
        self.chance_ = 0.0
        return OffsetFix(tuple(self.attributes_), tuple(groups.labels), tuple(map(tuple, offsets.tolist())))

    def drawn(self, score: Floats, sensitive_features: Any) -> Floats:
        """1 for every person whose decision is drawn, else 0."""
        if isinstance(self.fix_, OffsetFix):
            return np.zeros(len(score))
        assert isinstance(self.fix_, ThresholdFix)
        group = self.fix_.group_of(read_attributes(sensitive_features, length=len(score)))
        accepted = self.fix_.acceptance(score, group)
        return ((accepted > 0) & (accepted < 1)).astype(float)


MITIGATIONS.add(
    Mitigation(
        id="thresholds",
        title=msg("Thresholds by group"),
        about=msg("sets a threshold for each group so that a criterion stays within its tolerance"),
        stage="after",
        estimator=Thresholds,
        needs=("scores", "attribute"),
        tasks=CLASSES,
        reference="Hardt, Price and Srebro (2016)",
    )
)
