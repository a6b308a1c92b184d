"""Pairs of people who differ only in protected attributes and are treated differently: one file per search."""

from isonomia.discovery.pairs.find import find_pairs
from isonomia.discovery.pairs.result import PairResult, Pairs
from isonomia.discovery.pairs.retraining import Retrained, retrain
from isonomia.discovery.pairs.space import Space

__all__ = ["PairResult", "Pairs", "Retrained", "Space", "find_pairs", "retrain"]
