"""Policies: named thresholds with their source, shipped or written by the user."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from isonomia.config_files import read_mapping, validated
from isonomia.errors import SpecError, close_to
from isonomia.metrics import METRICS

#: Whether a rule is stated about the interval, or by its source about the figure itself.
Decides = Literal["interval", "point"]


class Rule(BaseModel):
    """One criterion of a policy.

    Attributes
    ----------
    metric : id of the registry
    measure : "ratio" and "difference" between groups, "value" over all rows
    at_least, at_most : the threshold; one of them
    against : "best" (every pair of groups) or "reference" (the privileged group; every pair where none is named)
    by : each attribute alone, or also their intersections
    decides : "interval", or "point" for a rule that its source states about the figure itself (four fifths): whether
        the figure keeps or breaks the limit is then shown beside the outcome. "Meets" and "exceeds" need evidence
        either way.
    min_share : groups with a smaller share of the rows are left out; without them nothing is shown to be met
    citation : where the threshold comes from
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    metric: str
    measure: Literal["ratio", "difference", "value"]
    at_least: float | None = None
    at_most: float | None = None
    against: Literal["best", "reference"] = "best"
    by: Literal["each", "all"] = "each"
    decides: Decides = "interval"
    min_share: float = Field(default=0.0, ge=0, lt=1)
    citation: str = ""

    @model_validator(mode="after")
    def _one_threshold(self) -> Rule:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give either at_least or at_most")
        if self.metric not in METRICS:
            raise ValueError(f"unknown metric {self.metric!r}.{close_to(self.metric, METRICS.names())}")
        if self.measure == "difference" and self.at_least is not None:
            raise ValueError("a difference is compared with at_most")
        return self

    @property
    def limit(self) -> float:
        """The threshold."""
        limit = self.at_least if self.at_least is not None else self.at_most
        assert limit is not None
        return limit

    @property
    def side(self) -> Literal["at_least", "at_most"]:
        """On which side of the limit a figure has to be."""
        return "at_least" if self.at_least is not None else "at_most"

    @property
    def sign(self) -> int:
        """1 where more is better for the rule, -1 where less is."""
        return 1 if self.at_least is not None else -1


class Policy(BaseModel):
    """A named set of criteria.

    `when_unsure` says what "not enough evidence" means for the exit code: its own code, as if met, or as if exceeded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    title: str
    source: str = ""
    about: str = ""
    min_per_group: int = Field(default=30, ge=1)
    when_unsure: Literal["unsure", "meets", "exceeds"] = "unsure"
    rules: tuple[Rule, ...] = Field(min_length=1)


def policy_names() -> tuple[str, ...]:
    """The policies that come with the package.

    >>> policy_names()
    ('ecoa', 'eeoc', 'engineering', 'nyc-ll144')
    """
    folder = files("isonomia.policies").joinpath("shipped")
    return tuple(sorted(item.name[: -len(".yaml")] for item in folder.iterdir() if item.name.endswith(".yaml")))


def load_policy(policy: str | Path | Mapping[str, Any] | Policy) -> Policy:
    """A shipped policy by its name, a YAML or JSON file, a mapping, or a policy as it is."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return _checked(dict(policy), "the policy")
    if str(policy) in policy_names():
        text = files("isonomia.policies").joinpath("shipped", f"{policy}.yaml").read_text(encoding="utf-8")
        return _checked(yaml.safe_load(text), f"the policy {policy!s}")
    path = Path(policy).expanduser()
    if not path.is_file():
        raise SpecError(
            f"Unknown policy or policy file {str(policy)!r}.{close_to(policy, policy_names())} "
            f"Shipped: {', '.join(policy_names())}."
        )
    return _checked(read_mapping(path), str(path))


def _checked(content: Mapping[str, Any], where: str) -> Policy:
    return validated(Policy, content, where)
