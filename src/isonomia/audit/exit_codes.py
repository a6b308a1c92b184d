"""The exit code of an audit: one function decides, every door shows the same."""

from __future__ import annotations

from typing import Literal

from isonomia.evidence import SEVERITIES, Severity
from isonomia.policies import Policy
from isonomia.report import Document, VerdictOutcome

#: What ends an audit with 1: the policy's verdict, or findings of this severity (and the verdict, where there is one).
FailOn = Literal["verdict", "critical", "warning"]

_CODES: dict[VerdictOutcome, int] = {
    "meets": 0,
    "documents": 0,
    "exceeds": 1,
    "not_enough_evidence": 3,
    "incomplete": 3,
    "not_applicable": 4,
}
_UNSURE = {"unsure": 3, "meets": 0, "exceeds": 1}


def failing(fail_on: FailOn) -> tuple[Severity, ...]:
    """The severities of findings that end an audit with 1.

    >>> failing("warning")
    ('critical', 'warning')
    """
    return SEVERITIES[: {"verdict": 0, "critical": 1, "warning": 2}[fail_on]]


def exit_code(document: Document, policy: Policy | None = None, fail_on: FailOn = "verdict") -> int:
    """The exit code: 0 meets, 1 exceeds, 3 not enough evidence, 4 nothing evaluated, 5 a check failed.

    Evidence that is too weak is what the policy's `when_unsure` says; a criterion that could not be examined is never
    taken as met. Bad input (2) never gets this far: it raises. ``fail_on="critical"`` makes it 1 where there is a
    critical finding, ``"warning"`` where there is a warning or worse; findings never turn a 1 into a 0.
    """
    counts = document.counts
    if counts["failed"]:
        return 5
    if not counts["issue"] and not counts["passed"]:
        return 4
    verdict = document.verdict
    found = sum(document.severities[severity] for severity in failing(fail_on))
    if found or (verdict is not None and verdict.outcome == "exceeds"):
        return 1
    if verdict is None:
        return 0
    code = _CODES[verdict.outcome]
    if verdict.outcome in ("not_enough_evidence", "incomplete") and policy is not None:
        code = _UNSURE[policy.when_unsure]
    return code if all(one.was_examined for one in verdict.criteria) else code or 3
