"""Which rows are served worst, and what is unusual about them?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import failure_modes

declare(
    "failure_modes",
    failure_modes,
    defaults={"min_samples": None},
    asked_by="scenarios",
    order=220,
    title=msg("Failure modes"),
    question=msg("On which rows is the model worst, and what is unusual about them?"),
    purpose="the worst rows with reasons, how rows fail, over-represented slices",
    within="full",
    counted=True,
)
