"""Ways to perturb rows: noise, swaps, missing values, rounding, wrong units. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.errors import SpecError
from isonomia.languages import Message, msg
from isonomia.parameters import Either, Entry, Keyed, Made, Number, Parameter, Several
from isonomia.probing import Feature
from isonomia.registry import Registry
from isonomia.robustness.perturbation.columns import Columns
from isonomia.typing import Floats

ColumnKind = Literal["number", "category"]

#: Factors of a value written in another unit: metres for centimetres, cents for units.
UNITS = (100.0, 0.01)
#: The level of a perturbation where none is given.
USUAL_LEVEL = 0.1


Apply = Callable[[Floats, Columns, float, np.random.Generator], Floats]
OnFrame = Callable[[Any, float, np.random.Generator], Any]


@dataclass(frozen=True)
class Perturber:
    """One way to perturb rows.

    Attributes
    ----------
    id, purpose, title
        The name in code and specs, one line on what it does, the word in a report.
    kinds : tuple of "number", "category"
        The kinds of columns it changes; others pass through it.
    apply : callable, optional
        ``apply(values (m, k), columns, level, rng) -> (m, k)``; level 0 changes nothing.
    on_frame : callable, optional
        Instead of `apply`: ``on_frame(frame, level, rng) -> frame`` of the same rows and columns, in the user's kind.
    random : bool
        False where every trial would be the same.
    unit : str
        What its level is, in one line.
    most : float
        The largest level that means anything.
    valid : bool
        Whether what comes out is held to values that may occur (whole numbers whole, within what was seen).
    seen : bool
        Whether what comes out are values that were seen, valid as they are.
    """

    id: str
    purpose: str
    title: Message
    kinds: tuple[ColumnKind, ...] = ("number", "category")
    apply: Apply | None = None
    on_frame: OnFrame | None = None
    random: bool = True
    unit: str = "how strong it is"
    max_level: float = float("inf")
    valid: bool = True
    seen: bool = False

    def __post_init__(self) -> None:
        if (self.apply is None) == (self.on_frame is None):
            raise SpecError(f"The perturber '{self.id}' needs either `apply` or `on_frame`.")

    @property
    def strength(self) -> Parameter:
        """Its level as a parameter."""
        kind = Number(at_least=0, at_most=self.max_level if np.isfinite(self.max_level) else None)
        return Parameter("level", kind, USUAL_LEVEL, self.unit)

    def check_level(self, level: Any, name: str = "level") -> float:
        """The level as a number that this perturber takes."""
        return self.strength.kind.check(f"{name}` of the perturber `{self.id}", level)  # type: ignore[no-any-return]

    def changes(self, columns: Columns) -> NDArray[np.bool_]:
        """Which columns it can change at all."""
        kinds = np.where(columns.numeric, "number", "category")
        return np.isin(kinds, self.kinds)


#: Every perturber by its id; another package adds its own through the entry point group ``isonomia.perturbers``.
PERTURBERS: Registry[Perturber] = Registry("perturber", package="isonomia.robustness.perturbation")
_FUNCTION = Made(callable, "a function of (frame, level, rng)")
_ONE = Either(Entry(PERTURBERS), Made(lambda given: isinstance(given, Perturber), "a Perturber"), _FUNCTION)
#: An option that names perturbers, or brings functions.
PERTURBER_NAMES = Either(_ONE, Several(_ONE, 1), Keyed(_FUNCTION))


def perturb_rows(
    perturber: Perturber,
    values: Floats,
    columns: Columns,
    level: float,
    rng: np.random.Generator,
    *,
    keep_valid: bool = True,
) -> Floats:
    """Disturb rows (m, k), and hold the outcome to valid values where the perturber does so.

    Examples
    --------
    >>> columns = Columns((Feature.of("age", (18, 90)),), np.array([[18.0], [30.0], [90.0]]))
    >>> perturb_rows(PERTURBERS["raw"], columns.rows, columns, 0.5, np.random.default_rng(0)).ravel().tolist()
    [20.0, 28.0, 90.0]
    """
    if perturber.apply is None:
        raise SpecError(
            f"The perturber '{perturber.id}' works on frames, not on rows of numbers. "
            "Call its `on_frame`, or use `perturb`."
        )
    if level == 0:
        return values.copy()
    out = perturber.apply(values, columns, level, rng)
    if not isinstance(out, np.ndarray) or out.shape != values.shape or out.dtype.kind not in "iuf":
        got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise SpecError(
            f"The perturber '{perturber.id}' must return numbers of shape {values.shape}, as it was given; got {got}."
        )
    out = np.asarray(out, dtype=float)
    return columns.valid(out) if perturber.valid and keep_valid and not perturber.seen else out


# --- numbers ---------------------------------------------------------------------------------------------------------


def raw_noise(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """x + level sd z, with z standard normal and sd the column's standard deviation."""
    noise = rng.standard_normal(values.shape)
    noise *= level * columns.spread
    noise += values
    return noise


