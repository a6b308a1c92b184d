"""Which metrics give way first as noise grows?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import sensitivity

declare(
    "sensitivity",
    sensitivity,
    defaults={"n_trials": 10},
    keys={"n_trials": "n_trials"},
    asked_by="scenarios",
    order=280,
    family="robustness",
    what_if=True,
    title=msg("Sensitivity"),
    question=msg("Which metrics degrade first as noise grows?"),
    purpose="curves of every metric over growing noise, the most sensitive metric",
    within="full",
)
