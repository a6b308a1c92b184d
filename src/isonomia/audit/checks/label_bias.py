"""Do the labels themselves depend on the group?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.checking import check
from isonomia.audit.subject import Subject
from isonomia.evidence import Estimate, Finding, Result
from isonomia.fairness import label_bias as look_at_labels
from isonomia.languages import msg

#: Similar people are looked for among this many rows, drawn at random where there are more.
MAX_ROWS = 10_000
#: Labels of a group that differ by this from those of similar people are worth telling (in standard deviations for a
#: regression).
LABEL_GAP = 0.1


@check(
    "label_bias",
    title=msg("Label bias"),
    question=msg("Do the labels themselves depend on the group?"),
    purpose="base rates, what an attribute tells about the label, labels of similar people",
    within="full",
)
def label_bias(subject: Subject) -> Result:
    """Signs of bias in the true labels."""
    subject.needs_attributes()
    data = subject.known
    options: dict[str, Any] = {"n_boot": max(subject.n_boot, 1), "level": subject.level, "seed": subject.seed,
                               "max_rows": MAX_ROWS, "progress": subject.progress}  # fmt: skip
    result = look_at_labels(data, **{**options, **subject.options.get("label_bias", {})})
    least = LABEL_GAP * spread_of_labels(subject)
    findings = []
    for row in result.tables["neighbours"].rows():
        gap = row["difference"]
        if row["p_value"] is None or abs(gap) < least or row["n"] < subject.min_per_group:
            continue
        facts = {"group": row["group"], "own": row["own"], "similar": row["similar"]}
        said = msg("Labels of {group} average {own:num}, those of the most similar people elsewhere {similar:num}.",
                   **facts)  # fmt: skip
        if row.get("class") is not None:
            said = msg("{own:pct} of {group} are labelled {label}, and {similar:pct} of the most similar people "
                       "elsewhere.", label=row["class"], **facts)  # fmt: skip
        findings.append(
            Finding(
                "label_bias.similar_people", "warning", said,
                Estimate(gap, row["difference_low"], row["difference_high"], n=row["n"], method="normal",
                         level=subject.level),
                n=row["n"], magnitude=abs(gap) / least, p_value=row["p_value"], threshold=least,
                evidence="label_bias/neighbours",
                advice=msg("Ask how the labels came about before a model learns them."),
            )
        )  # fmt: skip
    return replace(result, findings=tuple(findings))


def spread_of_labels(subject: Subject) -> float:
    """What a gap between labels is measured by: a standard deviation of a regression's, else 1."""
    return (float(np.std(subject.truth)) or 1.0) if subject.task == "regression" else 1.0
