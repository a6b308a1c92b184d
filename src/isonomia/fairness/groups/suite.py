"""The suite: every criterion over every protected attribute at once, one score, what to worry about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack, get_args

from isonomia.errors import SpecError
from isonomia.evidence import Estimate, Picture, Result, Table
from isonomia.fairness.criteria.criterion import FOUR_FIFTHS, THRESHOLD, judge_criterion
from isonomia.fairness.criteria.named import OF_DECISIONS, Config, NamedCriterion
from isonomia.fairness.groups.conditional import conditional_statistical_parity
from isonomia.fairness.groups.distributions import distribution_parity, has_numbers
from isonomia.fairness.groups.gaps import gaps_of
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import By
from isonomia.fairness.groups.homogeneity import homogeneity
from isonomia.fairness.groups.references import RULES, against_references
from isonomia.fairness.groups.regression_measures import judge_numbers, score_parts_of_numbers
from isonomia.fairness.groups.score import ScoreParts, assessment, score_decisions, score_numbers, score_table
from isonomia.fairness.groups.suite_table import Judged, findings_of, measures_table
from isonomia.languages import Message, msg
from isonomia.parameters import Choice, Number, validated
from isonomia.subject import BestOff, Outcome, Subject, SubjectOptions, is_chosen

CONFIGS: tuple[Config, ...] = get_args(Config)


@dataclass(frozen=True, repr=False)
class Suite(Result):
    """What the suite found.

    Attributes
    ----------
    overall_fairness_score : float or None
        Between 0 and 1; 1 where all groups are treated the same on the parts of the score. It ranks models; it is
        no statement of compliance.
    score : Estimate
        The same with its interval, or the reason why there is none.
    score_parts : mapping
        Attribute to part to its weight, figure and contribution.
    critical_issues, warnings : tuple of Message
        What to act on, and what to look at.
    assessment : Message
        The score in words.
    criteria : mapping
        (way of grouping, criterion) to what was judged.
    metrics : GroupMetrics
        Everything behind it.
    """

    config: Config = "full"
    score: Estimate = field(default_factory=lambda: Estimate.missing("not computed"))
    score_parts: ScoreParts = field(default_factory=dict)
    assessment: Message = field(default_factory=lambda: msg("not available"))
    criteria: Mapping[tuple[tuple[str, ...], str], Judged] = field(default_factory=dict, compare=False)
    metrics: GroupMetrics | None = field(default=None, compare=False)

    @property
    def overall_fairness_score(self) -> float | None:
        """The score, between 0 and 1; None where it is not defined (`score` says why)."""
        return self.score.value

    @property
    def critical_issues(self) -> tuple[Message, ...]:
        """What to act on."""
        return tuple(finding.message for finding in self.findings if finding.severity == "critical")

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What to look at."""
        return tuple(finding.message for finding in self.findings if finding.severity == "warning")

    @property
    def passed_count(self) -> int:
        """How many measures lie within their threshold, the whole interval included."""
        return self._count(beyond=False)

    @property
    def failed_count(self) -> int:
        """How many measures lie beyond their threshold, the whole interval included."""
        return self._count(beyond=True)

    @property
    def inconclusive_count(self) -> int:
        """How many measures the data do not settle: the interval contains the threshold, or there is no figure."""
        return self.total_count - self.passed_count - self.failed_count

    @property
    def total_count(self) -> int:
        """How many measures there are, over all ways of grouping: the rows of the table of measures."""
        return len(self.criteria)

    def _count(self, *, beyond: bool) -> int:
        return sum(one.settled and one.exceeds is beyond for one in self.criteria.values())

    @property
    def lead(self) -> tuple[Message, ...]:
        """The score in words."""
        return (self.assessment,)

    @property
    def by_group(self) -> Any:
        """The metrics of each group, as a frame of the kind the user gave."""
        return self.tables["by_group"].frame()

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return super().to_dict() | {
            "config": self.config,
            "overall_fairness_score": self.score.to_dict(),
            "score_parts": {
                name: {key: part.to_dict() for key, part in own.items()} for name, own in self.score_parts.items()
            },
            "assessment": self.assessment.text(),
            "critical_issues": [message.text() for message in self.critical_issues],
            "warnings": [message.text() for message in self.warnings],
            "counts": {name: getattr(self, f"{name}_count") for name in ("passed", "failed", "inconclusive", "total")},
        }

    def __repr__(self) -> str:
        return (
            f"Suite({self.config}: score {self.score}; {len(self.critical_issues)} critical, "
            f"{len(self.warnings)} warnings; of {self.total_count} measures {self.passed_count} within, "
            f"{self.failed_count} beyond, {self.inconclusive_count} inconclusive; {self.assessment})"
        )


