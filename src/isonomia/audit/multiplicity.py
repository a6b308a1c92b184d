"""Multiplicity over the whole run: every test of every check is adjusted together, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomia.evidence import Finding, Result, Table, benjamini_hochberg

#: A finding whose adjusted p-value is not below this is reported as a notice, however large the figure.
ALPHA = 0.05


def adjust_whole_run(results: Sequence[Result]) -> tuple[list[Result], int]:
    """The results with `p_adjusted` over all their tests together, and the number of tests.

    Every table with the columns ``p_value`` and ``p_adjusted`` counts, and every finding whose test is in none of them.
    """
    tables = [(result, name, table) for result in results for name, table in result.tables.items() if _tests(table)]
    columns = [np.asarray(table["p_value"].values, dtype=float) for _, _, table in tables]
    index: dict[tuple[Any, ...], int] = {}
    for test, key in enumerate(key for part in tables for key in _keys(*part)):
        index.setdefault(key, test)
    pool = list(np.concatenate(columns)) if columns else []
    for position, result in enumerate(results):
        for row, finding in enumerate(result.findings):
            if finding.p_value is not None and (finding.test or (position, row)) not in index:
                index[finding.test or (position, row)] = len(pool)
                pool.append(finding.p_value)
    adjusted = benjamini_hochberg(np.array(pool, dtype=float))
    parts = iter(np.split(adjusted, np.cumsum([column.size for column in columns])))
    out = []
    for position, result in enumerate(results):
        fresh = {
            name: table.with_columns(replace(table["p_adjusted"], values=next(parts))) if _tests(table) else table
            for name, table in result.tables.items()
        }
        findings = tuple(
            finding if finding.p_value is None else _settled(finding, adjusted[index[finding.test or (position, row)]])
            for row, finding in enumerate(result.findings)
        )
        out.append(replace(result, tables=fresh, findings=findings))
    return out, int((~np.isnan(np.array(pool, dtype=float))).sum())


def _settled(finding: Finding, p_adjusted: float) -> Finding:
    """The finding with its adjusted p-value; one that may be chance becomes a notice."""
    severity = finding.severity if p_adjusted < ALPHA else "notice"
    return replace(finding, p_adjusted=float(p_adjusted), severity=severity)


def _keys(result: Result, name: str, table: Table) -> Iterator[tuple[Any, ...]]:
    """What the tests of a table are known by."""
    yield from table["p_value"].keys or ((result.code, name, row) for row in range(len(table)))


def _tests(table: Table) -> bool:
    return "p_value" in table and "p_adjusted" in table and len(table) > 0
