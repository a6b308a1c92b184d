"""Does a probability mean what it says: reliability tables, overall and by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.errors import NotApplicable
from isonomia.evidence import (
    Column,
    Estimate,
    Format,
    Picture,
    Result,
    Table,
    check_level,
    normal_quantile,
    percentile,
    wilson,
)
from isonomia.evidence.intervals import without_bootstrap
from isonomia.languages import Message, msg
from isonomia.metrics.applicable import check_applicable
from isonomia.metrics.bins import BINS, Bins, Strategy, binned
from isonomia.metrics.calibration_slope import recalibrate
from isonomia.metrics.counts import NO_ROWS, ratio
from isonomia.metrics.registry import METRICS
from isonomia.models import Surface
from isonomia.parameters import N_BOOT, SEED, validated
from isonomia.typing import Floats


@dataclass(frozen=True, repr=False)
class Reliability(Result):
    """How well probabilities keep their word.

    ``tables["bins"]`` has a row a bin that is not empty: `bin`, `n`, `predicted` (mean probability), `observed` (share
    that happened) with `observed_low`, `observed_high`, and `gap` = observed - predicted. With groups,
    ``tables["bins_by_group"]`` has the same for each `group`, and ``tables["by_group"]`` a row a group with the figures
    of `values`.
    """

    @property
    def ece(self) -> Estimate:
        """Expected calibration error."""
        return self._estimate("ece")

    @property
    def mce(self) -> Estimate:
        """Largest gap of a bin."""
        return self._estimate("mce")

    @property
    def brier(self) -> Estimate:
        """Brier score."""
        return self._estimate("brier")

    @property
    def gap(self) -> Estimate:
        """Calibration in the large: observed minus predicted, above 0 where the model says too little."""
        return self._estimate("gap")

    @property
    def slope(self) -> Estimate:
        """Slope of the outcome's log odds on the predicted ones: 1 is right, below 1 the model is too sure."""
        return self._estimate("slope")

    def _estimate(self, name: str) -> Estimate:
        value: Estimate = self.values[name]
        return value


