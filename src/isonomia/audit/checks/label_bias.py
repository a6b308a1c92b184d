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
    options: dict[str, Any] = {"n_boot": max(subject.n_boot, 1), "level": subject.level, "seed": subject.seed}
    result = look_at_labels(data, **{**options, **subject.options.get("label_bias", {})})
    spread = 1.0
    if subject.task == "regression":
        spread = float(np.std(subject.truth)) or 1.0
    findings = []
    for row in result.tables["neighbours"].rows():
        gap = row["difference"]
        if abs(gap) < LABEL_GAP * spread or row["n"] < subject.min_per_group or row["p_value"] is None:
            continue
        findings.append(
            Finding(
                "label_bias.similar_people", "warning",
                msg("Labels of {group} average {own:num}, those of the most similar people elsewhere {similar:num}.",
                    group=row["group"], own=row["own"], similar=row["similar"]),
                Estimate(gap, row["difference_low"], row["difference_high"], n=row["n"], method="normal",
                         level=subject.level),
                n=row["n"], magnitude=abs(gap) / (LABEL_GAP * spread), p_value=row["p_value"],
                threshold=LABEL_GAP * spread, evidence="label_bias/neighbours",
                advice=msg("Ask how the labels came about before a model learns them."),
            )
        )  # fmt: skip
    return replace(result, findings=tuple(findings))
