"""Gaps between groups as sentences: who, what, how much, and how many people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isonomia.evidence import Estimate
from isonomia.fairness.criteria.phrases import decision_of, rate_sentence
from isonomia.languages import Message, OutcomeName, People, msg
from isonomia.languages.words import ARE_SELECTED, BE_SELECTED, PREDICTION


def sentence(
    metric: str,
    *,
    value: float,
    base: float,
    group: Mapping[str, str],
    reference: Mapping[str, str] | None,
    people: Estimate,
    count: float,
    title: Message,
    favourable: bool = False,
    true_means: tuple[float, float] | None = None,
    selected: tuple[float, float] | None = None,
    of_outcomes: bool = False,
) -> Message:
    """The statement about a group and its reference (everyone where there is none).

    `favourable` says that the class of several that it is about is a favourable one, `of_outcomes` that the figure
    takes the recorded outcomes as true: the shares of all people that are decided so (`selected`) do not.
    """
    facts = {"group": People.of(group), "reference": People.of(reference or {}), "value": value, "base": base}
    name, _, label = metric.removesuffix("]").partition("[")
    if name in ("mean_prediction", "mean_error", "mae", "rmse"):
        return _of_numbers(name, title, true_means, facts)
    statement = _statement(metric, facts, favourable)
    if statement is None:
        told = msg("{metric} is {value:pct} for {group} and {base:pct} for {reference}.", metric=title, **facts)
    else:
        told = _with_people(statement, people, name, label, {**facts, "n": count})
    if not of_outcomes:
        return told
    if selected is None:
        return msg("{statement} This takes the recorded outcomes as true.", statement=told)
    return msg(
        "{statement} This takes the recorded outcomes as true; of all, {own:pct} and {other:pct} {are_selected}.",
        statement=told,
        own=selected[0],
        other=selected[1],
        are_selected=decision_of(label, favourable=favourable) if label else ARE_SELECTED,
    )


def _statement(metric: str, facts: Mapping[str, Any], favourable: bool) -> Message | None:
    name, _, label = metric.removesuffix("]").partition("[")
    if name != "selection_rate":
        return rate_sentence(metric, facts["group"], facts["value"], facts["reference"], facts["base"])
    decided = decision_of(label, favourable=favourable) if label else ARE_SELECTED
    if facts["value"] < facts["base"]:
        return msg(
            "{group:first} {are_selected} less often than {reference}: {value:pct} and {base:pct}.",
            are_selected=decided,
            **facts,
        )
    return msg(
        "{group:first} {are_selected} more often than {reference}: {value:pct} and {base:pct}.",
        are_selected=decided,
        **facts,
    )


def _with_people(statement: Message, people: Estimate, name: str, label: str, facts: Mapping[str, Any]) -> Message:
    """The statement, and what the rate of the reference would mean for the people of the group."""
    if people.value is None or people.low is None or people.high is None:
        return statement
    low, high = sorted((abs(people.low), abs(people.high)))
    low = 0.0 if people.low <= 0 <= people.high else low
    counted = {**facts, "people": abs(people.value), "low": low, "high": high, "statement": statement}
    if name in ("accuracy", "ppv"):
        return msg(
            "{statement} At the rate of {reference}, {people:int} fewer of {n:int} decisions would be wrong ({low:int} "
            "to {high:int}).",
            **counted,
        )
    counted["be_selected"] = (
        msg('receive the decision "{outcome}"', outcome=OutcomeName(label)) if label else BE_SELECTED
    )
    if facts["value"] < facts["base"]:
        return msg(
            "{statement} At the rate of {reference}, {people:int} more of {n:int} would {be_selected} ({low:int} to "
            "{high:int}).",
            **counted,
        )
    return msg(
        "{statement} At the rate of {reference}, {people:int} fewer of {n:int} would {be_selected} ({low:int} to "
        "{high:int}).",
        **counted,
    )


def _of_numbers(name: str, title: Message, true_means: tuple[float, float] | None, facts: Mapping[str, Any]) -> Message:
    """Means and errors of a regression; a mean prediction stands beside the true mean."""
    facts = {**facts, "metric": title, "prediction": PREDICTION, "size": abs(facts["value"])}
    if name == "mean_prediction" and true_means is not None:
        return msg(
            "The mean {prediction} is {value:num} for {group} and {base:num} for {reference}; the true means are "
            "{own:num} and {other:num}.",
            own=true_means[0],
            other=true_means[1],
            **facts,
        )
    if name == "mean_prediction":
        return msg("The mean {prediction} is {value:num} for {group} and {base:num} for {reference}.", **facts)
    if name == "mean_error" and facts["value"] < 0:
        return msg(
            "For {group} the {prediction} is {size:num} too low on average; the mean error for {reference} is "
            "{base:num}.",
            **facts,
        )
    if name == "mean_error":
        return msg(
            "For {group} the {prediction} is {size:num} too high on average; the mean error for {reference} is "
            "{base:num}.",
            **facts,
        )
    return msg("{metric} is {value:num} for {group} and {base:num} for {reference}.", **facts)
