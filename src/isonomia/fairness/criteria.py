"""The named criteria: each is one or two metrics, compared over groups and held against a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from isonomia.data import Missing, Task, backend_of
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence import Estimate, Result
from isonomia.fairness.compare import Reference
from isonomia.fairness.group_metrics import GroupMetrics, check_weights, measure_groups
from isonomia.fairness.groups import By, read_attributes
from isonomia.languages import Message, msg
from isonomia.models import Outcome, read_outcome

#: Largest difference of rates that counts as equal, unless another is given.
THRESHOLD = 0.1
#: The four-fifths rule: the smallest selection rate is at least this share of the largest.
FOUR_FIFTHS = 0.8
#: Fewest rows a group needs to be part of a criterion, unless another number is given.
MIN_PER_GROUP = 10


@dataclass(frozen=True)
class Description:
    """What a criterion is: the metrics it compares, and how it is said."""

    id: str
    title: Message
    metrics: tuple[str, ...]
    measure: Literal["difference", "ratio"]
    what: Message
    formula: str


DESCRIPTIONS: dict[str, Description] = {
    entry.id: entry
    for entry in (
        Description(
            "demographic_parity", msg("Demographic parity"), ("selection_rate",), "difference",
            msg("is selected"), "P(decision = 1 | group) is the same for all groups",
        ),
        Description(
            "equal_opportunity", msg("Equal opportunity"), ("tpr",), "difference",
            msg("is selected when the true outcome is favourable"), "P(decision = 1 | truth = 1, group) is the same",
        ),
        Description(
            "equalized_odds", msg("Equalized odds"), ("tpr", "fpr"), "difference",
            msg("is selected, given the true outcome"), "P(decision = 1 | truth, group) is the same",
        ),
        Description(
            "predictive_parity", msg("Predictive parity"), ("ppv",), "difference",
            msg("proves favourable when selected"), "P(truth = 1 | decision = 1, group) is the same",
        ),
        Description(
            "disparate_impact", msg("Disparate impact"), ("selection_rate",), "ratio",
            msg("is selected"), "min over groups of P(decision = 1 | group) / max over groups",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Criterion(Result):
    """One criterion held against its threshold.

    Attributes
    ----------
    difference : Estimate
        The largest less the smallest rate over the groups (the worst of them, where the criterion has several rates).
    ratio : Estimate
        The smallest over the largest rate.
    passes : bool or None
        Whether the figure keeps the threshold; None where it could not be computed.
    decided : bool or None
        Whether its interval lies wholly on one side of the threshold.
    threshold : float
    metrics : GroupMetrics
        Everything behind it.
    """

    description: Description | None = None
    difference: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    ratio: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    threshold: float = THRESHOLD
    worst: Mapping[str, Any] = field(default_factory=dict)
    metrics: GroupMetrics | None = None

    @property
    def figure(self) -> Estimate:
        """The estimate that is held against the threshold."""
        return self.ratio if self._by_ratio else self.difference

    @property
    def _by_ratio(self) -> bool:
        return self.description is not None and self.description.measure == "ratio"

    @property
    def passes(self) -> bool | None:
        """Whether the figure keeps the threshold."""
        value = self.figure.value
        if value is None:
            return None
        return value >= self.threshold if self._by_ratio else value <= self.threshold

    @property
    def decided(self) -> bool | None:
        """Whether the interval lies wholly on one side of the threshold."""
        figure = self.figure
        if figure.value is None or figure.low is None or figure.high is None:
            return None
        return not figure.low <= self.threshold <= figure.high

    @property
    def by_group(self) -> Any:
        """The rates of each group, as a frame of the kind the user gave."""
        return self.tables["by_group"].frame()

    def interpretation(self, language: str = "en") -> str:
        """What it says, in a sentence or two."""
        return " ".join(part.text(language) for part in self._sentences())

    def _sentences(self) -> list[Message]:
        assert self.description is not None
        figure, worst = self.figure, self.worst
        if figure.value is None:
            return [msg("{title} cannot be judged: {reason}.", title=self.title, reason=figure.note)]
        facts: dict[str, Any] = {
            "high_group": worst["highest"], "low_group": worst["lowest"], "what": self.description.what,
            "high": worst["high"], "low": worst["low"],
        }  # fmt: skip
        said = [msg("{high_group} {what} at a rate of {high:pct}, {low_group} at {low:pct}.", **facts)]
        if worst.get("units") == "numbers":
            said = [msg("{high_group} is predicted {high:num} on average, {low_group} {low:num}.", **facts)]
        said += self._held_against()
        if self.decided is False:
            said.append(msg("The interval holds the threshold, so these data do not settle it."))
        return said

    def _held_against(self) -> list[Message]:
        """The figure against its threshold."""
        figure = self.figure
        ends = {"value": figure.value, "low": figure.low, "high": figure.high, "threshold": self.threshold}
        if not self._by_ratio:
            if self.passes:
                return [
                    msg("The gap is {value:pct} ({low:pct} to {high:pct}), within the {threshold:pct} allowed.", **ends)
                ]
            return [msg("The gap is {value:pct} ({low:pct} to {high:pct}), above the {threshold:pct} allowed.", **ends)]
        thumb = msg(
            "The four-fifths rule of the US EEOC (29 CFR 1607.4 D) is a rule of thumb, not a finding of law: numbers, "
            "significance and business necessity count too."
        )
        if self.passes:
            return [msg("The ratio is {value:num} ({low:num} to {high:num}), at least {threshold:num}.", **ends), thumb]
        below = msg(
            "The ratio is {value:num} ({low:num} to {high:num}), below {threshold:num}: evidence of adverse impact.",
            **ends,
        )
        return [below, thumb]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return super().to_dict() | {
            "difference": self.difference.to_dict(),
            "ratio": self.ratio.to_dict(),
            "threshold": self.threshold,
            "passes": self.passes,
            "decided": self.decided,
            "interpretation": {language: self.interpretation(language) for language in ("en", "pt-BR")},
        }

    def __repr__(self) -> str:
        said = {True: "passes", False: "fails", None: "cannot be judged"}[self.passes]
        return f"{self.title.text()}: {said} (difference {self.difference}, ratio {self.ratio})"


def criterion(
    name: str,
    outcome: Outcome,
    columns: Sequence[Any],
    *,
    threshold: float | None = None,
    **options: Any,
) -> Criterion:
    """One of the named criteria for what is encoded already."""
    if name not in DESCRIPTIONS:
        raise SpecError(f"There is no criterion called {name!r}. There is: {', '.join(DESCRIPTIONS)}.")
    description = DESCRIPTIONS[name]
    if threshold is None:
        threshold = FOUR_FIFTHS if description.measure == "ratio" else THRESHOLD
    if not 0 <= threshold <= 1:
        raise SpecError(f"`threshold` must be a float in [0, 1]; got {threshold!r}.")
    metrics: tuple[str, ...] = description.metrics
    scale = 1.0
    if outcome.task == "regression":
        if name != "demographic_parity":
            raise NotApplicable(
                f"{description.title.text().lower()} is about decisions, and a regression predicts numbers; compare "
                "mean predictions and errors by group with group_metrics"
            )
        metrics = ("mean_prediction",)
        scale = float(np.std(outcome.surface.continuous)) if outcome.surface.continuous is not None else 1.0
    measured = measure_groups(outcome, columns, metrics=metrics, **options)
    difference, ratio, worst = _worst(measured, description.measure, scale)
    return Criterion(
        name,
        description.title,
        tables=measured.tables,
        values={"difference": difference, "ratio": ratio, "threshold": threshold},
        notes=measured.notes,
        description=description,
        difference=difference,
        ratio=ratio,
        threshold=threshold,
        worst=worst,
        metrics=measured,
    )


def _worst(
    measured: GroupMetrics, by: Literal["difference", "ratio"], scale: float
) -> tuple[Estimate, Estimate, dict[str, Any]]:
    rows = list(measured.tables["disparities"].rows())
    known = [row for row in rows if row["difference"] is not None]
    if not known:
        reason = str(rows[0]["note"] or "no group has a value")
        return Estimate.missing(reason), Estimate.missing(reason), {}
    n = int(measured.sizes.sum())
    widest = max(known, key=lambda row: row["difference"])
    ratios = [row for row in known if row["ratio"] is not None]
    narrowest = min(ratios, key=lambda row: row["ratio"]) if ratios else None
    ends = [None if widest[key] is None else widest[key] / scale if scale else 0.0 for key in _GAP]
    difference = Estimate(ends[0], ends[1], ends[2], n=n, method="bootstrap")
    if narrowest is None:
        ratio = Estimate.missing("every group's rate is 0, or the metric can be negative", n=n)
    else:
        ratio = Estimate(narrowest["ratio"], narrowest["ratio_low"], narrowest["ratio_high"], n=n, method="bootstrap")
    told = narrowest if by == "ratio" and narrowest is not None else widest
    part = measured.measured[told["metric"]]
    places = {group.name: index for index, group in enumerate(measured.groups.groups)} if measured.groups else {}
    return difference, ratio, {
        "metric": told["metric"], "highest": told["highest"], "lowest": told["lowest"],
        "high": float(part.value[places[told["highest"]]]), "low": float(part.value[places[told["lowest"]]]),
        "units": "numbers" if part.use.metric.family == "means" else "rate",
    }  # fmt: skip


_GAP = ("difference", "difference_low", "difference_high")


class Options(TypedDict, total=False):
    """Options that every criterion takes, with the meaning they have in `group_metrics`."""

    task: Task | None
    positive: Any
    weights: Any
    reference: Reference
    by: By | Sequence[Sequence[str]]
    control: Any
    missing: Missing
    n_boot: int
    level: float
    seed: int


def _from_arrays(
    name: str,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    threshold: float,
    min_per_group: int,
    options: Options,
) -> Criterion:
    given: dict[str, Any] = dict(options)
    outcome = read_outcome(y_true, y_pred, task=given.pop("task", None), positive=given.pop("positive", None))
    columns = read_attributes(sensitive_features, length=len(outcome))
    held = given.pop("control", None)
    control = () if held is None else read_attributes(held, what="control", length=len(outcome))
    return criterion(
        name,
        outcome,
        columns,
        threshold=threshold,
        min_per_group=min_per_group,
        weights=check_weights(given.pop("weights", None), len(outcome)),
        control=control,
        backend=backend_of(sensitive_features, y_pred, y_true),
        **given,
    )


def demographic_parity(
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Is the favourable decision given at the same rate to all groups?

    max over groups of P(decision = 1 | group) - min over groups, held against `threshold`. Several classes: the worst
    class against the rest. A regression: mean predictions, in standard deviations of the predictions.

    Groups with fewer than `min_per_group` rows are shown, flagged and left out of the gap.

    References
    ----------
    C. Dwork et al. (2012), Fairness through awareness, ITCS.

    Examples
    --------
    >>> r = demographic_parity([1, 0] * 10 + [1, 1] * 10, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.ratio.value, r.passes
    (0.5, 0.5, False)
    """
    return _from_arrays("demographic_parity", None, y_pred, sensitive_features, threshold, min_per_group, options)


