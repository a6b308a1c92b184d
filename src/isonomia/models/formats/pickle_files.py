"""Pickle and joblib files: they can hold any object, and run any code."""

from __future__ import annotations

import io
from typing import Any

from isonomia.errors import FAULTS, ModelError
from isonomia.models.model_format import MODEL_FORMATS, ModelFormat

#: How the content of a pickle begins: its protocol mark, or the mark of a compression that joblib uses.
_STARTS = (
    b"\x80",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"x\x01",
    b"x\x5e",
    b"x\x9c",
    b"x\xda",
    b"ZF",
    b"\x04\x22M\x18",
)


def load_pickle(content: bytes, *, name: str) -> Any:
    """The object in a file that is trusted."""
    import joblib

    try:
        return joblib.load(io.BytesIO(content))
    except FAULTS as error:  # unpickling may raise anything
        raise ModelError(f"'{name}' could not be unpickled: {type(error).__name__}: {error}") from error


MODEL_FORMATS.add(
    ModelFormat(
        id="pickle",
        title="pickle and joblib",
        purpose="any Python object; loading it runs the code in the file",
        suffixes=(".pkl", ".pickle", ".joblib"),
        load=load_pickle,
        starts=lambda content: content.startswith(_STARTS),
        trust="a pickle",
        instead="Save the model as skops (isonomia.models.save_model)",
    )
)
