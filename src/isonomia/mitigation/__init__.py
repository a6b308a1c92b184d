"""What helps: estimators that make a model more even-handed before, in and after training."""

from isonomia.mitigation.registry import MITIGATIONS, Mitigation
from isonomia.mitigation.reweighing import Reweigh, weights

__all__ = [
    "MITIGATIONS",
    "Mitigation",
    "Reweigh",
    "weights",
]
