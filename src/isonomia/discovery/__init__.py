"""Whom does a model treat differently: subgroups with other outcomes or errors than the rest, and pairs of people."""

from isonomia.discovery.pairs import PAIR_METHODS, PairMethod, PairResult, find_pairs
from isonomia.discovery.subgroups import METHODS, Method, Problem, Search, Subgroup, SubgroupResult, find_subgroups

__all__ = [
    "METHODS",
    "Method",
    "PAIR_METHODS",
    "PairMethod",
    "PairResult",
    "Problem",
    "Search",
    "Subgroup",
    "SubgroupResult",
    "find_pairs",
    "find_subgroups",
]
