"""Subgroups that are treated differently: one entrance, one result shape, one file a method."""

from isonomia.discovery.subgroups import biasscan as _biasscan  # noqa: F401  registers itself
from isonomia.discovery.subgroups import divexplorer as _divexplorer  # noqa: F401  registers itself
from isonomia.discovery.subgroups import slicefinder as _slicefinder  # noqa: F401  registers itself
from isonomia.discovery.subgroups import sliceline as _sliceline  # noqa: F401  registers itself
from isonomia.discovery.subgroups.find import find_subgroups
from isonomia.discovery.subgroups.method import METHODS, Method, Search, Subgroup
from isonomia.discovery.subgroups.problem import Problem
from isonomia.discovery.subgroups.result import SubgroupResult

__all__ = ["METHODS", "Method", "Problem", "Search", "Subgroup", "SubgroupResult", "find_subgroups"]
