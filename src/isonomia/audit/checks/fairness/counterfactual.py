"""Would the model predict something else if people belonged to another group?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.evidence import THRESHOLDS, Finding, Result, affected
from isonomia.fairness import Counterfactual
from isonomia.fairness import counterfactual as ask
from isonomia.languages import ColumnName, Message, msg
from isonomia.languages.words import PREDICTION
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: A predicted number has changed when it moved by this share of the predictions' standard deviation.
MOVED = 0.1


@check(
    "counterfactual",
    of_model=True,
    order=160,
    topic="use",
    family="people",
    title=msg("Counterfactual fairness"),
    question=msg("Would the model predict something else if people belonged to another group?"),
    purpose="flips of protected attributes, causal effects where a graph is given, proxies where unused",
    parameters=parameters_of(ask, tolerance=None),
)
def counterfactual(subject: Subject, **options: Any) -> Result:
    """Flips, a causal graph where the options hold one (``graph: [[cause, effect], ...]``), or proxies."""
    subject.needs_attributes()
    numbers = subject.surface.continuous if subject.task == "regression" else None
    if options["tolerance"] is None:
        options["tolerance"] = 0.0 if numbers is None else MOVED * float(np.std(numbers))
    result = ask(subject, progress=subject.progress, **options)
    spread = None if numbers is None else float(np.std(numbers))
    return replace(result, findings=_findings(result, options["tolerance"], spread))


def _findings(result: Counterfactual, moved: float, spread: float | None) -> tuple[Finding, ...]:
    """Attributes that change decisions; where their effects change too, gaps between groups are part of it."""
    found = []
    for key, rate in result.rate.items():
        route, _, attribute = key.partition(":")
        limits = THRESHOLDS["decision_change" if route == "flip" else "wide_change"]
        if rate.value is None or rate.low is None or rate.high is None or rate.low < limits.reported:
            continue
        people = affected(rate, rate.n)
        facts = {
            "attribute": ColumnName(attribute),
            "rate": rate.value,
            "people": people.value,
            "low": people.low,
            "high": people.high,
            "n": rate.n,
        }
        found.append(
            Finding(
                f"counterfactual.{route}",
                limits.severity(rate.low),
                _sentence(route, facts) if spread is None else _number_sentence(route, facts, moved, spread),
                rate,
                n=rate.n,
                magnitude=rate.value / limits.reported,
                threshold=limits.reported,
                evidence="counterfactual/changes",
                format="pct",
                columns=(attribute,),
                topic="use",
                remedy="remove_attribute",
                people=people,
            )
        )
    return tuple(found)


def _sentence(route: str, facts: Mapping[str, Any]) -> Message:
    if route == "flip":
        return msg(
            "Changing nothing but {attribute} turns the decision of {people:int} of {n:int} people ({rate:pct}).",
            **facts,
        )
    if route == "graph":
        return msg(
            "Changing {attribute} and what follows from it turns the decision of {people:int} of {n:int} people "
            "({rate:pct}).",
            **facts,
        )
    return msg(
        "Giving the columns that predict {attribute} the values of another group turns the decision of {people:int} of "
        "{n:int} people ({rate:pct}).",
        **facts,
    )


def _number_sentence(route: str, facts: Mapping[str, Any], moved: float, spread: float) -> Message:
    """The same for predicted numbers, which change by more than a share of their spread."""
    by = msg(
        "more than {moved:num} ({share:pct} of its standard deviation)",
        moved=moved,
        share=moved / spread if spread else 0.0,
    )
    given = {**facts, "by": by, "prediction": PREDICTION}
    if route == "flip":
        return msg(
            "For {rate:pct} of people the {prediction} changes by {by} if only {attribute} changes: {people:int} of "
            "{n:int} ({low:int} to {high:int}).",
            **given,
        )
    if route == "graph":
        return msg(
            "For {rate:pct} of people the {prediction} changes by {by} if {attribute} and its effects change: "
            "{people:int} of {n:int} ({low:int} to {high:int}).",
            **given,
        )
    return msg(
        "For {rate:pct} of people the {prediction} changes by {by} if the columns that predict {attribute} are as in "
        "another group: {people:int} of {n:int} ({low:int} to {high:int}).",
        **given,
    )
