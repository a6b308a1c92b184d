"""Where is the model worse than it is on average?"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any

from isonomia.audit.checks._declared import declare
from isonomia.evidence import THRESHOLDS, Result
from isonomia.languages import msg
from isonomia.robustness import weak_spots


@wraps(weak_spots)
def graded(*args: Any, severity: float, **options: Any) -> Result:
    """Weak spots; those that the best possible model would have too are notices.

    Errors are more frequent where the decision is close, also those of the best possible model: by a third to a half in
    the worst of many slices.
    """
    result = weak_spots(*args, severity=severity, **options)
    findings = []
    for finding in result.findings:
        excess = finding.magnitude * severity if severity else finding.magnitude - 1
        findings.append(
            replace(finding, severity="notice") if THRESHOLDS["slice_error"].severity(excess) == "notice" else finding
        )
    return replace(result, findings=tuple(findings))


declare(
    "weak_spots",
    graded,
    # of slices by protected attributes; others are warnings at most
    defaults={"min_samples": None, "critical": 1.0},
    order=190,
    counted=True,
    title=msg("Weak spots"),
    question=msg("Where does the model make more errors than overall?"),
    purpose="slices of features (and pairs of them) where the model errs more",
)
