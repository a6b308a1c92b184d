"""Pictures: what each kind draws of its table, in every language, and what it does with texts that attack it."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isonomia.errors import MissingExtraError, SpecError
from isonomia.evidence import Column, Picture, Table
from isonomia.languages import msg
from isonomia.languages.naming import below, between
from isonomia.report import Document, draw, draw_svg
from isonomia.report.figures import PICTURES, Chart, Option, PictureKind, Reading, reference
from isonomia.report.figures.theme import PALETTE

RATES = Table.of(
    {
        "sex": ["F", "M", "X"],
        "age": ["young", "old", "old"],
        "rate": [0.2, 0.3, None],
        "rate_low": [0.1, 0.25, None],
        "rate_high": [0.4, 0.35, None],
        "error": [0.5, 0.25, 0.1],
        "n": [10, 90, 3],
        "small": [True, False, True],
    },
    [Column("rate", format="pct", title=msg("Value")), Column("error", format="num")],
)


def picture(kind: str, **options: Any) -> Picture:
    return Picture(kind, "rates", msg("Rows"), options)


def drawn(kind: str, table: Table = RATES, language: str = "en", **options: Any) -> Any:
    return draw(picture(kind, **options), table, language)


def test_the_page_of_options_is_written_from_the_declarations() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pictures.md").read_text(encoding="utf-8")
    assert page == reference(), "run: python -m isonomia.report.figures > docs/pictures.md"
    for kind in PICTURES:
        assert f"## `{kind.id}`" in page
        assert all(option.help for option in kind.options)


def test_another_package_adds_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def dots(reading: Reading) -> Chart:
        chart = Chart()
        chart.add_scatter(x=reading.numbers(reading.needed("at")), y=[0] * len(reading.rows), mode="markers")
        return chart

    kind = PictureKind(id="dots", purpose="Dots.", options=(Option("at", "column", "where"),), draw=dots, most_rows=2)
    point = SimpleNamespace(load=lambda: kind)
    monkeypatch.setattr("isonomia.registry.entry_points", lambda group: [point] if group == "isonomia.pictures" else [])
    monkeypatch.setattr(PICTURES, "_entries", dict(PICTURES._entries))
    monkeypatch.setattr(PICTURES, "_loaded", False)
    figure = drawn("dots", at="error")
    assert figure.data[0].x == (0.5, 0.25)
    assert figure.layout.meta["left_out"] == 1
    with pytest.raises(SpecError, match="has no option 'att'"):
        drawn("dots", att="error")
    assert "## `dots`" in reference()


def test_a_figure_to_restyle_needs_plotly_and_a_drawing_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    bars = picture("bars", labels="sex", value="rate")
    with pytest.raises(MissingExtraError, match=r"needs the package 'plotly'.*'isonomia\[plotly\]'"):
        draw(bars, RATES)
    assert draw_svg(bars, RATES).count('class="bar"') == 2


def test_panels_fill_the_chart_row_by_row() -> None:
    chart = Chart.of_panels([""] * 5, 3, space_across=0.05, space_down=0.2, shared_y="row")
    across = [chart.layout[f"xaxis{number}"]["domain"] for number in ("", 2, 3)]
    assert across[0][0] == 0
    assert across[2][1] == pytest.approx(1)
    assert [right[0] - left[1] for left, right in pairwise(across)] == pytest.approx([0.05, 0.05])
    assert chart.layout["yaxis"]["domain"] == pytest.approx([0.6, 1])  # the first row is on top
    assert chart.layout["yaxis5"]["domain"] == pytest.approx([0, 0.4])
    assert chart.layout["yaxis5"]["matches"] == "y4"
    assert "matches" not in chart.layout["yaxis4"]
    assert "xaxis6" not in chart.layout


def test_forest_shows_values_and_intervals() -> None:
    figure = drawn("forest", labels="sex", value="rate", flag="small", reference=0.25, reference_label=msg("Limit"))
    (trace,) = figure.data
    assert trace.x == (0.2, 0.3, None)
    assert trace.error_x.array == pytest.approx((0.2, 0.05, 0))
    assert trace.error_x.arrayminus == pytest.approx((0.1, 0.05, 0))
    assert [mark.endswith("-open") for mark in trace.marker.symbol] == [True, False, True]
    assert figure.layout.yaxis.ticktext == ("F", "M", "X")
    assert figure.layout.shapes[0].x0 == 0.25
    assert {note.text for note in figure.layout.annotations} == {"Limit", "not available"}


def test_forest_has_a_panel_a_figure_and_stacks_them_on_a_phone() -> None:
    figure = drawn("forest", labels=["sex", "age"], value=["rate", "error"], reference={"error": 0.3})
    assert len(figure.data) == 2
    assert figure.layout.yaxis.ticktext == ("F · young", "M · old", "X · old")
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    narrow = figure.layout.meta["narrow"]
    assert narrow["xaxis"]["domain"] == narrow["xaxis2"]["domain"] == [0, 1]
    assert narrow["yaxis"]["domain"][0] > narrow["yaxis2"]["domain"][1]
    assert len(narrow["annotations"]) == len(figure.layout.annotations)


@pytest.mark.parametrize("panels", range(1, 8))
def test_forest_with_many_panels_draws_them_all(panels: int) -> None:
    table = Table.of({"sex": ["F", "M"], **{f"m{place}": [0.1, 0.2] for place in range(panels)}})
    figure = drawn("forest", table, labels="sex", value=[f"m{place}" for place in range(panels)])
    assert len(figure.data) == panels
    assert figure.layout.height > 0


def test_colours_follow_a_column_and_panels_a_facet() -> None:
    figure = drawn("forest", labels="sex", value="rate", color="age", facet="age")
    assert [trace.name for trace in figure.data] == ["young", "old"]
    assert figure.data[0].marker.color == PALETTE[0]
    assert figure.data[1].marker.color == PALETTE[1]


def test_heatmap_leaves_cells_without_rows_empty() -> None:
    figure = drawn("heatmap", x="age", y="sex", value="rate", flag="small", middle=0.25, range=[0, 1])
    (trace,) = figure.data
    assert list(trace.z) == [[0.2, None], [None, 0.3], [None, None]]
    assert list(trace.text) == [["20.0%*", ""], ["", "30.0%"], ["", ""]]
    assert "rows: 90" in trace.hovertext[1][1]
    assert figure.layout.coloraxis.cmid == 0.25


def test_reliability_draws_the_diagonal_and_a_line_a_group() -> None:
    table = Table.of({"g": ["a", "a", "b"], "predicted": [0.8, 0.1, 0.5], "observed": [0.7, 0.2, None], "n": [1, 4, 4]})
    figure = drawn("reliability", table, color="g")
    assert [trace.name for trace in figure.data[1:]] == ["a", "b"]
    assert figure.data[0].x == figure.data[0].y == (0, 1)
    assert figure.data[1].x == (0.1, 0.8)  # in order of the prediction, whatever the order of the table
    assert figure.data[1].marker.size[0] > figure.data[1].marker.size[1]


def test_confusion_wide_and_long_say_the_same() -> None:
    wide = Table.of({"sex": ["F"], "tp": [6], "fp": [1], "fn": [2], "tn": [3]})
    long = Table.of(
        {
            "sex": ["F"] * 4,
            "actual": ["negative", "negative", "positive", "positive"],
            "predicted": ["negative", "positive"] * 2,
            "count": [3, 1, 2, 6],
        }
    )
    one = drawn("confusion", wide, labels="sex")
    other = drawn("confusion", long, actual="actual", facet="sex")
    assert list(one.data[0].z) == list(other.data[0].z) == [[0.75, 0.25], [0.25, 0.75]]
    assert one.data[0].text == other.data[0].text
    assert one.layout.yaxis.ticktext == ("negative", "positive")


def test_confusion_says_how_many_panels_it_left_out() -> None:
    many = Table.of({"g": list(range(15)), "tp": [1] * 15, "fp": [1] * 15, "fn": [1] * 15, "tn": [1] * 15})
    figure = drawn("confusion", many, labels="g")
    assert len(figure.data) == 12
    assert figure.layout.meta["left_out"] == 3


def test_bars_lie_or_stand() -> None:
    lying = drawn("bars", labels="sex", value="rate", flag="small")
    assert lying.data[0].x == (0.2, 0.3, None)
    assert lying.data[0].orientation == "h"
    standing = drawn("bars", labels="sex", value=["rate", "error"], upright=True, stacked=True)
    assert [bars.y for bars in standing.data] == [(0.2, 0.3, None), (0.5, 0.25, 0.1)]
    assert standing.layout.barmode == "stack"


def test_bars_of_a_facet_stand_together() -> None:
    figure = drawn("bars", labels="sex", value="error", facet="age")
    assert [(bars.name, bars.y) for bars in figure.data] == [("young", (0,)), ("old", (1, 2))]
    assert figure.layout.yaxis.ticktext == ("F", "M", "X")


def test_values_are_called_by_their_names() -> None:
    names = {"F": msg("Date"), "M": msg("Model")}
    figure = drawn("bars", language="pt-BR", labels="sex", value="error", names=names)
    assert figure.layout.yaxis.ticktext == ("Data", "Modelo", "X")


def test_low_and_high_are_the_interval_of_value() -> None:
    table = Table.of({"metric": ["auc"], "value": [0.8], "low": [0.7], "high": [0.95]})
    assert drawn("bars", table, labels="metric", value="value").data[0].error_x.array == pytest.approx((0.15,))


def test_lines_take_numbers_texts_and_intervals() -> None:
    texts = drawn("lines", x="sex", value="rate")  # nothing lies between categories: dots with whiskers
    assert [trace.mode for trace in texts.data] == ["markers"]
    assert texts.data[0].error_y.array == pytest.approx((0.2, 0.05, 0.0))
    assert texts.layout.xaxis.ticktext == ("F", "M", "X")
    bands = Table.of(
        {"age": [below(25), between(25, 60)], "rate": Column("rate", [0.2, 0.3], [0.1, 0.25], [0.4, 0.35])}
    )
    ordered = draw(Picture("lines", "t", msg("Rows"), {"x": "age", "value": "rate"}), bands, "pt-BR")
    assert ordered.data[0].fill == "toself"
    assert ordered.data[0].y == (0.4, 0.35, 0.25, 0.1)  # there along the upper ends, back along the lower ones
    assert ordered.data[1].mode == "lines+markers"
    assert ordered.layout.xaxis.ticktext == ("&lt; 25", "[25; 60)")
    numbers = drawn("lines", x="n", value="error", log_x=True)
    assert numbers.data[0].x == (10, 90, 3)
    assert numbers.layout.xaxis.type == "log"


def test_scatter_and_histogram() -> None:
    figure = drawn("scatter", x="rate", y="error", hover=["age"], diagonal=True, labels="sex")
    assert figure.data[0].x == (0.1, 0.5)
    assert figure.data[1].text == ("F", "M", "X")
    assert "age: young" in figure.data[1].hovertext[0]
    bins = Table.of({"left": [0, 1], "right": [1, 3], "count": [5, 7]})
    histogram = drawn("histogram", bins)
    assert histogram.data[0].x == (0.5, 2.0)
    assert histogram.data[0].width == (1, 2)


def test_only_rows_that_are_asked_for_are_drawn() -> None:
    assert drawn("bars", labels="sex", value="error", where={"age": "old"}).data[0].x == (0.25, 0.1)
    assert drawn("bars", labels="sex", value="error", where={"sex": ["F", "X"]}).data[0].x == (0.5, 0.1)


def test_numbers_are_written_in_the_language() -> None:
    figure = drawn("forest", language="pt-BR", labels="sex", value="rate")
    assert figure.layout.separators == ",."
    assert "20,0%" in figure.data[0].hovertext[0]
    assert "intervalo: 10,0% – 40,0%" in figure.data[0].hovertext[0]
    assert figure.layout.xaxis.title.text == "Valor"


def test_long_tables_are_cut_and_it_is_said() -> None:
    table = Table.of({"g": list(range(500)), "v": [1.0] * 500})
    assert drawn("bars", table, labels="g", value="v").layout.meta["left_out"] == 420
    figure = draw(picture("scatter", x="g", y="v"), table, most=100)
    assert len(figure.data[0].x) == 100
    assert figure.layout.meta["left_out"] == 400


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("forest", {"labels": "sx", "value": "rate"}, "Did you mean 'sex'"),
        ("forest", {"labels": "sex"}, "needs the option 'value'"),
        ("heatmap", {"x": "sex", "value": "rate"}, "needs the option 'y'"),
        ("bars", {"label": "sex", "value": "rate"}, "has no option 'label'. Did you mean 'labels'"),
        ("pie", {}, "Unknown kind of picture 'pie'"),
        ("bars", {"labels": "sex", "value": "rate", "where": {"agee": 1}}, "Did you mean 'age'"),
    ],
)
def test_wrong_options_are_named(kind: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        drawn(kind, **options)


def test_texts_from_data_carry_no_markup(hostile: Document) -> None:
    """Plotly draws markup in labels; ours is <b> and <br> alone, everything else is escaped."""
    for section in hostile.sections:
        for each in section.result.pictures if section.result else ():
            assert section.result is not None
            if len(section.result.tables[each.table]):
                figure = draw(each, section.result.tables[each.table])
                text = json.dumps(figure.to_plotly_json(), ensure_ascii=False)
                for ours in ("<b>", "</b>", "<br>"):
                    text = text.replace(ours, "")
                assert "<" not in text
                assert "\u202e" not in text
                assert "xxx" * 100 not in text


@pytest.mark.parametrize("kind", PICTURES.ids())
def test_a_table_without_rows_gives_a_picture_without_marks(kind: str) -> None:
    needed: dict[str, dict[str, Any]] = {
        "forest": {"labels": "sex", "value": "rate"},
        "heatmap": {"x": "sex", "y": "age", "value": "rate"},
        "reliability": {"predicted": "rate", "observed": "error"},
        "confusion": {"labels": "sex", "tp": "n", "fp": "n", "fn": "n", "tn": "n"},
        "bars": {"labels": "sex", "value": "rate"},
        "lines": {"x": "sex", "value": "rate"},
        "scatter": {"x": "rate", "y": "error"},
        "front": {"x": "rate", "y": "error", "labels": "sex"},
        "dumbbell": {"labels": "sex", "before": "rate", "after": "error"},
        "slopes": {"labels": "sex", "before": "rate", "after": "error"},
        "flows": {"labels": "sex", "before": "age", "after": "age"},
        "histogram": {"left": "rate", "right": "error", "count": "n"},
        "waterfall": {"labels": "sex", "value": "rate"},
        "beeswarm": {"labels": "sex", "value": "rate", "n": "n"},
    }
    empty = RATES.take([])
    json.dumps(drawn(kind, empty, **needed[kind]).to_plotly_json())


def test_a_front_has_both_intervals_and_joins_what_no_other_beats() -> None:
    table = Table.of(
        {
            "fix": ["none", "weights", "cuts"],
            "gap": [0.2, 0.1, 0.02],
            "gap_low": [0.15, 0.05, 0.0],
            "gap_high": [0.25, 0.15, 0.06],
            "cost": [0.0, -0.03, -0.01],
            "cost_low": [0.0, -0.04, -0.02],
            "cost_high": [0.0, -0.02, 0.0],
            "kept": [True, False, True],
        }
    )
    figure = drawn("front", table, labels="fix", x="gap", y="cost", front="kept", reference=0.05)
    line, *marks = figure.data
    assert (line.x, line.y) == ((0.02, 0.2), (-0.01, 0.0))
    assert [mark.name for mark in marks] == ["none", "weights", "cuts"]
    assert [mark.marker.symbol for mark in marks] == ["circle", "square-open", "diamond"]
    assert marks[1].error_x.array == pytest.approx((0.05,))
    assert marks[1].error_y.arrayminus == pytest.approx((0.01,))
    assert figure.layout.shapes[0].x0 == 0.05
    assert marks[2].hovertext[0].startswith("<b>cuts</b><br>gap: 0.0200 (")


def test_slopes_join_before_and_after_in_a_panel_per_facet() -> None:
    table = Table.of(
        {"by": ["sex", "sex", "age"], "group": ["F", "M", "old"], "was": [0.1, 0.3, 0.2], "now": [0.2, 0.25, None]}
    )
    figure = drawn("slopes", table, labels="group", before="was", after="now", facet="by")
    assert [(trace.name, trace.x, trace.y) for trace in figure.data] == [
        ("F", (0, 1), (0.1, 0.2)),
        ("M", (0, 1), (0.3, 0.25)),
        ("old", (0, 1), (0.2, None)),
    ]
    assert [note.text for note in figure.layout.annotations] == ["sex", "age"]
    assert figure.data[2].xaxis != figure.data[0].xaxis


def test_flows_are_shares_of_each_group() -> None:
    table = Table.of(
        {
            "group": ["F", "F", "F", "F", "M", "M", "M", "M"],
            "was": ["no", "no", "yes", "yes"] * 2,
            "now": ["no", "yes", "no", "yes"] * 2,
            "n": [50, 10, 0, 40, 10, 0, 5, 5],
        }
    )
    figure = drawn("flows", table, labels="group", before="was", after="now")
    found = {trace.name: trace.x for trace in figure.data}
    assert list(found) == ["unchanged: yes", "no → yes", "yes → no", "unchanged: no"]
    assert found["no → yes"] == pytest.approx((0.1, 0.0))
    assert found["yes → no"] == pytest.approx((0.0, 0.25))
    assert [sum(shares) for shares in zip(*found.values(), strict=True)] == pytest.approx([1.0, 1.0])
    assert "rows: 10" in figure.data[1].hovertext[0]


def test_flows_between_several_decisions_name_the_largest_changes() -> None:
    classes = list("abcd")
    pairs = [(one, other) for one in classes for other in classes]
    counts = [100 if one == other else 1 + index for index, (one, other) in enumerate(pairs)]
    table = Table.of({"group": ["F"] * 16, "was": [p[0] for p in pairs], "now": [p[1] for p in pairs], "n": counts})
    figure = drawn("flows", table, labels="group", before="was", after="now")
    names = [trace.name for trace in figure.data]
    assert names[0] == "decision unchanged"
    assert names[1] == "d → c"
    assert names[-1] == "other changes"
    assert len(names) == 8
    assert sum(trace.x[0] for trace in figure.data) == pytest.approx(1.0)
    assert figure.data[0].x[0] == pytest.approx(400 / sum(counts))


def test_a_waterfall_chains_its_steps_and_ends_at_the_sum() -> None:
    steps = [-0.2, 0.05, *([0.01] * 13)]
    table = Table.of(
        {"column": [f"<c{index}>" for index in range(15)], "adds": steps}, [Column("adds", format="points")]
    )
    figure = drawn("waterfall", table, labels="column", value="adds", start=0.6, end_label=msg("mean of women"))
    thick = [trace for trace in figure.data if trace.mode == "lines" and trace.line.width > 5]
    assert len(thick) == 13, "twelve steps, and the rest together"
    at = 0.6
    for trace in thick:
        assert trace.x[0] == pytest.approx(at)
        at = trace.x[1]
    assert at == pytest.approx(0.6 + sum(steps))
    ends = [trace.x[0] for trace in figure.data if trace.mode == "markers"]
    assert ends == pytest.approx([0.6, 0.6 + sum(steps)])
    assert figure.layout.yaxis.ticktext[-1] == "mean of women"
    assert "<c0>" not in "".join(figure.layout.yaxis.ticktext)


def test_a_beeswarm_has_a_line_per_label_and_marks_by_count() -> None:
    table = Table.of(
        {"column": ["a", "a", "b"], "adds": [0.1, -0.2, 0.3], "level": ["low", "high", "other"], "n": [100, 25, 4]}
    )
    names = {"high": msg("high"), "low": msg("low")}
    figure = drawn("beeswarm", table, labels="column", value="adds", n="n", color="level", names=names)
    assert [trace.name for trace in figure.data] == ["high", "low", "other"], "in the order of the names"
    marks = {trace.name: (trace.y[0], trace.marker.size[0]) for trace in figure.data}
    assert marks["high"][0] < marks["low"][0] < 0.5
    assert marks["other"][0] == 1, "a single colour stands on its line"
    assert marks["low"][1] > marks["high"][1] > marks["other"][1]