def quantile_noise(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """Move each number's rank by a uniform share in (-level / 2, level / 2), reflected at the ends, and read it back.

    Only values that were seen come out, and each column keeps its distribution. Ranks of tied values are spread over
    their tie at random.
    """
    shift = (rng.random(values.shape) - 0.5) * level
    tie = rng.random(values.shape)
    out = values.copy()
    for index in np.flatnonzero(columns.numeric & ~columns.constant):
        seen = columns.ordered[index]
        rank = columns.rank(values, index, tie[:, index]) + shift[:, index]
        rank = np.abs(rank)
        rank = 1.0 - np.abs(1.0 - rank)
        out[:, index] = _read_back(seen, rank, values[:, index])
    return out


def correlated_noise(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """Noise that keeps the joint distribution of the numbers (a Gaussian copula).

    With z the normal scores of a row and e drawn with their correlation: z' = sqrt(1 - level^2) z + level e, read back
    through each column's own quantiles. z' is distributed as z, so rank correlations and distributions stay; level 1
    is another row altogether.
    """
    from scipy.special import ndtr

    indices = np.flatnonzero(columns.numeric)
    if not indices.size:
        return values.copy()
    # single precision is exact to 1e-7 of the ranks, and twice as fast
    noise = rng.standard_normal((indices.size, len(values)), dtype=np.float32)
    # starting threads takes longer than a product of so few columns
    noise = np.float32(level) * np.einsum("ij,jn->in", columns.latent.astype(np.float32), noise)
    stays = np.float32(np.sqrt(1.0 - level * level))
    out = values.copy()
    for at, index in enumerate(indices):
        if not columns.constant[index]:
            latent = noise[at]
            latent += stays * columns.score(values, index, rng)
            out[:, index] = _read_back(columns.ordered[index], ndtr(latent, out=latent), values[:, index])
    return out


def rounding(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """Numbers rounded to multiples of level sd, as people heap ages and incomes."""
    step = np.where(columns.spread > 0, level * columns.spread, 1.0)
    return np.where(columns.numeric & (columns.spread > 0), np.rint(values / step) * step, values)


def unit_errors(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """A share `level` of numbers written in another unit: times 100 or times 0.01, one as likely as the other."""
    hit = rng.random(values.shape) < level
    factor = np.where(rng.random(values.shape) < 0.5, UNITS[0], UNITS[1])
    return np.where(hit & columns.numeric, values * factor, values)


# --- categories and both ---------------------------------------------------------------------------------------------


def swaps(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """A share `level` of categories replaced by another value, drawn as often as it occurs; missing ones stay."""
    hit = rng.random(values.shape) < level
    draw = rng.random(values.shape)
    out = values.copy()
    for index in np.flatnonzero(~columns.numeric & ~columns.constant):
        share = columns.shares[index]
        rows = np.flatnonzero(hit[:, index] & ~np.isnan(values[:, index]))
        own = values[rows, index].astype(np.intp)
        rows, own = rows[share[own] > 0], own[share[own] > 0]
        out[rows, index] = _another(share, own, draw[rows, index])
    return out


def missing_values(values: Floats, columns: Columns, level: float, rng: np.random.Generator) -> Floats:
    """A share `level` of values lost."""
    hit = rng.random(values.shape) < level
    lost = np.array([_missing_code(feature) for feature in columns.features])
    return np.where(hit, lost, values)


def _another(share: Floats, own: NDArray[np.intp], draw: Floats) -> Floats:
    """A value other than each row's own, by inverse sampling on the shares with its own left out."""
    edges = np.concatenate([[0.0], np.cumsum(share)])
    left = 1.0 - share[own]
    target = draw * left
    target = np.where(target < edges[own], target, target + share[own])
    found = np.clip(np.searchsorted(edges, target, side="right") - 1, 0, share.size - 1)
    # rounding may land on the own value or on one that never occurs: the next that does replaces it
    bad = (found == own) | (share[found] <= 0)
    if bad.any():
        used = np.flatnonzero(share > 0)
        at = np.searchsorted(used, own[bad], side="right") % used.size
        found[bad] = used[at]
    return np.where(left > 0, found, own).astype(float)


def _missing_code(feature: Feature) -> float:
    """How a missing value of a feature is stored: the index of its missing level, else NaN."""
    return float(feature.levels.index(None)) if None in feature.levels else float("nan")


# --- ranks -----------------------------------------------------------------------------------------------------------


def _read_back(seen: Floats, rank: Floats, values: Floats) -> Floats:
    """The value seen at a rank; missing values stay missing."""
    lost = np.isnan(values)
    if not lost.any():
        return seen[np.minimum((rank * seen.size).astype(np.intp), seen.size - 1)]
    index = np.minimum((np.where(lost, 0.0, rank) * seen.size).astype(np.intp), seen.size - 1)
    return np.where(lost, np.nan, seen[index])


def _add(identifier: str, title: Message, apply: Apply, kinds: tuple[ColumnKind, ...], **more: Any) -> None:
    purpose = str(apply.__doc__).split("\n")[0].rstrip(".")
    PERTURBERS.add(Perturber(identifier, purpose, title, kinds, apply, **more))


SPREADS = "noise in standard deviations of the column"
RANKS = "width of the shift in ranks, as a share of all rows"
_add("raw", msg("Noise"), raw_noise, ("number",), unit=SPREADS)
_add("quantile", msg("Noise in ranks"), quantile_noise, ("number",), unit=RANKS, max_level=2.0, seen=True)
_add(
    "correlated",
    msg("Noise that keeps correlations"),
    correlated_noise,
    ("number",),
    unit="weight of the noise: 0 is the row itself, 1 another row",
    max_level=1.0,
    seen=True,
)
_add(
    "swap",
    msg("Swapped categories"),
    swaps,
    ("category",),
    unit="share of values that are replaced",
    max_level=1.0,
    seen=True,
)
_add(
    "missing",
    msg("Missing values"),
    missing_values,
    ("number", "category"),
    unit="share of values that are lost",
    max_level=1.0,
    valid=False,
)
_add(
    "rounding",
    msg("Rounding"),
    rounding,
    ("number",),
    unit="distance of the rounded values, in standard deviations of the column",
    random=False,
)
_add(
    "units",
    msg("Wrong units"),
    unit_errors,
    ("number",),
    unit="share of values in another unit",
    max_level=1.0,
    valid=False,
)
