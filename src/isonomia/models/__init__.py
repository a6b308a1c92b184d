"""Who predicts: models of any make, loaded safely, and what they said."""

from isonomia.models.outcome import Outcome, read_outcome
from isonomia.models.surface import Surface, SurfaceKind, check_probabilities, encode_labels, finite_numbers

__all__ = [
    "Outcome",
    "Surface",
    "SurfaceKind",
    "check_probabilities",
    "encode_labels",
    "finite_numbers",
    "read_outcome",
]
