"""Verification by sampling: bounds that hold at every sample size, populations to sample, verdicts."""

from isonomia.discovery.subgroups.verification.concentration import (
    Verdict,
    certainty,
    decide_ratio,
    decide_share,
    deviation,
    ratio_error,
    samples_needed,
)
from isonomia.discovery.subgroups.verification.population import Population, population_of

__all__ = [
    "Population",
    "Verdict",
    "certainty",
    "decide_ratio",
    "decide_share",
    "deviation",
    "population_of",
    "ratio_error",
    "samples_needed",
]
