"""The suite: every criterion over every protected attribute at once, one score, what to worry about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from isonomia.counting import Codes
from isonomia.data import Missing, Task
from isonomia.errors import DataError, SpecError
from isonomia.evidence import Estimate, Picture, Result, Table
from isonomia.fairness.criteria.criterion import DESCRIPTIONS, FOUR_FIFTHS, THRESHOLD, judge_criterion
from isonomia.fairness.groups.conditional import condition
from isonomia.fairness.groups.distributions import measure_distributions
from isonomia.fairness.groups.gaps import Aggregate, gaps_of
from isonomia.fairness.groups.group_metrics import MIN_PER_GROUP, GroupMetrics, measure_groups
from isonomia.fairness.groups.homogeneity import homogeneity
from isonomia.fairness.groups.references import against_references
from isonomia.fairness.groups.regression_measures import judge_numbers, score_parts_of_numbers
from isonomia.fairness.groups.score import Part, ScoreParts, assessment, score_decisions, score_numbers, score_table
from isonomia.fairness.groups.suite_table import Judged, findings_of, measures_table
from isonomia.languages import Message, msg
from isonomia.models.surface import finite_numbers
from isonomia.parameters import LEVEL, MISSING, N_BOOT, SEED, Choice, Integer, Number, validated
from isonomia.subject import Outcome, Subject

Config = Literal["quick", "medium", "full"]
CONFIGS: tuple[Config, ...] = get_args(Config)

#: The criteria of decisions; those of a larger configuration come on top.
_QUICK = ("demographic_parity", "disparate_impact", "equal_opportunity")
_MEDIUM = ("equalized_odds", "predictive_equality", "predictive_parity", "overall_accuracy_equality")
_FULL = ("negative_predictive_parity", "treatment_equality")
CRITERIA: dict[Config, tuple[str, ...]] = {
    "quick": _QUICK,
    "medium": (*_QUICK, *_MEDIUM),
    "full": (*_QUICK, *_MEDIUM, *_FULL),
}


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
        }

    def __repr__(self) -> str:
        return (
            f"Suite({self.config}: score {self.score}; {len(self.critical_issues)} critical, "
            f"{len(self.warnings)} warnings; {self.assessment})"
        )


@validated(
    config=Choice(CONFIGS),
    threshold=Number(at_least=0, at_most=1),
    ratio_threshold=Number(at_least=0, at_most=1),
    missing=MISSING,
    min_per_group=Integer(1),
    n_boot=N_BOOT,
    level=LEVEL,
    seed=SEED,
)
def suite(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    config: Config = "full",
    privileged: Any = None,
    y_score: Any = None,
    control: Any = None,
    weights: Any = None,
    threshold: float = THRESHOLD,
    ratio_threshold: float = FOUR_FIFTHS,
    missing: Missing = "group",
    task: Task | None = None,
    positive: Any = None,
    min_per_group: int = MIN_PER_GROUP,
    n_boot: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Suite:
    """Every criterion over every protected attribute, with one score and what to worry about.

    Parameters
    ----------
    y_true : column or None
        True outcomes; without them only criteria of decisions alone are given.
    y_pred : column
        Decisions, or predicted numbers.
    sensitive_features : column, frame, mapping or array
        The protected attributes.
    config : "quick", "medium" or "full"
        quick: demographic parity, disparate impact, equal opportunity for each attribute. medium: also equalized
        odds, predictive equality, predictive parity, accuracy. full: also negative predictive parity, treatment
        equality, all intersections (up to three attributes), disparate impact against every choice of reference,
        and the distribution of scores where they are given.
    privileged : mapping, value or None
        The privileged value(s) of attributes, as `reference` of `group_metrics`; otherwise the largest group is the
        reference of comparisons and the best-off one that of disparate impact.
    y_score : column, optional
        Scores or probabilities of the positive class: their distributions are compared too (full).
    control : column, frame or mapping, optional
        Legitimate factors: conditional statistical parity is added.
    threshold, ratio_threshold : float
        Largest difference of rates that counts as equal; smallest ratio.
    weights, missing, task, positive, min_per_group, n_boot, level, seed
        As in `group_metrics`.

    Notes
    -----
    A rate counts for a criterion where at least `min_per_group` cases stand behind it (positives for the true positive
    rate).

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
    subject = Subject.of(
        y_true, y_pred, task=task, positive=positive, sensitive_features=sensitive_features, weights=weights
    )
    scores = None if y_score is None else finite_numbers(y_score, what="scores")
    if scores is not None and scores.size != subject.rows.size:
        raise DataError(f"`y_score` must have one number per row ({subject.rows.size}); got {scores.size}.")
    return measure_suite(
        subject.outcome,
        subject.attributes,
        config=config,
        privileged=privileged,
        scores=None if scores is None else scores[subject.rows],
        control=subject.columns(control, "control"),
        weights=subject.weights,
        threshold=threshold,
        ratio_threshold=ratio_threshold,
        missing=missing,
        min_per_group=min_per_group,
        n_boot=n_boot,
        level=level,
        seed=seed,
        backend=subject.backend,
    )


