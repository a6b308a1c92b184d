"""The JSON Schema of a spec as people write it, for editors."""

from __future__ import annotations

from typing import Any

from isonomia.audit.spec import LIFTED, SENSITIVE, TASK_NAMES, DataSpec, Spec


def spec_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a spec file.

    It describes what `read_spec` takes: a path in place of a dataset or a model, and the roles of columns beside the
    dataset.

    Examples
    --------
    >>> schema = spec_schema()
    >>> schema["required"], "sensitive_feature" in schema["properties"], schema["additionalProperties"]
    (['dataset'], True, False)
    """
    schema = Spec.model_json_schema()
    shapes = schema["$defs"]
    for shape in shapes.values():
        if "task" in shape["properties"]:
            shape["properties"]["task"] = _task(shape["properties"]["task"]["description"])
    properties = schema["properties"]
    own = shapes[DataSpec.__name__]["properties"]
    text = {"type": "string"}
    properties["dataset"] = {
        "anyOf": [{**text, "description": "A file, relative to the spec file."}, {"$ref": "#/$defs/DataSpec"}],
        "description": "The data: a file, or a mapping.",
    }
    properties["model"] = {
        "anyOf": [
            {**text, "description": "A model file, module:callable, or an http(s) address."},
            {"$ref": "#/$defs/ModelSpec"},
            {"type": "null"},
        ],
        "description": "The model; none where the data hold its predictions.",
    }
    for name in LIFTED:
        properties[name] = own[name]
    properties[SENSITIVE] = {
        "anyOf": [text, {"type": "array", "items": text}],
        "description": "Another name of protected: one attribute, or several.",
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "A spec of Isonomia"}


def _task(description: str) -> dict[str, Any]:
    names = ["binary", "multiclass", "regression", *TASK_NAMES, None]
    return {"enum": names, "default": None, "title": "Task", "description": description}
