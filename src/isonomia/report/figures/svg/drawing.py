"""One figure as one SVG element: panels laid out as Plotly lays them out, marks from the same numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isonomia.errors import SpecError
from isonomia.report.figures.svg import frame
from isonomia.report.figures.svg.elements import LINE, TEXT, element, plain
from isonomia.report.figures.svg.frame import Axis, wrapped
from isonomia.report.figures.svg.marks import Panel, bars, gradient, heatmap, scatter
from isonomia.report.figures.svg.scales import Scale, margin, scale_of
from isonomia.report.figures.theme import FONT

Json = Mapping[str, Any]
#: Widths in pixels that figures are drawn for: a page, and a phone.
WIDE, NARROW = 720, 350
#: Below this width a figure takes the layout it declares for phones.
PHONE = 560
#: Marks whose texts the description for screen readers holds.
DESCRIBED = 12


def svg(figure: Json, width: int = WIDE, *, alone: bool = True) -> str:
    """A static drawing of a figure, given as Plotly's JSON (`data` and `layout`).

    It knows traces of the types scatter, bar and heatmap, with intervals; marks carry their hover texts as titles. A
    drawing that stands `alone` has a font, a title and a description; in a page the element around it has them.
    """
    unknown = {trace.get("type", "scatter") for trace in figure["data"]} - {"scatter", "bar", "heatmap"}
    if unknown:
        raise SpecError(
            f"A static drawing shows scatter, bar and heatmap traces, not {', '.join(sorted(unknown))}. "
            "A kind of picture with other traces needs its own `svg` function."
        )
    return _Drawing(figure, width).svg(alone)


class _Drawing:
    """A figure at one width: margins are found first, then everything is drawn."""

    def __init__(self, figure: Json, width: int) -> None:
        layout = figure["layout"]
        self.phone = width < PHONE
        self.layout: Json = merged(layout, (layout.get("meta") or {}).get("narrow") or {}) if self.phone else layout
        self.data: Sequence[Json] = figure["data"]
        self.width = width
        self.separators = str(layout.get("separators") or ".,")
        self.pairs = {_id(name): str(axis.get("anchor") or "y") for name, axis in _axes(layout, "x").items()} or {
            "x": "y"
        }
        self._fit()

    def _fit(self) -> None:
        """Margins from the texts around the panels, then the axes in pixels."""
        layout, margin = self.layout, self.layout.get("margin") or {}
        height = layout.get("height", 400) - margin.get("t", frame.ABOVE) - frame.BELOW
        self.inner = max(60.0, height)
        scales = {
            **{x: self._scale("x", x) for x in self.pairs},
            **{y: self._scale("y", y) for y in self.pairs.values()},
        }
        self.box = [0.0, 0.0, float(self.width), self.inner]
        self._layout(scales)  # once to measure the labels, once with the margins they need
        ys = [axis for name, axis in self.ys.items() if self._at_left(name)]
        left = max((axis.depth() + (22 if axis.title else 0) for axis in ys), default=0) + 6
        right = frame.BAR if self._scaled() else max(14, margin.get("r", 0))
        inside = self.width - left - right
        share = min(end - start for start, end in (self._axis(x).get("domain") or (0, 1) for x in self.pairs))
        self.rows = frame.legend_rows(self.data, layout, inside)
        top = len(self.rows) * (LINE + 3) + frame.notes_above(layout, inside * share) * LINE + 10
        self.box = [left, float(top), inside, self.inner]
        self._layout(scales)
        low = [axis for name, axis in self.xs.items() if self._at_bottom(name)]
        below = max((axis.depth() + (LINE + 8 if axis.title else 0) for axis in low), default=0)
        titled = any(axis.title and len(frame.title_lines(axis, inside * share)) > 1 for axis in low)
        self.height = top + self.inner + below + (LINE if titled else 0) + 6

    def _layout(self, scales: Mapping[str, Scale]) -> None:
        left, top, wide, high = self.box
        self.xs: dict[str, Axis] = {}
        self.ys: dict[str, Axis] = {}
        label_width = self.width * frame.LABELS
        for x, y in self.pairs.items():
            across, up = (self._axis(name).get("domain") or (0, 1) for name in (x, y))
            x_scale = scales[x].over(left + across[0] * wide, left + across[1] * wide)
            y_scale = scales[y].over(top + (1 - up[0]) * high, top + (1 - up[1]) * high)
            beside = label_width if self._at_left(y) else 0.09 * wide
            self.xs[x] = wrapped(
                self._axis(x), x_scale, upright=False, label_width=label_width, separators=self.separators
            )
            self.ys[y] = wrapped(self._axis(y), y_scale, upright=True, label_width=beside, separators=self.separators)

    def _axis(self, name: str) -> Json:
        found: Json = self.layout.get(f"{name[0]}axis{name[1:]}") or {}
        return found

    def _at_left(self, y: str) -> bool:
        x = next(x for x, anchored in self.pairs.items() if anchored == y)
        return float((self._axis(x).get("domain") or (0, 1))[0]) < 0.01

    def _at_bottom(self, x: str) -> bool:
        return float((self._axis(self.pairs[x]).get("domain") or (0, 1))[0]) < 0.01

    def _traces(self, x: str) -> list[tuple[int, Json]]:
        return [(index, trace) for index, trace in enumerate(self.data) if (trace.get("xaxis") or "x") == x]

    def _scale(self, axis: str, name: str) -> Scale:
        """The values that an axis has to show: of its traces, their intervals, and its reference lines."""
        values: list[Any] = [
            shape[f"{axis}0"] for shape in self.layout.get("shapes") or () if shape.get(f"{axis}ref") == name
        ]
        zero = False
        mine = [trace for trace in self.data if (trace.get(f"{axis}axis") or axis) == name]
        stacked: dict[Any, float] = {}
        for trace in mine:
            if trace.get("type") == "heatmap":
                count = len(trace["z"]) if axis == "y" else len((trace["z"] or [[]])[0])
                ends = (count - 0.5, -0.5) if self._axis(name).get("autorange") == "reversed" else (-0.5, count - 0.5)
                return Scale(*ends) if count else Scale(0, 1)
            along = trace.get("type") == "bar" and (trace.get("orientation") == "h") == (axis == "x")
            if trace.get("type") == "bar" and not along:  # the axis of the bars' positions
                half = [w / 2 for w in trace["width"]] if trace.get("width") is not None else [0.5] * len(trace[axis])
                values += [at + s * h for at, h in zip(trace[axis], half, strict=True) for s in (-1, 1)]
                continue
            zero = zero or along
            values += list(_reach(trace, axis))
            if along and self.layout.get("barmode") == "stack":
                for spot, value in zip(trace["y" if axis == "x" else "x"], trace[axis], strict=True):
                    stacked[spot] = stacked.get(spot, 0.0) + (value or 0.0)
        return scale_of(self._axis(name), [*values, *stacked.values()], zero)

    def _scaled(self) -> bool:
        axis = self.layout.get("coloraxis") or {}
        return bool(axis) and axis.get("showscale") is not False and any("coloraxis" in trace for trace in self.data)

    def _limits(self, trace: Json) -> tuple[Json, float, float]:
        """The colours of a heat map, and the values at both ends of them."""
        axis: Json = self.layout["coloraxis"] if "coloraxis" in trace else trace
        values = [value for line in trace["z"] for value in line if value is not None] or [0.0, 1.0]
        low, high = (axis.get(f"c{end}", axis.get(f"z{end}")) for end in ("min", "max"))
        if low is None or high is None:
            low, high = min(values), max(values)
            if axis.get("cmid") is not None:
                reach = max(abs(value - axis["cmid"]) for value in (low, high))
                low, high = axis["cmid"] - reach, axis["cmid"] + reach
        gap = 0.0 if low < high else margin(high)
        return axis, float(low) - gap, float(high) + gap

    def _panel(self, x: str, y: str) -> Iterator[str]:
        panel = Panel(self.xs[x].scale, self.ys[y].scale, hover=not self.phone)
        traces = self._traces(x)
        yield from bars([(index, trace) for index, trace in traces if trace.get("type") == "bar"], panel, self.layout)
        for index, trace in traces:
            if trace.get("type") == "heatmap":
                axis, low, high = self._limits(trace)
                yield from heatmap(trace, panel, gradient(axis["colorscale"], low, high))
            elif trace.get("type") != "bar":
                yield from scatter(trace, panel, index)

    def _parts(self) -> Iterator[str]:
        yield from frame.legend(self.rows, self.box[0] if not self.phone else 4)
        for x, y in self.pairs.items():
            across, up = self.xs[x].scale, self.ys[y].scale
            yield "".join(frame.axes(self.xs[x], self.ys[y]))
            inside = "".join(frame.references(self.layout, (x, self.xs[x]), (y, self.ys[y]))) + "".join(
                self._panel(x, y)
            )
            pixels = " ".join(f"{end:.2f}" for end in (across.first, across.last, up.first, up.last))
            values = " ".join(f"{end:.10g}" for end in (across.start, across.end, up.start, up.end))
            yield element("g", inside or " ", class_="panel", data_pixels=pixels, data_values=values)
        yield from frame.notes(self.layout, self.xs, self.ys, self.box)
        if self._scaled():
            axis, low, high = self._limits(next(trace for trace in self.data if "coloraxis" in trace))
            x, tall = self.box[0] + self.box[2] + 12, min(self.inner, 220.0)
            yield from frame.colour_bar(axis, low, high, x, self.box[1], tall, self.separators)

    def svg(self, alone: bool) -> str:
        inside = "".join(self._parts())
        look = {
            "class_": "narrow" if self.phone else "wide",
            "viewBox": f"0 0 {self.width} {math.ceil(self.height)}",
            "fill": "currentColor",
            "font_size": TEXT,
        }
        if not alone:
            return element("svg", inside, **look)
        title = plain((self.layout.get("meta") or {}).get("title") or "")
        hovers = [plain(each) for trace in self.data for each in flat(trace.get("hovertext") or ()) if each]
        more = " …" if len(hovers) > DESCRIBED else ""
        describe = f"<title>{title}</title>" + (
            f"<desc>{' | '.join(hovers[:DESCRIBED])}{more}</desc>" if hovers else ""
        )
        return element(
            "svg",
            describe + inside,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            font_family=FONT,
            **look,
        )


def merged(into: Json, changes: Json) -> dict[str, Any]:
    """A layout with changes in it: mappings are merged, everything else is replaced."""
    result = dict(into)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def _axes(layout: Json, axis: str) -> dict[str, Json]:
    return {name: value for name, value in layout.items() if name.startswith(f"{axis}axis")}


def _id(name: str) -> str:
    return name.replace("axis", "")


def _reach(trace: Json, axis: str) -> Iterator[Any]:
    """A trace's values along an axis and the ends of their intervals."""
    error = trace.get(f"error_{axis}") or {}
    yield from trace[axis]
    for value, up, down in zip(trace[axis], error.get("array") or (), error.get("arrayminus") or (), strict=False):
        if value is not None:
            yield from (value + up, value - down)


def flat(texts: Any) -> Iterator[str]:
    """Texts in lists within lists, one by one."""
    for each in texts:
        yield from flat(each) if isinstance(each, list | tuple) else (each,)
