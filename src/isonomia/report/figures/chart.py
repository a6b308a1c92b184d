"""A figure as plain values: traces and a layout, in the words of Plotly's JSON.

A page draws it with Plotly's script, `svg` as a static drawing, and `report.draw` makes a Plotly figure of it. No
library is needed to make one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

Values = dict[str, Any]


class Chart:
    """Traces and a layout, on one pair of axes or in several panels.

    Attributes
    ----------
    data : list of dict
        The traces.
    layout : dict

    Examples
    --------
    >>> chart = Chart()
    >>> chart.add_bar(x=["a", "b"], y=[1, 2], text=None)
    >>> chart.update_xaxes(title={"text": "group"})
    >>> chart.to_dict()
    {'data': [{'type': 'bar', 'x': ['a', 'b'], 'y': [1, 2]}], 'layout': {'xaxis': {'title': {'text': 'group'}}}}
    """

    def __init__(self) -> None:
        self.data: list[Values] = []
        self.layout: Values = {}
        self._panels: dict[tuple[int, int], str] = {}  # row and column to what its axes are numbered with

    @classmethod
    def of_panels(
        cls,
        titles: Sequence[str],
        across: int,
        *,
        space_across: float,
        space_down: float,
        shared_y: Literal["no", "row", "all"] = "no",
    ) -> Chart:
        """A chart of panels, one per title, row by row; spaces are shares of the whole width and height.

        With a shared upright axis only the first panel of a row writes the labels of its ticks.

        >>> chart = Chart.of_panels(["women", "men"], 2, space_across=0.1, space_down=0, shared_y="row")
        >>> chart.layout["xaxis2"], chart.layout["yaxis2"]["matches"]
        ({'anchor': 'y2', 'domain': [0.55, 1.0]}, 'y')
        """
        chart = cls()
        down = math.ceil(len(titles) / across)
        width, height = (1 - space_across * (across - 1)) / across, (1 - space_down * (down - 1)) / down
        for index, title in enumerate(titles):
            row, column = divmod(index, across)
            suffix = "" if index == 0 else str(index + 1)
            left, bottom = column * (width + space_across), (down - 1 - row) * (height + space_down)
            upright: Values = {"anchor": f"x{suffix}", "domain": [bottom, bottom + height]}
            if shared_y == "all" and index > 0:
                upright["matches"] = "y"
            elif shared_y == "row" and column > 0:
                upright["matches"] = "y" if row == 0 else f"y{row * across + 1}"
            if shared_y != "no" and column > 0:
                upright["showticklabels"] = False
            chart._panels[row + 1, column + 1] = suffix
            chart.layout[f"xaxis{suffix}"] = {"anchor": f"y{suffix}", "domain": [left, left + width]}
            chart.layout[f"yaxis{suffix}"] = upright
            if title or len(titles) > 1:
                above = {"x": left + width / 2, "xanchor": "center", "y": bottom + height, "yanchor": "bottom"}
                chart.add_annotation(text=title, xref="paper", yref="paper", font={"size": 13}, **above)
        return chart

    def add_scatter(self, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Add marks, lines or both; values that are None are left out, here and below."""
        self._add("scatter", row, col, values)

    def add_bar(self, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Add bars."""
        self._add("bar", row, col, values)

    def add_heatmap(self, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Add coloured cells."""
        self._add("heatmap", row, col, values)

    def add_vline(self, x: float, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Add an upright line through the whole panel."""
        across, up = self.axes(row, col)
        ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "xref": across, "yref": f"{up} domain"}
        self.layout.setdefault("shapes", []).append({"type": "line", **ends, **values})

    def add_hline(self, y: float, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Add a level line through the whole panel."""
        across, up = self.axes(row, col)
        ends = {"x0": 0, "x1": 1, "y0": y, "y1": y, "xref": f"{across} domain", "yref": up}
        self.layout.setdefault("shapes", []).append({"type": "line", **ends, **values})

    def add_annotation(self, **values: Any) -> None:
        """Add a text."""
        self.layout.setdefault("annotations", []).append({"showarrow": False, **values})

    def update_xaxes(self, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Change the axes across of all panels, or of those in a row or column."""
        for axis in self._chosen("xaxis", row, col):
            axis |= _given(values)

    def update_yaxes(self, *, row: int | None = None, col: int | None = None, **values: Any) -> None:
        """Change the upright axes of all panels, or of those in a row or column."""
        for axis in self._chosen("yaxis", row, col):
            axis |= _given(values)

    def update_layout(self, **values: Any) -> None:
        """Change the layout."""
        self.layout |= _given(values)

    def axes(self, row: int | None = None, col: int | None = None) -> tuple[str, str]:
        """What the axes of a panel are called: "x2" and "y2"."""
        suffix = self._panels[row, col] if row is not None and col is not None else ""
        return f"x{suffix}", f"y{suffix}"

    def to_dict(self) -> Values:
        """The traces and the layout."""
        return {"data": self.data, "layout": self.layout}

    def _add(self, kind: str, row: int | None, col: int | None, values: Values) -> None:
        trace = {"type": kind, **_given(values)}
        if row is not None:
            trace["xaxis"], trace["yaxis"] = self.axes(row, col)
        self.data.append(trace)

    def _chosen(self, name: str, row: int | None, col: int | None) -> Iterator[Values]:
        for (down, across), suffix in (self._panels or {(1, 1): ""}).items():
            if row in (None, down) and col in (None, across):
                yield self.layout.setdefault(f"{name}{suffix}", {})


def _given(values: Values) -> Values:
    return {name: value for name, value in values.items() if value is not None}
