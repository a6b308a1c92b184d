"""Would the model predict something else if people belonged to another group?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.check_registry import check
from isonomia.errors import NotApplicable
from isonomia.evidence import Finding, Result
from isonomia.fairness import Counterfactual
from isonomia.fairness import counterfactual as ask
from isonomia.languages import Message, msg
from isonomia.parameters import parameters_of
from isonomia.subject import Subject

#: More people decided differently because of the attribute alone than this is reported.
RATE = 0.01
CRITICAL_RATE = 0.05
#: The same where effects of the attribute change too: differences between groups are part of it.
WIDE_RATE = 0.1
#: A predicted number has changed when it moved by this share of the predictions' standard deviation.
MOVED = 0.1


@check(
    "counterfactual",
    order=160,
    family="people",
    title=msg("Counterfactual fairness"),
    question=msg("Would the model predict something else if people belonged to another group?"),
    purpose="flips of protected attributes, causal effects where a graph is given, proxies where unused",
    parameters=parameters_of(
        ask,
        "attributes",
        "graph",
        "mechanism",
        "together",
        "keep_valid",
        "through_proxies",
        "tolerance",
        tolerance=None,
    ),
)
def counterfactual(subject: Subject, **options: Any) -> Result:
    """Flips, a causal graph where the options hold one (``graph: [[cause, effect], ...]``), or proxies."""
    subject.needs_attributes()
    if subject.model is None:
        raise NotApplicable(msg("it needs the model, not only its predictions"))
    numbers = subject.surface.continuous if subject.task == "regression" else None
    if options["tolerance"] is None:
        options["tolerance"] = 0.0 if numbers is None else MOVED * float(np.std(numbers))
    result = ask(subject, progress=subject.progress, **options)
    return replace(result, findings=_findings(result, options["tolerance"] if numbers is not None else None))


def _findings(result: Counterfactual, moved: float | None) -> tuple[Finding, ...]:
    found = []
    for key, rate in result.rate.items():
        route, _, attribute = key.partition(":")
        minimum = RATE if route == "flip" else WIDE_RATE
        if rate.value is None or rate.low is None or rate.low < minimum:
            continue
        severe = "critical" if route == "flip" and rate.low >= CRITICAL_RATE else "warning"
        found.append(
            Finding(
                f"counterfactual.{route}",
                severe if route == "flip" else "notice",  # type: ignore[arg-type]
                _sentence(route, attribute, rate.value, moved),
                rate,
                n=rate.n,
                magnitude=rate.value / minimum,
                threshold=minimum,
                evidence="counterfactual/changes",
                format="pct",
                columns=(attribute,),
                remedy="remove_attribute",
            )
        )
    return tuple(found)


def _sentence(route: str, attribute: str, rate: float, moved: float | None) -> Message:
    if moved is not None:
        return _number_sentence(route, rate=rate, attribute=attribute, moved=moved)
    if route == "flip":
        return msg(
            "For {rate:pct} of people the decision changes if only {attribute} changes.",
            rate=rate,
            attribute=attribute,
        )
    if route == "graph":
        return msg(
            "For {rate:pct} of people the decision changes if {attribute} and its effects change.",
            rate=rate,
            attribute=attribute,
        )
    return msg(
        "For {rate:pct} of people the decision changes if the columns that predict {attribute} are as in another "
        "group.",
        rate=rate,
        attribute=attribute,
    )


def _number_sentence(route: str, **gaps: Any) -> Message:
    if route == "flip":
        return msg(
            "For {rate:pct} of people the predicted number changes by more than {moved:num} if only {attribute} "
            "changes.",
            **gaps,
        )
    if route == "graph":
        return msg(
            "For {rate:pct} of people the predicted number changes by more than {moved:num} if {attribute} and its "
            "effects change.",
            **gaps,
        )
    return msg(
        "For {rate:pct} of people the predicted number changes by more than {moved:num} if the columns that predict "
        "{attribute} are as in another group.",
        **gaps,
    )
