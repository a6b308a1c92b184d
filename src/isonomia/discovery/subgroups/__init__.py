"""Subgroups that are treated differently: one entrance, one result shape, one file per method."""

from isonomia.discovery.subgroups.bayes import (
    FairNaiveBayes,
    NaiveBayes,
    discrimination_patterns,
    fit_fair_naive_bayes,
)
from isonomia.discovery.subgroups.find import find_subgroups
from isonomia.discovery.subgroups.method import Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.result import SubgroupResult

__all__ = [
    "FairNaiveBayes",
    "NaiveBayes",
    "Problem",
    "Search",
    "Subgroup",
    "SubgroupResult",
    "discrimination_patterns",
    "find_subgroups",
    "fit_fair_naive_bayes",
]
