"""Do explanations and fairness measures agree: the study as an experiment that users can repeat and extend."""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.study.explainers import STUDY_EXPLAINERS, StudyExplainer
from isonomia.study.fixes import STUDY_FIXES, StudyFix
from isonomia.study.matrices import Matrices, encode
from isonomia.study.measures import STUDY_MEASURES, StudyMeasure
from isonomia.study.models import STUDY_MODELS, StudyModel
from isonomia.study.outcome import Study
from isonomia.study.published import published_rows
from isonomia.study.running import read_study, run_study
from isonomia.study.sources import STUDY_DATA, StudyData
from isonomia.study.spec import read_study_spec

__all__ = [
    "Matrices",
    "STUDY_DATA",
    "STUDY_EXPLAINERS",
    "STUDY_FIXES",
    "STUDY_MEASURES",
    "STUDY_MODELS",
    "Study",
    "StudyData",
    "StudyExplainer",
    "StudyFix",
    "StudyMeasure",
    "StudyModel",
    "encode",
    "published_rows",
    "read_study",
    "read_study_spec",
    "run_study",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
