"""What is examined: data and a model, arrays, or counts, read once into truth, predictions, groups and weights."""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.subject.attributes import dataset_attributes, read_attributes
from isonomia.subject.best_off import BestOff, is_chosen
from isonomia.subject.columns import surface_of
from isonomia.subject.options import AllRoles, Reading, Settings, SubjectOptions
from isonomia.subject.outcome import Outcome, are_probabilities
from isonomia.subject.reading import as_model, is_column, is_table, read_dataset
from isonomia.subject.subject import Subject
from isonomia.subject.truth import labels_beside

__all__ = [
    "AllRoles",
    "BestOff",
    "Outcome",
    "Reading",
    "Settings",
    "Subject",
    "SubjectOptions",
    "are_probabilities",
    "as_model",
    "dataset_attributes",
    "is_chosen",
    "is_column",
    "is_table",
    "labels_beside",
    "read_attributes",
    "read_dataset",
    "surface_of",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
