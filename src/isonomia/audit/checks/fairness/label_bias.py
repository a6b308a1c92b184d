"""Do the labels themselves depend on the group?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.audit.checks._labels import label_findings
from isonomia.evidence import Result
from isonomia.fairness import label_bias as look_at_labels
from isonomia.languages import Message, OutcomeName, msg
from isonomia.languages.words import TRULY_FAVOURABLE
from isonomia.parameters import N_BOOT, Parameter, parameters_of
from isonomia.subject import Subject


@check(
    "label_bias",
    order=30,
    family="people",
    title=msg("Label bias"),
    question=msg("Do the labels themselves depend on the group?"),
    purpose="base rates, what an attribute says about the label, labels of similar people",
    within="standard",
    parameters=(
        *parameters_of(look_at_labels, max_rows=10_000),
        Parameter("n_boot", N_BOOT.or_none(), None, "bootstrap samples behind the intervals of base rates"),
    ),
)
def label_bias(subject: Subject, **options: Any) -> Result:
    """Signs of bias in the true labels."""
    subject.needs_attributes()
    options["n_boot"] = max(subject.settings.n_boot, 1) if options["n_boot"] is None else options["n_boot"]
    result = look_at_labels(subject, progress=subject.progress, **options)
    findings = label_findings(
        result.tables["neighbours"],
        subject,
        "label_bias.similar_people",
        method="normal",
        evidence="label_bias/neighbours",
        sentence=_sentence,
    )
    return replace(result, findings=tuple(findings))


def _sentence(row: Mapping[str, Any], task: str) -> Message:
    """Labels of a group and of similar people, and what a difference would mean."""
    return msg("{statement} The recorded outcomes may be what is biased.", statement=_labels(row, task))


def _labels(row: Mapping[str, Any], task: str) -> Message:
    facts = {"group": row["group"], "own": row["own"], "similar": row["similar"]}
    if task == "binary":
        return msg(
            "{own:pct} of {group} and {similar:pct} of the most similar people in other groups are people "
            "{favourable}.",
            favourable=TRULY_FAVOURABLE,
            **facts,
        )
    if row.get("class") is None:
        return msg(
            "The mean label is {own:num} for {group} and {similar:num} for the most similar people in other groups.",
            **facts,
        )
    return msg(
        '{own:pct} of {group} and {similar:pct} of the most similar people in other groups have the label "{label}".',
        label=OutcomeName(str(row["class"])),
        **facts,
    )