@validated(
    config=Choice(CONFIGS),
    threshold=Number(at_least=0, at_most=1),
    ratio_threshold=Number(at_least=0, at_most=1),
)
def suite(
    data: Any = None,
    model: Any = None,
    *,
    config: Config = "full",
    control: Any = None,
    threshold: float = THRESHOLD,
    ratio_threshold: float = FOUR_FIFTHS,
    **given: Unpack[SubjectOptions],
) -> Suite:
    """Every criterion over every protected attribute, with one score and what to worry about.

    Parameters
    ----------
    data : Dataset, frame, Subject, or column of true outcomes
        Without true outcomes only criteria of decisions alone are available.
    model : model, Surface, or column
        Anything that predicts, or decisions (predicted numbers).
    config : "quick", "medium" or "full"
        quick: demographic parity, disparate impact, equal opportunity for each attribute. medium: also equalized
        odds, predictive equality, predictive parity, accuracy. full: also negative predictive parity, treatment
        equality, all intersections (up to three attributes), disparate impact against every choice of reference,
        and the distribution of scores where they are given.
    control : column, frame, mapping, or names of columns of the data, optional
        Legitimate factors: conditional statistical parity is added.
    threshold, ratio_threshold : float
        Largest difference of rates that counts as equal; smallest ratio.
    **given
        Options as in `group_metrics`. `privileged` (a mapping, or the value of the only attribute) or `reference` names
        the group of comparison; otherwise it is the best-off group that is large enough (`subject.BestOff`), and ratios
        of selection are told against it. With `y_score` the distributions of scores are compared too (full).

    Notes
    -----
    A rate counts for a criterion and for the score where at least `min_per_group` cases stand behind it (positives for
    the true positive rate).

    A ratio of selection rates below `ratio_threshold` whose groups differ by more than chance is a critical issue; any
    other criterion beyond its threshold is a warning. P-values are those of `homogeneity` (chi-square, permutation in
    small cells), after Benjamini and Hochberg over the suite.

    Examples
    --------
    >>> y, sex = [1, 0] * 100, ["F"] * 100 + ["M"] * 100
    >>> suite(y, y, sensitive_features={"sex": sex}, n_boot=50).overall_fairness_score
    1.0
    >>> none_for_women = [0] * 100 + y[100:]
    >>> found = suite(y, none_for_women, sensitive_features={"sex": sex}, n_boot=50)
    >>> found.overall_fairness_score, len(found.critical_issues)
    (0.0, 1)
    """
    subject = Subject.of(data, model, counted=True, **given)
    columns, outcome = subject.needs_attributes(), subject.outcome
    named = _named_reference(subject)
    if named is not None:
        subject = replace(subject, settings=subject.settings | {"reference": named})
    by: By = "all" if config == "full" else "each"
    level = subject.settings.level
    numbers = subject.task == "regression"
    measured = group_metrics(subject, metrics=_metrics(outcome, config), by=by)
    tests = homogeneity(measured, seed=subject.settings.seed)
    extra: dict[str, Table] = {}
    if numbers or (config == "full" and has_numbers(subject.surface)):
        distances = distribution_parity(subject, by=by)
        extra = {"distributions": distances.tables["distances"], "quantiles": distances.tables["quantiles"]}
    if numbers:
        judged = judge_numbers(measured, extra["distributions"], outcome, threshold, ratio_threshold, level)
        score, parts = score_numbers(score_parts_of_numbers(judged), len(outcome), level)
    else:
        judged = _judge(measured, config, threshold, ratio_threshold, level)
        score, parts = score_decisions(measured, privileged=named is not None, level=level)
        if config == "full":
            extra["references"] = against_references(subject)
    if control is not None and not numbers:
        parity = conditional_statistical_parity(subject, control=control, threshold=threshold, by="each")
        extra["conditional"] = parity.tables["adjusted"]
        judged[tuple(column.name for column in columns), parity.code] = Judged.of(parity)
    measures = measures_table(judged, tests, measured)
    tables = {
        "measures": measures,
        "score": score_table(parts, measures.backend),
        "by_group": measured.named_tables()["by_group"],
        "comparisons": measured.tables["comparisons"],
        "tests": tests.without("p_adjusted"),  # the table of measures carries the adjustment
        **extra,
    }
    found = Suite(
        "fairness_suite",
        msg("Fairness suite"),
        tables,
        {"overall_fairness_score": score},
        findings_of(judged, measures, measured, chosen=is_chosen(subject.reference)),
        _pictures(measured),
        (*measured.notes, *_notes(measured, named)),
        config=config,
        score=score,
        score_parts=parts,
        assessment=assessment(score),
        criteria=judged,
        metrics=measured,
    )
    return subject.noted(found)


