"""Results of many models as arrays: measures, scenarios, and what changed between a model and its fixed versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.data import Backend, backend_of, distinct, numbers, wrap
from isonomia.errors import DataError, SpecError, close_to
from isonomia.languages import Message, msg
from isonomia.typing import Bools, Floats, Indices

#: Scenarios of a signed measure, by code; of a measure without a sign only the first and "unequal".
SCENARIOS = ("equal", "privileged", "unprivileged")
UNEQUAL = "unequal"
#: Measures that have a size but no sign.
UNSIGNED = ("importance", "inconsistency", "generalized_entropy")

NAMES: Mapping[str, Message] = {
    "statistical_parity": msg("statistical parity"),
    "equal_opportunity": msg("equal opportunity"),
    "counterfactual": msg("counterfactual difference"),
    "inconsistency": msg("1 - consistency"),
    "generalized_entropy": msg("generalized entropy"),
    "disparity": msg("SHAP disparity"),
    "importance": msg("SHAP importance"),
    "equal": msg("groups are equal"),
    "privileged": msg("favours the privileged group"),
    "unprivileged": msg("favours the unprivileged group"),
    "unequal": msg("groups are unequal"),
    "all": msg("all explainers"),
    "kernel": msg("Kernel SHAP"),
    "tree": msg("Tree SHAP"),
    "linear_independent": msg("Linear SHAP, independent"),
    "linear_correlated": msg("Linear SHAP, correlated"),
    "pearson": msg("Pearson"),
    "spearman": msg("Spearman"),
}


def named(code: str) -> Message:
    """What a measure, scenario or explainer is called in a sentence."""
    return NAMES.get(code) or Message.literal(code)


@dataclass(frozen=True)
class Outcomes:
    """One row per model, fix and explainer.

    Attributes
    ----------
    values : mapping of (rows,) arrays
        Each measure; NaN where it is missing.
    explainer, fix : (rows,) arrays of texts
    cluster : (rows,) int array
        The dataset and model of each row.
    unmitigated : (rows,) bool array
    original : (rows,) int array
        For a row of a fix, the row of the unmitigated model that it is compared with; -1 where there is none.
    unsigned : frozenset of str
        Measures without a sign.
    labels : mapping of lists
        The columns that name a row, as they were given.
    """

    values: Mapping[str, Floats]
    explainer: Indices
    explainers: tuple[str, ...]
    cluster: Indices
    unmitigated: Bools
    original: Indices
    unsigned: frozenset[str]
    labels: Mapping[str, Sequence[Any]]
    backend: Backend | None

    def scenarios(self, measure: str, tolerance: float) -> Indices:
        """The scenario of each row by a measure: 0 equal, 1 favours the privileged group, 2 the unprivileged one."""
        return scenario_codes(self.values[measure], tolerance)

    def changes(self, measure: str) -> Floats:
        """|measure of the unmitigated model| - |measure of the fixed one|, by row; NaN for rows of no fix."""
        size = np.abs(self.values[measure])
        before = np.where(self.original >= 0, size[self.original], np.nan)
        return before - size

    def rows(self, explainer: str) -> Bools:
        """The rows of an explainer; of "all" every row."""
        if explainer == "all":
            return np.ones(self.cluster.size, dtype=bool)
        return np.asarray(self.explainer == self.explainers.index(explainer))


def scenario_codes(values: Floats, tolerance: float) -> Indices:
    """0 where |value| <= tolerance, 1 where it is negative (privileged favoured), 2 where it is positive.

    >>> scenario_codes(np.array([-0.2, 0.004, 0.006]), 0.005).tolist()
    [1, 0, 2]
    """
    return np.where(np.abs(values) <= tolerance, 0, np.where(values < 0, 1, 2)).astype(np.intp)


def read_outcomes(
    results: Any,
    *,
    measures: Sequence[str] | None,
    against: Sequence[str],
    unsigned: Sequence[str],
    models: Sequence[str],
    fix: str,
    unmitigated: str,
) -> tuple[Outcomes, tuple[str, ...]]:
    """The results as arrays, and the names of the fairness measures among them."""
    if isinstance(results, Sequence) and not isinstance(results, str | bytes):
        results = _columns_of(results)
    frame = wrap(results)
    names = list(frame.columns)
    for needed in (*models, fix, *against):
        _known(needed, names)
    keys = [*models, fix, *(name for name in ("explainer", "seed") if name in names)]
    if measures is None:
        measures = [n for n in names if n not in (*keys, *against) and frame[n].dtype.is_numeric()]
    for name in measures:
        _known(name, names)
    if not measures or not against:
        raise SpecError("`results` needs at least one fairness measure and one measure of an explanation to compare.")
    codes = {name: _coded(frame[name]) for name in keys}
    explainers = tuple(map(str, codes["explainer"][1])) if "explainer" in codes else ("all",)
    rows = len(frame)
    cluster = _together([codes[name][0] for name in models])
    first = np.asarray([str(value) == unmitigated for value in codes[fix][1]], dtype=bool)[codes[fix][0]]
    if not first.any():
        found = ", ".join(repr(str(value)) for value in codes[fix][1][:8])
        raise SpecError(f"`unmitigated` must be a value of the column {fix!r}; got {unmitigated!r}. Found: {found}.")
    same = _together([codes[name][0] for name in keys if name != fix])
    _refuse_repeated(np.stack([same, codes[fix][0]]), keys)
    original = np.full(int(same.max()) + 1, -1, dtype=np.intp)
    original[same[first]] = np.flatnonzero(first)
    values = {name: _measured(frame[name], name) for name in dict.fromkeys((*measures, *against))}
    outcomes = Outcomes(
        values=values,
        explainer=codes["explainer"][0] if "explainer" in codes else np.zeros(rows, dtype=np.intp),
        explainers=explainers,
        cluster=cluster,
        unmitigated=first,
        original=np.where(first, -1, original[same]),
        unsigned=frozenset(unsigned),
        labels={name: frame[name].to_list() for name in keys},
        backend=backend_of(results),
    )
    return outcomes, tuple(measures)


def _columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DataError("`results` must be a table, or a list of mappings, one per model, fix and explainer.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _known(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise SpecError(f"`results` has no column {name!r}.{close_to(name, names)}")


def _coded(column: Any) -> tuple[Indices, list[Any]]:
    found = distinct(column)
    if any(value is None for value in column.to_list()):
        raise DataError(f"The column {column.name!r} of `results` names the rows; it has missing values.")
    index = {value: code for code, value in enumerate(found)}
    return np.asarray([index[value] for value in column.to_list()], dtype=np.intp), found


def _together(columns: Sequence[Indices]) -> Indices:
    """One code per combination of codes."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)


def _refuse_repeated(keys: Indices, names: Sequence[str]) -> None:
    kept = np.unique(keys, axis=1).shape[1]
    if kept < keys.shape[1]:
        raise DataError(
            f"{keys.shape[1] - kept} rows of `results` repeat a combination of {', '.join(names)}. "
            "Give one row per model, fix and explainer, and a column 'seed' for repetitions."
        )


def _measured(column: Any, name: str) -> Floats:
    if not column.dtype.is_numeric():
        raise DataError(f"The measure {name!r} must be a column of numbers; got {column.dtype}.")
    found = np.asarray(numbers(column), dtype=float)
    if np.isinf(found).any():
        raise DataError(f"The measure {name!r} has infinite values; give them as missing.")
    return found
