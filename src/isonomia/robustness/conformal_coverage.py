"""Coverage of conformal sets, overall and by group, as tables, findings and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, sum_by
from isonomia.data import Backend
from isonomia.evidence import (
    THRESHOLDS,
    Column,
    Estimate,
    Finding,
    Picture,
    Result,
    Table,
    benjamini_hochberg,
    finite,
    normal_p,
    wilson,
)
from isonomia.fairness.groups.grouping import condition
from isonomia.languages import Message, Name, msg
from isonomia.subject import Subject
from isonomia.typing import Floats

INFINITE = msg("there are too few calibration rows for this coverage: every interval is infinite")


@dataclass(frozen=True, eq=False)
class Coverage:
    """What was covered, as tables, findings and pictures."""

    subject: Subject
    covered: NDArray[np.bool_]
    size: Floats
    widths: Floats
    basis: Floats
    alpha: float
    level: float
    minimum: int
    n_calibration: int
    own: int
    kind: str

    def result(self) -> Result:
        """The result that a user sees."""
        backend = self.subject.known.backend
        everyone = Codes("", np.zeros(self.covered.size, dtype=np.uint8), ("everyone",))
        overall = self._rows(everyone)[0]
        rows = [{**overall, "attribute": msg("everyone"), "group": msg("everyone")}]
        for column in self.subject.attributes:
            rows += self._rows(column)
        p = benjamini_hochberg([row["p_value"] for row in rows])
        for row, adjusted in zip(rows, p, strict=True):
            row["p_adjusted"] = float(adjusted)
        tables = {"coverage": self._table(rows, msg("Coverage, overall and by group"), backend)}
        if self.kind != "absolute":
            surface = self.subject.surface
            truth = Codes(Name(msg("class")), self.subject.truth, surface.classes)
            tables["by_class"] = self._table(self._rows(truth), msg("Coverage by true class"), backend, tested=False)
            tables["set_sizes"] = self._sizes(backend)
        values: dict[str, Any] = {
            "coverage": self._estimate(overall),
            "promised": 1 - self.alpha,
            "size": float(overall["size"]) if np.isfinite(overall["size"]) else Estimate.missing(INFINITE),
            "calibration_rows": self.n_calibration,
        }
        titles = {
            "coverage": msg("Coverage"),
            "promised": msg("Nominal coverage"),
            "size": self._size_title,
            "calibration_rows": msg("Calibration rows"),
        }
        findings = tuple(self._finding(row, index) for index, row in enumerate(rows) if self._short(row))
        return Result(
            "conformal",
            msg("Coverage of predictions"),
            tables,
            values,
            findings,
            (self._picture(),),
            self._notes(),
            titles=titles,
        )

    def _rows(self, column: Codes) -> list[dict[str, Any]]:
        w = np.ones(len(column)) if self.subject.weights is None else self.subject.weights
        n, mass, square, hit, size, basis = (
            sum_by(column.codes, self._each * x, column.size)
            for x in (1.0, w, w * w, self.covered * w, self.size * w, self.basis * w)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(square > 0, mass**2 / square, 0.0)
            share, mean = hit / mass, size / mass
            z = (share - (1 - self.alpha)) / np.sqrt(self.alpha * (1 - self.alpha) * (1 / effective + mass / basis))
        low, high = wilson(np.nan_to_num(share) * effective, effective, self.level)
        return [
            {
                "attribute": column.name,
                "group": column.text(i),
                "n": int(n[i]),
                "coverage": float(share[i]),
                "low": float(low[i]),
                "high": float(high[i]),
                "size": float(mean[i]),
                "p_value": float(normal_p(z[i])) if n[i] >= self.minimum else float("nan"),
                "small": bool(n[i] < self.minimum),
                "note": self._why_missing(int(n[i]), float(mean[i])),
            }
            for i in range(column.size)
            if n[i] and mass[i] > 0
        ]

    @property
    def _each(self) -> Floats:
        """How many rows each row stands for."""
        counts = self.subject.counts
        return np.ones(self.covered.size) if counts is None else counts.astype(float)

    def _why_missing(self, n: int, size: float) -> Message | None:
        if not np.isfinite(size):
            return INFINITE
        return msg("fewer than {least:int} rows: not tested", least=self.minimum) if n < self.minimum else None

    def _short(self, row: dict[str, Any]) -> bool:
        return (
            not row["small"]
            and row["coverage"] < 1 - self.alpha - THRESHOLDS["coverage"].reported
            and row["high"] < 1 - self.alpha
            and row["p_adjusted"] < 0.05
        )

    def _table(self, rows: Sequence[dict[str, Any]], title: Message, backend: Backend, *, tested: bool = True) -> Table:
        columns = (
            Column("attribute", title=msg("protected attribute")),
            Column("group", title=msg("group")),
            Column("n", format="int", title=msg("Rows")),
            Column("coverage", format="pct", title=msg("Coverage")),
            Column("low", format="pct", title=msg("from")),
            Column("high", format="pct", title=msg("to")),
            Column("size", format="num", title=self._size_title),
            Column("p_value", format="p", title=msg("p-value")),
            Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
            Column("small", title=msg("small group")),
            Column("note", title=msg("note")),
        )
        kept = [column for column in columns if tested or column.name not in ("p_value", "p_adjusted")]
        known = [{name: finite(v) if isinstance(v, float) else v for name, v in row.items()} for row in rows]
        return Table.from_rows(known, kept, title=title, backend=backend)

    @property
    def _size_title(self) -> Message:
        return msg("Mean width of intervals") if self.kind == "absolute" else msg("Mean size of sets")

    def _sizes(self, backend: Backend) -> Table:
        counts = sum_by(self.size.astype(int), self._each, int(self.size.max(initial=0)) + 1).astype(np.int64)
        return Table(
            (
                Column("size", np.arange(counts.size), format="int", title=msg("Classes in the set")),
                Column("n", counts, format="int", title=msg("Rows")),
                Column("share", counts / counts.sum(), format="pct", title=msg("Share of rows")),
            ),
            msg("Size of the sets"),
            backend,
        )

    def _estimate(self, row: dict[str, Any]) -> Estimate:
        return Estimate(row["coverage"], row["low"], row["high"], n=row["n"], method="wilson", level=self.level)

    def _picture(self) -> Picture:
        return Picture(
            "forest",
            "coverage",
            msg("Coverage of each group and nominal coverage"),
            {
                "labels": ["attribute", "group"],
                "value": "coverage",
                "low": "low",
                "high": "high",
                "flag": "small",
                "reference": 1 - self.alpha,
                "reference_label": msg("nominal"),
            },
        )

    def _notes(self) -> tuple[Message, ...]:
        notes = [msg("The width was set on {n:int} rows that are not examined here.", n=self.n_calibration)]
        if self.own:
            notes.append(msg("{n:# group has|# groups have} a width of their own.", n=self.own))
        if not np.isfinite(self.widths).all():
            notes.append(msg("There are too few calibration rows for this coverage: some intervals are infinite."))
        return tuple(notes)

    def _finding(self, row: dict[str, Any], index: int) -> Finding:
        everyone = isinstance(row["group"], Message)
        gaps = {"coverage": row["coverage"], "promised": 1 - self.alpha, "n": row["n"]}
        message = (
            msg(
                "Prediction sets contain the true outcome of {coverage:pct} of {n:# person|# people}; the "
                "nominal coverage is {promised:pct}.",
                **gaps,
            )
            if everyone
            else msg(
                "Prediction sets contain the true outcome of {coverage:pct} of {group}; the nominal coverage "
                "is {promised:pct} ({n:# person|# people}).",
                group=condition(row["attribute"], row["group"]),
                **gaps,
            )
        )
        lack, figure = 1 - self.alpha - row["coverage"], self._estimate(row)
        return Finding(
            "conformal.coverage",
            THRESHOLDS["coverage"].severity(lack),
            message,
            figure,
            who={} if everyone else {row["attribute"]: row["group"]},
            n=row["n"],
            magnitude=lack / THRESHOLDS["coverage"].reported,
            p_value=row["p_value"],
            test=("conformal", "coverage", index),
            p_adjusted=row["p_adjusted"],
            threshold=1 - self.alpha,
            evidence="conformal/coverage",
            format="pct",
            remedy="calibrate_width_by_group",
        )
