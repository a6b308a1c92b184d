"""One function decides a verdict; Python, command line and web only show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.measurements import measured_groups, measured_overall
from isonomia.audit.policy import Policy, Rule
from isonomia.errors import NotApplicable, SpecError
from isonomia.evidence import Estimate
from isonomia.fairness import GroupMetrics
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS
from isonomia.metrics.applicable import TASKS
from isonomia.report import Criterion, Document, Verdict, VerdictOutcome
from isonomia.subject import Subject

#: A gap counts as shown when its adjusted p-value is below this.
ALPHA = 0.05


def judge(policy: Policy, subject: Subject) -> Verdict:
    """Every rule of a policy applied to the subject, and what follows from them together."""
    criteria: list[Criterion] = []
    for rule in policy.rules:
        try:
            criteria += _criteria(rule, policy, subject)
        except NotApplicable as reason:
            missing = Estimate.missing(reason.message, n=len(subject))
            criteria.append(_criterion(rule, "not_applicable", missing, reason=reason.message))
    outcome = worst([criterion.outcome for criterion in criteria])
    title = _message(policy.title)
    return Verdict(outcome, policy.id, title, policy.source, tuple(criteria), _SENTENCES[outcome])


_WORST_FIRST: tuple[VerdictOutcome, ...] = ("exceeds", "not_enough_evidence", "meets")
_SENTENCES: dict[VerdictOutcome, Message] = {
    "exceeds": msg("At least one criterion is exceeded."),
    "not_enough_evidence": msg("No criterion is shown to be exceeded, but not all are shown to be met."),
    "meets": msg("Every criterion that applies is met."),
    "not_applicable": msg("No criterion of the policy applies to this subject."),
}


def exit_code(document: Document, policy: Policy | None = None) -> int:
    """The exit code of every door: 0 meets, 1 exceeds, 3 not enough evidence, 4 nothing evaluated, 5 a check failed.

    Bad input (2) never gets this far: it raises.
    """
    counts = document.counts
    if counts["failed"]:
        return 5
    if not counts["issue"] and not counts["passed"]:
        return 4
    if document.verdict is None:
        return 0
    if document.verdict.outcome == "not_enough_evidence" and policy is not None:
        return {"unsure": 3, "meets": 0, "exceeds": 1}[policy.when_unsure]
    return {"meets": 0, "exceeds": 1, "not_enough_evidence": 3, "not_applicable": 4}[document.verdict.outcome]


def _criteria(rule: Rule, policy: Policy, subject: Subject) -> list[Criterion]:
    if rule.measure == "value":
        figure = measured_overall(subject, rule.metric)
        return [_criterion(rule, *_decide(rule, figure, None))]
    measured = _measured(rule, policy, subject)
    return [_worst_of(rule, attributes, measured, subject) for attributes in _attribute_sets(measured)]


def _measured(rule: Rule, policy: Policy, subject: Subject) -> GroupMetrics:
    subject.needs_attributes()
    metric = METRICS[rule.metric]
    spelt_out = subject.task == "multiclass" and "binary" in metric.tasks and metric.of_decisions
    if subject.task not in metric.tasks and not spelt_out:
        raise NotApplicable(
            msg("{metric} is not defined for this task ({task})", metric=metric.title, task=TASKS[subject.task])
        )
    if metric.needs_labels and subject.outcome.truth is None:
        raise NotApplicable(msg("the data name no target, so there are no true outcomes to compare with"))
    if subject.task != "regression" and subject.surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions"))
    minimum = max(policy.min_per_group, int(np.ceil(rule.min_share * len(subject))))
    try:
        return measured_groups(subject, [rule.metric], rule.by).against(
            "best" if rule.against == "best" else subject.settings.reference,
            metric=rule.metric,
            by=rule.by,
            min_per_group=minimum,
            level=subject.settings.level,
        )
    except SpecError as error:
        raise NotApplicable(str(error)) from error


def _attribute_sets(measured: GroupMetrics) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(measured.tables["disparities"]["by"].keys or ()))


def _worst_of(rule: Rule, attributes: tuple[str, ...], measured: GroupMetrics, subject: Subject) -> Criterion:
    """The criterion for one way of grouping: its worst comparison among groups with enough rows."""
    assert measured.groups is not None
    groups, table = measured.groups.groups, measured.tables["comparisons"]
    indices = {group.key: index for index, group in enumerate(groups)}
    named = {group.name: index for index, group in enumerate(groups) if group.by == attributes}

    def enough(row: int, key: Any) -> bool:
        position = indices[key]
        sizes = measured.sizes[[position, named.get(table["reference"].values[row], position)]]
        return groups[position].by == attributes and bool((sizes >= measured.min_per_group).all())

    keys = table["group"].keys or ()
    figures = {row: table[rule.measure].estimate(row) for row, key in enumerate(keys) if enough(row, key)}
    known = {row: figure.value for row, figure in figures.items() if figure.value is not None}
    if not known:
        reason = msg(
            "fewer than two groups by {way} have {least:int} rows and a value",
            way=" x ".join(attributes),
            least=measured.min_per_group,
        )
        missing = Estimate.missing(reason, n=len(subject))
        return _criterion(rule, "not_enough_evidence", missing, who={"by": " x ".join(attributes)}, reason=reason)
    row = min(known, key=lambda one: known[one] if rule.measure == "ratio" else -abs(known[one]))
    position, name = indices[keys[row]], table["reference"].values[row]
    against = dict(groups[named[name]].texts) if name in named else {"reference": name}
    figure = _figure(rule, table["metric"].values[row], figures[row], attributes, measured)
    figure = replace(figure, n=int(measured.sizes[position]), level=subject.settings.level, method="bootstrap")
    outcome, _, reason_ = _decide(rule, figure, table["p_adjusted"].estimate(row).value)
    return _criterion(rule, outcome, figure, who=dict(groups[position].texts), reference=against, reason=reason_)


def _figure(rule: Rule, metric: str, figure: Estimate, attributes: tuple[str, ...], measured: GroupMetrics) -> Estimate:
    """The worst comparison. Against the best group it is the gap between the extremes, as everywhere else."""
    highest_is_best = measured.measured[metric].metric.higher_is_better is not False
    if rule.against == "best" and (rule.measure == "difference" or highest_is_best):
        difference, ratio = measured.disparity(metric, attributes)
        return difference if rule.measure == "difference" else ratio
    figure = replace(figure, note=None)
    if rule.measure == "ratio" or figure.value is None or figure.low is None or figure.high is None:
        return figure
    # the size of the gap, whichever side it is on
    low, high = sorted((abs(figure.low), abs(figure.high)))
    return replace(figure, value=abs(figure.value), low=0.0 if figure.low <= 0 <= figure.high else low, high=high)


def _decide(
    rule: Rule, figure: Estimate, p_adjusted: float | None
) -> tuple[VerdictOutcome, Estimate, Message | str | None]:
    if figure.value is None:
        return "not_enough_evidence", figure, figure.note
    limit = rule.at_least if rule.at_least is not None else rule.at_most
    assert limit is not None
    sign = 1.0 if rule.at_least is not None else -1.0
    keeps = sign * (figure.value - limit) >= 0
    if rule.decide == "point" or figure.low is None or figure.high is None:
        return ("meets" if keeps else "exceeds"), figure, None
    if rule.decide == "point_and_test":
        if keeps:
            return "meets", figure, None
        if p_adjusted is not None and p_adjusted < ALPHA:
            return "exceeds", figure, None
        return "not_enough_evidence", figure, msg("the gap could be chance (p adjusted {p:p})", p=p_adjusted)
    if sign * (figure.low - limit) >= 0 and sign * (figure.high - limit) >= 0:
        return "meets", figure, None
    if sign * (figure.low - limit) < 0 and sign * (figure.high - limit) < 0:
        return "exceeds", figure, None
    return "not_enough_evidence", figure, msg("the interval holds the threshold")


def _criterion(
    rule: Rule,
    outcome: VerdictOutcome,
    figure: Estimate,
    reason: Message | str | None = None,
    *,
    who: Mapping[str, str] | None = None,
    reference: Mapping[str, str] | None = None,
) -> Criterion:
    return Criterion(
        _message(rule.name),
        outcome,
        figure,
        rule.at_least if rule.at_least is not None else rule.at_most,
        "at_least" if rule.at_least is not None else "at_most",
        who=who or {},
        reference=reference or {},
        citation=rule.citation,
        reason=reason,
    )


def _message(text: str) -> Message:
    """A text of a policy as a message: shipped ones are translated, braces in a user's own mean nothing."""
    return Message(text.replace("{", "{{").replace("}", "}}"))


def worst(outcomes: Sequence[VerdictOutcome]) -> VerdictOutcome:
    """The outcome that summarises several.

    >>> worst(["meets", "not_enough_evidence"])
    'not_enough_evidence'
    """
    return next((kind for kind in _WORST_FIRST if kind in outcomes), "not_applicable")
