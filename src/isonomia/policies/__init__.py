"""What is required: policies with their rules, limits, sources and standing."""

from typing import TYPE_CHECKING

from isonomia.parameters import face
from isonomia.policies.named_attributes import absent_attributes, check_attributes
from isonomia.policies.policy import (
    Dates,
    Policy,
    PolicyKind,
    Status,
    load_policy,
    policy_names,
    policy_text,
    shipped_texts,
)
from isonomia.policies.policy_schema import policy_schema, policy_template
from isonomia.policies.rules import RULE_KINDS, BaseRule, CheckRule, FigureRule, FindingsRule, LimitRule, Rule, RuleSide

__all__ = [
    "RULE_KINDS",
    "BaseRule",
    "CheckRule",
    "Dates",
    "FigureRule",
    "FindingsRule",
    "LimitRule",
    "Policy",
    "PolicyKind",
    "Rule",
    "RuleSide",
    "Status",
    "absent_attributes",
    "check_attributes",
    "load_policy",
    "policy_names",
    "policy_schema",
    "policy_template",
    "policy_text",
    "shipped_texts",
]

if not TYPE_CHECKING:
    __dir__, __getattr__ = face(__name__, __all__)
