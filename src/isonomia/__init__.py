"""Isonomia: equality before the law, for models that decide about people.

Give it a model (or its predictions) and a dataset: it says whether the model is even-handed, whom it treats
differently, where it breaks, and writes a report that can be signed.

Heavy parts are imported when they are first used, so ``import isonomia`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from isonomia import display, keeping
from isonomia._version import __version__
from isonomia.errors import (
    AuditFailed,
    Cancelled,
    DataError,
    IsonomiaError,
    MissingExtraError,
    ModelError,
    NotApplicable,
    SpecError,
    StoreError,
    UntrustedError,
)

if TYPE_CHECKING:
    from isonomia import (
        benchmark,
        discovery,
        explain,
        fairness,
        metrics,
        mitigation,
        policies,
        robustness,
        store,
        study,
    )
    from isonomia.audit import Report, audit, compare, run, verify
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
    "verify": "isonomia.audit",
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
    "store",
    "study",
    "benchmark",
)

__all__ = [
    "AuditFailed",
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
    "StoreError",
    "Subject",
    "Surface",
    "UntrustedError",
    "__version__",
    "audit",
    "benchmark",
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
    "store",
    "study",
    "synth",
    "run",
    "verify",
]

display.render_with(lambda: importlib.import_module("isonomia.report"))
display.progress_with(lambda: importlib.import_module("isonomia.notebook").NotebookProgress(patience=1.0))
keeping.open_with(lambda: importlib.import_module("isonomia.store"))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name == "datasets":
        value = importlib.import_module("isonomia.data.catalog")
    elif name in _ROOMS:
        value = importlib.import_module(f"isonomia.{name}")
    else:
        if name.startswith("__"):
            raise AttributeError(f"module 'isonomia' has no attribute {name!r}")
        from isonomia.parameters import unknown_name

        raise unknown_name("isonomia", "isonomia", name, __dir__())
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
