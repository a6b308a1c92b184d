"""Who predicts: models of any make, loaded safely, and what they said."""

from isonomia.models.allowed import ALLOWED, Allowed
from isonomia.models.columns import FrameKind
from isonomia.models.endpoint import EndpointProtocol, endpoint, is_address
from isonomia.models.loading import MAX_BYTES, SUFFIXES, Format, TrustWarning, load_model, save_model
from isonomia.models.model import Model, ModelOptions
from isonomia.models.outcome import Outcome, read_outcome
from isonomia.models.surface import Surface, SurfaceKind, check_probabilities, encode_labels, finite_numbers
from isonomia.models.truth import Truth, surface_of, truth_codes

__all__ = [
    "ALLOWED",
    "Allowed",
    "EndpointProtocol",
    "Format",
    "FrameKind",
    "MAX_BYTES",
    "Model",
    "ModelOptions",
    "Outcome",
    "SUFFIXES",
    "Surface",
    "SurfaceKind",
    "TrustWarning",
    "Truth",
    "check_probabilities",
    "encode_labels",
    "endpoint",
    "finite_numbers",
    "is_address",
    "load_model",
    "read_outcome",
    "save_model",
    "surface_of",
    "truth_codes",
]
