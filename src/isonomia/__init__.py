"""Isonomia: equality before the law, for models that decide about people.

Give it a model (or its predictions) and a dataset: it says whether the model is even-handed, whom it treats
differently, where it breaks, and writes a report that can be signed.

Heavy parts are imported when they are first used, so ``import isonomia`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from isonomia import display
from isonomia._version import __version__
from isonomia.errors import (
    Cancelled,
    DataError,
    IsonomiaError,
    MissingExtraError,
    ModelError,
    NotApplicable,
    SpecError,
    UntrustedError,
)

if TYPE_CHECKING:
    from isonomia import discovery, explain, fairness, metrics, mitigation, policies, robustness, study
    from isonomia.audit import Report, audit, compare, run
    from isonomia.data import Dataset, read
    from isonomia.data import catalog as datasets
    from isonomia.data.synthetic import synth
    from isonomia.events import Event, Progress
    from isonomia.evidence import Estimate, Finding, Result
    from isonomia.mitigation import mitigate
    from isonomia.models import Model, Surface, load_model
    from isonomia.notebook import NotebookProgress
    from isonomia.subject import Subject

#: Where each lazily imported name lives.
_HOME = {
    "Dataset": "isonomia.data",
    "Event": "isonomia.events",
    "NotebookProgress": "isonomia.notebook",
    "Progress": "isonomia.events",
    "Estimate": "isonomia.evidence",
    "Finding": "isonomia.evidence",
    "Result": "isonomia.evidence",
    "Report": "isonomia.audit",
    "compare": "isonomia.audit",
    "read": "isonomia.data",
    "run": "isonomia.audit",
    "mitigate": "isonomia.mitigation",
    "Model": "isonomia.models",
    "Surface": "isonomia.models",
    "load_model": "isonomia.models",
    "Subject": "isonomia.subject",
    "synth": "isonomia.data.synthetic",
}
_ROOMS = (
    "data",
    "models",
    "counting",
    "evidence",
    "subject",
    "probing",
    "metrics",
    "policies",
    "fairness",
    "discovery",
    "robustness",
    "explain",
    "mitigation",
    "report",
    "audit",
    "study",
)

__all__ = [
    "Cancelled",
    "DataError",
    "Dataset",
    "Estimate",
    "Event",
    "Finding",
    "IsonomiaError",
    "MissingExtraError",
    "Model",
    "ModelError",
    "NotApplicable",
    "NotebookProgress",
    "Progress",
    "Report",
    "Result",
    "SpecError",
    "Subject",
    "Surface",
    "UntrustedError",
    "__version__",
    "audit",
    "compare",
    "datasets",
    "discovery",
    "explain",
    "fairness",
    "load_model",
    "metrics",
    "mitigate",
    "mitigation",
    "policies",
    "read",
    "robustness",
    "study",
    "synth",
    "run",
]

display.render_with(lambda: importlib.import_module("isonomia.report"))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name == "datasets":
        value = importlib.import_module("isonomia.data.catalog")
    elif name in _ROOMS:
        value = importlib.import_module(f"isonomia.{name}")
    else:
        raise AttributeError(f"module 'isonomia' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
