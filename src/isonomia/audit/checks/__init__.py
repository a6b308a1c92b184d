"""The checks, one file each; importing this room puts them into the registry, in the order a report shows them."""

from isonomia.audit.checks import representation  # noqa: I001  the order of a report
from isonomia.audit.checks import performance
from isonomia.audit.checks import group_fairness
from isonomia.audit.checks import fairness_suite
from isonomia.audit.checks import equivalence
from isonomia.audit.checks import incompatibility
from isonomia.audit.checks import calibration
from isonomia.audit.checks import weak_spots

__all__ = [
    "calibration",
    "equivalence",
    "fairness_suite",
    "group_fairness",
    "incompatibility",
    "performance",
    "representation",
    "weak_spots",
]
