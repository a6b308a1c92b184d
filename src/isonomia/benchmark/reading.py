"""What a benchmark shows: tables, tests, advice, and a report of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from isonomia.benchmark.advice import ADVISED_FROM, advice_notes, advice_table, no_advice
from isonomia.benchmark.main_effects import main_effects_table
from isonomia.benchmark.settings import LEVELS
from isonomia.benchmark.subgroup_scores import ALPHA
from isonomia.benchmark.summary import PRIMARY, Cells, Finds, read_cells
from isonomia.benchmark.tables import (
    anytime_table,
    bias_by_size_table,
    comparison_table,
    factor_table,
    friedman_table,
    null_table,
    rank_table,
    summary_table,
    unanswered_table,
    variance_table,
)
from isonomia.benchmark.words import FACTORS, TITLES
from isonomia.display import Shown
from isonomia.evidence import Picture, Result, Table
from isonomia.languages import Message, msg
from isonomia.report import Inquiry

if TYPE_CHECKING:
    from isonomia.store import Store


#: Columns of the table beside the answer.
LEAD = 5


@dataclass(frozen=True, eq=False)
class Benchmark(Shown):
    """The finished cells of a grid, and what they show.

    Attributes
    ----------
    cells : Cells
    """

    cells: Cells

    def __repr__(self) -> str:
        return f"Benchmark({self.cells.benchmark}: {len(self.cells.rows)} cells done, {self.cells.waiting} to do)"

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The parts of the report."""
        kinds = [finds for finds in PRIMARY if len(self.cells.methods(finds)) > 0]
        ranked = [finds for finds in kinds if self.cells.to_find()]
        concludes = no_advice(self.cells) is None
        parts = [_advice(self.cells, ranked)] if concludes else []
        parts += [_scores(self.cells, finds) for finds in ranked]
        parts += [_tests(self.cells, ranked)] if concludes else []
        parts += [factors for finds in ranked if (factors := _factors(self.cells, finds)) is not None]
        nulls = null_table(self.cells)
        if nulls is not None:
            parts.append(_nulls(nulls))
        return tuple(parts)

    @cached_property
    def document(self) -> Inquiry:
        """The page: the question, the answer or why there is none yet, and everything that was measured."""
        open_ = no_advice(self.cells)
        answer = advice_notes(self.cells) if open_ is None else (open_,)
        first = next((part for part in self.results if part.code.startswith("scores_")), None)
        return Inquiry(
            question=msg("Which method finds what is there?"),
            answer=answer or (msg("No method found anything that was there."),),
            sure=_sure(self.cells),
            lead=None if open_ is not None or first is None else _lead(first),
            results=self.results,
            purposes=_PURPOSES,
            about=(
                (msg("Grid"), self.cells.benchmark),
                (msg("Settings"), len(self.cells.settings)),
                (msg("Data sets for each setting"), self.cells.seeds),
                (msg("Cells that are done"), len(self.cells.rows)),
                (msg("Cells to do"), self.cells.waiting),
            ),
        )

    def save(self, folder: str | os.PathLike[str], *, figures: bool = True, nemenyi: bool = False) -> dict[str, Path]:
        """Write cells.csv, summary.csv, LaTeX tables, figures (SVG and PDF) and the report in every language.

        Parameters
        ----------
        folder : path
        figures : bool
            Whether figures for a paper are drawn, which needs the extra `paper` (matplotlib).
        nemenyi : bool
            Whether the bars of the critical-difference diagram follow Nemenyi's test of mean ranks, as in older papers.

        Returns
        -------
        dict of Path
            By name: ``"cells.csv"``, ``"en/html"``, ``"figures/nulls.en.pdf"`` and so on.
        """
        from isonomia.benchmark.saving import save_benchmark

        return save_benchmark(self, Path(folder), figures=figures, nemenyi=nemenyi)


def read_benchmark(store: Store | Sequence[Store], grid: str) -> Benchmark:
    """The finished cells of a grid, from one store or from those of several shards; nothing is run."""
    return Benchmark(read_cells(store, grid))


_PURPOSES: dict[str, Message] = {
    "advice": msg("Which method should I use for which situation?"),
    "scores_subgroups": msg("How well does each method find the subgroups that were given a bias?"),
    "scores_pairs": msg("How many of the biases does each method show by pairs of people, and at which cost?"),
    "tests": msg("Are the differences between methods more than chance?"),
    "factors_subgroups": msg("What makes the search for subgroups easy or hard?"),
    "factors_pairs": msg("What makes the search for pairs easy or hard?"),
    "nulls": msg("How often does a method claim something where there is nothing?"),
}


