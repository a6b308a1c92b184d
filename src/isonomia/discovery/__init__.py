"""Whom does a model treat differently: subgroups with other outcomes or errors than the rest, and pairs of people."""

from isonomia.discovery.pairs import PAIR_METHODS, PairResult, Retrained, find_pairs, retrain
from isonomia.discovery.subgroups import (
    METHODS,
    FairNaiveBayes,
    Method,
    NaiveBayes,
    Problem,
    Search,
    Subgroup,
    SubgroupResult,
    discrimination_patterns,
    find_subgroups,
    fit_fair_naive_bayes,
)

__all__ = [
    "FairNaiveBayes",
    "METHODS",
    "Method",
    "NaiveBayes",
    "PAIR_METHODS",
    "PairResult",
    "Problem",
    "Retrained",
    "Search",
    "Subgroup",
    "SubgroupResult",
    "discrimination_patterns",
    "find_pairs",
    "find_subgroups",
    "retrain",
    "fit_fair_naive_bayes",
]
