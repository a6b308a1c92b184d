"""The marks of a drawing: points, intervals, lines, bands, bars and cells, one function per kind of trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from isonomia.report.figures.svg.elements import LINE, SMALL, element, lines_of, number, plain, text, width
from isonomia.report.figures.svg.scales import Scale
from isonomia.report.figures.theme import colour

Json = Mapping[str, Any]
#: The share of its slot that a bar leaves free.
GAP = 0.25
#: The ends of an interval, in pixels beside its line.
CAP = 4

#: Marks other than a circle as corners around (0, 0), for a radius of 1.
_SHAPES: Mapping[str, Sequence[tuple[float, float]]] = {
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "triangle-up": [(0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
    "cross": [
        (x * sign_x, y * sign_y)
        for sign_x, sign_y, corners in (
            (1, -1, [(0.4, 1.2), (0.4, 0.4), (1.2, 0.4)]),
            (1, 1, [(1.2, 0.4), (0.4, 0.4), (0.4, 1.2)]),
            (-1, 1, [(0.4, 1.2), (0.4, 0.4), (1.2, 0.4)]),
            (-1, -1, [(1.2, 0.4), (0.4, 0.4), (0.4, 1.2)]),
        )
        for x, y in corners
    ],
    "star": [
        (r * math.sin(math.pi * k / 5), -r * math.cos(math.pi * k / 5))
        for k in range(10)
        for r in [0.6 if k % 2 else 1.4]
    ],
    "hexagon": [(1.15 * math.sin(math.pi * k / 3), -1.15 * math.cos(math.pi * k / 3)) for k in range(6)],
    "x": [
        (0, -0.45),
        (0.7, -1.15),
        (1.15, -0.7),
        (0.45, 0),
        (1.15, 0.7),
        (0.7, 1.15),
        (0, 0.45),
        (-0.7, 1.15),
        (-1.15, 0.7),
        (-0.45, 0),
        (-1.15, -0.7),
        (-0.7, -1.15),
    ],
}


@dataclass(frozen=True)
class Panel:
    """Where traces are drawn: the scales of both axes, and whether marks carry their hover texts."""

    x: Scale
    y: Scale
    hover: bool = True


def mark(symbol: str, x: float, y: float, radius: float, tone: str, hover: str = "", opacity: Any = None) -> str:
    """One mark in the fill of the group it stands in; a name that ends in ``-open`` is hollow, in its own tone."""
    look = {"fill": "none", "stroke": tone, "stroke_width": 1.5} if symbol.endswith("-open") else {}
    shape = _SHAPES.get(symbol.removesuffix("-open"))
    if shape is None:
        return element("circle", hover, class_="point", cx=x, cy=y, r=radius, fill_opacity=opacity, **look)
    before, steps = (0.0, 0.0), []
    for dx, dy in shape:
        steps.append(f"{number(radius * (dx - before[0]))} {number(radius * (dy - before[1]))}")
        before = dx, dy
    path = f"M{number(x)} {number(y)}m{steps[0]}l{' '.join(steps[1:])}z"  # it starts at the middle of the mark
    return element("path", hover, class_="point", d=path, fill_opacity=opacity, **look)


def scatter(trace: Json, panel: Panel, index: int) -> Iterator[str]:
    """Points with their intervals, the line through them or the band between them."""
    spots = [
        (panel.x.at(x), panel.y.at(y)) if panel.x.shows(x) and panel.y.shows(y) else None
        for x, y in zip(trace["x"], trace["y"], strict=True)
    ]
    mode = trace.get("mode", "lines")
    tone = trace_colour(trace, index)
    if trace.get("fill") == "toself":
        yield element("polygon", class_="band", points=_path(filter(None, spots)), fill=trace.get("fillcolor", tone))
        return
    if "lines" in mode:
        yield from _line(trace, spots, tone)
    yield from intervals(trace, panel, tone)
    if "markers" in mode:
        looks, marks = trace.get("marker", {}), []
        for at, spot in enumerate(spots):
            if spot is not None:
                symbol, size = _each(looks.get("symbol", "circle"), at), _each(looks.get("size", 6), at)
                marks.append(mark(symbol, *spot, size / 2, tone, hover_of(trace, panel, at), looks.get("opacity")))
        yield element("g", "".join(marks), fill=tone) if marks else ""
    if "text" in mode:
        for spot, words in zip(spots, trace.get("text") or (), strict=False):
            if spot is not None:
                yield text(lines_of(words)[:1], spot[0], spot[1] - 9, text_anchor="middle", font_size=SMALL)


def _line(trace: Json, spots: Sequence[tuple[float, float] | None], tone: str) -> Iterator[str]:
    looks = trace.get("line", {})
    dash = "5 4" if looks.get("dash") == "dash" else None
    for there, run in groupby(spots, key=lambda spot: spot is not None):  # a missing value interrupts the line
        if there:
            yield element(
                "polyline",
                class_="line",
                points=_path(filter(None, run)),
                fill="none",
                stroke=tone,
                stroke_width=looks.get("width", 2),
                stroke_dasharray=dash,
            )


def intervals(trace: Json, panel: Panel, tone: str, positions: Sequence[float] | None = None) -> Iterator[str]:
    """The intervals of a trace's values, along the axis on which they lie."""
    for axis, scale in (("x", panel.x), ("y", panel.y)):
        bars = trace.get(f"error_{axis}") or {}
        across = panel.y if axis == "x" else panel.x
        others = positions if positions is not None else trace["y" if axis == "x" else "x"]
        drawn = []
        for value, other, up, down in zip(
            trace[axis], others, bars.get("array") or (), bars.get("arrayminus") or (), strict=False
        ):
            if not (scale.shows(value) and across.shows(other)) or not (up or down):
                continue
            low, high, middle = scale.at(value - down), scale.at(value + up), across.at(other)
            cap, start = 2 * CAP, number(middle - CAP)
            if axis == "x":
                path = f"M{number(low)} {start}v{cap}m0-{CAP}H{number(high)}m0-{CAP}v{cap}"
            else:
                path = f"M{start} {number(low)}h{cap}m-{CAP} 0V{number(high)}m-{CAP} 0h{cap}"
            drawn.append(element("path", class_="interval", d=path))
        look = {"stroke": bars.get("color", tone), "stroke_width": bars.get("thickness"), "fill": "none"}
        yield element("g", "".join(drawn), **look) if drawn else ""


