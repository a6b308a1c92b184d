"""Findings about true labels: groups whose labels differ from those of people like them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.audit.checks._people import people_by_name
from isonomia.evidence import THRESHOLDS, Finding, Table, affected
from isonomia.evidence.affected import Harm
from isonomia.languages import Message
from isonomia.subject import Subject


def label_findings(
    table: Table,
    subject: Subject,
    code: str,
    *,
    method: str,
    evidence: str,
    sentence: Callable[[Mapping[str, Any], str], Message],
) -> list[Finding]:
    """A finding for each row whose `difference` is large and was tested; `sentence` makes its message."""
    spread = float(np.std(subject.truth)) if subject.task == "regression" else 1.0
    limits = THRESHOLDS["label_gap"]
    minimum = limits.reported * (spread or 1.0)
    people = people_by_name(subject)
    found = []
    for index, row in enumerate(table.rows()):
        gap = row["difference"]
        if row["p_value"] is None or abs(gap) < minimum or row["n"] < subject.settings.min_per_group:
            continue
        who = dict((table["group"].keys or ())[index])
        figure = replace(
            table["difference"].estimate(index, n=row["n"], method=method, level=subject.settings.level), note=None
        )
        counted = subject.task != "regression"
        lacking = affected(figure, row["n"] if counted else None, harm=_harm(row.get("class"), subject))
        if subject.favourable and (lacking.value or 0.0) < 0:
            continue  # their outcomes are on record as better than those of people like them
        found.append(
            Finding(
                code,
                limits.severity(abs(gap) / (spread or 1.0)),
                sentence(row, subject.task),
                figure,
                who=who,
                reference=_the_other(who, people),
                n=row["n"],
                magnitude=abs(gap) / minimum,
                p_value=row["p_value"],
                test=(*evidence.split("/"), index),
                threshold=minimum,
                evidence=evidence,
                remedy="question_labels",
                people=lacking,
            )
        )
    return found


def _harm(label: str | None, subject: Subject) -> Harm:
    """Whether a group is worse off without a label or with it: of several classes one that is not favourable."""
    good = {str(one) for one in subject.favourable}
    return "excess" if label is not None and good and label not in good else "lack"


def _the_other(who: Mapping[str, str], people: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """The group that all people elsewhere are in, where there are just two."""
    elsewhere = [texts for texts in people.values() if set(texts) == set(who) and texts != who]
    return elsewhere[0] if len(elsewhere) == 1 else {}
