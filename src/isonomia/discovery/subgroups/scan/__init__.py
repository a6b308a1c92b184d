"""Subset scanning: the scores, the search over sets of values, the null distribution."""

from isonomia.discovery.subgroups.scan.ascent import Ascent, Best
from isonomia.discovery.subgroups.scan.expectation import Comparison, comparisons
from isonomia.discovery.subgroups.scan.families import Direction, Family, Scoring, family_of
from isonomia.discovery.subgroups.scan.randomisation import scan_p_value

__all__ = [
    "Ascent",
    "Best",
    "Comparison",
    "Direction",
    "Family",
    "Scoring",
    "comparisons",
    "family_of",
    "scan_p_value",
]
