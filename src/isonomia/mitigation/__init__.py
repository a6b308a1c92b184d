"""What helps: estimators that make a model more even-handed before, in and after training."""

from isonomia.mitigation.decorrelate import Decorrelate
from isonomia.mitigation.massaging import Massage
from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.repair import Repair
from isonomia.mitigation.representation import Represent
from isonomia.mitigation.reweighing import Reweigh, weights
from isonomia.mitigation.sampling import Resample, sample

__all__ = [
    "Decorrelate",
    "MITIGATIONS",
    "Massage",
    "Mitigation",
    "Repair",
    "Represent",
    "Resample",
    "Reweigh",
    "sample",
    "weights",
]
