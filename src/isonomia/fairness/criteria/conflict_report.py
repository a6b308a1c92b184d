"""Conflicts between criteria as sentences, findings, tables and a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isonomia.evidence import Column, Estimate, Finding, Picture, Table
from isonomia.fairness.criteria.conflicts import Conflict, forced_title
from isonomia.fairness.groups.group_metrics import GroupMetrics
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text

ALPHA = 0.05


#: Stands where a rate would have to lie outside 0 to 100%.
IMPOSSIBLE = msg("impossible: no rate would do")


def impossible(row: Mapping[str, Any]) -> bool:
    """Whether what is kept would force a rate below 0 or above 1."""
    return bool(row["lowest_value"] < 0 or row["highest_value"] > 1)


def sentence(row: Mapping[str, Any]) -> Message:
    """What a conflict says, with the numbers of these groups."""
    conflict: Conflict = row["conflict"]
    facts: dict[str, Any] = {
        "kept": conflict.criteria[0],
        "forced": forced_title(conflict),
        "low_group": row["lowest"].name,
        "high_group": row["highest"].name,
        "low": row["lowest_value"],
        "high": row["highest_value"],
        "gap": row["gap"],
    }
    if impossible(row):
        return msg("{kept} cannot hold here: no {forced:inner} would do for {high_group}.", **facts)
    return msg(
        "{kept} would need a {forced:inner} of {low:pct} for {low_group} and of {high:pct} for {high_group}.",
        **facts,
    )


def story_of(
    rows: Sequence[Mapping[str, Any]], tests: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> tuple[Message, ...]:
    messages: list[Message] = []
    for by, test in tests.items():
        facts = {key: test[key] for key in ("lowest", "highest", "low", "high", "p")}
        if test["p"] >= ALPHA:
            messages.append(
                msg(
                    "Base rates by {by} are not shown to differ ({lowest}: {low:pct}; {highest}: {high:pct}; p {p:p}): "
                    "all criteria may hold at once.",
                    by=" x ".join(by),
                    **facts,
                )
            )
            continue
        messages.append(
            msg(
                "Base rates differ by {by}: {low:pct} of {lowest} and {high:pct} of {highest} have a favourable "
                "outcome. Where they differ and the model errs, these cannot all be equal:",
                by=" x ".join(by),
                **facts,
            )
        )
        messages += [sentence(row) for row in rows if row["by"] == by]
    if not tests:
        messages.append(msg("Fewer than two groups have enough rows of both outcomes, so no conclusion is possible."))
    return tuple(messages)


def findings_of(
    rows: Sequence[Mapping[str, Any]], tests: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> tuple[Finding, ...]:
    """One notice for each attribute whose base rates differ: the conflict with the largest forced gap."""
    found = []
    for by, test in tests.items():
        own = [row for row in rows if row["by"] == by]
        if test["p"] >= ALPHA or not own or len(by) > 1:
            continue
        row = max(own, key=lambda one: one["gap"])
        found.append(
            Finding(
                f"incompatibility.{row['conflict'].id}",
                "notice",
                sentence(row),
                Estimate.missing(as_text(IMPOSSIBLE), n=row["n"])
                if impossible(row)
                else Estimate(row["gap"], row["gap_low"], row["gap_high"], n=row["n"], method="simultaneous"),
                who=dict(row["highest"].texts),
                reference=dict(row["lowest"].texts),
                n=row["n"],
                magnitude=row["gap"] / 0.1,
                evidence="incompatibility/conflicts",
                remedy="choose_criterion",
                format="points",
            )
        )
    return tuple(found)


def conflicts_table(rows: Sequence[Mapping[str, Any]], measured: GroupMetrics) -> Table:
    """Each conflict with its numbers; "impossible", and no number, where a rate would lie outside 0 to 100%."""
    cannot = [impossible(row) for row in rows]

    def numbers(name: str) -> list[float | None]:
        return [None if no else row[name] for row, no in zip(rows, cannot, strict=True)]

    return Table(
        (
            Column("by", [" x ".join(row["by"]) for row in rows], title=msg("by")),
            Column("kept", [row["conflict"].criteria[0] for row in rows], title=msg("kept equal")),
            Column("against", [row["conflict"].criteria[1] for row in rows], title=msg("criterion that fails")),
            Column("forced", [forced_title(row["conflict"]) for row in rows], title=msg("rate that must differ")),
            Column("lowest", [row["lowest"].name for row in rows], title=msg("smallest in")),
            Column("lowest_value", numbers("lowest_value"), format="pct", title=msg("smallest")),
            Column("highest", [row["highest"].name for row in rows], title=msg("largest in")),
            Column("highest_value", numbers("highest_value"), format="pct", title=msg("largest")),
            Column(
                "gap",
                numbers("gap"),
                numbers("gap_low"),
                numbers("gap_high"),
                [IMPOSSIBLE if no else None for no in cannot] if any(cannot) else None,
                format="pct",
                title=msg("required gap"),
            ),
            Column("gap_now", [row["gap_now"] for row in rows], format="pct", title=msg("current gap")),
        ),
        msg("Criteria that are incompatible with each other"),
        measured.tables["by_group"].backend,
    )


def formulas_table(rows: Sequence[Mapping[str, Any]], measured: GroupMetrics) -> Table:
    """The theorems behind the conflicts: what is kept, what is forced, the formula, where it comes from."""
    found = list({row["conflict"].id: row["conflict"] for row in rows}.values())
    return Table(
        (
            Column("kept", [conflict.criteria[0] for conflict in found], title=msg("kept equal")),
            Column("forced", [forced_title(conflict) for conflict in found], title=msg("rate that must differ")),
            Column("formula", [conflict.formula for conflict in found], title=msg("formula")),
            Column("source", [conflict.reference for conflict in found], title=msg("source")),
        ),
        msg("The formulas, with p the base rate"),
        measured.tables["by_group"].backend,
    )


def base_rates_table(measured: GroupMetrics) -> Table:
    assert measured.groups is not None
    m, part = len(measured.groups.groups), measured.measured["base_rate"]
    return Table(
        (
            Column("group", [group.name for group in measured.groups.groups], title=msg("group")),
            Column("by", [" x ".join(group.by) for group in measured.groups.groups], title=msg("by")),
            Column("n", measured.sizes, format="int", title=msg("rows")),
            Column("base_rate", part.value[:m], part.low[:m], part.high[:m], format="pct", title=msg("Base rate")),
            Column("small", measured.sizes < measured.min_per_group, title=msg("small group")),
        ),
        msg("Base rates"),
        measured.tables["by_group"].backend,
    )


def picture() -> Picture:
    return Picture(
        "forest",
        "base_rates",
        msg("Base rates, with intervals"),
        {"labels": "group", "value": "base_rate", "color": "by", "flag": "small"},
    )