@validated(
    config=Choice(CONFIGS), threshold=Number(at_least=0, at_most=1), ratio_threshold=Number(at_least=0, at_most=1)
)
def measure_suite(
    outcome: Outcome,
    columns: Sequence[Codes],
    *,
    config: Config = "full",
    privileged: Any = None,
    scores: Any = None,
    control: Sequence[Codes] = (),
    threshold: float = THRESHOLD,
    ratio_threshold: float = FOUR_FIFTHS,
    **options: Any,
) -> Suite:
    """`suite` for what is encoded already."""
    by = "all" if config == "full" else "each"
    level = options.get("level", 0.95)
    shared = {**options, "reference": _whole(privileged, columns)}
    numbers = outcome.task == "regression"
    measured = measure_groups(outcome, columns, metrics=_metrics(outcome, config), by=by, **shared)
    tests = homogeneity(measured, seed=options.get("seed", 0))
    extra: dict[str, Table] = {}
    if numbers or (config == "full" and scores is not None):
        values = outcome.surface.continuous if numbers else scores
        found = measure_distributions(np.asarray(values, dtype=float), columns, by=by, **shared)
        extra = {"distributions": found.tables["distances"], "quantiles": found.tables["quantiles"]}
    if numbers:
        judged = judge_numbers(measured, extra["distributions"], outcome, threshold, ratio_threshold, level)
        score, parts = score_numbers(score_parts_of_numbers(judged), len(outcome), level)
    else:
        judged = _judge(measured, config, threshold, ratio_threshold, level)
        score, parts = score_decisions(measured, privileged=privileged is not None, level=level)
        if config == "full":
            given = shared["reference"] if privileged is not None else None
            extra["references"] = against_references(outcome, columns, privileged=given, by="each", **options)
    if control and not numbers:
        held = condition(outcome, columns, control=control, threshold=threshold, by="each", **shared)
        extra["conditional"] = held.tables["adjusted"]
        judged[tuple(column.name for column in columns), held.code] = Judged.of(held)
    measures = measures_table(judged, tests, measured)
    tables = {
        "measures": measures,
        "score": score_table(parts, measures.backend),
        "by_group": measured.named_tables()["by_group"],
        "comparisons": measured.tables["comparisons"],
        "tests": tests.without("p_adjusted"),  # the table of measures carries the adjustment
        **extra,
    }
    return Suite(
        "fairness_suite",
        msg("Fairness suite"),
        tables,
        {"overall_fairness_score": score},
        findings_of(judged, measures, measured),
        _pictures(measured),
        (*measured.notes, *_notes(measured, privileged)),
        config=config,
        score=score,
        score_parts=parts,
        assessment=assessment(score),
        criteria=judged,
        metrics=measured,
    )


def _whole(privileged: Any, columns: Sequence[Codes]) -> Any:
    """The reference for all comparisons; a single value is that of the only attribute."""
    if privileged is None:
        return "largest"
    if isinstance(privileged, Mapping):
        return privileged
    if len(columns) > 1:
        raise SpecError(
            f"With several attributes `privileged` must say the value of each, such as {{{columns[0].name!r}: ...}}; "
            f"got {privileged!r}."
        )
    return {columns[0].name: privileged}


def _metrics(outcome: Outcome, config: Config) -> list[str]:
    labelled = outcome.truth is not None
    if outcome.task == "regression":
        return ["mean_prediction", "mean_error", "mae", "rmse"] if labelled else ["mean_prediction"]
    if not labelled:
        return ["selection_rate"]
    wanted = ["selection_rate", "base_rate", *(m for name in CRITERIA[config] for m in DESCRIPTIONS[name].metrics)]
    return list(dict.fromkeys(wanted))


def _judge(
    measured: GroupMetrics, config: Config, threshold: float, ratio_threshold: float, level: float
) -> dict[tuple[tuple[str, ...], str], Judged]:
    """Every criterion for every way of grouping; the mean beside the worst where there are several rates or classes."""
    assert measured.groups is not None
    ways = list(dict.fromkeys(group.by for group in measured.groups.groups))
    out: dict[tuple[tuple[str, ...], str], Judged] = {}
    known = gaps_of(measured, by_cases=True)
    for way in ways:
        for name in CRITERIA[config]:
            description = DESCRIPTIONS[name]
            present = [m for m in measured.measured if m.split("[")[0] in description.metrics]
            if not present:
                continue
            limit = ratio_threshold if description.measure == "ratio" else threshold
            kinds: tuple[Aggregate, ...] = ("worst", "mean") if len(present) > 1 else ("worst",)
            for kind in kinds:
                found = judge_criterion(
                    description, measured, threshold=limit, aggregate=kind, by=way, known=known, level=level
                )
                key = name if kind == "worst" else f"{name}_mean"
                out[way, key] = Judged.of(found, metrics=tuple(present))
    return out


def _pictures(measured: GroupMetrics) -> tuple[Picture, ...]:
    assert measured.groups is not None
    shown = [name for name in measured.measured if name.split("[")[0] not in ("base_rate", "fn_fp_ratio")][:6]
    return (
        Picture(
            "bars",
            "score",
            msg("What the score is made of"),
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
        msg("The score ranks models and shows change; it is no statement of compliance with any law or policy."),
        msg("The score is about each attribute alone; intersections are in the table of measures."),
    ]
    if privileged is None:
        notes.append(msg("No privileged group is named: groups are compared with the largest one."))
    return notes


__all__ = ["CONFIGS", "CRITERIA", "Config", "Part", "Suite", "measure_suite", "suite"]
