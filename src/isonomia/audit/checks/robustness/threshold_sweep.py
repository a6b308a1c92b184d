"""What would another threshold cost, and whom?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import threshold_sweep

declare(
    "threshold_sweep",
    threshold_sweep,
    defaults={"thresholds": 21},
    max_boot=200,
    asked_by="scenarios",
    counted=True,
    order=240,
    title=msg("Threshold sweep"),
    question=msg("What would another threshold cost, and whom?"),
    purpose="performance and gaps between groups at every threshold, and where limits are kept",
    within="full",
)
