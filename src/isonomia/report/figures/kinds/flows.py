"""Flows: of each group, which share goes from which decision to which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isonomia.languages import msg
from isonomia.languages.message import write_number
from isonomia.report.figures.chart import Chart
from isonomia.report.figures.labels import HOVER, NARROW
from isonomia.report.figures.narrow import named
from isonomia.report.figures.picture_kind import PICTURES, Option, PictureKind, common
from isonomia.report.figures.reading import Reading
from isonomia.report.figures.theme import FAINT, LINE, PALETTE, ticks

ROW, FRAME = 34, 100
#: Groups that are drawn, and flows with a colour of their own; smaller flows stand together.
MOST_GROUPS, MOST_FLOWS = 30, 6

#: From which decision to which.
Flow = tuple[str, str]


@dataclass(frozen=True)
class _Segment:
    """A part of every bar: its name, the flows it is made of, and whether these people keep their decision."""

    title: str
    flows: Sequence[Flow]
    kept: bool = False


def draw(reading: Reading) -> Chart:
    """A bar per group, as wide as all of it: who keeps a decision in grey, who changes it in colour."""
    counts = _counts(reading)
    groups = list(counts)[:MOST_GROUPS]
    totals = [sum(counts[name].values()) for name in groups]
    figure = Chart()
    tints, greys = iter(PALETTE), iter((FAINT, LINE))
    for segment in _segments(reading, [counts[name] for name in groups]):
        numbers = [sum(counts[name].get(flow, 0.0) for flow in segment.flows) for name in groups]
        shares = [number / total if total else 0.0 for number, total in zip(numbers, totals, strict=True)]
        figure.add_bar(
            x=shares,
            y=list(range(len(groups))),
            orientation="h",
            name=segment.title,
            marker={"color": next(greys if segment.kept else tints)},
            hovertext=[
                f"<b>{reading.text(name, HOVER)}</b><br>"
                + f"{segment.title}: {write_number(share, 'pct', reading.language)}<br>"
                + msg("rows: {n:int}", n=number).text(reading.language)
                for name, share, number in zip(groups, shares, numbers, strict=True)
            ],
            hoverinfo="text",
        )
    labels: dict[str, Any] = {"tickmode": "array", "tickvals": list(range(len(groups))), "showgrid": False}
    labels["ticktext"] = [reading.text(name) for name in groups]
    figure.update_xaxes(**ticks("pct"), range=[0, 1], title={"text": msg("share of the group").text(reading.language)})
    figure.update_yaxes(**labels, range=[len(groups) - 0.5, -0.5])
    narrow = {"yaxis": named([reading.text(name, NARROW) for name in groups])}
    figure.update_layout(
        barmode="stack",
        height=FRAME + ROW * max(2, len(groups)),
        showlegend=True,
        bargap=0.25,
        meta={"narrow": narrow, "left_out": len(counts) - len(groups)},
    )
    return figure


def _counts(reading: Reading) -> dict[str, dict[Flow, float]]:
    """For each group how many people go from which decision to which."""
    names, before, after = reading.columns("labels"), reading.needed("before"), reading.needed("after")
    n = reading.needed("n", "n")
    counts: dict[str, dict[Flow, float]] = {}
    for row, number in zip(reading.rows, reading.numbers(n), strict=True):
        group = " · ".join(reading.words(row[name]) for name in names)
        flow = (reading.words(row[before]), reading.words(row[after]))
        counts.setdefault(group, {})[flow] = counts.get(group, {}).get(flow, 0.0) + (number or 0.0)
    return counts


def _segments(reading: Reading, groups: Sequence[dict[Flow, float]]) -> list[_Segment]:
    """The parts of a bar in their order: of two decisions all four flows; of more, those who keep theirs as one."""
    totals: dict[Flow, float] = {}
    for counts in groups:
        for flow, number in counts.items():
            totals[flow] = totals.get(flow, 0.0) + number
    decisions = list(dict.fromkeys(name for flow in totals for name in flow))
    if len(decisions) == 2:
        low, high = decisions
        return [
            _Segment(_named(reading, flow), [flow], kept=flow[0] == flow[1])
            for flow in ((high, high), (low, high), (high, low), (low, low))
        ]
    moved = sorted((flow for flow in totals if flow[0] != flow[1] and totals[flow]), key=lambda flow: -totals[flow])
    kept = [flow for flow in totals if flow[0] == flow[1]]
    found = [_Segment(msg("decision unchanged").text(reading.language), kept, kept=True)]
    found += [_Segment(_named(reading, flow), [flow]) for flow in moved[:MOST_FLOWS]]
    others = moved[MOST_FLOWS:]
    return [*found, _Segment(msg("other changes").text(reading.language), others)] if others else found


def _named(reading: Reading, flow: Flow) -> str:
    if flow[0] == flow[1]:
        return reading.say(msg("unchanged: {decision}", decision=flow[0]))
    return reading.text(f"{flow[0]} → {flow[1]}")


PICTURES.add(
    PictureKind(
        id="flows",
        purpose="Of each group, which share goes from which decision to which, as one bar.",
        options=(
            *common("labels"),
            Option("before", "column", "column with the decision before"),
            Option("after", "column", "column with the decision after"),
            Option("n", "column", "column with the number of rows; `n` where left out"),
            *common("where", "names"),
        ),
        draw=draw,
    )
)
