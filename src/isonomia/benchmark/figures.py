"""Figures for a paper, as SVG and PDF by matplotlib (extra `paper`): drawn from the tables of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomia.benchmark.ranking import cliques, critical_difference, mean_ranks, pairwise_p
from isonomia.benchmark.settings import LEVELS
from isonomia.benchmark.subgroup_scores import ALPHA
from isonomia.benchmark.summary import PRIMARY, Cells, Finds
from isonomia.benchmark.tables import anytime_table, bias_by_size_table, factor_table, null_table
from isonomia.benchmark.words import FACTORS, SCORES
from isonomia.errors import require
from isonomia.evidence import Table
from isonomia.languages import msg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that remain apart for people who see some colours alike (Okabe and Ito), and marks for more lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKS = "osD^vPX*"
#: The same drawing gives the same file.
_SAME = {"svg.hashsalt": "isonomia", "svg.fonttype": "path", "font.size": 8}
_NO_DATE: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}
FORMS = ("svg", "pdf")


def save_figures(cells: Cells, folder: Path, *, language: str, nemenyi: bool = False) -> Iterator[Path]:
    """Draw every figure that the cells allow, and write it as SVG and PDF; yields where."""
    matplotlib = require("matplotlib", extra="paper", purpose="Drawing figures for a paper")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_SAME):
        for name, figure in _drawn(cells, language, nemenyi):
            for form in FORMS:
                path = folder / f"{name}.{language}.{form}"
                figure.savefig(path, format=form, bbox_inches="tight", metadata=_NO_DATE[form])
                yield path


def _drawn(cells: Cells, language: str, nemenyi: bool) -> Iterator[tuple[str, Figure]]:
    for finds in PRIMARY:
        if len(cells.methods(finds)) < 2 or len(cells.scores(finds, PRIMARY[finds], cells.to_find()).blocks) < 2:
            continue
        yield f"critical_difference_{finds}", critical_difference_figure(cells, finds, language, nemenyi=nemenyi)
        figures: tuple[tuple[str, Callable[[Cells, Finds, str], Figure | None]], ...] = (
            ("factors", factor_figure),
            ("bias_by_size", heat_figure),
            ("anytime", anytime_figure),
            ("score_by_time", time_figure),
        )
        for name, draw in figures:
            figure = draw(cells, finds, language)
            if figure is not None:
                yield f"{name}_{finds}", figure
    nulls = null_figure(cells, language)
    if nulls is not None:
        yield "nulls", nulls


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.subplots()


def critical_difference_figure(cells: Cells, finds: Finds, language: str, *, nemenyi: bool = False) -> Figure:
    """Mean ranks on a line, the best on the left; bars join methods that do not differ.

    Bars follow Wilcoxon's test of every two methods (Holm), or Nemenyi's critical difference of mean ranks.
    """
    scores = cells.scores(finds, PRIMARY[finds], cells.to_find())
    blocks, methods = scores.blocks, scores.methods
    n, k = blocks.shape
    ranks = mean_ranks(blocks)
    if nemenyi:
        difference = critical_difference(k, n)
        alike = np.abs(ranks[:, None] - ranks) <= difference
        text = msg(
            "Bars: mean ranks within the critical difference {cd:num} (Nemenyi), {n:# setting|# settings}",
            cd=difference,
            n=n,
        )
    else:
        alike = pairwise_p(blocks) >= ALPHA
        text = msg("Bars: no difference by Wilcoxon's test (Holm), {n:# setting|# settings}", n=n)
    bars = cliques(ranks, alike)
    half = -(-k // 2)
    figure, axes = _figure(6.0, 0.9 + 0.17 * (half + len(bars)))
    axes.set_xlim(1, k)
    depth = half + len(bars) + 1.5
    axes.set_ylim(-depth, 0)
    axes.xaxis.tick_top()
    axes.set_xticks(range(1, k + 1))
    axes.set_yticks([])
    for side in ("left", "right", "bottom"):
        axes.spines[side].set_visible(False)
    for level, bar in enumerate(bars):
        ends = ranks[list(bar)]
        axes.plot([ends.min() - 0.05, ends.max() + 0.05], [-0.7 - level] * 2, color="black", lw=2.5, clip_on=False)
    for place, index in enumerate(np.argsort(ranks, kind="stable")):
        left = place < half
        y = -(len(bars) + 1.2 + (place if left else k - 1 - place))
        end = 1 - 0.02 * k if left else k + 0.02 * k
        axes.plot([ranks[index], ranks[index], end], [0, y, y], color="black", lw=0.7, clip_on=False)
        label = f"{methods[index]} ({ranks[index]:.2f})"
        axes.text(end, y, label, ha="right" if left else "left", va="center")
    axes.set_title(text.text(language), fontsize=8, pad=18)
    return figure


def factor_figure(cells: Cells, finds: Finds, language: str) -> Figure | None:
    """A small panel per numeric factor that was varied alone: the score by its level, one line per method."""
    from matplotlib.figure import Figure

    tables = {name: factor_table(cells, finds, name) for name in LEVELS}
    numeric = {name: table for name, table in tables.items() if table is not None and table["level"].format is not None}
    if not numeric:
        return None
    columns = min(3, len(numeric))
    rows = -(-len(numeric) // columns)
    figure = Figure(figsize=(2.4 * columns + 1.2, 1.9 * rows), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns, sharey=True, squeeze=False)).ravel()
    for axes, (name, table) in zip(panels, numeric.items(), strict=False):
        _lines(axes, table, "level")
        axes.set_xlabel(FACTORS[name].text(language))
    for axes in panels[len(numeric) :]:
        axes.set_visible(False)
    figure.supylabel(SCORES[PRIMARY[finds]].text(language), fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure


def _lines(axes: Axes, table: Table, x: str) -> None:
    rows = list(table.rows())
    for index, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == method and row["score"] is not None]
        across = [row[x] for row in own]
        colour, mark = COLOURS[index % len(COLOURS)], MARKS[index // len(COLOURS) % len(MARKS)]
        style = {"color": colour, "marker": mark, "ms": 3, "lw": 1, "label": method}
        axes.plot(across, [row["score"] for row in own], **style)
        if own and own[0].get("score_low") is not None:
            low, high = ([row[f"score_{end}"] for row in own] for end in ("low", "high"))
            axes.fill_between(across, low, high, color=colour, alpha=0.12, lw=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def heat_figure(cells: Cells, finds: Finds, language: str) -> Figure | None:
    """The best score by size of bias and of subgroup, with the method that reached it."""
    table = bias_by_size_table(cells, finds)
    if table is None:
        return None
    rows = list(table.rows())
    across = sorted({row["group_rows"] for row in rows}, key=float)
    down = sorted({row["bias"] for row in rows}, key=float)
    values = np.full((len(down), len(across)), np.nan)
    figure, axes = _figure(1.2 + 0.95 * len(across), 0.9 + 0.5 * len(down))
    for row in rows:
        at = down.index(row["bias"]), across.index(row["group_rows"])
        values[at] = row["score"]
        shade = "white" if row["score"] > 0.6 else "black"
        axes.text(at[1], at[0], f"{row['score']:.2f}\n{row['method']}", ha="center", va="center", color=shade, size=6)
    axes.imshow(values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(across)), across)
    axes.set_yticks(range(len(down)), down)
    axes.set_xlabel(FACTORS["group_rows"].text(language))
    axes.set_ylabel(FACTORS["bias"].text(language))
    return figure


def anytime_figure(cells: Cells, finds: Finds, language: str) -> Figure | None:
    """What is known by which share of the budget."""
    table = anytime_table(cells, finds)
    if table is None:
        return None
    figure, axes = _figure(4.2, 2.8)
    _lines(axes, table, "share")
    axes.set_xlabel(table["share"].heading(language))
    axes.set_ylabel(table["score"].heading(language))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def time_figure(cells: Cells, finds: Finds, language: str) -> Figure | None:
    """The mean score of each method by the mean seconds of its searches."""
    settings = cells.to_find()
    scores, seconds = (cells.scores(finds, name, settings) for name in (PRIMARY[finds], "seconds"))
    figure, axes = _figure(4.2, 2.8)
    for index, method in enumerate(scores.methods):
        score, time = scores.means[index], seconds.means[index]
        if score.value is None or time.value is None:
            continue
        ends = [score.value if end is None else end for end in (score.low, score.high)]
        spread = [[score.value - ends[0]], [ends[1] - score.value]]
        colour, mark = COLOURS[index % len(COLOURS)], MARKS[index // len(COLOURS) % len(MARKS)]
        axes.errorbar(
            [time.value], [score.value], yerr=np.maximum(spread, 0), fmt=mark, ms=4, color=colour, label=method
        )
    axes.set_xscale("log")
    axes.set_xlabel(SCORES["seconds"].text(language))
    axes.set_ylabel(SCORES[PRIMARY[finds]].text(language))
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure


def null_figure(cells: Cells, language: str) -> Figure | None:
    """The share of runs without bias in which a method claims something, with its interval, beside the level."""
    table = null_table(cells)
    if table is None:
        return None
    rows = list(table.rows())
    figure, axes = _figure(4.2, 0.8 + 0.16 * len(rows))
    for place, row in enumerate(rows):
        axes.plot([row["share_low"], row["share_high"]], [-place] * 2, color=COLOURS[0], lw=1)
        axes.plot([row["share"]], [-place], "o", ms=3, color=COLOURS[0])
    axes.axvline(ALPHA, color=COLOURS[1], lw=0.8, ls="--")
    axes.set_yticks([-place for place in range(len(rows))], [row["method"] for row in rows])
    axes.set_xlim(-0.02, 1)
    axes.set_xlabel(table["share"].heading(language))
    return figure
