"""Policies: named rules with their source and standing, shipped or written by the user."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from isonomia.config_files import path_of, read_mapping, validated
from isonomia.errors import SpecError, close_to
from isonomia.languages import Message
from isonomia.policies.rules import SHAPE, AnyRule, FigureRule, Text

#: Numbers of rows up to here are exact as floats.
MOST_ROWS = 2**53

#: threshold: limits, and a verdict; documentation: figures that the report has to hold, and no limit.
PolicyKind = Literal["threshold", "documentation"]
#: What a policy's text is today.
Status = Literal["in_force", "adopted", "practice", "proposed", "rescinded", "internal"]

#: Old names of shipped policies, which still work and warn.
ALIASES = {"ecoa": "us-lending"}


class Dates(BaseModel):
    """From when until when a text is in force; an open end where a date is missing."""

    model_config = SHAPE | ConfigDict(populate_by_name=True)

    start: Annotated[date | None, Field(alias="from")] = None
    """The first day."""
    until: date | None = None
    """The last day."""

    @model_validator(mode="after")
    def _in_order(self) -> Dates:
        if self.start is not None and self.until is not None and self.until < self.start:
            raise ValueError(f"`until` ({self.until}) is before `from` ({self.start})")
        return self


class Policy(BaseModel):
    """A named set of rules.

    `when_unsure` says what "not enough evidence" means for the exit code: its own code, as if met, or as if exceeded.
    """

    model_config = SHAPE

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
    """A stable name of letters, digits, dots, dashes and underscores."""
    title: Annotated[str, Field(min_length=1, max_length=200)]
    """What it is called in a report."""
    kind: PolicyKind = "threshold"
    """threshold: rules with limits, and a verdict; documentation: figures the report has to hold. Never mixed."""
    status: Status = "internal"
    """in_force, adopted (applies later), practice (customary, not law), proposed, rescinded, or internal (your own)."""
    in_force: Dates | None = None
    """The dates of the text, {from: 2023-07-05, until: ...}; an audit outside them says so."""
    as_of: date | None = None
    """When source, status and dates were last checked."""
    source: Text = ""
    """The law, guideline or document it comes from."""
    about: Text = ""
    """What a reader has to know about it; printed with the verdict."""
    min_per_group: int = Field(default=30, ge=1, le=MOST_ROWS)
    """Groups with fewer rows, or fewer cases of a rate, are not compared; without them nothing is shown to be met."""
    when_unsure: Literal["unsure", "meets", "exceeds"] = "unsure"
    """The exit code of evidence that is too weak: unsure (3), meets (0) or exceeds (1)."""
    rules: Annotated[tuple[AnyRule, ...], Field(min_length=1, max_length=200)]
    """What is required."""

    @model_validator(mode="after")
    def _one_kind(self) -> Policy:
        figures = [isinstance(rule, FigureRule) for rule in self.rules]
        if any(figures) != (self.kind == "documentation") or any(figures) != all(figures):
            raise ValueError(
                "rules of kind `figure` belong to a policy of `kind: documentation`, and rules with a limit to one of "
                "`kind: threshold`; write two policies"
            )
        ids = [rule.id for rule in self.rules]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"each rule needs an `id` or a `name` of its own; {twice[0]!r} came more than once")
        return self

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks that its rules are about: an audit runs them whichever others are chosen."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.checks))

    def record(self) -> dict[str, Any]:
        """The policy as JSON-safe values; `load_policy` reads them again."""
        return self.model_dump(mode="json", by_alias=True)


def policy_names() -> tuple[str, ...]:
    """The policies that come with the package.

    >>> "eeoc" in policy_names(), "ecoa" in policy_names()
    (True, False)
    """
    folder = files("isonomia.policies").joinpath("shipped")
    return tuple(sorted(item.name[: -len(".yaml")] for item in folder.iterdir() if item.name.endswith(".yaml")))


@cache
def shipped_texts() -> frozenset[str]:
    """The titles, remarks, sources and names of rules of the shipped policies: what the catalogs translate."""
    policies = [load_policy(name) for name in policy_names()]
    own = [text for policy in policies for text in (policy.title, policy.about, policy.source)]
    own += [rule.name for policy in policies for rule in policy.rules]
    return frozenset(" ".join(text.split()) for text in own)


def policy_text(text: str) -> Message:
    """A text of a policy as a message: a shipped one is translated, a user's own is data and escaped where shown.

    >>> policy_text("at most {5}").text(escape=str.upper)
    'AT MOST {5}'
    >>> policy_text("accuracy gap").text("pt-BR")
    'diferença de acurácia'
    """
    line = " ".join(text.split())
    return Message(line) if line in shipped_texts() else Message("{text}", {"text": line})


def load_policy(policy: str | Path | Mapping[str, Any] | Policy) -> Policy:
    """A shipped policy by its name, a YAML or JSON file, a mapping, or a policy as it is.

    >>> load_policy("eeoc").rules[0].limit
    0.8
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return validated(Policy, policy, "the policy")
    name = str(policy)
    if name in ALIASES and not Path(name).is_file():
        warnings.warn(f"The policy {name!r} is now called {ALIASES[name]!r}; use that name.", FutureWarning, 2)
        name = ALIASES[name]
    if name in policy_names():
        text = files("isonomia.policies").joinpath("shipped", f"{name}.yaml").read_text(encoding="utf-8")
        return validated(Policy, yaml.safe_load(text), "the policy")
    path = path_of(policy)
    if not path.is_file():
        raise SpecError(f"Unknown policy or policy file {str(policy)!r}.{close_to(policy, policy_names())}")
    return validated(Policy, read_mapping(path), f"the policy in {str(path)!r}")
