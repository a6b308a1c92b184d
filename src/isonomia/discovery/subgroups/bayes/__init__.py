"""Naive Bayes classifiers: their discrimination patterns, and one that has none."""

from isonomia.discovery.subgroups.bayes.fair import FairNaiveBayes, fit_fair_naive_bayes
from isonomia.discovery.subgroups.bayes.mining import Ranking, discrimination_patterns
from isonomia.discovery.subgroups.bayes.network import NaiveBayes
from isonomia.discovery.subgroups.bayes.patterns import Patterns, possible_patterns

__all__ = [
    "FairNaiveBayes",
    "NaiveBayes",
    "Patterns",
    "Ranking",
    "discrimination_patterns",
    "fit_fair_naive_bayes",
    "possible_patterns",
]