@validated(n_boot=N_BOOT, seed=SEED)
def reliability(
    truth: NDArray[Any],
    surface: Surface,
    *,
    groups: Codes | None = None,
    bins: int = BINS,
    strategy: Strategy = "uniform",
    weights: Floats | None = None,
    level: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> Reliability:
    """Reliability table, calibration errors and Brier score, overall and by group.

    Parameters
    ----------
    truth : array of codes
        True classes over `surface.classes`.
    surface : Surface
        With probabilities. Several classes are judged by the most probable one (top-label).
    groups : Codes, optional
        The group of each row.
    bins, strategy
        How many bins, of equal width ("uniform") or equal mass ("quantile").
    weights : array, optional
    level, n_boot, seed
        Of the intervals. Observed rates: Wilson. ECE: simulation of the noise in the bins, widened to hold the value.
        Brier score, gap and slope: normal.

    Raises
    ------
    NotApplicable
        Where there are no probabilities, or no rows.

    References
    ----------
    B. Van Calster et al. (2019), BMC Medicine 17:230 (calibration in the large, slope).

    Examples
    --------
    >>> said = Surface.of_probabilities([0.2] * 10 + [0.8] * 10, classes=("no", "yes"))
    >>> happened = np.array([1] + [0] * 9 + [1] * 7 + [0] * 3)
    >>> found = reliability(happened, said)
    >>> [(row["bin"], row["n"], row["observed"]) for row in found.tables["bins"].rows()]
    [('[0.2, 0.3)', 10, 0.1), ('[0.8, 0.9)', 10, 0.7)]
    >>> round(found.ece.value, 6), round(found.gap.value, 6)
    (0.1, -0.1)
    """
    check_level(level)
    reason = check_applicable(METRICS["brier_score"], truth, surface, weights)
    if reason is not None:
        raise NotApplicable(reason)
    table = _tally(truth, surface, groups, bins, strategy, weights)
    whole = table.overall()
    rng = np.random.default_rng(seed)
    summary = _summary(whole, _slopes(truth, surface, None, weights), level, n_boot, rng)
    several = surface.task != "binary"
    why = _why_missing(summary, several)[0]
    figures = {name: _estimate(name, summary, int(whole.n.sum()), level, why) for name in _METHODS}
    tables = {"bins": _bin_table(whole, None, level)}
    pictures = [Picture("reliability", "bins", msg("Predicted and observed"), _OPTIONS)]
    if groups is not None:
        by_group = _summary(table, _slopes(truth, surface, groups, weights), level, n_boot, rng)
        tables["by_group"] = _group_table(groups, by_group, _why_missing(by_group, several))
        tables["bins_by_group"] = _bin_table(table, groups, level)
        title = msg("Predicted and observed, by group")
        pictures.append(Picture("reliability", "bins_by_group", title, {**_OPTIONS, "color": "group"}))
    title = msg("Calibration of probabilities")
    return Reliability("calibration", title, tables, figures, pictures=tuple(pictures), notes=_notes(surface, n_boot))


def _tally(
    truth: NDArray[Any], surface: Surface, groups: Codes | None, bins: int, strategy: Strategy, weights: Floats | None
) -> Bins:
    quantities = METRICS["brier_score"].quantities
    assert quantities is not None  # the registry makes sure
    brier = quantities(truth, surface)[:, 0]
    w = 1.0 if weights is None else weights
    values = {"b": brier, "wb": w * brier, "wb2": w * brier * brier}
    return binned(truth, surface, groups=groups, bins=bins, strategy=strategy, weights=weights, values=values)


def _slopes(
    truth: NDArray[Any], surface: Surface, groups: Codes | None, weights: Floats | None
) -> tuple[Floats, Floats] | None:
    """Slopes and their errors; a slope of the most probable class has no meaning, so only two classes have one."""
    return recalibrate(truth, surface, groups=groups, weights=weights) if surface.task == "binary" else None


_OPTIONS = {"predicted": "predicted", "observed": "observed", "low": "observed_low", "high": "observed_high", "n": "n"}


def _notes(surface: Surface, n_boot: int) -> tuple[Message, ...]:
    growing = msg(
        "The expected calibration error cannot be below 0, so in a sample it is above 0 even for a perfect model, and "
        "more so in small groups."
    )
    notes = (growing, *without_bootstrap(n_boot))
    if surface.task == "binary":
        return notes
    return (
        *notes,
        msg("With several classes, the figures are about the most probable class: how often it is correct."),
    )


#: Figures of groups by name: values, and the ends of their intervals where they have some.
Summary = dict[str, tuple[Floats, ...]]


def _summary(
    table: Bins, slopes: tuple[Floats, Floats] | None, level: float, n_boot: int, rng: np.random.Generator
) -> Summary:
    """The figures of each group, with the ends of their intervals where they have some."""
    z = normal_quantile(level)
    size = table.w.sum(axis=(-2, -1))
    observed, predicted = ratio(table.w[..., 1].sum(axis=-1), size), ratio(table.p.sum(axis=(-2, -1)), size)
    out: Summary = {"n": (table.n.sum(axis=(-2, -1)),), "predicted": (predicted,), "observed": (observed,)}
    ece = table.error()
    nothing = np.full(ece.shape, np.nan)
    out["ece"] = (ece, nothing, nothing)
    if n_boot:
        low, high = percentile(table.draws(n_boot, rng), level)
        out["ece"] = (ece, np.minimum(low, ece), np.minimum(np.maximum(high, ece), 1.0))
    out["mce"] = (table.largest(),)
    w2 = table.w2.sum(axis=(-2, -1))
    square = (table.w2 - 2 * table.wp)[..., 1].sum(axis=-1) + table.p2.sum(axis=(-2, -1))
    linear = table.w2[..., 1].sum(axis=-1) - table.wp.sum(axis=(-2, -1))
    out["gap"] = _normal(observed - predicted, w2, linear, square, size, z)
    brier, linear, square = (table.extra[name].sum(axis=(-2, -1)) for name in ("b", "wb", "wb2"))
    value, low, high = _normal(ratio(brier, size), w2, linear, square, size, z)
    out["brier"] = (value, np.maximum(low, 0.0), high)
    slope, error = slopes if slopes is not None else (nothing, nothing)
    out["slope"] = (slope, slope - z * error, slope + z * error)
    return out


def _normal(
    mean: Floats, w2: Floats, linear: Floats, square: Floats, size: Floats, z: float
) -> tuple[Floats, Floats, Floats]:
    """A weighted mean with its normal interval: variance sum w^2 (x - mean)^2 / (sum w)^2, times m / (m - 1)."""
    effective = ratio(size * size, w2)
    spread = np.maximum(square - 2 * mean * linear + mean * mean * w2, 0.0)
    error = np.sqrt(ratio(ratio(spread * effective, effective - 1), size * size))
    return mean, mean - z * error, mean + z * error


_METHODS = {"ece": "simulation", "mce": "", "brier": "normal", "gap": "normal", "slope": "normal"}
#: Why there is no slope.
SEVERAL_CLASSES = msg("no slope: with several classes, only the most probable one is examined")
ONE_OUTCOME = msg("no slope: all outcomes are the same")
NO_SLOPE = msg("no slope can be fitted: the probabilities are all equal, or they separate the outcomes perfectly")


def _why_missing(summary: Summary, several: bool) -> list[Message | None]:
    """Group by group: why there are no figures, or no slope."""
    n, observed, slope = (summary[name][0].tolist() for name in ("n", "observed", "slope"))
    return [
        NO_ROWS
        if not rows or np.isnan(rate)
        else None
        if not np.isnan(fitted)
        else SEVERAL_CLASSES
        if several
        else ONE_OUTCOME
        if rate in (0.0, 1.0)
        else NO_SLOPE
        for rows, rate, fitted in zip(n, observed, slope, strict=True)
    ]


def _estimate(name: str, summary: Summary, n: int, level: float, why: Message | None) -> Estimate:
    value, *ends = (float(part[0]) for part in summary[name])
    if np.isnan(value):
        return Estimate.missing(why or NO_ROWS, n=n)
    low, high = ends or (np.nan, np.nan)
    return Estimate(value, low, high, n, "" if np.isnan(low) else _METHODS[name], level=level)


_TITLES = {
    "bin": msg("Predicted probability"),
    "n": msg("Rows"),
    "predicted": msg("Mean predicted"),
    "observed": msg("Observed"),
    "gap": msg("Observed minus predicted"),
    "ece": msg("Expected calibration error"),
    "mce": msg("Largest gap in a bin"),
    "brier": msg("Brier score"),
    "slope": msg("Calibration slope"),
}


def _group_column(groups: Codes, names: list[str]) -> Column:
    return Column("group", names, title=msg("{name}", name=groups.name or "group"))


def _names(groups: Codes) -> list[str]:
    """Group labels as texts; those of several attributes joined."""
    return [
        " · ".join(map(str, label)) if isinstance(label, tuple) else text
        for label, text in zip(groups.labels, groups.texts, strict=True)
    ]


def _bin_table(table: Bins, groups: Codes | None, level: float) -> Table:
    w, used = table.w.sum(axis=-1), np.nonzero(table.n.sum(axis=-1))
    size, hits = w[used], table.w[..., 1][used]
    predicted, observed = ratio(table.p.sum(axis=-1)[used], size), ratio(hits, size)
    effective = ratio(size * size, table.w2.sum(axis=-1)[used])
    low, high = wilson(np.nan_to_num(observed * effective), np.nan_to_num(effective), level)
    texts = Codes("bin", np.empty(0, np.uint8), tuple(range(len(table.edges) - 1)), tuple(table.edges.tolist())).texts
    names = () if groups is None else (_group_column(groups, [_names(groups)[index] for index in used[0]]),)
    n = table.n.sum(axis=-1)[used]
    return Table(
        (
            *names,
            Column("bin", [texts[index] for index in used[1]], title=_TITLES["bin"]),
            Column("n", n, format="int", title=_TITLES["n"]),
            Column("predicted", predicted, format="pct", title=_TITLES["predicted"]),
            Column("observed", observed, low, high, format="pct", title=_TITLES["observed"]),
            Column("gap", observed - predicted, format="points", title=_TITLES["gap"]),
        ),
        msg("Predicted probability and observed rate, bin by bin"),
    )


_FORMATS: Mapping[str, Format] = {"n": "int", "predicted": "pct", "observed": "pct", "gap": "points"}


def _group_table(groups: Codes, summary: Summary, notes: list[Message | None]) -> Table:
    columns = [_group_column(groups, _names(groups))]
    for name, (value, *ends) in summary.items():
        low, high = ends or (None, None)
        reason = notes if name == "slope" else None
        style = _FORMATS.get(name, "num4")
        columns.append(Column(name, value, low, high, reason, format=style, title=_TITLES[name]))
    return Table(tuple(columns), msg("Calibration by group"))
