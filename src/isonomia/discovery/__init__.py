"""Whom does a model treat differently: subgroups with other outcomes or errors than the rest, and pairs of people."""

from typing import TYPE_CHECKING

from isonomia.discovery.compare_methods import compare_methods
from isonomia.discovery.method import METHODS, Method
from isonomia.discovery.pairs import PairResult, Retrained, find_pairs, retrain
from isonomia.discovery.result import SearchResult
from isonomia.discovery.subgroups import (
    FairNaiveBayes,
    NaiveBayes,
    Problem,
    Search,
    Subgroup,
    SubgroupResult,
    discrimination_patterns,
    find_subgroups,
    fit_fair_naive_bayes,
)
from isonomia.parameters import face

__all__ = [
    "FairNaiveBayes",
    "METHODS",
    "Method",
    "NaiveBayes",
    "PairResult",
    "Problem",
    "Retrained",
    "Search",
    "SearchResult",
    "Subgroup",
    "SubgroupResult",
    "compare_methods",
    "discrimination_patterns",
    "find_pairs",
    "find_subgroups",
    "retrain",
    "fit_fair_naive_bayes",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
