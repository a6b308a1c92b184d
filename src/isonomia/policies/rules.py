"""The kinds of rules that a policy is made of.

`RULE_KINDS` lists them. The key ``kind`` of a rule says which one it is; a rule without it is about a metric. Each
kind declares its keys, their types and what they mean: validation, the JSON Schema and docs/policies.md follow.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from isonomia.errors import close_to
from isonomia.metrics import METRICS

#: Whether a rule is stated about the interval, or by its source about the figure itself.
Decides = Literal["interval", "point"]
#: On which side of its limit a figure has to be.
RuleSide = Literal["at_least", "at_most"]

SHAPE = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
Text = Annotated[str, Field(max_length=2000)]
Names = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=100)]


class BaseRule(BaseModel):
    """What every rule has."""

    model_config = SHAPE

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """What is required, in a few words: "selection rate ratio"."""
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=100)] = ""
    """A stable name for tests and comparisons; made of the name where it is not given."""
    citation: Text = ""
    """Where it comes from."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.get("id") and isinstance(given.get("name"), str):
            return {**given, "id": re.sub(r"[^a-z0-9]+", "-", given["name"].lower()).strip("-") or "rule"}
        return given

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks that the audit has to run for it."""
        return ()


class LimitRule(BaseRule):
    """What every rule with a limit has."""

    at_least: float | None = None
    """The smallest figure that keeps the rule; give this or at_most."""
    at_most: float | None = None
    """The largest figure that keeps the rule."""

    @model_validator(mode="after")
    def _one_limit(self) -> LimitRule:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give either at_least or at_most")
        if not abs(self.limit) < float("inf"):
            raise ValueError("the limit must be a finite number")
        return self

    @property
    def limit(self) -> float:
        """The limit."""
        limit = self.at_least if self.at_least is not None else self.at_most
        assert limit is not None
        return limit

    @property
    def side(self) -> RuleSide:
        """On which side of the limit a figure has to be."""
        return "at_least" if self.at_least is not None else "at_most"

    @property
    def sign(self) -> int:
        """1 where more is better for the rule, -1 where less is."""
        return 1 if self.at_least is not None else -1


class Rule(LimitRule):
    """A limit on a metric: compared between groups, or over all rows.

    `decides` is "point" for a rule that its source states about the figure itself (four fifths): whether the figure
    keeps or breaks the limit is then shown beside the outcome. "Meets" and "exceeds" need evidence either way.
    """

    kind: Literal["metric"] = "metric"
    """A metric between groups, or over all rows."""
    metric: str
    """The metric (`isonomia metrics`)."""
    measure: Literal["ratio", "difference", "value"]
    """ratio and difference compare groups; value is the metric over all rows."""
    against: Literal["best", "reference"] = "best"
    """best: every pair of groups; reference: each group with the privileged one (every pair where none is named)."""
    by: Literal["each", "all"] = "each"
    """each: the groups of each attribute; all: intersections of attributes too."""
    attributes: Names = ()
    """Only these protected attributes; else all of them."""
    decides: Decides = "interval"
    """point: the source states the rule about the figure itself, which is then shown beside the outcome."""
    unit: Literal["own", "sd"] = "own"
    """The unit of the limit: the metric's own, or standard deviations of the true outcomes (of a regression)."""
    min_share: float = Field(default=0.0, ge=0, lt=1)
    """Groups with a smaller share of the rows are named and left out; nothing has to be shown of them."""

    @model_validator(mode="after")
    def _fits(self) -> Rule:
        check_metric(self.metric)
        if self.measure == "difference" and self.at_least is not None:
            raise ValueError("a difference is compared with at_most")
        if self.unit == "sd" and (self.measure == "ratio" or "regression" not in METRICS[self.metric].tasks):
            raise ValueError("`unit: sd` is for differences and values of a regression's metrics")
        if self.measure == "value" and self.attributes:
            raise ValueError("`attributes` choose groups, and `measure: value` is about all rows")
        return self


class CheckRule(LimitRule):
    """A limit on a figure that a check reports: people treated differently, drift, calibration, weak spots."""

    kind: Literal["check"] = "check"
    """A figure of a check."""
    check: str
    """The check (`isonomia checks`); the audit runs it."""
    figure: str
    """One of its headline figures, or table.column: then the worst row counts."""
    where: dict[str, str] = Field(default_factory=dict, max_length=10)
    """Of a table, only rows with these values: column -> value."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The check it is about."""
        return (self.check,)


class FindingsRule(BaseRule):
    """A limit on the number of findings: no critical finding, at most two warnings."""

    kind: Literal["findings"] = "findings"
    """The number of findings."""
    severity: Literal["critical", "warning", "notice"] = "critical"
    """Findings of this severity and worse ones count."""
    at_most: int = Field(default=0, ge=0)
    """How many are allowed."""
    of: Names = ()
    """Only findings of these checks, which the audit runs; else of every check that runs."""
    attributes: Names = ()
    """Only findings about these protected attributes."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks whose findings count."""
        return self.of


class FigureRule(BaseRule):
    """A figure that the report has to hold, with its interval and the number of people; it has no limit."""

    kind: Literal["figure"] = "figure"
    """A figure that has to be in the report (documentation profiles)."""
    metric: str = ""
    """A metric by group ...; give this or `check`."""
    by: Literal["everyone", "each", "all"] = "each"
    """... over everyone, by each attribute, or by intersections too."""
    attributes: Names = ()
    """Only these protected attributes; else all of them."""
    check: str = ""
    """Or a check that has to have a result; the audit runs it."""
    table: str = ""
    """Of the check, the table that has to hold the figure."""

    @model_validator(mode="after")
    def _one_figure(self) -> FigureRule:
        if bool(self.metric) == bool(self.check):
            raise ValueError("give either a metric or a check")
        if self.table and not self.check:
            raise ValueError("`table` belongs to a check; name the check")
        if self.attributes and (self.check or self.by == "everyone"):
            raise ValueError("`attributes` choose groups; they need a metric, and not `by: everyone`")
        if self.metric:
            check_metric(self.metric)
        return self

    @property
    def checks(self) -> tuple[str, ...]:
        """The check that has to have a result."""
        return (self.check or ("performance" if self.by == "everyone" else "group_fairness"),)


def check_metric(name: str) -> None:
    """Refuse a name that is not a metric's."""
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}.{close_to(name, METRICS.names())}")


def _kind(given: Any) -> str:
    kind = given.get("kind", "metric") if isinstance(given, dict) else getattr(given, "kind", "metric")
    return kind if isinstance(kind, str) else "metric"


AnyRule = Annotated[
    Annotated[Rule, Tag("metric")]
    | Annotated[CheckRule, Tag("check")]
    | Annotated[FindingsRule, Tag("findings")]
    | Annotated[FigureRule, Tag("figure")],
    Discriminator(_kind),
]
#: Every kind of rule by its name.
RULE_KINDS: dict[str, type[BaseRule]] = {
    "metric": Rule,
    "check": CheckRule,
    "findings": FindingsRule,
    "figure": FigureRule,
}