def _advice(cells: Cells, kinds: Sequence[Finds]) -> Result:
    note = msg(
        "Situations with fewer than {least:int} settings are left out: no method is advised there.", least=ADVISED_FROM
    )
    return Result(
        code="advice",
        title=msg("Which method for which situation"),
        tables={finds: advice_table(cells, finds) for finds in kinds},
        notes=(note,),
    )


def _lead(scores: Result) -> Result:
    """The first figure of the scores and the table behind it: the method, and the first scores that are known."""
    name = scores.pictures[0].table
    table = scores.tables[name]
    known = [column.name for column in table.columns if any(value is not None for value in column.values)]
    return replace(scores, tables={name: table.select(known[:LEAD])}, pictures=scores.pictures[:1], notes=())


def _sure(cells: Cells) -> tuple[Message, ...]:
    """What the answer rests on: how many data sets, and by which rule something counts as found."""
    return (
        msg(
            "{n:# setting|# settings} with {seeds:# data set|# data sets} each. Intervals are over data sets; with a "
            "single one there are none.",
            n=len(cells.settings),
            seeds=cells.seeds,
        ),
        msg(
            "Methods are judged on fresh people. A subgroup is found where half of the people of both are the same and "
            "the direction is right; pairs are asked again. A method without an answer scores 0."
        ),
    )


def _scores(cells: Cells, finds: Finds) -> Result:
    tables = {"methods": summary_table(cells, finds)}
    first = tables["methods"].columns[1]
    pictures = [Picture("forest", "methods", first.title or TITLES[finds], {"labels": ["method"], "value": first.name})]
    anytime = anytime_table(cells, finds)
    if anytime is not None:
        tables["anytime"] = anytime
        options = {"x": "share", "value": "score", "color": "method"}
        pictures.append(Picture("lines", "anytime", anytime.title or TITLES[finds], options))
    variance = variance_table(cells)
    if variance is not None:
        tables["variance"] = variance
    unanswered = unanswered_table(cells, finds)
    if unanswered is not None:
        tables["unanswered"] = unanswered
    return Result(code=f"scores_{finds}", title=TITLES[finds], tables=tables, pictures=tuple(pictures))


def _tests(cells: Cells, kinds: Sequence[Finds]) -> Result:
    tables: dict[str, Table] = {"friedman": friedman_table(cells)}
    for finds in kinds:
        if len(cells.scores(finds, PRIMARY[finds], cells.to_find()).blocks) > 1:
            tables |= {f"ranks_{finds}": rank_table(cells, finds), f"pairs_{finds}": comparison_table(cells, finds)}
    note = msg(
        "Ranks are over settings, after averaging over data seeds. Two methods are compared by Wilcoxon's signed-rank "
        "test, which does not depend on which other methods take part; p-values are adjusted over all pairs (Holm)."
    )
    return Result(code="tests", title=msg("Tests between methods"), tables=tables, notes=(note,))


def _factors(cells: Cells, finds: Finds) -> Result | None:
    tables: dict[str, Table] = {}
    pictures = []
    for factor in LEVELS:
        table = factor_table(cells, finds, factor)
        if table is not None:
            tables[factor] = table
            numeric = table["level"].format is not None
            options = (
                {"x": "level", "value": "score", "color": "method", "x_title": FACTORS[factor]}
                if numeric
                else {"x": "level", "y": "method", "value": "score"}
            )
            pictures.append(Picture("lines" if numeric else "heatmap", factor, FACTORS[factor], options))
    both = bias_by_size_table(cells, finds)
    if both is not None:
        tables["bias_by_size"] = both
        options = {"x": "group_rows", "y": "bias", "value": "score"}
        pictures.append(Picture("heatmap", "bias_by_size", both.title or FACTORS["bias"], options))
    together = main_effects_table(cells, finds)
    if together is not None:
        tables["main_effects"] = together
        options = {"x": "method", "y": "factor", "value": "effect"}
        pictures.append(Picture("heatmap", "main_effects", together.title or TITLES[finds], options))
    if not tables:
        return None
    titles = {"subgroups": msg("Factors: subgroups"), "pairs": msg("Factors: pairs")}
    return Result(code=f"factors_{finds}", title=titles[finds], tables=tables, pictures=tuple(pictures))


def _nulls(table: Table) -> Result:
    options = {"labels": ["method"], "value": "share", "reference": ALPHA, "n": "runs"}
    picture = Picture("forest", "nulls", msg("Share of runs with a false claim"), options)
    note = msg(
        "Without bias and with the generator's own scorer as the model, nobody is treated differently: every claim is "
        "false. Methods that ask whether decisions depend on protected attributes alone also report differences that "
        "legitimate columns explain."
    )
    return Result(code="nulls", title=msg("False claims"), tables={"nulls": table}, pictures=(picture,), notes=(note,))
