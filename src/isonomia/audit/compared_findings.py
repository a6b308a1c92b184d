"""The findings of two audits: what is new, what is gone, and what was not examined again."""

from __future__ import annotations

import math
from typing import Any

from isonomia.audit.compared_scope import OF_POLICY, Scope
from isonomia.evidence import SEVERITIES, Column, Finding, Severity, Table
from isonomia.languages import Message, msg
from isonomia.report.words import SEVERITY

#: What became of a finding, in the order of the table.
NEW, WORSE, UNEXAMINED, BETTER, GONE, UNSEEN, SAME = (
    msg("new"),
    msg("more severe"),
    msg("not examined again"),
    msg("less severe"),
    msg("gone"),
    msg("not examined before"),
    msg("unchanged"),
)
STATES = (NEW, WORSE, UNEXAMINED, BETTER, GONE, UNSEEN, SAME)


def compared_findings(scope: Scope) -> Table:
    """A row per finding of either report: what became of it, how severe it is, and its sentence."""
    old, new = ({_matter(finding): finding for finding in one.findings} for one in (scope.before, scope.after))
    known = {key: _state(old.get(key), new.get(key), scope) for key in (*new, *old)}
    keys = sorted(known, key=lambda key: STATES.index(known[key]))  # in each, in the order of the reports
    found = [new.get(key) or old[key] for key in keys]
    return Table(
        (
            Column("state", [known[key] for key in keys], title=msg("state")),
            Column(
                "severity",
                [finding.severity for finding in found],
                title=msg("severity"),
                names={str(code): called for code, called in SEVERITY.items()},
            ),
            Column("message", [finding.message for finding in found], title=msg("finding")),
        ),
        msg("Findings before and after"),
    )


def unexamined(findings: Table, severity: Severity) -> int:
    """How many findings of a severity were not examined again."""
    rows = zip(findings["state"].values, findings["severity"].values, strict=True)
    return sum(str(state) == str(UNEXAMINED) and one == severity for state, one in rows)


def _matter(finding: Finding) -> tuple[Any, ...]:
    """What a finding is about in any report; a figure of the worst of several groups, whichever that is, is one."""
    of_worst = finding.code.startswith((OF_POLICY, "fairness_suite."))
    who = sorted(finding.who) if of_worst else sorted(finding.who.items())
    return finding.code, tuple(who), finding.columns


def _state(before: Finding | None, after: Finding | None, scope: Scope) -> Message:
    if after is None:
        assert before is not None
        return UNEXAMINED if scope.unexamined(before) else GONE
    if before is None:
        return UNSEEN if scope.unexamined_before(after) else NEW
    severity = [SEVERITIES.index(one.severity) for one in (before, after)]  # the worst is the first
    if severity[0] == severity[1] or _same_figure(before, after):
        return SAME
    return WORSE if severity[1] < severity[0] else BETTER


def _same_figure(before: Finding, after: Finding) -> bool:
    """Whether the figure did not move: how many tests it was corrected for is no news about the model."""
    first, second = before.estimate.value, after.estimate.value
    return first is not None and second is not None and math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
