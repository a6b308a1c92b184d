"""The criteria of a policy before and after: which are newly exceeded, still exceeded, no longer exceeded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from isonomia.audit.report import Report
from isonomia.evidence import Column, Estimate, Table
from isonomia.languages import Message, msg
from isonomia.report import Criterion, VerdictOutcome
from isonomia.report.words import CRITERIA

#: "unsettled": it was met, and is now not shown to be; that is not a breach. "unexamined": nothing was there to examine
#: this time. "gone": the policy does not have the rule any more.
Step = Literal["worse", "unexamined", "unsettled", "better", "same", "new", "gone"]

STEPS: Mapping[Step, Message] = {
    "worse": msg("worse"),
    "unexamined": msg("not examined again"),
    "unsettled": msg("no longer shown to be met"),
    "better": msg("better"),
    "same": msg("unchanged"),
    "new": msg("new"),
    "gone": msg("gone"),
}
#: What a figure of a criterion is.
MEASURES: Mapping[str, Message] = {
    "ratio": msg("ratio"),
    "difference": msg("difference"),
    "value": msg("value"),
    "": msg("count"),
}
#: The worse an outcome, the higher.
RANKS: Mapping[VerdictOutcome, int] = {
    "meets": 0,
    "documents": 0,
    "not_applicable": 1,
    "not_enough_evidence": 1,
    "incomplete": 1,
    "exceeds": 2,
}


def same_policy(before: Report, after: Report) -> bool:
    """Whether both reports have a verdict of one policy."""
    return before.verdict is not None and after.verdict is not None and before.verdict.policy == after.verdict.policy


def step(
    before: Criterion | None, after: Criterion | None, when_unsure: str = "unsure", *, required: bool = False
) -> Step:
    """What became of a criterion: its outcome decides, not its figure.

    Evidence that is not enough any more is worse only for a policy that counts it as a breach. A criterion that is
    missing now was not examined again where the policy still requires it.
    """
    if before is None or (not before.was_examined and after is not None and after.was_examined):
        return "new"
    if after is None:
        return "unexamined" if required else "gone"
    if before.was_examined and not after.was_examined:
        return "unexamined"
    change = RANKS[after.outcome] - RANKS[before.outcome]
    if change > 0:
        return "worse" if RANKS[after.outcome] == RANKS["exceeds"] or when_unsure == "exceeds" else "unsettled"
    return "better" if change < 0 else "same"


def steps(before: Report, after: Report) -> list[tuple[Criterion | None, Criterion | None, Step]]:
    """The criteria of both reports, and what became of each; one that is new and exceeded is worse."""
    when = "unsure" if after.policy is None else after.policy.when_unsure
    rules = set() if after.policy is None else {rule.id for rule in after.policy.rules}
    found: list[tuple[Criterion | None, Criterion | None, Step]] = []
    for first, second in paired(before, after):
        change = step(first, second, when, required=first is not None and first.rule in rules)
        if change == "new" and second is not None and second.outcome == "exceeds":
            change = "worse"
        found.append((first, second, change))
    return found


def paired(before: Report, after: Report) -> list[tuple[Criterion | None, Criterion | None]]:
    """The criteria of both verdicts by their stable names; none where the policies differ."""
    if not same_policy(before, after):
        return []
    assert before.verdict is not None
    assert after.verdict is not None
    first = {criterion.key: criterion for criterion in before.verdict.criteria}
    second = {criterion.key: criterion for criterion in after.verdict.criteria}
    return [(first.get(key), second.get(key)) for key in dict.fromkeys([*second, *first])]


def _called(criterion: Criterion) -> Message:
    """What a criterion is called: its rule, and the attributes whose groups it compares."""
    if not criterion.by:
        return msg("{name}", name=criterion.name)
    return msg("{name} ({attributes})", name=criterion.name, attributes=" × ".join(criterion.by))


def compared_criteria(before: Report, after: Report) -> Table:
    """A row per criterion: figure and outcome of both reports, the limit, and what became of it."""
    compared = steps(before, after)
    pairs = [(first, second) for first, second, _ in compared]
    known = [one for first, second in pairs if (one := second or first) is not None]

    def figures(which: int, name: str, title: Message) -> Column:
        absent = Estimate.missing(msg("not in this report"))
        return Column(name, format="num", title=title).filled(
            [absent if (one := pair[which]) is None else one.estimate for pair in pairs]
        )

    def outcomes(which: int) -> list[str | None]:
        return [None if (one := pair[which]) is None else one.outcome for pair in pairs]

    return Table(
        (
            Column(
                "criterion",
                [one.key for one in known],
                title=msg("criterion"),
                names={one.key: _called(one) for one in known},
            ),
            Column("measure", [one.measure for one in known], title=msg("measure"), names=MEASURES),
            figures(0, "before", msg("before")),
            figures(1, "after", msg("after")),
            Column("limit", [one.threshold for one in known], format="num", title=msg("limit")),
            Column(
                "outcome_before",
                outcomes(0),
                title=msg("outcome before"),
                names={str(k): v for k, v in CRITERIA.items()},
            ),
            Column(
                "outcome_after", outcomes(1), title=msg("outcome after"), names={str(k): v for k, v in CRITERIA.items()}
            ),
            Column(
                "step",
                [change for *_, change in compared],
                title=msg("change"),
                names={str(k): v for k, v in STEPS.items()},
            ),
        ),
        msg("Criteria before and after"),
    )
