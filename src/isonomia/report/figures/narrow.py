"""Pictures where the page is as narrow as a phone: panels stand upon each other instead of in a row."""

from __future__ import annotations

from typing import Any

from isonomia.report.figures.chart import Chart

#: Pixels above the first panel and below the last, between a panel and its title, and for its ticks.
TOP, BOTTOM, TITLE, TICKS = 34, 40, 26, 34


def named(labels: list[str]) -> dict[str, Any]:
    """Shorter and smaller texts at the ticks of an axis."""
    return {"ticktext": labels, "tickfont": {"size": 10}}


def stacked(figure: Chart, panels: int, height: float, labels: list[str] | None = None) -> dict[str, Any]:
    """The changes to a layout of panels, made by `Chart.of_panels`, that put one panel upon the other.

    Parameters
    ----------
    figure : Chart
        Its first annotations are the panels' titles.
    panels : int
    height : float
        Pixels of one panel.
    labels : list of str, optional
        Shorter texts for the ticks of the upright axes.
    """
    slot = TITLE + height + TICKS
    inside = slot * panels
    patch: dict[str, Any] = {"height": TOP + inside + BOTTOM}
    notes = [dict(note) for note in figure.layout.get("annotations", [])]
    for index in range(panels):
        suffix = "" if index == 0 else str(index + 1)
        top = 1 - (index * slot + TITLE) / inside
        patch[f"xaxis{suffix}"] = {"domain": [0, 1], "showticklabels": True}
        patch[f"yaxis{suffix}"] = {"domain": [top - height / inside, top], "showticklabels": True}
        if labels is not None:
            patch[f"xaxis{suffix}"] |= {"nticks": 4, "tickangle": 0}
            patch[f"yaxis{suffix}"] |= named(labels)
        if panels > 1:
            notes[index] |= {"x": 1, "xanchor": "right", "y": top}  # the space left of it is free
    if notes:
        patch["annotations"] = notes
    return patch
