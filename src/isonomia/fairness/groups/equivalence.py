"""Fair within so many points: shown, and not merely "not shown unfair"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.evidence import (
    Column,
    Estimate,
    Picture,
    Result,
    Table,
    benjamini_hochberg,
    equivalent_means,
    equivalent_proportions,
)
from isonomia.evidence.equivalence import check_margin
from isonomia.evidence.intervals import error_within
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import BY, By
from isonomia.fairness.judging.limits import outcome_of
from isonomia.languages import Message, msg
from isonomia.metrics import METRIC_NAMES
from isonomia.parameters import Number, validated
from isonomia.subject import Outcome, Subject, SubjectOptions

#: The margin within which rates count as the same, unless another is given.
MARGIN = 0.05
ALPHA = 0.05

SAME = msg("the same within the margin")
DIFFERENT = msg("different by more than the margin")
SMALL = msg("different by less than the margin")
BEYOND = msg("different; inconclusive about the margin")
OPEN = msg("inconclusive: more rows are needed")
NOTHING = msg("undetermined")


_FAMILY = msg(
    "Equivalence tests reverse the null hypothesis, so their p-values are adjusted separately from the tests for "
    "differences."
)


@dataclass(frozen=True, repr=False)
class Equivalence(Result):
    """Which groups are shown to be treated alike within a margin.

    The main table has a row for each metric and group: ``metric, group, reference, difference, difference_low,
    difference_high`` (the interval at 1 - 2 alpha that the two one-sided tests correspond to), ``margin,
    p_equivalence, p_equivalence_adjusted, conclusion, note`` (why there is no difference, or no test).
    """

    margin: float = MARGIN

    @property
    def shown(self) -> bool | None:
        """Whether every comparison is shown to be within the margin; None where there is none."""
        conclusions = self.tables["equivalence"]["conclusion"].values
        return all(one in (SAME, SMALL) for one in conclusions) if len(conclusions) else None


@validated(
    metrics=METRIC_NAMES.or_none(),
    margin=Number(above=0, hint=", such as 0.05 for five points"),
    by=BY,
)
def equivalence(
    data: Any = None,
    model: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    margin: float = MARGIN,
    control: Any = None,
    by: By | Sequence[Sequence[str]] = "each",
    **given: Unpack[SubjectOptions],
) -> Equivalence:
    """Are groups treated alike within `margin`? Two one-sided tests for each group against its reference.

    Rates: score tests of Farrington and Manning. Other metrics (means, errors): z-tests with the bootstrap's standard
    error; the margin is then in units of the metric. A small ``p_equivalence`` shows that the difference is smaller
    than the margin; adjusted after Benjamini and Hochberg over the table.

    Notes
    -----
    Equivalence tests are a family of their own, and are not adjusted together with tests for differences, not even
    over a whole run. Their null hypothesis is the reverse one ("the gap is at least the margin"), and what a rejection
    claims is another one ("alike"). In one pool the many easy rejections of either kind would loosen the
    Benjamini-Hochberg threshold of the other: large groups shown to be alike would make it easier to claim that small
    ones are not. So each kind of claim keeps its own false discovery rate. That *every* comparison is within the
    margin (`Equivalence.shown`) needs each single test to reject, an intersection-union test, which holds at level
    alpha without any adjustment; adjusted p-values agree, as the largest one is the largest p-value itself.

    "different" in a conclusion goes by tests for a difference adjusted over the same table.

    Parameters
    ----------
    metrics : list of str, optional
        Metrics to test; by default the selection rate, and with labels the true and false positive rates; for a
        regression the mean prediction.
    margin : float
        The largest difference that still counts as the same: 0.05 is five points.
    data, model, control, by, **given
        As in `group_metrics`; the level of the intervals is 0.9, that of the two tests at 5%.

    References
    ----------
    D. J. Schuirmann (1987), J. Pharmacokinet. Biopharm. 15:657; R. L. Berger, J. C. Hsu (1996), Stat. Sci. 11:283
    (intersection-union).

    Examples
    --------
    >>> predicted, sex = [1, 0] * 1000, ["F"] * 1000 + ["M"] * 1000
    >>> equivalence(None, predicted, sensitive_features=sex).shown
    True
    >>> equivalence(None, predicted[:80], sensitive_features=["F"] * 40 + ["M"] * 40).shown
    False
    """
    subject = Subject.of(data, model, counted=True, **given)
    check_margin(margin, most=np.inf if subject.task == "regression" else 1.0)
    chosen = list(metrics) if metrics is not None else _usual(subject.outcome)
    measured = group_metrics(subject, metrics=chosen, control=control, by=by, level=1 - 2 * ALPHA)
    return subject.noted(_tested(measured, margin))


def _tested(measured: GroupMetrics, margin: float) -> Equivalence:
    """Two one-sided tests of metrics by group with intervals at level 0.9."""
    assert measured.groups is not None
    indices = {(group.name, tuple(group.control.items())): i for i, group in enumerate(measured.groups.groups)}
    controls = [column.name for column in measured.groups.control]
    compared = measured.tables["comparisons"]
    difference = compared["difference"]
    same, reasons = [], []
    for index, row in enumerate(compared.rows()):
        part, figure = measured.measured[row["metric"]], difference.estimate(index)
        control = tuple((name, row[name]) for name in controls)
        g, r = indices[row["group"], control], indices.get((row["reference"], control))
        if part.rate and r is not None and figure.value is not None:
            hits = part.value * part.size
            p = float(equivalent_proportions(hits[g], part.size[g], hits[r], part.size[r], margin=margin))
        else:
            p = _from_draws(figure, margin)
        same.append(p)
        untested = np.isnan(p) or figure.low is None
        reasons.append(row["note"] or msg("there is no interval to test with") if untested else None)
    adjusted = benjamini_hochberg(np.array(same, dtype=float))
    differs = np.asarray(compared["p_adjusted"].values, dtype=float)
    table = Table(
        (
            *compared.select(("metric", *controls, "group", "reference")).columns,
            replace(difference, format="num", reason=reasons),
            Column("margin", [margin] * len(compared), format="num", title=msg("margin")),
            Column("p_equivalence", same, format="p", title=msg("p of equivalence")),
            Column("p_equivalence_adjusted", adjusted, format="p", title=msg("p of equivalence, adjusted")),
            Column("conclusion", _conclusions(adjusted, differs, difference, margin), title=msg("conclusion")),
        ),
        msg("Shown to be the same within the margin?"),
        compared.backend,
    )
    return Equivalence(
        "equivalence",
        msg("Equivalence"),
        {"equivalence": table},
        {"margin": margin, "rows": measured.values["rows"]},
        (),
        _pictures(controls),
        (*measured.notes, _FAMILY),
        margin=margin,
    )


def _pictures(controls: Sequence[str]) -> tuple[Picture, ...]:
    title = msg("Differences from the reference, with the intervals used by the tests")
    options = {"labels": [*controls, "group"], "value": "difference", "facet": "metric", "reference": 0.0}
    return (Picture("forest", "equivalence", title, options),)


def _usual(outcome: Outcome) -> list[str]:
    if outcome.task == "regression":
        return ["mean_prediction"]
    return ["selection_rate"] if outcome.truth is None else ["selection_rate", "tpr", "fpr"]


def _from_draws(difference: Estimate, margin: float) -> float:
    """From the interval of the difference: its half width at 90% is 1.645 standard errors."""
    if difference.value is None or difference.low is None or difference.high is None:
        return float("nan")
    error = error_within(difference.low, difference.high, 1 - 2 * ALPHA)
    return float(equivalent_means(difference.value, error, margin=margin))


def _conclusions(same: NDArray[Any], differs: NDArray[Any], difference: Column, margin: float) -> list[Message]:
    conclusions: list[Message] = []
    for row, (p, q) in enumerate(zip(same.tolist(), differs.tolist(), strict=True)):
        gap = difference.estimate(row)
        if gap.value is None or math.isnan(p):
            conclusions.append(NOTHING)
        elif p < ALPHA:
            conclusions.append(SMALL if q < ALPHA else SAME)
        elif q < ALPHA:
            above = outcome_of(margin, "at_most", gap.low, gap.high)
            outside = "exceeds" in (above, outcome_of(-margin, "at_least", gap.low, gap.high))
            conclusions.append(DIFFERENT if outside and abs(gap.value) > margin else BEYOND)
        else:
            conclusions.append(OPEN)
    return conclusions
