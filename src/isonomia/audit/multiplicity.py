"""Many tests in one run: a family for every question, and a correction within each family.

Rejections about one question must not make it easier to reject another: that errors grow near the decision border, or
that noise costs accuracy, says nothing about people. A family holds every test that was made, also those that did not
lead to a finding; a test that several checks show (the same key) counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from isonomia.audit.check_registry import CHECKS, Family
from isonomia.evidence import Column, Finding, Result, Table, benjamini_hochberg, holm
from isonomia.fairness.groups.detectable import detectable_at
from isonomia.languages import Message, msg
from isonomia.typing import Floats

#: The level of a family of tests.
ALPHA = 0.05

_TITLES: Mapping[Family, Message] = {
    "people": msg("people: groups, pairs and subgroups by protected attributes"),
    "errors": msg("errors: performance, calibration and slices by other columns"),
    "robustness": msg("robustness: drift, perturbation and stress"),
}
#: Holm bounds the chance of one false rejection, Benjamini-Hochberg the share of false ones among the rejections.
_CORRECTIONS: Mapping[Family, tuple[Callable[[Floats], Floats], Message]] = {
    "people": (holm, msg("Holm")),
    "errors": (benjamini_hochberg, msg("Benjamini-Hochberg")),
    "robustness": (benjamini_hochberg, msg("Benjamini-Hochberg")),
}

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Families:
    """The tests of a run by family: p-values and adjusted p-values by key."""

    p_values: Mapping[Family, Mapping[Key, float]]
    adjusted: Mapping[Key, float]

    @property
    def sizes(self) -> dict[Family, int]:
        """How many tests each family holds."""
        return {family: len(tests) for family, tests in self.p_values.items()}

    def level(self, family: Family) -> float:
        """The level that the first test of a family has to reach: alpha over the number of its tests."""
        return ALPHA / max(len(self.p_values[family]), 1)

    def table(self, backend: Any) -> Table:
        """What the families were: the question, the number of tests, the correction, how many stand."""
        kept = [family for family in get_args(Family) if self.p_values[family]]
        stand = [sum(self.adjusted[key] < ALPHA for key in self.p_values[family]) for family in kept]
        return Table(
            (
                Column("family", [_TITLES[family] for family in kept], title=msg("question")),
                Column("tests", [len(self.p_values[family]) for family in kept], format="int", title=msg("tests")),
                Column("correction", [_CORRECTIONS[family][1] for family in kept], title=msg("correction")),
                Column("level", [self.level(family) for family in kept], format="p", title=msg("level of the first")),
                Column("significant", stand, format="int", title=msg("significant after correction")),
            ),
            msg("Tests of this run: corrected within each question"),
            backend,
        )


def adjust_families(results: Sequence[Result], attributes: Collection[str]) -> tuple[list[Result], Families]:
    """The results with `p_adjusted` within the family of each test, and the families.

    Every table with the columns ``p_value`` and ``p_adjusted`` counts, and every finding whose test is in none of them.

    Parameters
    ----------
    results
        The checks' results.
    attributes
        The protected attributes: a test about their values is about people, whichever check made it.
    """
    pools: dict[Family, dict[Key, float]] = {family: {} for family in get_args(Family)}
    known: set[Key] = set()
    for key, family, p_value in _tests(results, attributes):
        if key not in known and not np.isnan(p_value):
            known.add(key)
            pools[family][key] = p_value
    adjusted: dict[Key, float] = {}
    for family, tests in pools.items():
        correct = _CORRECTIONS[family][0]
        adjusted |= dict(zip(tests, correct(np.array(list(tests.values()), dtype=float)).tolist(), strict=True))
    families = Families(pools, adjusted)
    return [_with_adjusted(result, families) for result in results], families


def _tests(results: Sequence[Result], attributes: Collection[str]) -> Iterator[tuple[Key, Family, float]]:
    """Every test: those of tables first, then those of findings that stand in no table."""
    for result in results:
        for name, table in _tested(result):
            people = _about_people(table, attributes)
            for row, key in enumerate(_keys(result.code, name, table)):
                family: Family = "people" if people[row] else _family_of(result.code)
                yield key, family, _number(table["p_value"].values[row])
    for result in results:
        for row, finding in enumerate(result.findings):
            if finding.p_value is not None:
                about = set(attributes) & {*finding.who, *finding.columns}
                yield _key(finding, result, row), "people" if about else _family_of(result.code), finding.p_value


def _with_adjusted(result: Result, families: Families) -> Result:
    """The result with its adjusted p-values, in tables and findings."""
    fresh = {}
    for name, table in _tested(result):
        values = [families.adjusted.get(key, np.nan) for key in _keys(result.code, name, table)]
        corrected = table.with_columns(replace(table["p_adjusted"], values=np.array(values, dtype=float)))
        fresh[name] = detectable_at(corrected, families.level("people"))  # comparisons of groups have them
    findings = []
    for row, finding in enumerate(result.findings):
        p_adjusted = None if finding.p_value is None else families.adjusted[_key(finding, result, row)]
        findings.append(replace(finding, p_adjusted=p_adjusted))
    return replace(result, tables={**result.tables, **fresh}, findings=tuple(findings))


def _tested(result: Result) -> Iterator[tuple[str, Table]]:
    for name, table in result.tables.items():
        if "p_value" in table and "p_adjusted" in table and len(table) > 0:
            yield name, table


def _keys(code: str, name: str, table: Table) -> Iterator[Key]:
    """What the tests of a table are known by."""
    yield from table["p_value"].keys or ((code, name, row) for row in range(len(table)))


def _key(finding: Finding, result: Result, row: int) -> Key:
    return finding.test or (result.code, "findings", row)


def _family_of(code: str) -> Family:
    return CHECKS[code].family if code in CHECKS else "errors"


def _about_people(table: Table, attributes: Collection[str]) -> list[bool]:
    """Row by row, whether a test is about values of protected attributes."""
    about = np.zeros(len(table), dtype=bool)
    for name in ("feature", "attribute"):
        if name in table:
            about |= [value in attributes for value in table[name].values]
    for name in attributes:
        if name in table:  # a condition of a subgroup
            about |= [value is not None for value in table[name].values]
    if "group" in table and table["group"].keys is not None:
        about |= [bool(set(dict(key)) & set(attributes)) for key in table["group"].keys]
    return about.tolist()


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
