"""Who predicts: models of any make, loaded safely, and what they predicted."""

from typing import TYPE_CHECKING

from isonomia.models import estimators
from isonomia.models.allowed import ALLOWED, Allowed
from isonomia.models.batch_size import Pace
from isonomia.models.columns import FrameKind
from isonomia.models.endpoint import EndpointProtocol, endpoint, is_address
from isonomia.models.estimators import split_pipeline
from isonomia.models.gradients import GradientKind, Gradients, Inputs
from isonomia.models.loading import TrustWarning, is_function_name, load_model, save_model
from isonomia.models.model import LARGEST_CALL, Model, ModelOptions
from isonomia.models.model_format import MAX_BYTES, MODEL_FORMAT_NAME, MODEL_FORMATS, ModelFormat
from isonomia.models.own_decisions import Decisions, decisions_of, tied_rows, times_asked
from isonomia.models.surface import (
    Surface,
    SurfaceKind,
    check_probabilities,
    encode_labels,
    finite_numbers,
    refuse_huge,
)
from isonomia.models.thresholds import GroupThresholds
from isonomia.models.trees.arrays import TreeEnsemble
from isonomia.models.trees.links import Link, apply_link
from isonomia.models.trees.reading import read_trees
from isonomia.models.trust import TRUST, Trust, import_object, staying
from isonomia.parameters import face

__all__ = [
    "ALLOWED",
    "Allowed",
    "Decisions",
    "EndpointProtocol",
    "FrameKind",
    "GradientKind",
    "Gradients",
    "GroupThresholds",
    "Inputs",
    "LARGEST_CALL",
    "Link",
    "MAX_BYTES",
    "MODEL_FORMATS",
    "MODEL_FORMAT_NAME",
    "Model",
    "ModelFormat",
    "ModelOptions",
    "Pace",
    "Surface",
    "SurfaceKind",
    "TRUST",
    "TreeEnsemble",
    "Trust",
    "TrustWarning",
    "apply_link",
    "check_probabilities",
    "decisions_of",
    "encode_labels",
    "endpoint",
    "estimators",
    "finite_numbers",
    "refuse_huge",
    "import_object",
    "is_address",
    "is_function_name",
    "load_model",
    "read_trees",
    "save_model",
    "split_pipeline",
    "staying",
    "tied_rows",
    "times_asked",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
