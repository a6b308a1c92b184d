"""The tables of an agreement: how often, by scenario, by explainer, and how changes go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomia.counting import count_by
from isonomia.evidence import Column, Table, benjamini_hochberg
from isonomia.explain.agreements.clusters import Clusters, chance_agreement
from isonomia.explain.agreements.outcomes import NAMES, SCENARIOS, UNEQUAL, Outcomes
from isonomia.languages import Message, msg
from isonomia.typing import Bools, Floats, Indices

#: Bins of the histogram of changes.
BINS = 20

AGAINST = Column("against", title=msg("explanation"), names=NAMES)
EXPLAINER = Column("explainer", title=msg("explainer"), names=NAMES)
MEASURE = Column("measure", title=msg("measure"), names=NAMES)
ROWS = Column("n", format="int", title=msg("results"))
AGREE = Column("agree", format="pct", title=msg("agree"))
KAPPA = Column("kappa", format="num", title=msg("Cohen's kappa"))
TESTS = (
    Column("p_value", format="p", title=msg("p-value")),
    Column("p_adjusted", format="p", title=msg("Adjusted p-value")),
)


@dataclass(frozen=True)
class Comparison:
    """What is compared: the outcomes, which measures with which, and how."""

    outcomes: Outcomes
    measures: tuple[str, ...]
    against: tuple[str, ...]
    counted: Bools
    tolerance: float
    clusters: Clusters

    @property
    def scopes(self) -> tuple[str, ...]:
        """All explainers together, then each of them where there are several."""
        found = self.outcomes.explainers
        return ("all", *found) if len(found) > 1 else ("all",)

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """Explanation, explainer and fairness measure of every row of a table."""
        return ((x, scope, m) for x in self.against for scope in self.scopes for m in self.measures)

    def classified(self, names: tuple[str, str], inside: Bools) -> tuple[Indices, Indices, Indices, int]:
        """Rows, scenarios by both measures, and how many scenarios both can tell apart."""
        values = self.outcomes.values
        known = inside & ~np.isnan(values[names[0]]) & ~np.isnan(values[names[1]])
        rows = np.flatnonzero(known)
        a, b = (self.outcomes.scenarios(name, self.tolerance)[rows] for name in names)
        if self.outcomes.unsigned & set(names):
            return rows, np.minimum(a, 1), np.minimum(b, 1), 2
        return rows, a, b, len(SCENARIOS)

    def agreement(self) -> Table:
        """How often a measure and an explanation show the same scenario, beside chance and kappa."""
        found = []
        for against, scope, measure in self.pairs():
            inside = self.counted & self.outcomes.rows(scope)
            rows, a, b, scenarios = self.classified((measure, against), inside)
            row: dict[str, Any] = {"against": against, "explainer": scope, "measure": measure, "n": rows.size}
            found.append({**row, **agreed(self.clusters, rows, a, b, scenarios)})
        columns = (AGAINST, EXPLAINER, MEASURE, ROWS, AGREE, CHANCE, KAPPA, TESTS[0])
        return adjusted(self.table(found, columns, msg("Agreement of fairness measures with explanations")))

    def by_scenario(self) -> Table:
        """Shares of all results, by the scenario that the fairness measure shows."""
        found = []
        for against, scope, measure in self.pairs():
            rows, a, b, scenarios = self.classified((measure, against), self.counted & self.outcomes.rows(scope))
            for code, name in enumerate(SCENARIOS if scenarios == len(SCENARIOS) else (SCENARIOS[0], UNEQUAL)):
                same = int(((a == code) & (b == code)).sum())
                other = int((a == code).sum()) - same
                total = rows.size or None
                found.append(
                    {
                        "against": against,
                        "explainer": scope,
                        "measure": measure,
                        "scenario": name,
                        "n": rows.size,
                        "agree": total and same / total,
                        "contradict": total and other / total,
                    }
                )
        columns = (
            *(AGAINST, EXPLAINER, MEASURE),
            Column("scenario", title=msg("scenario by the fairness measure"), names=NAMES),
            *(ROWS, AGREE),
            Column("contradict", format="pct", title=msg("contradict")),
        )
        return self.table(found, columns, msg("Agreement by scenario"))

    def between_explainers(self) -> Table | None:
        """Whether two explainers of one model show the same scenario; None where there is one explainer."""
        names = self.outcomes.explainers
        if len(names) < 2:
            return None
        found = []
        for against in self.against:
            for first, second in ((x, y) for i, x in enumerate(names) for y in names[i + 1 :]):
                left, right = self.matched(first, second)
                known = ~np.isnan(self.outcomes.values[against][left]) & ~np.isnan(self.outcomes.values[against][right])
                left, right = left[known], right[known]
                if not left.size:
                    continue
                codes = self.outcomes.scenarios(against, self.tolerance)
                top = 1 if against in self.outcomes.unsigned else len(SCENARIOS)
                a, b = np.minimum(codes[left], top), np.minimum(codes[right], top)
                row = {"against": against, "first": first, "second": second, "n": left.size}
                row |= {"same": int((a == b).sum()), **agreed(self.clusters, left, a, b, len(SCENARIOS))}
                found.append(row)
        if not found:
            return None
        columns = (
            AGAINST,
            Column("first", title=msg("explainer"), names=NAMES),
            Column("second", title=msg("compared with"), names=NAMES),
            Column("n", format="int", title=msg("models")),
            Column("same", format="int", title=msg("same scenario")),
            *(AGREE, KAPPA),
        )
        return self.table(found, columns, msg("Agreement between explainers"))

    def matched(self, first: str, second: str) -> tuple[Indices, Indices]:
        """The rows of one explainer, and those of another for the same model, fix and seed."""
        labels = [column for name, column in self.outcomes.labels.items() if name != "explainer"]
        keys = list(zip(*labels, strict=True))
        counted = self.counted & self.outcomes.rows(second)
        others = {keys[row]: row for row in np.flatnonzero(counted)}
        pairs = [
            (row, others[keys[row]])
            for row in np.flatnonzero(self.counted & self.outcomes.rows(first))
            if keys[row] in others
        ]
        found = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def correlations(self) -> Table:
        """How the change of a fairness measure goes together with that of an explanation."""
        found = []
        for coefficient in ("pearson", "spearman"):
            for against, scope, measure in self.pairs():
                x, y = self.outcomes.changes(measure), self.outcomes.changes(against)
                rows = np.flatnonzero(~np.isnan(x) & ~np.isnan(y) & self.outcomes.rows(scope))
                row = {"against": against, "explainer": scope, "measure": measure, "coefficient": coefficient}
                if rows.size < 3:
                    found.append({**row, "n": rows.size, "correlation": None, "p_value": None})
                    continue
                figure, p = getattr(self.clusters.take(rows), coefficient)(x[rows], y[rows])
                found.append({**row, "n": rows.size, "correlation": figure, "p_value": p})
        columns = (
            *(AGAINST, EXPLAINER, MEASURE),
            Column("coefficient", title=msg("coefficient"), names=NAMES),
            Column("n", format="int", title=msg("changes")),
            Column("correlation", format="num", title=msg("correlation of changes")),
            TESTS[0],
        )
        return adjusted(self.table(found, columns, msg("Changes by a fix: correlation of measures and explanations")))

    def improvement(self) -> Table:
        """How often a fix made the model more even-handed by each measure."""
        found = []
        for measure in (*self.measures, *self.against):
            change = self.outcomes.changes(measure)
            rows = np.flatnonzero(~np.isnan(change))
            row: dict[str, Any] = {"measure": measure, "n": rows.size, "improved": None, "mean_change": None}
            if rows.size:
                better = (change[rows] > 0).astype(float)
                row["improved"] = self.clusters.take(rows).share(better)[0]
                row["mean_change"] = float(change[rows].mean())
            found.append(row)
        columns = (
            MEASURE,
            Column("n", format="int", title=msg("changes")),
            Column("improved", format="pct", title=msg("nearer to 0 after the fix")),
            Column("mean_change", format="num4", title=msg("mean change")),
        )
        return self.table(found, columns, msg("How often a fix brought a measure nearer to 0"))

    def histogram(self) -> Table:
        """Counts of changes in bins of equal width, from the smallest to the largest change of each measure."""
        parts = []
        for measure in (*self.measures, *self.against):
            change = self.outcomes.changes(measure)
            change = change[~np.isnan(change)]
            if not change.size:
                continue
            edges = np.histogram_bin_edges(change, BINS)
            bins = np.clip(np.searchsorted(edges, change, side="right") - 1, 0, BINS - 1)
            counts = count_by(bins, BINS)
            parts += [
                {"measure": measure, "left": low, "right": high, "count": int(count)}
                for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts, strict=True)
            ]
        columns = (
            MEASURE,
            Column("left", format="num4", title=msg("change from")),
            Column("right", format="num4", title=msg("to")),
            Column("count", format="int", title=msg("models")),
        )
        return self.table(parts, columns, msg("Changes of each measure"))

    def rows_of_changes(self) -> Table:
        """The change of every measure, one row per fix of a model and explainer."""
        rows = np.flatnonzero(self.outcomes.original >= 0).tolist()
        labels = [
            Column(name, [column[row] for row in rows], names=NAMES) for name, column in self.outcomes.labels.items()
        ]
        figures = [
            Column(name, self.outcomes.changes(name)[rows], format="num4", title=NAMES.get(name))
            for name in (*self.measures, *self.against)
        ]
        return Table((*labels, *figures), msg("Changes by model and fix"), self.outcomes.backend)

    def table(self, rows: Sequence[dict[str, Any]], columns: Sequence[Column], title: Message) -> Table:
        """Rows as a table of the kind the results were given in."""
        return Table.from_rows(rows, columns, title=title, backend=self.outcomes.backend)


CHANCE = Column("chance", format="pct", title=msg("agree by chance"))


def agreed(clusters: Clusters, rows: Indices, a: Indices, b: Indices, scenarios: int) -> dict[str, Any]:
    """The share of equal scenarios, that by chance, and kappa with its p-value."""
    if not rows.size:
        return {"agree": None, "chance": None, "kappa": None, "p_value": None}
    own = clusters.take(rows)
    kappa, p = own.kappa(a, b, scenarios)
    share = own.share((a == b).astype(float))[0]
    return {"agree": share, "chance": chance_agreement(a, b, scenarios), "kappa": kappa, "p_value": p}


def adjusted(table: Table) -> Table:
    """The table with p-values corrected over all its tests (Benjamini-Hochberg)."""
    p: Floats = np.asarray([np.nan if value is None else value for value in table["p_value"].values], dtype=float)
    return table.with_columns(replace(TESTS[1], values=benjamini_hochberg(p)))
