"""What the judge says of every fix, limit by limit, as a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from isonomia.evidence import Column, Estimate, Table
from isonomia.fairness.judging.reasons import joined
from isonomia.languages import Message, msg
from isonomia.mitigation.judging.effect_tables import criterion_titles
from isonomia.mitigation.judging.judge import Judged, Reached
from isonomia.policies import policy_text

OUTCOMES = {
    "meets": msg("meets"),
    "exceeds": msg("exceeds"),
    "not_enough_evidence": msg("not enough evidence"),
    "not_applicable": msg("not applicable"),
}


def outcomes_table(judged: Judged, titles: Mapping[str, Message]) -> Table:
    """A row for each fix, rule and way of grouping: the very outcomes of an audit of its decisions.

    `titles` are the headings of the fixes.
    """
    named = {one.judgement.rule.id: limit_title(one) for one in judged.each["none"]}
    rows = []
    for name in judged.comparison.names:
        for one in judged.each[name]:
            found = one.judgement
            rows.append(
                {
                    "method": name,
                    "rule": found.rule.id,
                    "by": " x ".join(found.by),
                    "value": _estimate(one),
                    "limit": found.rule.limit,
                    "outcome": one.outcome,
                    "reason": joined(found.reason, found.set_aside),
                }
            )
    columns = (
        Column("method", title=msg("method"), names={"none": msg("no fix"), **titles}),
        Column("rule", title=msg("rule"), names=named),
        Column("by", title=msg("by")),
        Column("value", format="num", title=msg("value")),
        Column("limit", format="num", title=msg("limit")),
        Column("outcome", title=msg("outcome"), names=OUTCOMES),
        Column("reason", title=msg("reason")),
    )
    title = msg("What the policy says of each fix") if judged.policy else msg("What the limit says of each fix")
    return Table.from_rows(rows, columns, title=title, backend=judged.comparison.subject.backend)


def limit_title(one: Reached) -> Message:
    """What a limit is about: the criterion of a goal, else what the rule is called."""
    if one.goal is not None:
        return criterion_titles()[one.goal.criterion]
    return policy_text(one.judgement.rule.name)


def _estimate(one: Reached) -> Estimate:
    evidence, n = one.judgement.evidence, one.judgement.n
    if evidence is None or one.value is None:
        return Estimate.missing(one.judgement.reason or msg("not available"), n=n)
    low, high = (end if np.isfinite(end) else None for end in (evidence.low, evidence.high))
    return Estimate(one.value, low, high, n=n, method="simultaneous")
