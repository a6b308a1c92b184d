"""What stands around the marks: margins, axes, legend, colour bar, reference lines and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from isonomia.report.figures.svg.elements import LINE, SMALL, TEXT, TITLE, element, lines_of, text, width, wrap
from isonomia.report.figures.svg.marks import gradient, mark, trace_colour
from isonomia.report.figures.svg.scales import Scale, Tick, ticks

Json = Mapping[str, Any]
#: What the theme leaves above and below the panels where a figure does not say so.
ABOVE, BELOW = 34, 40
#: Pixels from one tick to the next, at least: across, and up.
TICK_ACROSS, TICK_UP = 58, 44
#: A label beside an axis takes at most this share of the drawing.
LABELS = 0.28
#: From one line of a label beside an axis to the next.
CLOSE = 13
#: The colour bar with its numbers.
BAR = 64
#: How much a label turned by 45 degrees takes across, and down, of its length.
SLANT = 0.71
GRID: Json = {"stroke": "currentColor", "stroke_opacity": 0.16}
QUIET: Json = {"fill_opacity": 0.75}


@dataclass(frozen=True)
class Axis:
    """One axis of a figure: its options, its scale in pixels, its ticks with wrapped labels."""

    options: Json
    scale: Scale
    ticks: Sequence[Tick]
    upright: bool
    turned: bool = False

    @property
    def title(self) -> str:
        return " ".join(lines_of((self.options.get("title") or {}).get("text") or ""))

    @property
    def labelled(self) -> bool:
        return self.options.get("showticklabels", True) is not False

    def depth(self) -> float:
        """Pixels its labels take beside the panel."""
        if not self.labelled or not self.ticks:
            return 0.0
        if self.upright:
            return max(width(line) for tick in self.ticks for line in tick.label) + 8
        if self.turned:
            return max(width(" ".join(tick.label)) for tick in self.ticks) * SLANT + 16
        return max(len(tick.label) for tick in self.ticks) * LINE + 6


def wrapped(options: Json, scale: Scale, *, upright: bool, label_width: float, separators: str) -> Axis:
    """An axis with its ticks; labels are wrapped to the pixels available, or turned where they are too narrow."""
    length = abs(scale.last - scale.first)
    most = max(2, round(length / (TICK_UP if upright else TICK_ACROSS)))
    found = ticks(options, scale, most, separators)
    if options.get("tickvals") is None:
        return Axis(options, scale, found, upright)
    if upright:
        slot = min((abs(scale.at(b.value) - scale.at(a.value)) for a, b in pairwise(found)), default=40)
        lines = max(1, int((slot + 2) // CLOSE))
        return Axis(options, scale, [_fit(tick, label_width, min(2, lines)) for tick in found], upright)
    slot = length / max(1, len(found)) - 6
    longest = max((width(word) for tick in found for line in tick.label for word in line.split()), default=0)
    if longest > slot > 0 and len(found) > 1:
        before = scale.at(found[0].value) + 4  # the first label starts inside the drawing
        label_width = min(label_width, before / SLANT)
        return Axis(options, scale, [_fit(tick, label_width, 1) for tick in found], upright, turned=True)
    return Axis(options, scale, [_fit(tick, slot, 3) for tick in found], upright)


def _fit(tick: Tick, most: float, lines: int) -> Tick:
    return Tick(tick.value, wrap(" ".join(tick.label), most, lines=lines))


def title_lines(axis: Axis, wide: float) -> list[str]:
    """The title below an axis that is so many pixels wide."""
    return wrap(axis.title, max(140, wide * 1.1), lines=2)


def axes(x: Axis, y: Axis) -> Iterator[str]:
    """Grid lines, ticks and titles of one panel."""
    left, right = x.scale.first, x.scale.last
    bottom, top = y.scale.first, y.scale.last
    grid = []
    if x.options.get("showgrid", True):
        grid += [f"M{x.scale.at(tick.value):.1f} {top:.1f}V{bottom:.1f}" for tick in x.ticks]
    if y.options.get("showgrid", True):
        grid += [f"M{left:.1f} {y.scale.at(tick.value):.1f}H{right:.1f}" for tick in y.ticks]
    if grid:
        yield element("path", d="".join(grid), fill="none", **GRID)
    if y.labelled and y.ticks:
        yield element("g", "".join(_beside(y, left)), text_anchor="end")
    if x.labelled and x.ticks:
        yield element("g", "".join(_below(x, bottom)), text_anchor="end" if x.turned else "middle")
    if x.title:
        at = bottom + x.depth() + LINE
        lines = title_lines(x, right - left)
        yield text(lines, (left + right) / 2, at, text_anchor="middle", **QUIET)
    if y.title:
        at = left - y.depth() - 8
        lines = wrap(y.title, max(120, bottom - top), lines=2)
        turn = f"rotate(-90 {at:.1f} {(top + bottom) / 2:.1f})"
        yield text(
            lines, at, (top + bottom) / 2 - LINE * (len(lines) - 1), text_anchor="middle", transform=turn, **QUIET
        )


def _beside(y: Axis, left: float) -> Iterator[str]:
    for tick in y.ticks:
        baseline = y.scale.at(tick.value) + 4 - CLOSE * (len(tick.label) - 1) / 2
        yield text(tick.label, left - 8, baseline, line=CLOSE)


def _below(x: Axis, bottom: float) -> Iterator[str]:
    for tick in x.ticks:
        at = x.scale.at(tick.value)
        if x.turned:
            turn = f"rotate(-45 {at + 4:.1f} {bottom + 14:.1f})"
            yield text(tick.label, at + 4, bottom + 14, transform=turn)
        else:
            yield text(tick.label, at, bottom + LINE + 1)


def legend_rows(data: Sequence[Json], layout: Json, most: float) -> list[list[tuple[int, Json, str]]]:
    """The traces that the legend names, in rows that fit the width; none where it is not shown."""
    named = [
        (index, trace, " ".join(lines_of(trace["name"])))
        for index, trace in enumerate(data)
        if trace.get("showlegend") is not False and trace.get("name")
    ]
    if layout.get("showlegend") is False or len(named) < 2:
        return []
    rows: list[list[tuple[int, Json, str]]] = [[]]
    used = 0.0
    for entry in named:
        takes = width(entry[2]) + 38
        if rows[-1] and used + takes > most:
            rows.append([])
            used = 0.0
        rows[-1].append(entry)
        used += takes
    return rows


def legend(rows: Sequence[Sequence[tuple[int, Json, str]]], left: float) -> Iterator[str]:
    """A mark and a name per series."""
    for line, row in enumerate(rows):
        x, y = left, 10 + line * (LINE + 3)
        for index, trace, name in row:
            tone, mode = trace_colour(trace, index), trace.get("mode", "")
            if trace.get("type") == "bar":
                yield element("rect", x=x + 3, y=y - 5, width=12, height=10, rx=1.5, fill=tone)
            if "lines" in mode:
                dash = "5 4" if (trace.get("line") or {}).get("dash") else None
                yield element("path", d=f"M{x:.1f} {y}h18", stroke=tone, stroke_width=2, stroke_dasharray=dash)
            if "markers" in mode:
                symbol = (trace.get("marker") or {}).get("symbol", "circle")
                shape = (
                    symbol if isinstance(symbol, str) else symbol[0].removesuffix("-open")
                )  # hollow are some of them
                drawn = mark(shape, x + 9, y, 4, tone).replace(' class="point"', "")
                yield element("g", drawn, fill=tone)
            yield text([name], x + 22, y + 4)
            x += width(name) + 38


def colour_bar(
    axis: Json, low: float, high: float, x: float, top: float, height: float, separators: str
) -> Iterator[str]:
    """The colours of a heat map from low to high, in steps, with their numbers."""
    shade, steps = gradient(axis["colorscale"], low, high), 24
    scale = Scale(low, high, top + height, top)
    for step in range(steps):
        value = low + (high - low) * (step + 0.5) / steps
        y = top + height * (1 - (step + 1) / steps)
        yield element("rect", x=x, y=y, width=10, height=height / steps + 0.5, fill=shade(value))
    for tick in ticks(axis.get("colorbar") or {}, scale, max(2, int(height / 40)), separators):
        yield text(tick.label, x + 15, scale.at(tick.value) + 4, font_size=SMALL)


def notes_above(layout: Json, panel_width: float) -> int:
    """Lines of text that stand above the panels: titles of panels, labels of reference lines."""
    counts = [
        len(wrap(" ".join(lines_of(note["text"])), panel_width, TITLE))
        for note in layout.get("annotations") or ()
        if note.get("yref") == "paper" and note.get("y", 0) >= 0.999 and note.get("text")
    ]
    return max(counts, default=0)


def notes(layout: Json, xs: Mapping[str, Axis], ys: Mapping[str, Axis], box: Sequence[float]) -> Iterator[str]:
    """The texts that a figure places by hand: titles of panels, labels of lines, "not available"."""
    for note in layout.get("annotations") or ():
        x, y = (_placed(note, axis, axes, box) for axis, axes in (("x", xs), ("y", ys)))
        size = (note.get("font") or {}).get("size", TEXT)
        panel = next((a for a in xs.values() if a.scale.first - 1 <= x <= a.scale.last + 1), next(iter(xs.values())))
        most = abs(panel.scale.last - panel.scale.first)
        lines = wrap(" ".join(lines_of(note.get("text") or "")), max(most, 80), size)
        anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", "center"), "middle")
        baseline = y - 5 - LINE * (len(lines) - 1) if note.get("yanchor") == "bottom" else y + 4
        x, anchor = _inside(x, anchor, max(width(line, size) for line in lines), box)
        ink = QUIET if (note.get("font") or {}).get("color") else {"font_weight": 600}
        yield text(lines, x, baseline, text_anchor=anchor, font_size=size, **ink)


def _inside(x: float, anchor: str, wide: float, box: Sequence[float]) -> tuple[float, str]:
    """A text beside the edge of the drawing is moved so that it stays inside."""
    if anchor == "middle" and x + wide / 2 > box[0] + box[2] + 12:
        return box[0] + box[2] + 12, "end"
    if anchor == "middle" and x - wide / 2 < 2:
        return 2, "start"
    return x, anchor


def _placed(note: Json, axis: str, axes: Mapping[str, Axis], box: Sequence[float]) -> float:
    """The pixel of one coordinate, which counts in values, in shares of a panel or in shares of the figure."""
    ref, value = str(note.get(f"{axis}ref", axis)), float(note[axis])
    first, length = (box[0], box[2]) if axis == "x" else (box[1] + box[3], -box[3])
    if ref == "paper":
        return first + value * length
    scale = axes[ref.removesuffix(" domain")].scale
    return scale.first + value * (scale.last - scale.first) if ref.endswith("domain") else scale.at(value)


def references(layout: Json, x: tuple[str, Axis], y: tuple[str, Axis]) -> Iterator[str]:
    """The dashed lines that values are compared with, in one panel."""
    look: Json = {
        "class_": "reference",
        "stroke": "currentColor",
        "stroke_opacity": 0.7,
        "stroke_dasharray": "5 4",
        "stroke_width": 1.2,
    }
    for shape in layout.get("shapes") or ():
        if (
            shape.get("xref") == x[0]
            and x[1].scale.shows(shape["x0"])
            and str(shape.get("yref", "")).endswith("domain")
        ):
            if shape["yref"].removesuffix(" domain") == y[0]:
                at = x[1].scale.at(shape["x0"])
                yield element("path", d=f"M{at:.2f} {y[1].scale.first:.1f}V{y[1].scale.last:.1f}", fill="none", **look)
        elif (
            shape.get("yref") == y[0]
            and y[1].scale.shows(shape["y0"])
            and shape["xref"].removesuffix(" domain") == x[0]
        ):
            at = y[1].scale.at(shape["y0"])
            yield element("path", d=f"M{x[1].scale.first:.1f} {at:.2f}H{x[1].scale.last:.1f}", fill="none", **look)
