"""Whom does a model treat differently: subgroups with other outcomes or errors than the rest."""

from isonomia.discovery.subgroups import METHODS, Method, Problem, Search, Subgroup, SubgroupResult, find_subgroups

__all__ = ["METHODS", "Method", "Problem", "Search", "Subgroup", "SubgroupResult", "find_subgroups"]
