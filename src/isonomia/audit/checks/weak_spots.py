"""Where is the model worse than it is on average?"""

from __future__ import annotations

from isonomia.audit.checks._declared import declare
from isonomia.languages import msg
from isonomia.robustness import weak_spots

declare(
    "weak_spots",
    weak_spots,
    "pairs",
    "metric",
    "features",
    "slicing",
    "bins",
    "min_samples",
    "severity",
    "critical",
    "alpha",
    # beside unequal treatment of people, an error is critical when it is twice the overall one
    defaults={"min_samples": None, "critical": 1.0},
    order=190,
    title=msg("Weak spots"),
    question=msg("Where does the model make more errors than overall?"),
    purpose="slices of features (and pairs of them) where the model errs more",
)
