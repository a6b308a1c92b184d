"""What makes a model the same model in another process: a hash of its file, or of its parameters."""

from __future__ import annotations

import hashlib
import io
import pickle
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isonomia.models.model import Model

#: Packages whose classes and functions are known by their names: their versions are part of what is hashed.
_LIBRARIES = frozenset(
    {
        *("builtins", "collections", "copyreg", "datetime", "functools", "itertools", "operator"),
        *("numpy", "scipy", "sklearn", "pandas", "polars", "joblib", "fairlearn", "isonomia"),
        *("xgboost", "lightgbm", "catboost"),
    }
)


def identity_of(model: Model) -> str | None:
    """A SHA-256 of the model's file, else of the parameters of its estimator; None where nobody can tell.

    A function, and an estimator that holds code of the user's own, is written down by its name only: the code behind it
    may change, so it has no identity.
    """
    options = repr(sorted((name, repr(value)) for name, value in model._options.items() if value is not None))
    content = model.fingerprint or _parameters(model.estimator)
    if content is None:
        return None
    return hashlib.sha256(f"{content} {options}".encode()).hexdigest()


def _parameters(estimator: Any) -> str | None:
    """The hash of a fitted estimator's whole state."""
    if not hasattr(estimator, "get_params"):
        return None
    import sklearn

    written = io.BytesIO()
    try:
        _Known(written, protocol=5).dump(estimator)
    except Exception:  # an estimator may refuse to be written in any way it likes
        return None
    return hashlib.sha256(sklearn.__version__.encode() + written.getbuffer()).hexdigest()


class _Known(pickle.Pickler):
    """Writes objects of well-known libraries only; nothing that it writes is ever read."""

    def reducer_override(self, obj: Any) -> Any:
        """Refuse classes and functions that are known by their names alone."""
        if isinstance(obj, type | FunctionType | BuiltinFunctionType | MethodType):
            home = (getattr(obj, "__module__", None) or "").split(".")[0]
            if home not in _LIBRARIES:
                raise pickle.PicklingError(f"{obj!r} is not of a known library")
        return NotImplemented
