"""Static drawings: the numbers of the Plotly figure, read back from the pixels; texts that stay texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from isonomia.errors import SpecError
from isonomia.evidence import Column, Picture, Table
from isonomia.languages import msg
from isonomia.report import Document, draw, draw_svg
from isonomia.report.figures.svg.drawing import svg
from isonomia.report.figures.svg.elements import width
from isonomia.report.figures.svg.scales import Scale, ticks

SVG = "{http://www.w3.org/2000/svg}"
TABLE = Table.of(
    {
        "sex": ["F", "M", "X"],
        "age": ["young", "old", "old"],
        "rate": [0.2, 0.3, None],
        "rate_low": [0.1, 0.25, None],
        "rate_high": [0.4, 0.35, None],
        "error": [-0.5, 0.25, 0.1],
        "left": [0, 1, 3],
        "right": [1, 3, 4],
        "n": [10, 90, 3],
    },
    [Column("rate", format="pct")],
)


def pictures(document: Document) -> Iterator[tuple[Picture, Table]]:
    for section in document.sections:
        for picture in section.result.pictures if section.result else ():
            assert section.result is not None
            table = section.result.tables[picture.table]
            if len(table):
                yield picture, table


class Panel:
    """A panel of a drawing, whose pixels are turned back into values."""

    def __init__(self, group: ElementTree.Element) -> None:
        self.group = group
        self.pixels = [float(end) for end in group.attrib["data-pixels"].split()]
        self.values = [float(end) for end in group.attrib["data-values"].split()]

    def back(self, axis: str, pixel: float) -> float:
        at = 0 if axis == "x" else 2
        (first, last), (start, end) = self.pixels[at : at + 2], self.values[at : at + 2]
        return start + (pixel - first) / (last - first) * (end - start)

    def near(self, axis: str) -> float:
        """What a tenth of a pixel is worth."""
        at = 0 if axis == "x" else 2
        return 0.1 * abs((self.values[at + 1] - self.values[at]) / (self.pixels[at + 1] - self.pixels[at]))

    def all(self, kind: str) -> list[ElementTree.Element]:
        return [part for part in self.group.iter() if part.get("class") == kind]

    def points(self) -> list[tuple[float, float]]:
        spots = [
            (float(p.attrib["cx"]), float(p.attrib["cy"]))
            if "cx" in p.attrib
            else tuple(map(float, p.attrib["d"][1:].split("m")[0].split()))
            for p in self.all("point")
        ]
        return [(self.back("x", x), self.back("y", y)) for x, y in spots]

    def corners(self, kind: str) -> list[list[tuple[float, float]]]:
        found = [[pair.split(",") for pair in part.attrib["points"].split()] for part in self.all(kind)]
        return [[(self.back("x", float(x)), self.back("y", float(y))) for x, y in each] for each in found]

    def boxes(self, kind: str) -> list[tuple[float, float, float, float]]:
        """Left, right, lower and upper end of each rectangle, in values."""
        found = []
        for part in self.all(kind):
            x, y, wide, high = (float(part.attrib[name]) for name in ("x", "y", "width", "height"))
            found.append((self.back("x", x), self.back("x", x + wide), self.back("y", y + high), self.back("y", y)))
        return found

    def intervals(self, axis: str) -> list[tuple[float, float]]:
        """The ends of each interval along an axis."""
        found = []
        for part in self.all("interval"):
            start = re.match(r"M(\S+) ([\d.]+)", part.attrib["d"])
            end = re.search(r"[HV]([\d.]+)", part.attrib["d"])
            assert start is not None
            assert end is not None
            low = start[1] if axis == "x" else start[2]
            found.append((self.back(axis, float(low)), self.back(axis, float(end[1]))))
        return found


def panels(drawing: str) -> list[Panel]:
    return [Panel(group) for group in ElementTree.fromstring(drawing).iter(f"{SVG}g") if "data-pixels" in group.attrib]


def both(kind: str, size: int = 720, table: Table = TABLE, **options: Any) -> tuple[Any, list[Panel]]:
    picture = Picture(kind, "t", msg("Rows"), options)
    return draw(picture, table), panels(draw_svg(picture, table, width=size))


def close(found: list[tuple[float, float]], wanted: list[tuple[float, float]], panel: Panel) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one[0] == pytest.approx(other[0], abs=panel.near("x"))
        assert one[1] == pytest.approx(other[1], abs=panel.near("y"))


@pytest.mark.parametrize("size", [720, 350])
def test_points_and_intervals_of_a_forest(size: int) -> None:
    figure, drawn = both("forest", size, labels="sex", value=["rate", "error"], reference={"error": 0.1})
    assert len(drawn) == len(figure.data) == 2
    for panel, trace in zip(drawn, figure.data, strict=True):
        wanted = [(x, y) for x, y in zip(trace.x, trace.y, strict=True) if x is not None]
        close(panel.points(), wanted, panel)
    low, high = zip(*drawn[0].intervals("x"), strict=True)
    assert low == pytest.approx((0.1, 0.25), abs=drawn[0].near("x"))
    assert high == pytest.approx((0.4, 0.35), abs=drawn[0].near("x"))
    assert [len(panel.all("reference")) for panel in drawn] == [0, 1]


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize("stacked", [False, True])
def test_bars_reach_from_zero_to_their_values(upright: bool, stacked: bool) -> None:
    figure, (panel,) = both("bars", labels="sex", value=["rate", "error"], upright=upright, stacked=stacked)
    axis = "y" if upright else "x"
    ends = [box[2:] if upright else box[:2] for box in panel.boxes("bar")]
    values = [value for trace in figure.data for value in trace[axis] if value is not None]
    assert len(ends) == len(values) == 5
    lengths = [high - low for low, high in ends]
    assert lengths == pytest.approx([abs(value) for value in values], abs=2 * panel.near(axis))
    if not stacked:
        assert [low for low, _ in ends] == pytest.approx([min(0, value) for value in values], abs=panel.near(axis))
    else:  # the second series starts where the first one ends, on its side of zero
        assert ends[3] == pytest.approx((0.3, 0.55), abs=panel.near(axis))
    assert len(panel.all("interval")) == 2


def test_bars_of_a_histogram_are_as_wide_as_their_bins() -> None:
    figure, (panel,) = both("histogram", left="left", right="right", count="n", reference=2)
    near = panel.near("x")
    assert [box[:2] for box in panel.boxes("bar")] == [pytest.approx(e, abs=near) for e in ((0, 1), (1, 3), (3, 4))]
    assert [box[3] for box in panel.boxes("bar")] == pytest.approx(list(figure.data[0].y), abs=panel.near("y"))


def test_lines_and_bands() -> None:
    figure, (panel,) = both("lines", x="left", value="rate")
    band, line = figure.data
    close(panel.corners("band")[0], list(zip(band.x, band.y, strict=True)), panel)
    close(panel.corners("line")[0], [(0, 0.2), (1, 0.3)], panel)
    close(panel.points(), [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None], panel)


def test_a_logarithmic_axis() -> None:
    _, (panel,) = both("lines", x="n", value="error", log_x=True)
    first, last, *_ = panel.pixels
    start, end, *_ = panel.values
    found = [start * (end / start) ** ((float(p.attrib["cx"]) - first) / (last - first)) for p in panel.all("point")]
    assert found == pytest.approx([10, 90, 3], rel=0.01)


def test_scatter_and_reliability() -> None:
    figure, (panel,) = both("scatter", x="left", y="error", color="sex", n="n", diagonal=True)
    wanted = [(x, y) for trace in figure.data[1:] for x, y in zip(trace.x, trace.y, strict=True)]
    close(panel.points(), wanted, panel)
    close(panel.corners("line")[0], list(zip(figure.data[0].x, figure.data[0].y, strict=True)), panel)
    bins = Table.of(
        {"predicted": [0.1, 0.6], "observed": [0.2, 0.5], "observed_low": [0.15, 0.4], "observed_high": [0.3, 0.7]}
    )
    figure, (panel,) = both("reliability", table=bins)
    close(panel.points(), [(0.1, 0.2), (0.6, 0.5)], panel)
    for found, ends in zip(panel.intervals("y"), [(0.15, 0.3), (0.4, 0.7)], strict=True):
        assert found == pytest.approx(ends, abs=panel.near("y"))


@pytest.mark.parametrize("kind", ["heatmap", "confusion"])
def test_cells_lie_where_their_values_are(kind: str) -> None:
    wide = Table.of({"g": ["a", "b"], "h": ["c", "d"], "tp": [6, 3], "fp": [1, 1], "fn": [2, 0], "tn": [3, 4]})
    options = {"x": "g", "y": "h", "value": "tp"} if kind == "heatmap" else {"labels": "g"}
    figure, drawn = both(kind, table=wide, **options)
    for panel, trace in zip(drawn, figure.data, strict=True):
        cells = panel.all("cell")
        wanted = [(x, y, z) for y, line in enumerate(trace.z) for x, z in enumerate(line) if z is not None]
        shades = [cell.attrib["fill"] for cell in cells]
        assert len({(shade, z) for shade, (*_, z) in zip(shades, wanted, strict=True)}) == len({z for *_, z in wanted})
        middles = [((a + b) / 2, (c + d) / 2) for a, b, c, d in panel.boxes("cell")]
        close(middles, [(x, y) for x, y, _ in wanted], panel)


def test_every_picture_has_a_title_and_a_description(document: Document) -> None:
    for picture, table in pictures(document):
        for size in (720, 350):
            root = ElementTree.fromstring(draw_svg(picture, table, width=size))
            assert root.attrib["role"] == "img"
            assert root.findtext(f"{SVG}title") == picture.title.text()
            assert root.findtext(f"{SVG}desc")
            assert not [part for part in root.iter() if "id" in part.attrib or "style" in part.attrib]


def test_texts_from_data_are_texts(hostile: Document) -> None:
    seen = ""
    for picture, table in pictures(hostile):
        drawing = draw_svg(picture, table)
        root = ElementTree.fromstring(drawing)  # well formed whatever the names are
        tags = {part.tag.removeprefix(SVG) for part in root.iter()}
        drawn = {"svg", "title", "desc", "g", "path", "text", "tspan", "rect", "circle", "polygon", "polyline"}
        assert tags <= drawn
        assert not [name for part in root.iter() for name in part.attrib if name.startswith("on") or "href" in name]
        seen += "".join(root.itertext())
    assert "<script>alert(1)</script>" in seen
    assert "\u202e" not in seen
    assert "x" * 200 not in seen


def test_long_labels_are_wrapped_and_stay_inside() -> None:
    names = ["Other service, private household and personal care", "Professional speciality", "Sales"]
    table = Table.of({"job": names, "rate": [0.2, 0.3, 0.4]})
    for size in (720, 350):
        drawing = draw_svg(Picture("bars", "t", msg("Rows"), {"labels": "job", "value": "rate"}), table, width=size)
        beside = [
            group for group in ElementTree.fromstring(drawing).iter(f"{SVG}g") if group.get("text-anchor") == "end"
        ]
        labels = [text for group in beside for text in group.iter(f"{SVG}text")]
        assert len(labels) == 3
        lines = [[span.text or "" for span in label.iter(f"{SVG}tspan")] or [label.text or ""] for label in labels]
        assert size == 720 or len(lines[1]) == 2
        for label, words in zip(labels, lines, strict=True):
            assert float(label.attrib["x"]) - max(width(word) for word in words) >= 0


def test_numbers_at_the_axis_are_round_and_in_the_language() -> None:
    percent = ticks({"tickformat": ".0%"}, Scale(0.1, 0.13, 0, 400), 5, ",.")
    assert [tick.label for tick in percent] == [["10%"], ["11%"], ["12%"], ["13%"]]
    fine = ticks({"tickformat": ".0%"}, Scale(0.1, 0.11, 0, 400), 5, ",.")
    assert fine[1].label == ["10,2%"]
    assert [tick.label[0] for tick in ticks({}, Scale(0, 20000, 0, 400), 4, ".,")][-1] == "20,000"
    assert [tick.label[0] for tick in ticks({"tickformat": ",d"}, Scale(0, 2, 0, 400), 9, ".,")] == ["0", "1", "2"]
    assert [tick.label[0] for tick in ticks({}, Scale(-1, 1, 0, 400), 4, ".,")] == ["-1.0", "-0.5", "0.0", "0.5", "1.0"]


def test_traces_it_does_not_know_are_named() -> None:
    with pytest.raises(SpecError, match="not violin"):
        svg({"data": [{"type": "violin"}], "layout": {}})


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("forest", {"labels": "sex", "value": "rate"}),
        ("heatmap", {"x": "sex", "y": "age", "value": "rate"}),
        ("reliability", {"predicted": "rate", "observed": "error"}),
        ("confusion", {"labels": "sex", "tp": "n", "fp": "n", "fn": "n", "tn": "n"}),
        ("bars", {"labels": "sex", "value": "rate"}),
        ("lines", {"x": "sex", "value": "rate"}),
        ("scatter", {"x": "rate", "y": "error"}),
        ("histogram", {"left": "left", "right": "right", "count": "n"}),
    ],
)
@pytest.mark.parametrize("values", [[], [None, None], [0.5, 0.5]])
def test_empty_missing_and_equal_values_are_drawn(kind: str, options: dict[str, Any], values: list[Any]) -> None:
    names = {"sex": ["F", "M"][: len(values)], "age": ["a", "b"][: len(values)]}
    table = Table.of({name: names.get(name, values) for name in TABLE.flat()})
    for size in (720, 350):
        ElementTree.fromstring(draw_svg(Picture(kind, "t", msg("Rows"), options), table, width=size))


@pytest.mark.parametrize("size", [720, 350])
def test_a_front_reads_back_with_both_intervals(size: int) -> None:
    table = Table.of(
        {
            "fix": ["a", "b"],
            "gap": [0.2, 0.05],
            "gap_low": [0.1, 0.0],
            "gap_high": [0.3, 0.1],
            "cost": [0.0, -0.02],
            "cost_low": [-0.01, -0.04],
            "cost_high": [0.01, 0.0],
        }
    )
    figure, drawn = both("front", size, table, labels="fix", x="gap", y="cost", reference=0.1)
    (panel,) = drawn
    close(panel.points(), [(0.2, 0.0), (0.05, -0.02)], panel)
    across, up = panel.intervals("x")[0::2], panel.intervals("y")[1::2]
    assert [end for pair in across for end in pair] == pytest.approx([0.1, 0.3, 0.0, 0.1], abs=panel.near("x"))
    assert [end for pair in up for end in pair] == pytest.approx([-0.01, 0.01, -0.04, 0.0], abs=panel.near("y"))
    close(panel.corners("line")[0], [(0.05, -0.02), (0.2, 0.0)], panel)
    assert len(figure.data) == 3


@pytest.mark.parametrize("size", [720, 350])
def test_slopes_and_flows_read_back(size: int) -> None:
    table = Table.of(
        {
            "by": ["sex", "sex", "age"],
            "group": ["F", "M", "old"],
            "was": [0.1, 0.3, 0.2],
            "now": [0.2, 0.25, 0.4],
            "n": [30, 60, 90],
        }
    )
    _, drawn = both("slopes", size, table, labels="group", before="was", after="now", facet="by")
    assert len(drawn) == 2
    close(drawn[0].points(), [(0, 0.1), (1, 0.2), (0, 0.3), (1, 0.25)], drawn[0])
    close(drawn[1].corners("line")[0], [(0, 0.2), (1, 0.4)], drawn[1])
    assert drawn[0].values[2:] == drawn[1].values[2:]  # one scale
    moves = Table.of(
        {"group": ["F"] * 4, "was": ["no", "no", "yes", "yes"], "now": ["no", "yes"] * 2, "n": [5, 2, 1, 2]}
    )
    _, (panel,) = both("flows", size, moves, labels="group", before="was", after="now")
    boxes = [(left, right) for left, right, _, _ in panel.boxes("bar")]
    close(boxes, [(0.0, 0.2), (0.2, 0.4), (0.4, 0.5), (0.5, 1.0)], panel)


def test_a_front_describes_its_marks_to_screen_readers() -> None:
    table = Table.of({"fix": ["none", "cuts"], "gap": [0.2, 0.1], "cost": [0.0, -0.1]})
    drawing = draw_svg(Picture("front", "t", msg("What helps"), {"labels": "fix", "x": "gap", "y": "cost"}), table)
    assert "<title>What helps</title>" in drawing
    assert "cuts; gap: 0.100; cost: -0.100" in drawing


@pytest.mark.parametrize("value", [0.0, 1e18, -1e60])
def test_a_heat_map_of_one_value_has_a_scale_of_colours(value: float) -> None:
    table = Table.of({"sex": ["F", "M"], "age": ["young", "old"], "mean": [value, value]})
    drawn = draw_svg(Picture("heatmap", "mean", "Means", {"x": "sex", "y": "age", "value": "mean"}), table)
    assert "<rect" in str(drawn)