def bars(traces: Sequence[tuple[int, Json]], panel: Panel, layout: Json) -> Iterator[str]:
    """Bars of all series of a panel: side by side, stacked, or over each other."""
    mode = layout.get("barmode", "group")
    slot = (1 - layout.get("bargap", GAP)) / max(1, len(traces) if mode == "group" else 1)
    tops: dict[tuple[float, bool], float] = {}
    for order, (index, trace) in enumerate(traces):
        lying = trace.get("orientation") == "h"
        values, spots = (trace["x"], trace["y"]) if lying else (trace["y"], trace["x"])
        along, across = (panel.x, panel.y) if lying else (panel.y, panel.x)
        shift = (order - (len(traces) - 1) / 2) * slot if mode == "group" else 0.0
        centres, marker = [], trace.get("marker", {})
        for at, (value, spot) in enumerate(zip(values, spots, strict=True)):
            centres.append(spot + shift)
            if not (along.shows(value) and across.shows(spot)):
                continue
            base = tops.get((spot, value < 0), 0.0) if mode == "stack" else 0.0
            tops[spot, value < 0] = base + value
            half = _each(trace["width"], at) / 2 if trace.get("width") is not None else slot / 2
            edges = sorted((across.at(spot + shift - half), across.at(spot + shift + half)))
            ends = sorted((along.at(base), along.at(base + value)))
            (left, right), (top, bottom) = (ends, edges) if lying else (edges, ends)
            fill = _each(marker.get("color", colour(index)), at)
            box = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            yield element("rect", hover_of(trace, panel, at), class_="bar", **box, rx=1.5, fill=fill)
        yield from intervals(trace, panel, trace_colour(trace, index), centres)


def heatmap(trace: Json, panel: Panel, shades: Callable[[float], str]) -> Iterator[str]:
    """A coloured cell per value, with its text where it fits; nothing where there is no value."""
    wide, high = panel.x.step - 2, panel.y.step - 2
    for down, line in enumerate(trace["z"]):
        for along, value in enumerate(line):
            if value is None:
                continue
            x, y, shade = panel.x.at(along), panel.y.at(down), shades(value)
            box = {"x": x - wide / 2, "y": y - high / 2, "width": wide, "height": high}
            hover = hover_of(trace, panel, (down, along))
            yield element("rect", hover, class_="cell", **box, fill=shade)
            words = lines_of(trace["text"][down][along]) if trace.get("texttemplate") and trace.get("text") else []
            if words and max(width(word, SMALL) for word in words) <= wide and len(words) * LINE <= high:
                baseline = y + 4 - LINE * (len(words) - 1) / 2
                ink = ink_on(shade)
                yield text(words, x, baseline, text_anchor="middle", font_size=SMALL, fill=ink, pointer_events="none")


def gradient(stops: Sequence[Sequence[Any]], low: float, high: float) -> Callable[[float], str]:
    """From a value to its colour, between the stops of a colour scale.

    >>> gradient([(0, "#000000"), (1, "#ffffff")], 0, 2)(1)
    '#808080'
    """

    def shade(value: float) -> str:
        share = min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5
        upper = next(index for index, (stop, _) in enumerate(stops) if share <= stop)
        (start, one), (end, other) = stops[max(0, upper - 1)], stops[upper]
        part = 0.0 if end == start else (share - start) / (end - start)
        mixed = (round(a + (b - a) * part + 1e-9) for a, b in zip(_rgb(one), _rgb(other), strict=True))
        return "#" + "".join(f"{level:02x}" for level in mixed)

    return shade


def trace_colour(trace: Json, index: int) -> str:
    """The colour of a trace's line and marks, as one text."""
    marker = trace.get("marker", {}).get("color")
    found = marker if isinstance(marker, str) else trace.get("line", {}).get("color")
    return str(found or (marker[0] if marker else colour(index)))


def hover_of(trace: Json, panel: Panel, at: int | tuple[int, int]) -> str:
    """What a mark says when it is pointed at."""
    texts = trace.get("hovertext")
    if not panel.hover or not texts:
        return ""
    words = texts[at[0]][at[1]] if isinstance(at, tuple) else texts[at]
    return f"<title>{plain(words)}</title>" if words else ""


def _rgb(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)


def ink_on(tone: str) -> str:
    """White or black, whichever is read more easily on a colour: its contrast is at least 4.58 (WCAG 2.2 asks for 4.5).

    >>> ink_on("#08406f"), ink_on("#3d86c0"), ink_on("#f5f5f2")
    ('#fff', '#000', '#000')
    """
    parts = [part / 255 for part in _rgb(tone)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#fff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000"


def _each(value: Any, at: int) -> Any:
    return value[at] if isinstance(value, list | tuple) else value


def _path(spots: Any) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in spots)
