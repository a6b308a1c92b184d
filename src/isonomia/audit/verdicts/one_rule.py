"""One rule for "exceeds": where the policy judges a measure, every table shows the policy's limit and outcome.

The fairness suite compares measures with thresholds of its own, and its intervals hold for one measure alone. Beside a
verdict two answers about one number would contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isonomia.evidence import Table
from isonomia.fairness.criteria.named import CRITERIA, criterion_of
from isonomia.languages import msg
from isonomia.report import Criterion, Section
from isonomia.report.words import CRITERIA as OUTCOMES

#: Where measures are compared with thresholds: check and table.
_MEASURES = ("fairness_suite", "measures")


def with_one_rule(sections: Sequence[Section], criteria: Sequence[Criterion]) -> list[Section]:
    """The sections whose measures have the policy's interval, limit and outcome where the policy judges them."""
    judged = _judged(criteria)
    code, name = _MEASURES
    out = []
    for section in sections:
        if section.code == code and section.result is not None and name in section.result.tables and judged:
            table, changed = _agreeing(section.result.tables[name], judged)
            if changed:
                note = msg("Measures that the policy judges have its interval, limit and outcome.")
                tables = {**section.result.tables, name: table}
                result = replace(section.result, tables=tables, notes=(*section.result.notes, note))
                section = replace(section, result=result)
        out.append(section)
    return out


def _judged(criteria: Sequence[Criterion]) -> dict[tuple[tuple[str, ...], str], Criterion]:
    """Criteria by their way of grouping and the title of the suite's measure for the same figure."""
    found = {}
    for criterion in criteria:
        if criterion.metric and criterion.estimate.value is not None:
            measure = criterion_of(criterion.metric, criterion.measure)
            if measure is not None:
                found[tuple(sorted(criterion.by)), CRITERIA[measure].title.template] = criterion
    return found


def _agreeing(table: Table, judged: dict[tuple[tuple[str, ...], str], Criterion]) -> tuple[Table, bool]:
    value, threshold, outcome = (table[name] for name in ("value", "threshold", "outcome"))
    titles, ways = table["measure"].values, table["by"].keys or ()
    found = [
        judged.get((tuple(sorted(way)), getattr(title, "template", "")))
        for way, title in zip(ways, titles, strict=True)
    ]
    if not any(found):
        return table, False
    figures = [value.estimate(row) if one is None else one.estimate for row, one in enumerate(found)]
    return (
        table.with_columns(
            replace(value.filled(figures), reason=value.reason),
            threshold.filled(
                [threshold.values[row] if one is None else one.threshold for row, one in enumerate(found)]
            ),
            outcome.filled(
                [outcome.values[row] if one is None else OUTCOMES[one.outcome] for row, one in enumerate(found)]
            ),
        ),
        True,
    )
