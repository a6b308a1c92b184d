"""Scenarios of other features: rows are altered, and the model predicts for those that changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import from_columns, wrap
from isonomia.data.columns import numbers
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.parameters import NAMES, Choice, Entry, Text, validated
from isonomia.robustness.perturbation.altered_rows import Altering
from isonomia.robustness.perturbation.perturbers import PERTURBERS, Perturber, perturb_rows
from isonomia.robustness.stress.scenario import scenario
from isonomia.robustness.stress.situation import Situation

#: More values of an attribute than this are not tried one by one.
MAX_VALUES = 64


@scenario(
    "feature_corruption",
    purpose="cells of features are replaced by those of other rows",
    title=msg("Corrupted features"),
    unit=msg("chance that a cell is replaced"),
    needs=("model", "features"),
)
@validated(features=NAMES.or_none("for all"), perturber=Entry(PERTURBERS).or_none())
def feature_corruption(
    now: Situation, rng: np.random.Generator, level: float, features: Any = None, perturber: Any = None
) -> Situation:
    """Each cell is replaced, with chance `level`, by the value of the same feature in another row.

    Every feature keeps its own distribution; how features hang together is lost on the cells that are hit. With a
    `perturber` (an id of `PERTURBERS`: "raw", "quantile", "units", ...) features are perturbed by it instead, and the
    level is its own.

    Parameters
    ----------
    features
        Features that may be hit; all of them if None.
    perturber
        Perturber applied to the features (`isonomia perturbers`).
    """
    names = _inputs(now, features)
    if perturber is not None:
        return _perturbed(now, rng, level, names, PERTURBERS[perturber])
    return _gathered(now, rng, level, {name: rng.integers(0, len(now), len(now)) for name in names})


@scenario(
    "missing_features",
    purpose="cells of features are missing: filled with the usual value, or handed over as missing",
    title=msg("Missing features"),
    unit=msg("chance that a cell is missing"),
    needs=("model", "features"),
)
@validated(features=NAMES.or_none("for all"), fill=Choice(("usual", "none")))
def missing_features(
    now: Situation, rng: np.random.Generator, level: float, features: Any = None, fill: str = "usual"
) -> Situation:
    """Each cell is lost with chance `level`; the median (or most frequent) value stands in, as most systems do.

    With ``fill="none"`` the model is handed missing values, if it can deal with them.

    Parameters
    ----------
    features
        Features that may be missing; all of them if None.
    fill
        Value that stands in: the usual one, or none.
    """
    names = _inputs(now, features)
    if fill == "none":
        return _perturbed(now, rng, level, names, PERTURBERS["missing"])
    usual: dict[str, int] = now.once(("missing_features", names), lambda: {name: _usual(now, name) for name in names})
    return _gathered(now, rng, level, {name: np.full(len(now), row) for name, row in usual.items()})


def _perturbed(
    now: Situation, rng: np.random.Generator, level: float, names: tuple[str, ...], perturber: Perturber
) -> Situation:
    """Columns perturbed as a perturber does it; the model predicts for the rows that changed."""
    if level == 0:
        return now
    model = now.model
    assert model is not None
    altering = now.once(("altering", names), lambda: Altering(now.data, model, names, now.surface, strict=False))
    values = perturb_rows(perturber, altering.rows, altering.columns, perturber.check_level(level), rng)
    rows = np.flatnonzero(altering.changed(values))
    return now.with_features(altering.frame(values[rows], rows), rows) if rows.size else now


def _usual(now: Situation, name: str) -> int:
    """A row that holds the median of a number, or the most frequent value of a category (a missing one apart)."""
    if now.data.kinds[name] in ("numeric", "integer"):
        values = numbers(now.data.column(name))
        order = np.argsort(values, kind="stable")  # missing values come last
        known = int(np.isfinite(values).sum())
        return int(order[known // 2]) if known else 0
    codes = Codes.encode(now.data.column(name))
    counts = codes.counts()
    if codes.missing is not None and codes.size > 1:
        counts[codes.missing] = 0
    return int(np.flatnonzero(codes.codes == int(np.argmax(counts)))[0])


def _inputs(now: Situation, features: Any) -> tuple[str, ...]:
    given = (features,) if isinstance(features, str) else features
    names = now.inputs if given is None else tuple(given)
    for name in names:
        if name not in now.inputs:
            raise SpecError(f"`features` must name columns the model reads; got {name!r}.{close_to(name, now.inputs)}")
    if not names:
        raise NotApplicable(msg("the model uses no feature"))
    return names


def _gathered(now: Situation, rng: np.random.Generator, level: float, donors: dict[str, NDArray[Any]]) -> Situation:
    """Cells taken from other rows: which ones by chance, from which rows as given."""
    n = len(now)
    hit = {name: rng.random(n) < level for name in donors}
    rows = np.flatnonzero(np.logical_or.reduce(list(hit.values())))
    if rows.size == 0:
        return now
    columns = now.once("features.columns", lambda: _columns(now))
    made: dict[str, Any] = {}
    for name, column in columns.items():
        indices = rows if name not in donors else np.where(hit[name][rows], donors[name][rows], rows)
        made[name] = column[indices] if isinstance(column, np.ndarray) else nw.maybe_reset_index(column[indices])
    return now.with_features(from_columns(made, now.data.backend), rows)


def _columns(now: Situation) -> dict[str, nw.Series[Any] | NDArray[Any]]:
    """What the model reads; columns that are plain arrays of numbers as these, which are quicker to take rows from."""
    table = nw.maybe_reset_index(wrap(now.data.frame).select(now.inputs))
    return {name: table[name].to_numpy() if _is_plain(table[name]) else table[name] for name in now.inputs}


def _is_plain(column: nw.Series[Any]) -> bool:
    dtype = getattr(column.to_native(), "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "iufb"


@scenario(
    "demographic_swap",
    purpose="people are recorded as members of another group",
    title=msg("Group recorded wrongly"),
    level=1.0,
    unit=msg("share of people whose group is recorded wrongly"),
    needs=("model", "attributes"),
)
@validated(attribute=Text("a protected attribute").or_none("for all"))
def demographic_swap(now: Situation, rng: np.random.Generator, level: float, attribute: Any = None) -> Situation:
    """Another value of a protected attribute (one of them at random, unless named) for a share of the people.

    The model is asked once about every value; trials choose among its answers. Who belongs to which group for the gaps
    between groups stays as it is. People whose value is missing are left alone.

    Parameters
    ----------
    attribute
        Protected attribute to swap; one of them at random if None.
    """
    names = tuple(column.name for column in now.attributes)
    if attribute is not None and attribute not in names:
        raise SpecError(f"`attribute` must be a protected attribute; got {attribute!r}.{close_to(attribute, names)}")
    usable = now.once("demographic_swap.usable", lambda: _usable(now))
    if attribute is not None and attribute not in usable:
        raise NotApplicable(
            msg(
                "'{attribute}' has only one value, has more than {most:int}, or is not used by the model",
                attribute=attribute,
                most=MAX_VALUES,
            )
        )
    if not usable:
        raise NotApplicable(msg("the model uses no protected attribute that has several values"))
    name = attribute if attribute is not None else usable[int(rng.integers(len(usable)))]
    column = now.attributes[names.index(name)]
    values = np.array([code for code in range(column.size) if code != column.missing])
    own = np.searchsorted(values, column.codes)
    step = rng.integers(1, values.size, len(now))
    swapped = (rng.random(len(now)) < level) & (column.codes != (-1 if column.missing is None else column.missing))
    rows = np.flatnonzero(swapped)
    if rows.size == 0:
        return now
    answers: dict[str, NDArray[Any]] = now.once(("demographic_swap", name), lambda: _answers(now, column, values))
    other = ((own + step) % values.size)[rows]
    parts = {}
    for kind, stacked in answers.items():
        parts[kind] = getattr(now.surface, kind).copy()
        parts[kind][rows] = stacked[other, rows]
    return now.with_surface(replace(now.surface, **parts))


def _usable(now: Situation) -> tuple[str, ...]:
    out = []
    for column in now.attributes:
        known = column.size - (column.missing is not None)
        if column.name in now.inputs and 2 <= known <= MAX_VALUES:
            out.append(column.name)
    return tuple(out)


def _answers(now: Situation, column: Codes, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Predictions with each value recorded for everyone, (values, rows); a band is represented by its middle row."""
    table = nw.maybe_reset_index(wrap(now.data.frame).select(now.inputs))
    raw = Codes.encode(now.data.column(column.name)).codes
    answers: list[Surface] = []
    for value in values:
        rows = np.flatnonzero(column.codes == value)
        row = rows[np.argsort(raw[rows], kind="stable")[rows.size // 2]]
        constant = nw.maybe_reset_index(table[column.name][np.full(len(now), row)])
        frame = table.with_columns(constant.alias(column.name)).to_native()
        answers.append(now.predict(frame))
    return {kind: np.stack([getattr(answer, kind) for answer in answers]) for kind in now.surface.kinds}
