"""The JSON Schema of a policy file, for editors, and a template to start from."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from isonomia.metrics import METRICS
from isonomia.policies.policy import Policy
from isonomia.policies.rules import RULE_KINDS, FigureRule, LimitRule


def policy_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a policy file.

    Examples
    --------
    >>> schema = policy_schema()
    >>> schema["required"], schema["additionalProperties"]
    (['id', 'title', 'rules'], False)
    """
    schema = Policy.model_json_schema(by_alias=True)
    shapes = schema["$defs"]
    for kind, model in RULE_KINDS.items():
        shape = shapes[model.__name__]
        if kind != "metric":  # a rule without a kind is about a metric
            shape["required"] = sorted({*shape["required"], "kind"})
        if "metric" in shape["properties"]:
            names = {"enum": sorted(METRICS.names())}
            shape["properties"]["metric"] |= names if kind == "metric" else {"enum": ["", *names["enum"]]}
        if issubclass(model, LimitRule):
            shape["oneOf"] = [_given(name, {"type": "number"}) for name in ("at_least", "at_most")]
        if model is FigureRule:
            shape["oneOf"] = [_given(name, {"minLength": 1}) for name in ("metric", "check")]
    schema["properties"]["rules"]["items"] = {
        "anyOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in RULE_KINDS.values()]
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "A policy of Isonomia"}


def _given(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """That a key is there with a value of its own."""
    return {"required": [name], "properties": {name: value}}


def policy_template() -> str:
    """A policy file with every kind of rule that has a limit, to be edited."""
    return files("isonomia.policies").joinpath("template.yaml").read_text(encoding="utf-8")