def disparate_impact(
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = FOUR_FIFTHS,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Is the smallest selection rate at least four fifths of the largest?

    min over groups of P(decision = 1 | group) / max over groups, held against `threshold`. The four-fifths rule of the
    US Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 (D): a rule of thumb, not a finding of law.

    Examples
    --------
    >>> r = disparate_impact([1] * 8 + [0] * 2 + [1] * 2 + [0] * 8, sensitive_features=["a"] * 10 + ["b"] * 10)
    >>> r.ratio.value, r.passes
    (0.25, False)
    """
    return _from_arrays("disparate_impact", None, y_pred, sensitive_features, threshold, min_per_group, options)


def equal_opportunity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Are those with a favourable true outcome selected at the same rate in all groups?

    max over groups of P(decision = 1 | truth = 1, group) - min over groups.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = equal_opportunity(y + y, y + [1] * 5 + [0] * 15, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.passes
    (0.5, False)
    """
    return _from_arrays("equal_opportunity", y_true, y_pred, sensitive_features, threshold, min_per_group, options)


def equalized_odds(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Are true and false positive rates the same in all groups?

    The larger of the two gaps max - min of TPR and of FPR over groups, held against `threshold`.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised learning, NeurIPS.

    Examples
    --------
    >>> y = [1] * 10 + [0] * 10
    >>> r = equalized_odds(y + y, y + [1] * 10 + [1] * 2 + [0] * 8, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> r.difference.value, r.worst["metric"]
    (0.2, 'fpr')
    """
    return _from_arrays("equalized_odds", y_true, y_pred, sensitive_features, threshold, min_per_group, options)


def predictive_parity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    threshold: float = THRESHOLD,
    min_per_group: int = MIN_PER_GROUP,
    **options: Unpack[Options],
) -> Criterion:
    """Does a favourable decision mean the same in all groups?

    max over groups of P(truth = 1 | decision = 1, group) - min over groups.

    References
    ----------
    A. Chouldechova (2017), Fair prediction with disparate impact, Big Data 5:153.

    Examples
    --------
    >>> said = [1] * 10 + [0] * 10
    >>> r = predictive_parity(said + [1] * 8 + [0] * 12, said + said, sensitive_features=["a"] * 20 + ["b"] * 20)
    >>> round(r.difference.value, 3), r.passes
    (0.2, False)
    """
    return _from_arrays("predictive_parity", y_true, y_pred, sensitive_features, threshold, min_per_group, options)
