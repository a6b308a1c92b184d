"""The named criteria: one function each, with its formula and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Unpack

from isonomia.fairness.criteria.criterion import Criterion, criterion
from isonomia.fairness.groups.gaps import Aggregate
from isonomia.fairness.groups.grouping import By
from isonomia.subject import SubjectOptions

_PARAMETERS = """Parameters
----------
data, model, by, control, **given
    As in `group_metrics`. Groups with fewer than `min_per_group` rows or cases of the rate (30 by default) are shown
    and left out of the gap.
threshold : float, optional
    The largest difference (0.1 by default; of predicted numbers 0.2 standard deviations), or the smallest ratio (0.8).
aggregate : "worst" or "mean"
    Which is compared with the threshold where there are several rates or classes.

"""


class CriterionFunction(Protocol):
    """A criterion as a function of what `Subject.of` takes."""

    def __call__(
        self,
        data: Any = None,
        model: Any = None,
        *,
        threshold: float | None = None,
        aggregate: Aggregate = "worst",
        by: By | Sequence[Sequence[str]] = "intersection",
        control: Any = None,
        **given: Unpack[SubjectOptions],
    ) -> Criterion:
        """The criterion, compared with its threshold."""


def _criterion_function(name: str, doc: str) -> CriterionFunction:
    def function(
        data: Any = None,
        model: Any = None,
        *,
        threshold: float | None = None,
        aggregate: Aggregate = "worst",
        by: By | Sequence[Sequence[str]] = "intersection",
        control: Any = None,
        **given: Unpack[SubjectOptions],
    ) -> Criterion:
        return criterion(name, data, model, threshold=threshold, aggregate=aggregate, by=by, control=control, **given)

    first = min(doc.index(section) for section in ("References\n", "Examples\n") if section in doc)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc[:first] + _PARAMETERS + doc[first:]
    return function


demographic_parity = _criterion_function(
    "demographic_parity",
    """Is the favourable decision given at the same rate to all groups?

max over groups of P(decision = 1 | group) - min over groups, compared with `threshold`. Several classes: the worst
class against the rest. A regression: mean predictions, in standard deviations of the predictions.

References
----------
C. Dwork et al. (2012), Fairness through awareness, ITCS.

Examples
--------
>>> r = demographic_parity([1, 0] * 40 + [1, 1] * 40, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value, r.ratio.value, r.passes
(0.5, 0.5, False)
""",
)

disparate_impact = _criterion_function(
    "disparate_impact",
    """Is the smallest selection rate at least four fifths of the largest?

min over groups of P(decision = 1 | group) / max over groups, compared with `threshold`. The four-fifths rule of the
US Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 (D): a rule of thumb, not a finding of law.

Examples
--------
>>> r = disparate_impact([1] * 32 + [0] * 8 + [1] * 8 + [0] * 32, sensitive_features=["a"] * 40 + ["b"] * 40)
>>> r.ratio.value, r.passes
(0.25, False)
""",
)

equal_opportunity = _criterion_function(
    "equal_opportunity",
    """Are those with a favourable true outcome selected at the same rate in all groups?

max over groups of P(decision = 1 | truth = 1, group) - min over groups.

References
----------
M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

Examples
--------
>>> y = [1] * 40 + [0] * 40
>>> r = equal_opportunity(y + y, y + [1] * 20 + [0] * 60, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value, r.passes
(0.5, False)
""",
)

equalized_odds = _criterion_function(
    "equalized_odds",
    """Are true and false positive rates the same in all groups?

The larger of the two gaps max - min of TPR and of FPR over groups, compared with `threshold`; with
``aggregate="mean"`` their mean (average odds). Both are in the result.

References
----------
M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

Examples
--------
>>> y = [1] * 40 + [0] * 40
>>> r = equalized_odds(y + y, y + [1] * 40 + [1] * 8 + [0] * 32, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value, r.worst["metric"]
(0.2, 'fpr')
""",
)

predictive_parity = _criterion_function(
    "predictive_parity",
    """Does a favourable decision mean the same in all groups?

max over groups of P(truth = 1 | decision = 1, group) - min over groups.

References
----------
A. Chouldechova (2017), Fair prediction with disparate impact, Big Data 5:153.

Examples
--------
>>> predicted = [1] * 40 + [0] * 40
>>> r = predictive_parity(predicted + [1] * 32 + [0] * 48, predicted * 2, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> round(r.difference.value, 3), r.passes
(0.2, False)
""",
)

predictive_equality = _criterion_function(
    "predictive_equality",
    """Are those with an unfavourable true outcome selected at the same rate in all groups?

max over groups of P(decision = 1 | truth = 0, group) - min over groups.

References
----------
S. Corbett-Davies et al. (2017), Algorithmic decision making and the cost of fairness, KDD.

Examples
--------
>>> y = [1] * 40 + [0] * 40
>>> r = predictive_equality(y + y, y + [1] * 60 + [0] * 20, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value, r.passes
(0.5, False)
""",
)

negative_predictive_parity = _criterion_function(
    "negative_predictive_parity",
    """Does an unfavourable decision mean the same in all groups?

max over groups of P(truth = 0 | decision = 0, group) - min over groups.

Examples
--------
>>> predicted = [1] * 40 + [0] * 40
>>> truth = predicted + [1] * 60 + [0] * 20
>>> r = negative_predictive_parity(truth, predicted * 2, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value
0.5
""",
)

overall_accuracy_equality = _criterion_function(
    "overall_accuracy_equality",
    """Is the share of right decisions the same in all groups?

max over groups of P(decision = truth | group) - min over groups.

References
----------
R. Berk et al. (2021), Fairness in criminal justice risk assessments, Sociol. Methods Res. 50:3.

Examples
--------
>>> y = [1] * 40 + [0] * 40
>>> r = overall_accuracy_equality(y + y, y + [0] * 80, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.difference.value, r.worst["lowest"]
(0.5, 'group=b')
""",
)

treatment_equality = _criterion_function(
    "treatment_equality",
    """Does the model make the two kinds of error in the same proportion in all groups?

FN / FP of each group; min over groups / max over groups, compared with `threshold`. A group without false
positives has no such proportion, and is left out with a note.

References
----------
R. Berk et al. (2021), Fairness in criminal justice risk assessments, Sociol. Methods Res. 50:3.

Examples
--------
>>> y = [1] * 40 + [0] * 40
>>> a, b = [0] * 8 + [1] * 32 + [1] * 16 + [0] * 24, [0] * 16 + [1] * 24 + [1] * 8 + [0] * 32
>>> r = treatment_equality(y + y, a + b, sensitive_features=["a"] * 80 + ["b"] * 80)
>>> r.worst["low"], r.worst["high"], r.ratio.value
(0.5, 2.0, 0.25)
""",
)
