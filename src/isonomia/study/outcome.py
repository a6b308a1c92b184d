"""What a study returns: its rows, what agrees with what, and published figures beside ours."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from isonomia.display import Shown
from isonomia.errors import DataError
from isonomia.evidence import Column, Result, Table
from isonomia.explain import Agreement, agreement
from isonomia.explain.agreements.outcomes import NAMES
from isonomia.languages import msg
from isonomia.report import Inquiry
from isonomia.study.explainers import STUDY_EXPLAINERS
from isonomia.study.measures import StudyMeasure
from isonomia.study.published import PAPER_TOLERANCE, absent_note, beside, key_of, reproduction

FIGURES = ("disparity", "importance", "rank")


@dataclass(frozen=True, eq=False)
class Study(Shown):
    """The outcome of a study.

    Attributes
    ----------
    rows : Table
        One row per dataset, model, fix, seed and explainer: every measure, disparity, importance and rank.
    agreement : Agreement
        Over the explainers of the probability (Kernel and Tree SHAP).
    others : mapping of Agreement
        "linear": over the explainers of linear models, with Kernel SHAP of the same models; "strict": at a tolerance
        of 0.001, mitigated models only, the rule that the paper's text states; "published": the published results,
        completed with ours for models that were not published.
    reproduction : Result or None
        Published figures beside ours, where the paper was repeated.
    cells : list of dict
        The finished cells, as they are kept in files.
    missing : tuple of str
        Why figures are missing, each reason once.
    unread : tuple of str
        Files among the cells that could not be read, each with the reason.
    waiting : int
        Cells that were asked for and are not done.
    """

    rows: Table
    agreement: Agreement
    others: Mapping[str, Agreement] = field(default_factory=dict)
    reproduction: Result | None = None
    cells: Sequence[Mapping[str, Any]] = ()
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    waiting: int = 0
    paper: bool = False

    def __repr__(self) -> str:
        return f"Study({len(self.cells)} models, {len(self.rows)} results, {len(self.agreement.findings)} findings)"

    @property
    def findings(self) -> tuple[Any, ...]:
        """What the study found."""
        return self.agreement.findings

    @cached_property
    def document(self) -> Inquiry:
        """The page: the question, the answer or why there is none yet, and everything that was measured."""
        from isonomia.study.reporting import document_of

        return document_of(self)

    def save(self, folder: str | os.PathLike[str]) -> dict[str, Path]:
        """Write the report in both languages, tables as CSV and LaTeX, and figures as SVG.

        Returns
        -------
        dict of Path
            By name: ``"en/html"``, ``"table/agreement.csv"``, ``"figure/agreement.svg"`` and so on.
        """
        from isonomia.study.saving import save_study

        return save_study(self, Path(folder))


def rows_of(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per cell and explainer; a figure that is missing is None."""
    found = []
    for cell in cells:
        measured = {name: one["value"] for name, one in cell["measures"].items()}
        for explainer, figures in cell["explanations"].items():
            row = {**cell["key"], "explainer": explainer, "accuracy": cell["accuracy"], **measured}
            found.append({**row, **{name: figures.get(name) for name in FIGURES}})
    return found


def assembled(
    cells: Sequence[Mapping[str, Any]],
    measures: Sequence[StudyMeasure],
    published: Sequence[Mapping[str, Any]],
    *,
    tolerance: float,
    n_boot: int,
    level: float,
) -> Study:
    """The study of these cells; without cells that of the published results."""
    obtained = rows_of(cells)
    rows = obtained or [{**row, "seed": 0} for row in published]
    if not rows:
        raise DataError("No cell of the study is finished. Allow more time (`max_seconds`), or fewer datasets.")
    options: dict[str, Any] = {
        "measures": [measure.id for measure in measures],
        "unsigned": ["importance", *(measure.id for measure in measures if measure.unsigned)],
        "n_boot": n_boot,
        "level": level,
    }
    main = _probabilities(rows)
    linear_models = {row["model"] for row in rows if row["explainer"].startswith("linear")}
    linear = [row for row in rows if row["model"] in linear_models]
    others = {}
    if main:
        others["strict"] = agreement(main, tolerance=0.001, rows="mitigated", **options)
    if obtained and published:
        completed = _completed(published, obtained)
        found = agreement(completed, tolerance=PAPER_TOLERANCE, **options)
        others["published"] = _noted(found, published, completed)
    if linear:
        others["linear"] = agreement(linear, tolerance=tolerance, **options)
    whole = agreement(main or rows, tolerance=tolerance, **options)
    return Study(
        rows=_table(rows, measures),
        agreement=whole if obtained else _noted(whole, published, rows),
        others=others,
        reproduction=reproduction(beside(published, obtained)) if published and obtained else None,
        cells=cells,
        missing=_reasons(cells),
        paper=bool(published),
    )


def _noted(found: Agreement, published: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Agreement:
    """The comparison with what the released files lack."""
    note = absent_note(_probabilities(published), rows)
    return found if note is None else replace(found, notes=(*found.notes, note))


def _probabilities(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of explainers in units of probability."""
    units = {entry.id: entry.unit for entry in STUDY_EXPLAINERS}
    return [row for row in rows if units.get(row["explainer"], "probability") == "probability"]


def _completed(published: Sequence[Mapping[str, Any]], obtained: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The published results, and ours of the first seed for models whose results were not published."""
    known = {key_of(row) for row in published}
    first = min(row["seed"] for row in obtained)
    added = [row for row in obtained if row["seed"] == first and key_of(row) not in known]
    return [{**row, "seed": first} for row in _probabilities([*published, *added])]


def _reasons(cells: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    parts = [one for cell in cells for part in ("measures", "explanations") for one in cell[part].items()]
    return tuple(dict.fromkeys(f"{name}: {one['reason']}" for name, one in parts if one.get("reason")))


def _table(rows: Sequence[Mapping[str, Any]], measures: Sequence[StudyMeasure]) -> Table:
    titles = {
        "dataset": msg("dataset"),
        "model": msg("model"),
        "fix": msg("fix"),
        "seed": msg("seed"),
        "explainer": msg("explainer"),
    }
    columns = (
        *(Column(name, title=title, names=NAMES) for name, title in titles.items()),
        Column("accuracy", format="pct", title=msg("accuracy")),
        *(Column(measure.id, format="num4", title=measure.title) for measure in measures),
        Column("disparity", format="num4", title=NAMES["disparity"]),
        Column("importance", format="num4", title=NAMES["importance"]),
        Column("rank", format="int", title=msg("rank of the sensitive column")),
    )
    return Table.from_rows(rows, columns, title=msg("Results of the study"))
