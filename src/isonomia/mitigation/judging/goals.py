"""What a fix has to reach: criteria with their limits, from a goal, a limit or a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from isonomia.errors import SpecError, close_to
from isonomia.mitigation.judging.bands import CRITERIA, NUMBER_CRITERIA

#: The largest difference, and the smallest ratio, unless another limit is given.
LIMIT, RATIO_LIMIT = 0.05, 0.8
#: Which criterion a rule of a policy about a metric is.
_OF_METRIC = {
    ("selection_rate", "ratio"): "disparate_impact",
    ("selection_rate", "difference"): "demographic_parity",
    ("tpr", "difference"): "equal_opportunity",
    ("recall", "difference"): "equal_opportunity",
    ("fpr", "difference"): "predictive_equality",
    ("ppv", "difference"): "predictive_parity",
    ("precision", "difference"): "predictive_parity",
    ("accuracy", "difference"): "overall_accuracy_equality",
    ("mean_prediction", "difference"): "demographic_parity",
}

Verdict = Literal["meets", "exceeds", "not_enough_evidence"]


@dataclass(frozen=True)
class Goal:
    """A criterion and its limit: the largest difference, or the smallest ratio."""

    criterion: str
    limit: float

    @property
    def ratio(self) -> bool:
        """Whether groups are compared by a ratio."""
        return CRITERIA.get(self.criterion, ((), ""))[1] == "ratio"

    @property
    def tol(self) -> float:
        """The tolerance of a method: the limit of a difference, 1 less the smallest ratio."""
        return 1 - self.limit if self.ratio else self.limit

    def verdict(self, low: float, high: float) -> Verdict:
        """What an interval says: the whole of it has to lie on one side of the limit."""
        if self.ratio:
            return "meets" if low >= self.limit else "exceeds" if high < self.limit else "not_enough_evidence"
        return "meets" if high <= self.limit else "exceeds" if low > self.limit else "not_enough_evidence"


def read_goals(
    goal: str, limit: float | None, policy: Any, task: str
) -> tuple[tuple[Goal, ...], tuple[Mapping[str, Any], ...]]:
    """The goals, those of a policy instead of `goal` and `limit`; and the policy's rules that no fix is judged by."""
    known = NUMBER_CRITERIA if task == "regression" else CRITERIA
    if policy is not None:
        rules = _rules(policy)
        found = [_of_rule(rule) for rule in rules]
        judged = [one is not None and one.criterion in known for one in found]
        goals = tuple(one for one, used in zip(found, judged, strict=True) if one is not None and used)
        if not goals:
            raise SpecError(
                f"No rule of the policy compares groups by a figure that a fix can be judged by. Those are: "
                f"{', '.join(known)}. Give `goal` and `limit` instead."
            )
        return goals, tuple(rule for rule, used in zip(rules, judged, strict=True) if not used)
    if goal not in known:
        raise SpecError(f"`goal` must be one of {', '.join(known)}; got {goal!r}.{close_to(goal, known)}")
    ratio = known[goal][1] == "ratio"
    value = (RATIO_LIMIT if ratio else LIMIT) if limit is None else float(limit)
    if not value >= 0 or (ratio and value > 1):
        raise SpecError(f"`limit` must be {'a ratio in [0, 1]' if ratio else 'at least 0'}; got {limit!r}.")
    return (Goal(goal, value),), ()


def _rules(policy: Any) -> list[Mapping[str, Any]]:
    if isinstance(policy, Mapping):
        content: Any = policy
    elif hasattr(policy, "rules"):
        return [rule.model_dump() for rule in policy.rules]
    else:
        content = _read(policy)
    rules = content.get("rules") if isinstance(content, Mapping) else None
    if not isinstance(rules, list | tuple) or not all(isinstance(rule, Mapping) for rule in rules):
        raise SpecError("A policy needs `rules`, a list of mappings with `metric`, `measure` and a threshold.")
    return list(rules)


def _read(policy: str | Path) -> Any:
    import yaml

    folder = files("isonomia").joinpath("audit", "policies")
    shipped = {item.name[: -len(".yaml")]: item for item in folder.iterdir() if item.name.endswith(".yaml")}
    if str(policy) in shipped:
        return yaml.safe_load(shipped[str(policy)].read_text(encoding="utf-8"))
    path = Path(policy).expanduser()
    if not path.is_file():
        raise SpecError(f"Unknown policy or policy file {str(policy)!r}.{close_to(str(policy), shipped)}")
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"The policy file {path.name!r} is not YAML: {' '.join(str(error).split())}.") from None


def _of_rule(rule: Mapping[str, Any]) -> Goal | None:
    criterion = _OF_METRIC.get((str(rule.get("metric")), str(rule.get("measure"))))
    limit = rule.get("at_least") if rule.get("measure") == "ratio" else rule.get("at_most")
    if criterion is None or limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        raise SpecError(f"The threshold of the rule {str(rule.get('name'))!r} must be a number; got {limit!r}.")
    return Goal(criterion, float(limit))
