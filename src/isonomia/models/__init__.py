"""Who predicts: models of any make, loaded safely, and what they said."""

from isonomia.models.surface import Surface, SurfaceKind, check_probabilities, encode_labels, finite_numbers

__all__ = ["Surface", "SurfaceKind", "check_probabilities", "encode_labels", "finite_numbers"]
