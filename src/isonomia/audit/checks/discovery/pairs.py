"""Are there people who would be treated differently if only protected attributes were different?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.discovery import METHODS, find_pairs
from isonomia.errors import NotApplicable
from isonomia.evidence import Format, Result
from isonomia.languages import Message, msg
from isonomia.parameters import Anything, Keyed, Parameter, parameters_of
from isonomia.subject import Subject

#: The figures of a search that are shown: the title and the format of each.
_FIGURES: dict[str, tuple[Message, Format]] = {
    "share": (msg("Treated differently, of all possible people"), "pct"),
    "TSN": (msg("People tested"), "int"),
    "DSN": (msg("Treated differently"), "int"),
    "SUR": (msg("Share of the people tested"), "pct"),
    "cells": (msg("Kinds of people among them"), "int"),
    "naturalness": (msg("Naturalness (0.5: like people in the data)"), "num"),
    "n_model_rows": (msg("Rows sent to the model"), "int"),
    "status": (msg("Exact answer"), "text"),
    "share_low": (msg("Treated differently, proved: at least"), "pct"),
    "share_high": (msg("Treated differently, proved: at most"), "pct"),
    "share_estimate": (msg("Treated differently, estimated"), "pct"),
    "max_gap": (msg("Largest difference found"), "num"),
    "max_gap_bound": (msg("Largest possible difference"), "num"),
    "gap_scale": (msg("Differences are of"), "text"),
}
_WORDS = {
    "pair": msg("a pair exists"),
    "none": msg("proved: there is no pair"),
    "undecided": msg("not decided"),
    "probability": msg("probabilities"),
    "score": msg("scores"),
    "decision value": msg("scores"),
    "prediction": msg("predictions"),
}


def _verify(options: Mapping[str, Any]) -> None:
    """The options of the method must be its own."""
    METHODS[options["method"]].read(options["options"], path="options.pairs.options.")


@check(
    "pairs",
    verify=_verify,
    order=170,
    family="people",
    title=msg("Pairs of people"),
    question=msg("Who would be treated differently if only protected attributes were different?"),
    purpose="searches for pairs of people alike but for protected attributes whom the model treats differently",
    within="full",
    parameters=(
        *parameters_of(
            find_pairs,
            "method",
            "constraints",
            "values",
            "domain",
            "max_tests",
            "max_seconds",
            "max_model_rows",
            "gamma",
            "one_attr_at_a_time",
            max_seconds=60.0,
        ),
        Parameter("options", Keyed(Anything()), {}, "own options of the method (isonomia methods NAME)"),
    ),
)
def pairs(subject: Subject, *, options: Mapping[str, Any], **given: Any) -> Result:
    """`find_pairs` with the method "auto" unless the options name another; up to 10,000 people and 60 seconds."""
    attributes = subject.needs_attributes()
    names = tuple(one.name for one in attributes if len(one.texts) - (one.missing is not None) > 1)
    if subject.model is None:
        raise NotApplicable(msg("it needs the model, not only its predictions"))
    if not names:
        raise NotApplicable(msg("every protected attribute has a single value, so there is nothing to change it to"))
    if len(names) < len(attributes):
        given["protected"] = names
    found = find_pairs(subject, seed=subject.settings.seed, progress=subject.progress, **given, **options)
    values: dict[str, Any] = {**found.metrics, **found.values}
    values |= {name: _WORDS[values[name]] for name in ("status", "gap_scale") if values.get(name) is not None}
    return Result(
        "pairs",
        msg("Pairs of people"),
        found.tables,
        {name: values[name] for name in _FIGURES if values.get(name) is not None},
        tuple(replace(finding, columns=names, format="pct") for finding in found.findings),
        found.pictures,
        found.notes,
        titles={name: title for name, (title, _) in _FIGURES.items()},
        formats={name: style for name, (_, style) in _FIGURES.items()},
    )
