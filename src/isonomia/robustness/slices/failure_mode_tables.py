"""Failure modes as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from isonomia.data import Backend
from isonomia.evidence import THRESHOLDS, Column, Estimate, Finding, Picture, Table, affected, beyond, finite, wilson
from isonomia.languages import Message, People, msg
from isonomia.robustness.slices.failures import Failures, WorstRows
from isonomia.robustness.slices.row_failures import Pattern, rounded

FINDINGS = 5
#: What the ways to fail are called.
KINDS = {
    "wrong_confident": msg("wrong and confident"),
    "wrong": msg("wrong"),
    "right_unsure": msg("right, but unsure"),
    "right": msg("right"),
    "too_high": msg("too high"),
    "too_low": msg("too low"),
    "misranked": msg("ranked on the wrong side"),
}

_ROWS = (
    Column("row", format="int", title=msg("Row")),
    Column("true", title=msg("true")),
    Column("predicted", title=msg("predicted")),
    Column("confidence", format="num4", title=msg("Predicted probability")),
    Column("harm", format="num4", title=msg("Harm")),
    Column("kind", title=msg("Kind of failure"), names=KINDS),
    Column("reasons", title=msg("What is unusual")),
)
_KINDS = (
    Column("kind", title=msg("Kind of failure"), names=KINDS),
    Column("n", format="int", title=msg("Rows")),
    Column("share", format="pct", title=msg("Share of rows")),
    Column("mean_harm", format="num4", title=msg("Mean harm")),
)
_SLICES = (
    Column("feature", title=msg("Feature")),
    Column("slice", title=msg("Slice")),
    Column("n", format="int", title=msg("Rows")),
    Column("share", format="pct", title=msg("Share of rows")),
    Column("n_worst", format="int", title=msg("Of the worst rows")),
    Column("share_of_worst", format="pct", title=msg("Share of the worst rows")),
    Column("lift", format="num", title=msg("Ratio to its share")),
    Column("error", format="num4", title=msg("Mean harm")),
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
    Column("over_represented", title=msg("Over-represented")),
)


def row_table(worst: WorstRows, reasons: Sequence[Sequence[Message]], backend: Backend | None) -> Table:
    """The worst rows with the reasons found for each."""
    surface, truth, harm = worst.outcome.surface, worst.outcome.truth, worst.harm
    assert truth is not None

    def where(value: Any) -> Any:
        return float(value) if surface.task == "regression" else str(surface.classes[int(value)])

    def predicted(row: int) -> Any:
        for values in (surface.label, surface.continuous):
            if values is not None:
                return where(values[row])
        ranking = surface.score if surface.score is not None else surface.probability
        return None if ranking is None else float(ranking[row])

    rows = [
        {
            "row": number,
            "true": where(truth[row]),
            "predicted": predicted(row),
            "confidence": finite(harm.confidence[row]),
            "harm": float(harm.size[row]),
            "kind": str(harm.kind[row]),
            "reasons": Message.join(reasons[row]),
        }
        for row, number in enumerate(worst.numbers.tolist())
    ]
    # numbers and scores have no probability
    columns = [one for one in _ROWS if one.name != "confidence" or surface.probability is not None]
    return Table.from_rows(rows, columns, title=msg("The worst rows"), backend=backend)


def kind_table(found: Failures, level: float, backend: Backend | None) -> Table:
    """How often each kind of failure happens."""
    rows = []
    for kind in KINDS:
        if kind in found.kinds:
            count, harm = found.kinds[kind]
            rows.append({"kind": kind, "n": count, "share": _share(count, found.n, level), "mean_harm": harm})
    return Table.from_rows(rows, _KINDS, title=msg("Kinds of failure"), backend=backend)


def _share(count: int, n: int, level: float) -> Estimate:
    low, high = wilson(count, n, level)
    return Estimate(count / n, float(low), float(high), n=n, method="wilson", level=level)


def slice_table(found: Sequence[Pattern], alpha: float, backend: Backend | None) -> Table:
    """How often each slice is among the worst rows."""
    rows: list[Mapping[str, Any]] = [
        {
            "feature": p.feature,
            "slice": p.text,
            "n": p.n,
            "n_worst": p.n_worst,
            "share": p.share,
            "share_of_worst": p.share_of_worst,
            "lift": p.lift,
            "error": p.error,
            "p_value": p.p_value,
            "p_adjusted": p.p_adjusted,
            "over_represented": bool(p.lift > THRESHOLDS["worst_rows"].reported and p.p_adjusted < alpha),
        }
        for p in by_lift(found)
    ]
    return Table.from_rows(rows, _SLICES, title=msg("Slices and the worst rows"), backend=backend)


def by_lift(found: Sequence[Pattern]) -> list[Pattern]:
    """The rows of the table of slices."""
    return sorted(found, key=lambda p: -rounded(p.lift))


def findings(
    over: Sequence[Pattern],
    listed: Sequence[Pattern],
    failures: Failures,
    level: float,
    confident: float,
) -> tuple[Finding, ...]:
    """Slices over-represented among the worst rows, and confident errors."""
    rows = {(p.feature, p.text): row for row, p in enumerate(listed)}
    found = [
        replace(_finding(p, failures.n_worst, level), test=("failure_modes", "slices", rows[p.feature, p.text]))
        for p in over[:FINDINGS]
    ]
    sure, n = failures.confident, failures.n
    if sure:
        share = _share(sure, n, level)
        found.append(
            Finding(
                "failure_modes.confident",
                "notice",
                msg(
                    "{n:# decision is|# decisions are} wrong ({share:pct}) although the model is at least "
                    "{confident:pct} sure.",
                    n=sure,
                    share=sure / n,
                    confident=confident,
                ),
                share,
                n=sure,
                magnitude=1.0,
                evidence="failure_modes/rows",
                format="pct",
                remedy="review_confident_errors",
                people=affected(share, n),
            )
        )
    return tuple(found)


def _finding(p: Pattern, total: int, level: float) -> Finding:
    share = _share(p.n_worst, total, level)
    return Finding(
        "failure_modes.slice",
        THRESHOLDS["worst_rows"].severity(p.lift),
        msg(
            "{slice:first} are {share:pct} of the data and {worst:pct} of the worst cases ({lift:num} times the "
            "expected share).",
            slice=People(((p.feature, p.text),)),
            share=p.share,
            worst=p.share_of_worst,
            lift=p.lift,
        ),
        share,
        who={p.feature: p.text},
        n=p.n,
        magnitude=p.lift / THRESHOLDS["worst_rows"].reported,
        p_value=p.p_value,
        p_adjusted=p.p_adjusted,
        threshold=THRESHOLDS["worst_rows"].reported * p.share,
        evidence="failure_modes/slices",
        format="pct",
        remedy="review_rows",
        people=beyond(share, p.share, total),
    )


def pictures(over: Sequence[Pattern]) -> tuple[Picture, ...]:
    """Kinds of failure, and slices over-represented among the worst rows."""
    pictures = [
        Picture(
            "bars",
            "kinds",
            msg("Kinds of failure"),
            {"labels": "kind", "value": "share", "low": "share_low", "high": "share_high"},
        ),
    ]
    if over:
        where = {"feature": list(dict.fromkeys(p.feature for p in over)), "over_represented": True}
        pictures.append(
            Picture(
                "bars",
                "slices",
                msg("Slices over-represented among the worst rows"),
                {"labels": ["feature", "slice"], "value": ["share", "share_of_worst"], "where": where},
            )
        )
    return tuple(pictures)
