"""What helps: estimators that make a model more even-handed before, in and after training."""

from isonomia.mitigation.massaging import Massage
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.reweighing import Reweigh, weights
from isonomia.mitigation.sampling import Resample, sample

__all__ = [
    "MITIGATIONS",
    "Massage",
    "Mitigation",
    "Resample",
    "Reweigh",
    "sample",
    "weights",
]
