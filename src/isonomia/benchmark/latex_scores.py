"""Scores as a LaTeX table for a paper: means with half-widths, the best bold, those not worse underlined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isonomia.benchmark.ranking import pairwise_p
from isonomia.benchmark.subgroup_scores import ALPHA
from isonomia.benchmark.summary import PRIMARY, Cells, Finds, Scores
from isonomia.benchmark.words import SCORES
from isonomia.evidence import Estimate
from isonomia.languages import Message, msg
from isonomia.report import escaped

#: The scores of a paper's table, by kind; seconds are better when low.
SHOWN: dict[str, tuple[str, ...]] = {
    "subgroups": ("f1", "precision", "recall", "f1_realised", "ap", "coverage", "seconds"),
    "pairs": ("recall", "recall_many", "precision", "dsr", "area", "naturalness", "seconds"),
}
LOW_IS_BETTER = ("seconds", "rows_per_pair", "redundancy")


def latex_scores(cells: Cells, finds: Finds, language: str = "en") -> str:
    """A table environment for booktabs: one row per method, one column per score, and a caption with N and the test."""
    settings = cells.to_find()
    columns = [cells.scores(finds, name, settings) for name in SHOWN[finds]]
    methods = columns[0].methods
    marks = [_marks(scores, name in LOW_IS_BETTER) for scores, name in zip(columns, SHOWN[finds], strict=True)]
    first = columns[SHOWN[finds].index(PRIMARY[finds])]
    order = sorted(range(len(methods)), key=lambda index: -(first.means[index].value or 0))
    head = [SCORES[name].text(language) for name in SHOWN[finds]]
    body = [
        " & ".join(
            [
                escaped(methods[index]),
                *(_cell(scores.means[index], mark[index]) for scores, mark in zip(columns, marks, strict=True)),
            ]
        )
        + r" \\"
        for index in order
    ]
    caption = _caption(len(first.blocks)).text(language)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:benchmark-{finds}}}",
        rf"\begin{{tabular}}{{l{'r' * len(head)}}}",
        r"\toprule",
        " & ".join(["", *map(escaped, head)]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _caption(n: int) -> Message:
    return msg(
        "Means over {n:# setting|# settings} with half-widths of 95% intervals (bootstrap over data seeds). Bold: the "
        "best; underlined: not worse than the best (Wilcoxon's signed-rank test over settings, Holm, {alpha:pct}).",
        n=n,
        alpha=ALPHA,
    )


def _marks(scores: Scores, low: bool) -> Sequence[str]:
    """For each method "best", "alike" or ""."""
    values = np.array([np.nan if e.value is None else e.value for e in scores.means]) * (-1 if low else 1)
    if np.isnan(values).all():
        return [""] * values.size
    best = int(np.nanargmax(values))
    blocks = scores.blocks
    alike = pairwise_p(blocks)[best] >= ALPHA if len(blocks) else np.zeros(values.size, dtype=bool)
    return [
        "best" if index == best else "alike" if alike[index] and not np.isnan(values[index]) else ""
        for index in range(values.size)
    ]


def _cell(estimate: Estimate, mark: str) -> str:
    if estimate.value is None:
        return "--"
    number = f"{estimate.value:.2f}"
    if mark:
        number = rf"\{'textbf' if mark == 'best' else 'underline'}{{{number}}}"
    low, high = estimate.low, estimate.high
    return number if low is None or high is None else rf"{number} $\pm$ {(high - low) / 2:.2f}"
