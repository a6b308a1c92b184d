"""What a rule compares: which groups, in which pairs, from which size on, and who is left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomia.counting import tally
from isonomia.errors import NotApplicable, SpecError
from isonomia.fairness.groups.comparisons import strata_of
from isonomia.fairness.groups.group_metrics import GroupMetrics, group_metrics
from isonomia.fairness.groups.grouping import Group
from isonomia.fairness.groups.measured_groups import measured_groups
from isonomia.languages import error_message, msg
from isonomia.metrics import METRICS
from isonomia.metrics.applicable import TASKS
from isonomia.policies import Policy, Rule
from isonomia.subject import BestOff, Subject
from isonomia.typing import Bools, Indices

#: A smaller share of people without a value of an attribute is left out, where the rule has no share of its own; from
#: there on they are a group.
FEW = 0.02


@dataclass(frozen=True, eq=False)
class GroupQuestion:
    """A rule about the groups of one way of grouping: who is compared with whom, and who was left out.

    Attributes
    ----------
    pairs : mapping
        The sets compared, by the name of the metric (one for each class of several): all pairs in both directions, or
        each group with the reference.
    unproved : tuple of int
        Groups that the rule is about and that have fewer than `minimum` rows, or of a rate fewer cases: nothing is
        shown of them, so that the rule is not shown to be met.
    small : tuple of int
        Groups below the rule's own share of the people, which it leaves out.
    unknown : mapping of int
        Attributes that few people have no value of, and how many: they are left out.
    total : int
        All people.
    """

    rule: Rule
    by: tuple[str, ...]
    measured: GroupMetrics
    pairs: dict[str, tuple[Indices, Indices]]
    base: int | None
    unproved: tuple[int, ...]
    small: tuple[int, ...]
    unknown: Mapping[str, int]
    total: int
    minimum: int

    def few_cases(self, index: int) -> int | None:
        """The cases of a group that has enough rows, where these are too few for the rate; else None."""
        if self.measured.sizes[index] < self.minimum:
            return None
        names = self.measured.judged([METRICS[self.rule.metric].id])
        fewest = min((self.measured.measured[name] for name in names), key=lambda part: part.n[index])
        return int(fewest.n[index]) if fewest.rate and fewest.n[index] < self.minimum else None

    @property
    def rows(self) -> int:
        """How many times a worst comparison is picked."""
        return len(self.pairs)

    def group(self, index: int) -> Group | None:
        """One of the sets; None for a reference that is not a group."""
        groups = self.groups
        return groups[index] if 0 <= index < len(groups) else None

    @property
    def groups(self) -> Sequence[Group]:
        """All groups."""
        assert self.measured.groups is not None
        return self.measured.groups.groups


def group_questions(rule: Rule, policy: Policy, subject: Subject) -> list[GroupQuestion]:
    """One question for each way of grouping that the rule names.

    Raises
    ------
    NotApplicable
        Where the metric or the groups do not exist for this subject.
    """
    measured = _measured(rule, subject)
    assert measured.groups is not None
    names = measured.judged([METRICS[rule.metric].id])
    reference = "largest" if rule.against == "best" else subject.reference  # of all pairs none is the reference
    try:
        strata = strata_of(measured.groups, measured.sizes, reference)[0]
    except SpecError as error:
        raise NotApplicable(error_message(error)) from error
    lacking = few_without(subject, rule.min_share or FEW)
    questions = []
    for stratum in strata:
        if (rule.by == "each" and len(stratum.by) > 1) or (
            rule.attributes and not set(stratum.by) <= {*rule.attributes}
        ):
            continue
        base = stratum.reference if _names_reference(reference, stratum.by) and not stratum.absent else None
        index = np.array(stratum.members, dtype=np.intp)
        unknown = {name: lacking[name] for name in stratum.by if name in lacking}
        known = np.array([not without(measured.groups.groups[one], unknown) for one in index], dtype=bool)
        large = measured.sizes[index] >= rule.min_share * len(subject)
        asked = index[known & large]
        enough = {name: _judged(measured, name, policy.min_per_group)[asked] for name in names}
        questions.append(
            GroupQuestion(
                rule=rule,
                by=stratum.by,
                measured=measured,
                pairs={
                    name: pair
                    for name, proved in enough.items()
                    if (pair := _pairs(asked[proved], base, rule, len(measured.sizes)))[0].size
                },
                base=base,
                unproved=tuple(asked[~np.all(list(enough.values()), axis=0)].tolist()),
                small=tuple(index[known & ~large].tolist()),
                unknown=unknown,
                total=len(subject),
                minimum=policy.min_per_group,
            )
        )
    return questions


def few_without(subject: Subject, share: float = FEW) -> dict[str, int]:
    """The attributes that fewer than such a share of the people have no value of, and how many people these are."""
    missing = {column.name: column.missing for column in subject.attributes if column.missing is not None}
    counted = {column.name: tally([column], counts=subject.counts).n for column in subject.attributes}
    lacking = {name: int(counted[name][code]) for name, code in missing.items()}
    return {name: n for name, n in lacking.items() if n < share * len(subject)}


def without(group: Group, names: Collection[str]) -> bool:
    """Whether its people have no value of one of these attributes."""
    return any(group.attributes.get(name, "") is None for name in names)


def _judged(measured: GroupMetrics, name: str, least: int) -> Bools:
    """The groups whose value rests on enough rows and cases."""
    part = measured.measured[name]
    sizes = measured.sizes
    return part.enough(sizes, least) & ~np.isnan(part.value[: len(sizes)])


def _measured(rule: Rule, subject: Subject) -> GroupMetrics:
    subject.needs_attributes()
    metric = METRICS[rule.metric]
    of_classes = subject.task == "multiclass" and "binary" in metric.tasks and metric.of_decisions
    if subject.task not in metric.tasks and not of_classes:
        raise NotApplicable(
            msg("{metric} is not defined for this task ({task})", metric=metric.title, task=TASKS[subject.task])
        )
    if metric.needs_labels and subject.outcome.truth is None:
        raise NotApplicable(msg("the data have no target, so there are no true outcomes to compare with"))
    if subject.task != "regression" and subject.surface.label is None:
        raise NotApplicable(msg("there are scores but no decisions"))
    if metric.rate is not None:
        return measured_groups(subject, [rule.metric], rule.by)
    # replicates have a seed: the verdict's own, whatever the audit's is
    fixed = replace(subject, settings=subject.settings | {"seed": 0})
    return group_metrics(fixed, metrics=[rule.metric], by=rule.by)


def _names_reference(reference: Any, by: tuple[str, ...]) -> bool:
    """Whether someone named the group of comparison; a rule such as the largest group has no better-off side."""
    if isinstance(reference, BestOff):
        return any(name in reference.named for name in by)
    if isinstance(reference, dict):
        return any(name in reference for name in by)
    return bool(reference != "largest")


def _pairs(used: Indices, base: int | None, rule: Rule, groups: int) -> tuple[Indices, Indices]:
    if base is None:
        first, second = (part.ravel() for part in np.meshgrid(used, used, indexing="ij"))
        return first[first != second], second[first != second]
    others = used[used != base]
    if base < groups and others.size == used.size:  # the reference itself was left out
        others = others[:0]
    against = np.full(others.size, base, dtype=np.intp)
    if rule.measure == "ratio":
        return others, against
    return np.concatenate([others, against]), np.concatenate([against, others])
