"""Do probabilities mean what they say, for everyone?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from isonomia.audit.check_registry import check
from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.evidence import Estimate, Finding, Picture, Result, normal_p
from isonomia.evidence.intervals import error_within
from isonomia.fairness import condition
from isonomia.languages import Message, msg
from isonomia.metrics import Reliability, reliability
from isonomia.subject import Subject

#: A group whose predicted and observed rates differ by more than this on average is reported.
GAP = 0.05


@check(
    "calibration",
    order=110,
    title=msg("Calibration"),
    question=msg("Do probabilities mean what they say, overall and for every group?"),
    purpose="reliability, ECE and Brier score, overall and by group",
)
def calibration(subject: Subject) -> Result:
    """Reliability overall and for each protected attribute."""
    truth, surface = subject.truth, subject.surface
    if surface.probability is None:
        raise NotApplicable(msg("there are no probabilities, only decisions or scores"))
    options: dict[str, Any] = {
        "weights": subject.weights,
        "level": subject.settings.level,
        "n_boot": subject.settings.n_boot,
        "seed": subject.settings.seed,
    }
    overall = reliability(truth, surface, **options)
    tables, pictures, findings = dict(overall.tables), list(overall.pictures), []
    for column in subject.attributes:
        named = Codes(column.name, column.codes, tuple(condition(column.name, text) for text in column.texts))
        part = reliability(truth, surface, groups=named, **options)
        for name in ("by_group", "bins_by_group"):
            titled = _TITLES[name](column.name)
            tables[f"{name}_{column.name}"] = replace(part.tables[name], title=titled, backend=subject.backend)
        pictures += [
            Picture(picture.kind, f"{picture.table}_{column.name}", picture.title, picture.options)
            for picture in part.pictures
            if picture.table == "bins_by_group"
        ]
        findings += _findings(part, column, subject)
    return Result("calibration", overall.title, tables, overall.values, tuple(findings), tuple(pictures), overall.notes)


_TITLES: dict[str, Callable[[str], Message]] = {
    "by_group": lambda name: msg("Calibration by {attribute}", attribute=name),
    "bins_by_group": lambda name: msg("Predicted probability and observed rate by {attribute}", attribute=name),
}


def _findings(part: Reliability, column: Codes, subject: Subject) -> list[Finding]:
    found = []
    for row, text in zip(part.tables["by_group"].rows(), column.texts, strict=True):
        gap = row["gap"]
        if gap is None or abs(gap) < GAP or row["n"] < subject.settings.min_per_group:
            continue
        low, high = row["gap_low"], row["gap_high"]
        error = error_within(low, high, subject.settings.level) if low is not None else None
        p_value = float(normal_p(gap / error)) if error else None
        group = condition(column.name, text)
        message = (
            msg(
                "Probabilities of {group} are too low by {gap:points} points: it fares better than predicted.",
                group=group,
                gap=abs(gap),
            )
            if gap > 0
            else msg(
                "Probabilities of {group} are too high by {gap:points} points: it fares worse than predicted.",
                group=group,
                gap=abs(gap),
            )
        )
        found.append(
            Finding(
                "calibration.group_gap",
                "warning" if p_value is not None else "notice",
                message,
                Estimate(gap, low, high, n=row["n"], method="normal", level=subject.settings.level),
                who={column.name: text},
                n=row["n"],
                magnitude=abs(gap) / GAP,
                threshold=GAP,
                p_value=p_value,
                format="points",
                evidence=f"calibration/by_group_{column.name}",
                remedy="recalibrate_by_group",
            )
        )
    return found
