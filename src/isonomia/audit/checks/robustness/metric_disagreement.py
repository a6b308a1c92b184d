"""Do metrics agree on where the model is better?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import metric_disagreement

declare(
    "metric_disagreement",
    metric_disagreement,
    asked_by="scenarios",
    counted=True,
    order=250,
    title=msg("Disagreement of metrics"),
    question=msg("Do metrics agree on where the model is better?"),
    purpose="rankings of slices (or scenarios) by every metric: Kendall tau, pairs that swap",
    within="full",
)
