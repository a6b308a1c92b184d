"""Multiplicity over the whole run: every test of every check is adjusted together, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isonomia.evidence import Finding, Result, Table, benjamini_hochberg

#: A finding whose adjusted p-value is not below this is told as a notice, however large the figure.
ALPHA = 0.05


def adjust_whole_run(results: Sequence[Result]) -> tuple[list[Result], int]:
    """The results with `p_adjusted` over all their tests together, and the number of tests.

    Every table with a column ``p_value`` counts, and every finding whose p-value is in none of them. Adjusted values
    are a rising function of the p-values, so a finding takes the value of its own test.
    """
    tested = [(index, name) for index, result in enumerate(results) for name, t in result.tables.items() if _tests(t)]
    columns = [np.asarray(results[i].tables[name]["p_value"].values, dtype=float) for i, name in tested]
    listed = set(np.concatenate(columns).tolist()) if columns else set()
    alone = [
        f.p_value for result in results for f in result.findings if f.p_value is not None and f.p_value not in listed
    ]
    pool = np.concatenate([*columns, np.array(alone, dtype=float)])
    adjusted = benjamini_hochberg(pool)
    value_of = dict(zip(pool.tolist(), adjusted.tolist(), strict=True))
    parts = np.split(adjusted, np.cumsum([column.size for column in columns]))
    out = []
    for index, result in enumerate(results):
        tables = dict(result.tables)
        for (place, name), part in zip(tested, parts, strict=False):
            if place == index:
                table = tables[name]
                tables[name] = table.with_columns(replace(table["p_adjusted"], values=part))
        findings = tuple(settle(finding, value_of) for finding in result.findings)
        out.append(replace(result, tables=tables, findings=findings))
    return out, int((~np.isnan(pool)).sum())


def settle(finding: Finding, adjusted: dict[float, float]) -> Finding:
    """The finding with its adjusted p-value; one that may be chance becomes a notice."""
    if finding.p_value is None:
        return finding
    p = adjusted[finding.p_value]
    severity = finding.severity if p < ALPHA else "notice"
    return replace(finding, p_adjusted=p, severity=severity)


def _tests(table: Table) -> bool:
    return "p_value" in table and "p_adjusted" in table and len(table) > 0
