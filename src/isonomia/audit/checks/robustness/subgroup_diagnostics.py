"""How does every metric fare in every subgroup?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import subgroup_diagnostics

declare(
    "subgroup_diagnostics",
    subgroup_diagnostics,
    max_boot=200,
    keys={"metric": "metric"},
    asked_by="scenarios",
    order=230,
    title=msg("Subgroup diagnostics"),
    question=msg("What is the value of each metric in each subgroup?"),
    purpose="every metric of every subgroup, or the reason why it has no value",
    within="full",
)
