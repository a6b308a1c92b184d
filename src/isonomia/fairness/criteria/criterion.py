"""The named criteria: each is one or two metrics, compared between groups and with a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.evidence import THRESHOLDS, Estimate, Format, Result
from isonomia.fairness.criteria.named import OF_DECISIONS, NamedCriterion
from isonomia.fairness.criteria.phrases import rate_sentence
from isonomia.fairness.groups.gaps import Aggregate, Gap, combine_each, facts, gaps_of, scaled
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import By
from isonomia.fairness.judging.limits import outcome_of
from isonomia.languages import Message, OutcomeName, languages, msg, with_people
from isonomia.languages.naming import both, is_value, together
from isonomia.languages.words import PREDICTION
from isonomia.metrics import METRICS
from isonomia.parameters import Choice, Number, validated
from isonomia.policies import RuleSide
from isonomia.subject import Subject, SubjectOptions

#: Largest difference of rates that counts as equal, unless another is given.
THRESHOLD = THRESHOLDS["rate_gap"].reported
#: The same for means of predicted numbers, in standard deviations of the predictions (a fifth is small; Cohen).
MEAN_THRESHOLD = THRESHOLDS["mean_gap"].reported
#: The four-fifths rule: the smallest selection rate is at least this share of the largest.
FOUR_FIFTHS = 0.8
#: Of measures that neither a law nor the literature has a limit for.
UNUSUAL = msg("There is no usual threshold for this measure: this one is a plain choice.")
#: Groups that are too small are named up to this many.
NAMED = 5


@dataclass(frozen=True, repr=False)
class Criterion(Result):
    """One criterion compared with its threshold.

    Attributes
    ----------
    difference : Estimate
        The largest less the smallest rate over the groups (the worst of them, where the criterion has several rates).
    ratio : Estimate
        The smallest over the largest rate.
    mean_difference, mean_ratio : Estimate
        The same, as the mean over several rates (equalized odds) and classes instead of the worst of them.
    aggregate : "worst" or "mean"
        Which of the two is compared with the threshold.
    passes : bool or None
        Whether the figure keeps the threshold; None where it could not be computed.
    decided : bool or None
        Whether its interval lies wholly on one side of the threshold.
    threshold : float
    metrics : GroupMetrics
        Everything behind it.
    """

    description: NamedCriterion | None = None
    difference: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    ratio: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    mean_difference: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    mean_ratio: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    aggregate: Aggregate = "worst"
    threshold: float = THRESHOLD
    worst: Mapping[str, Any] = field(default_factory=dict)
    metrics: GroupMetrics | None = None

    @property
    def figure(self) -> Estimate:
        """The estimate that is compared with the threshold."""
        if self.aggregate == "mean":
            return self.mean_ratio if self._by_ratio else self.mean_difference
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
        side: RuleSide = "at_least" if self._by_ratio else "at_most"
        return outcome_of(self.threshold, side, figure.low, figure.high) != "not_enough_evidence"

    @property
    def by_group(self) -> Any:
        """The rates of each group, as a frame of the kind the user gave."""
        return self.tables["by_group"].frame()

    @property
    def lead(self) -> tuple[Message, ...]:
        """The two extremes, and the figure against its threshold."""
        return tuple(self._sentences())

    def interpretation(self, language: str = "en") -> str:
        """What it says, in a sentence or two."""
        return " ".join(part.text(language) for part in self.lead)

    def _sentences(self) -> list[Message]:
        if self.figure.value is None:
            return [self._unjudged()]
        sentences = [self.facts(), *self._held_against()]
        if self.decided is False:
            sentences.append(msg("The interval contains the threshold, so the data are inconclusive."))
        return sentences

    def _unjudged(self) -> Message:
        """Why there is no figure; of groups that are too small their sizes, and what to do."""
        few = self._few()
        if len(few) < 2:
            return msg("{title} cannot be judged: {reason}.", title=self.title, reason=self.figure.note)
        assert self.metrics is not None
        return with_people(
            msg(
                "{title} cannot be judged: two groups with at least {least:int} cases of the rate are needed, and "
                "there are {groups}. Collect more rows, merge groups, or pass a smaller `min_per_group=`.",
                title=self.title,
                least=self.metrics.min_per_group,
                groups=both(Message("{group} ({n:int})", {"group": name, "n": n}) for name, n in few[:NAMED]),
            )
        )

    def _few(self) -> list[tuple[str, int]]:
        """The groups, the largest first, with the cases behind the criterion's rates; none where two have enough."""
        if self.metrics is None or self.metrics.groups is None or self.description is None:
            return []
        parts = [self.metrics.measured[name] for name in self.metrics.judged(self.description.metrics)]
        fewest = (
            [int(min(part.n[index] for part in parts)) for index in range(len(self.metrics.sizes))] if parts else []
        )
        if sum(n >= self.metrics.min_per_group for n in fewest) > 1:
            return []
        names = [group.name for group in self.metrics.groups.groups]
        return sorted(zip(names, fewest, strict=True), key=lambda one: -one[1]) if fewest else []

    def facts(self) -> Message:
        """The two extremes, as a sentence."""
        assert self.description is not None
        worst = self.worst
        label = worst["metric"].removesuffix("]").partition("[")[2]
        facts: dict[str, Any] = {"high_group": worst["highest"], "low_group": worst["lowest"]}
        facts |= {"high": worst["high"], "low": worst["low"]}
        if worst.get("units") == "numbers":
            sentence = msg(
                "The mean {prediction} is {low:num} for {low_group} and {high:num} for {high_group}.",
                prediction=PREDICTION,
                **facts,
            )
        elif worst.get("units") == "per" and label:
            sentence = msg(
                'Among {high_group} there are {high:num} false negatives for each false positive of "{label}", among '
                "{low_group} {low:num}.",
                label=OutcomeName(label),
                **facts,
            )
        elif worst.get("units") == "per":
            sentence = msg(
                "Among {high_group} there are {high:num} wrong refusals for each wrong approval, among {low_group} "
                "{low:num}.",
                **facts,
            )
        else:
            about = rate_sentence(worst["metric"], worst["lowest"], worst["low"], worst["highest"], worst["high"])
            sentence = about or msg(
                "{title} is {low:pct} for {low_group} and {high:pct} for {high_group}.", title=self.title, **facts
            )
        if worst.get("control"):
            condition = together(is_value(name, value) for name, value in worst["control"].items())
            sentence = msg("Where {condition}: {sentence}", condition=condition, sentence=sentence)
        return with_people(sentence)

    def _held_against(self) -> list[Message]:
        """The figure against its threshold."""
        figure = self.figure
        ends = {"value": figure.value, "low": figure.low, "high": figure.high, "threshold": self.threshold}
        if not self._by_ratio:
            return [self._gap(ends)]
        thumb = msg(
            "The four-fifths rule of the US EEOC (29 CFR 1607.4 D) is a rule of thumb, not a finding of law: numbers, "
            "significance and business necessity count too."
        )
        above = msg("The ratio is {value:num} ({low:num} to {high:num}), not below {threshold:num}.", **ends)
        if self.code != "disparate_impact":
            under = msg("The ratio is {value:num} ({low:num} to {high:num}), below {threshold:num}.", **ends)
            return [above if self.passes else under, *([UNUSUAL] if self.code == "treatment_equality" else [])]
        if self.passes:
            return [above, thumb]
        below = msg(
            "The ratio is {value:num} ({low:num} to {high:num}), below {threshold:num}: evidence of adverse impact.",
            **ends,
        )
        return [below, thumb]

    def _gap(self, ends: Mapping[str, Any]) -> Message:
        """A difference beside the largest allowed: of rates in points, of numbers in standard deviations."""
        if self.worst.get("units") == "numbers" and self.passes:
            return msg(
                "The gap is {value:num} standard deviations of the predictions ({low:num} to {high:num}), within the "
                "{threshold:num} allowed.",
                **ends,
            )
        if self.worst.get("units") == "numbers":
            return msg(
                "The gap is {value:num} standard deviations of the predictions ({low:num} to {high:num}), above the "
                "{threshold:num} allowed.",
                **ends,
            )
        if self.passes:
            return msg(
                "The gap is {value:points} points ({low:points} to {high:points}), within the {threshold:points} "
                "points allowed.",
                **ends,
            )
        return msg(
            "The gap is {value:points} points ({low:points} to {high:points}), above the {threshold:points} points "
            "allowed.",
            **ends,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return super().to_dict() | {
            "difference": self.difference.to_dict(),
            "ratio": self.ratio.to_dict(),
            "mean_difference": self.mean_difference.to_dict(),
            "mean_ratio": self.mean_ratio.to_dict(),
            "aggregate": self.aggregate,
            "threshold": self.threshold,
            "passes": self.passes,
            "decided": self.decided,
            "interpretation": {language: self.interpretation(language) for language in languages()},
        }

    def __repr__(self) -> str:
        verdict = {True: "passes", False: "fails", None: "cannot be judged"}[self.passes]
        return f"{self.title.text()}: {verdict} (difference {self.difference}, ratio {self.ratio})"


@validated(threshold=Number(at_least=0, at_most=1).or_none(), aggregate=Choice(("worst", "mean")))
def criterion(
    name: str,
    data: Any = None,
    model: Any = None,
    *,
    threshold: float | None = None,
    aggregate: Aggregate = "worst",
    by: By | Sequence[Sequence[str]] = "intersection",
    control: Any = None,
    **given: Unpack[SubjectOptions],
) -> Criterion:
    """One of the named criteria, compared with a threshold.

    Parameters
    ----------
    name : str
        One of the named criteria of decisions.
    data, model, by, control, **given
        As in `group_metrics`. For criteria of decisions alone, a column given by itself holds the decisions.
    threshold : float, optional
        The largest difference (0.1 by default; of predicted numbers 0.2 standard deviations), or the smallest ratio
        (0.8).
    aggregate : "worst" or "mean"
        Which is compared with the threshold where there are several rates or classes.

    Examples
    --------
    >>> criterion("demographic_parity", [1, 0] * 40 + [1, 1] * 40, sensitive_features=["a"] * 80 + ["b"] * 80).passes
    False
    """
    if name not in OF_DECISIONS:
        raise SpecError(f"There is no criterion {name!r}.{close_to(name, OF_DECISIONS)}")
    description = OF_DECISIONS[name]
    needs_truth = any(METRICS[metric].needs_labels for metric in description.metrics)
    subject = (Subject.of if needs_truth else Subject.of_predictions)(data, model, counted=True, **given)
    metrics: tuple[str, ...] = description.metrics
    scale = 1.0
    usual = FOUR_FIFTHS if description.measure == "ratio" else THRESHOLD
    if subject.task == "regression":
        usual = MEAN_THRESHOLD
        if "mean_prediction" not in description.of_numbers:
            raise NotApplicable(
                msg(
                    "{criterion} applies to decisions, and a regression predicts numbers; compare mean predictions "
                    "and errors by group with group_metrics",
                    criterion=description.title,
                )
            )
        metrics = description.of_numbers
        scale = float(np.std(subject.surface.continuous)) if subject.surface.continuous is not None else 1.0
    measured = group_metrics(subject, metrics=metrics, by=by, control=control)
    found = judge_criterion(
        description,
        measured,
        threshold=usual if threshold is None else threshold,
        aggregate=aggregate,
        scale=scale,
        level=subject.settings.level,
    )
    return subject.noted(found)


def judge_criterion(
    description: NamedCriterion,
    measured: GroupMetrics,
    *,
    threshold: float,
    aggregate: Aggregate = "worst",
    by: tuple[str, ...] | None = None,
    known: Sequence[Gap] | None = None,
    scale: float = 1.0,
    level: float = 0.95,
) -> Criterion:
    """A criterion from metrics by group that are there already.

    `by` takes one way of grouping only; `known` are the gaps of all metrics, where they have been worked out before.
    """
    names = measured.judged((*description.metrics, *description.of_numbers))
    found = gaps_of(measured, names) if known is None else [gap for gap in known if gap.metric in names]
    gaps = [gap for gap in found if by is None or gap.by == by]
    n = int(measured.values["rows"])
    difference, ratio, mean_difference, mean_ratio = combine_each(
        gaps, [("difference", "worst"), ("ratio", "worst"), ("difference", "mean"), ("ratio", "mean")], n=n, level=level
    )
    figures = {
        "difference": scaled(difference, scale),
        "ratio": ratio,
        "mean_difference": scaled(mean_difference, scale),
        "mean_ratio": mean_ratio,
    }
    ratios = [gap for gap in gaps if not np.isnan(gap.ratio)]
    worst: dict[str, Any] = {}
    if description.measure == "ratio" and ratios:
        worst = facts(min(ratios, key=lambda gap: gap.ratio), measured)
    elif gaps:
        worst = facts(max(gaps, key=lambda gap: gap.difference), measured)
    return Criterion(
        description.id,
        description.title,
        tables=measured.tables,
        values={**figures, "threshold": threshold},
        pictures=measured.pictures,
        notes=measured.notes,
        description=description,
        difference=figures["difference"],
        ratio=figures["ratio"],
        mean_difference=figures["mean_difference"],
        mean_ratio=figures["mean_ratio"],
        aggregate=aggregate,
        threshold=threshold,
        worst=worst,
        metrics=measured,
        formats=_formats(description, worst),
    )


def _formats(description: NamedCriterion, worst: Mapping[str, Any]) -> dict[str, Format]:
    """Differences of rates are points, and so is what they are compared with."""
    if worst.get("units") != "rate":
        return {}
    compared: dict[str, Format] = {"threshold": "points"} if description.measure == "difference" else {}
    return {"difference": "points", "mean_difference": "points", **compared}
