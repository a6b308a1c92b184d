"""What is examined: tables with roles, readers, public datasets, synthetic data."""

from typing import TYPE_CHECKING

from isonomia.data._notes import bands_note
from isonomia.data.bands import Bands, propose_bands
from isonomia.data.columns import distinct, is_nested, is_searchable, numbers
from isonomia.data.dataset import Dataset, Missing
from isonomia.data.engines.engine import Engine
from isonomia.data.engines.lazy import LazyEngine
from isonomia.data.engines.options import EngineOptions
from isonomia.data.engines.postgres import is_database
from isonomia.data.file_format import FILE_FORMATS, FileFormat, ReadTable
from isonomia.data.frames import (
    Backend,
    backend_of,
    default_backend,
    estimator_backend,
    from_columns,
    to_frame,
    to_numpy,
    wrap,
)
from isonomia.data.labels import favourable_classes, index_of, listed, look_like_scores, ordered, two_classes
from isonomia.data.other_answers import OTHER, OTHER_ANSWERS, OtherAnswers, look_like_answers, recoded
from isonomia.data.reading import read
from isonomia.data.roles import RoleOptions, Roles
from isonomia.data.schema import Kind, Task, kind_of, kind_of_values, task_of
from isonomia.data.weights import check_weights, relative_weights
from isonomia.parameters import face

__all__ = [
    "Backend",
    "Bands",
    "Dataset",
    "Engine",
    "EngineOptions",
    "FILE_FORMATS",
    "FileFormat",
    "Kind",
    "Missing",
    "ReadTable",
    "RoleOptions",
    "Roles",
    "Task",
    "backend_of",
    "bands_note",
    "look_like_answers",
    "OTHER",
    "OTHER_ANSWERS",
    "OtherAnswers",
    "recoded",
    "check_weights",
    "default_backend",
    "estimator_backend",
    "from_columns",
    "distinct",
    "favourable_classes",
    "LazyEngine",
    "index_of",
    "is_database",
    "is_nested",
    "is_searchable",
    "kind_of",
    "kind_of_values",
    "listed",
    "look_like_scores",
    "numbers",
    "ordered",
    "propose_bands",
    "read",
    "relative_weights",
    "task_of",
    "to_frame",
    "to_numpy",
    "two_classes",
    "wrap",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
