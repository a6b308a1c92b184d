"""The JSON Schema of a spec as people write it, for editors."""

from __future__ import annotations

from typing import Any

from isonomia.audit.check_registry import CHECKS, ROOMS, SETS
from isonomia.audit.spec import LIFTED, SENSITIVE, DataSpec, ModelSpec, Spec
from isonomia.data.schema import TASK_NAMES
from isonomia.metrics import METRIC_NAME
from isonomia.models import MODEL_FORMAT_NAME
from isonomia.parameters import options_schema
from isonomia.policies import policy_names
from isonomia.robustness import PLAN


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
    model = shapes[ModelSpec.__name__]["properties"]
    model["format"] = _optional(MODEL_FORMAT_NAME.schema(), model["format"]["description"])
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
    named = list(dict.fromkeys([*SETS, *ROOMS, *CHECKS.ids()]))
    properties["checks"] = {
        "anyOf": [{"enum": list(SETS)}, text, {"type": "array", "items": {"enum": named}, "minItems": 1}],
        "default": "standard",
        "description": f"{', '.join(SETS)}, or names of rooms ({', '.join(ROOMS)}) and of checks.",
    }
    properties["policy"]["examples"] = list(policy_names())
    properties["metric"] = _optional(METRIC_NAME.schema(), properties["metric"]["description"])
    properties["scenarios"] = _optional(
        {"type": "array", "items": PLAN.schema()["anyOf"][0], "maxItems": 100}, properties["scenarios"]["description"]
    )
    properties["options"] = {
        "type": "object",
        "properties": {
            entry.id: {"description": entry.purpose, **options_schema(entry.parameters)} for entry in CHECKS
        },
        "additionalProperties": False,
        "description": "Options of single checks, by their code.",
    }
    properties[SENSITIVE] = {
        "anyOf": [text, {"type": "array", "items": text}],
        "description": "Another name of protected: one attribute, or several.",
    }
    shapes |= {"Metric": METRIC_NAME.schema(), "Scenario": PLAN.schema()["anyOf"][-1]["items"]}
    for name in ("Metric", "Scenario"):
        schema = {**_referring({**schema, "$defs": {}}, shapes[name], f"#/$defs/{name}"), "$defs": shapes}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "A spec of Isonomia"}


def _referring(schema: Any, part: dict[str, Any], address: str) -> Any:
    """The schema with references in place of a part of it."""
    if schema == part:
        return {"$ref": address}
    if isinstance(schema, dict):
        return {key: _referring(value, part, address) for key, value in schema.items()}
    return [_referring(value, part, address) for value in schema] if isinstance(schema, list) else schema


def _optional(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"anyOf": [*schema.get("anyOf", (schema,)), {"type": "null"}], "default": None, "description": description}


def _task(description: str) -> dict[str, Any]:
    names = ["binary", "multiclass", "regression", *TASK_NAMES, None]
    return {"enum": names, "default": None, "title": "Task", "description": description}