def _named_reference(subject: Subject) -> Any:
    """The reference group that the user named, by attribute; None where a rule chooses it."""
    reference, columns = subject.reference, subject.attributes
    if isinstance(reference, BestOff):
        return reference.named or None
    if isinstance(reference, Mapping):
        return reference
    if isinstance(reference, str) and reference in RULES:
        return None
    if len(columns) > 1:
        raise SpecError(
            f"With several attributes `privileged` must name the value of each, such as {{{columns[0].name!r}: ...}}; "
            f"got {reference!r}."
        )
    return {columns[0].name: reference}


def _criteria(config: Config) -> list[NamedCriterion]:
    """The criteria of decisions; those of a larger configuration come on top."""
    asked = CONFIGS[: CONFIGS.index(config) + 1]
    return [one for one in OF_DECISIONS.values() if one.config in asked]


def _metrics(outcome: Outcome, config: Config) -> list[str]:
    labelled = outcome.truth is not None
    if outcome.task == "regression":
        return ["mean_prediction", "mean_error", "mae", "rmse"] if labelled else ["mean_prediction"]
    if not labelled:
        return ["selection_rate"]
    wanted = ["selection_rate", "base_rate", *(metric for one in _criteria(config) for metric in one.metrics)]
    return list(dict.fromkeys(wanted))


def _judge(
    measured: GroupMetrics, config: Config, threshold: float, ratio_threshold: float, level: float
) -> dict[tuple[tuple[str, ...], str], Judged]:
    """Every criterion for every way of grouping; the mean beside the worst where there are several rates or classes."""
    assert measured.groups is not None
    ways = list(dict.fromkeys(group.by for group in measured.groups.groups))
    out: dict[tuple[tuple[str, ...], str], Judged] = {}
    known = gaps_of(measured)
    for way in ways:
        for description in _criteria(config):
            name = description.id
            present = measured.judged(description.metrics)
            if not present:
                continue
            limit = ratio_threshold if description.measure == "ratio" else threshold
            found = judge_criterion(description, measured, threshold=limit, by=way, known=known, level=level)
            out[way, name] = Judged.of(found, metrics=tuple(present))
            if len(present) > 1:
                out[way, f"{name}_mean"] = Judged.of(replace(found, aggregate="mean"), metrics=tuple(present))
    return out


def _pictures(measured: GroupMetrics) -> tuple[Picture, ...]:
    assert measured.groups is not None
    shown = [name for name in measured.measured if name.split("[")[0] not in ("base_rate", "fn_fp_ratio")][:6]
    return (
        Picture(
            "bars",
            "score",
            msg("Composition of the score"),
            {
                "labels": ["attribute", "part"],
                "value": "score",
                "reference": 1.0,
                "reference_label": msg("equal treatment"),
            },
        ),
        Picture(
            "forest",
            "by_group",
            msg("Groups side by side, with intervals"),
            {
                "labels": "group",
                "value": shown,
                "color": "by",
                "flag": "small",
                "where": {"by": list(measured.groups.names)},
            },
        ),
    )


def _notes(measured: GroupMetrics, privileged: Any) -> list[Message]:
    assert measured.groups is not None
    notes = [
        msg("The score ranks models and shows change; it is not a statement of compliance with any law or policy."),
        msg("The score covers each attribute separately; intersections are in the table of measures."),
        msg(
            "Groups that are treated equally still differ by chance, so a fair model scores below 1; see its interval."
        ),
    ]
    if privileged is None:
        notes.append(msg("No privileged group is named: groups are compared with the largest one."))
    return notes
