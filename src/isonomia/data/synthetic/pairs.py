"""Phase 2: pairs of comparable subgroups, drawn with a wanted intersectionality, granularity and similarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomia.data.bands import Bands
from isonomia.data.synthetic.conditions import Between, Condition, OneOf, read_conditions
from isonomia.data.synthetic.copula import Copula
from isonomia.data.synthetic.marginals import Levels, Marginal
from isonomia.errors import DataError, SpecError

#: One number for all pairs; a tuple (low, high) or a mapping with these keys to draw one per pair; a list of them.
Amount = float | tuple[float, float] | Sequence[Any] | Mapping[str, float]

#: Levels below this share never define a subgroup.
_SMALLEST_LEVEL = 0.01
#: Numbers of more values than this are cut at quartiles.
_MAX_LEVELS_AS_VALUES = 6
#: Subgroups rarer than this in the population are drawn again: nobody would meet such a person.
_SMALLEST_SHARE = 1e-4
#: Pairs that are drawn where no number is given, or as many as there can be.
_USUAL_PAIRS = 10


@dataclass(frozen=True)
class Pair:
    """Two subgroups that can be compared; side A carries the bias."""

    a: tuple[Condition, ...]
    b: tuple[Condition, ...]
    bias_a: float = -1.0
    bias_b: float = 0.0

    @property
    def similarity(self) -> float:
        """The share of defining attributes with the same condition on both sides."""
        names = {condition.column for condition in (*self.a, *self.b)}
        return len(set(self.a) & set(self.b)) / len(names)

    @classmethod
    def of(cls, given: Any) -> Pair:
        """Read a pair, or a mapping with `a`, `b` and `bias` (a number for side A, or one a side)."""
        if isinstance(given, Pair):
            return given
        if not isinstance(given, Mapping) or not {"a", "b"} <= set(given) or set(given) - {"a", "b", "bias"}:
            raise SpecError(f"A pair has `a`, `b` (conditions) and maybe `bias`; got {given!r}.")
        bias = given.get("bias", -1.0)
        first, second = bias if isinstance(bias, list | tuple) else (bias, 0.0)
        return cls(read_conditions(given["a"]), read_conditions(given["b"]), float(first), float(second))


def choices(marginal: Marginal, bands: Bands | None = None) -> list[Condition]:
    """The conditions on one column that may define a subgroup: a value, or a band of numbers (quartiles)."""
    numeric = marginal.kind in ("integer", "numeric")
    if isinstance(marginal, Levels) and not (numeric and (bands or len(marginal.values) > _MAX_LEVELS_AS_VALUES)):
        pairs = zip(marginal.values, marginal.shares, strict=True)
        return [OneOf(marginal.name, (value,)) for value, share in pairs if share >= _SMALLEST_LEVEL]
    if bands is not None:
        inner = np.asarray(bands.edges, dtype=float)
    else:
        from scipy.special import ndtri

        coded = marginal.draw(ndtri(np.array([0.25, 0.5, 0.75])))
        inner = np.unique(marginal.values_of(coded).astype(float))
    edges = [-np.inf, *inner.tolist(), np.inf]
    found = [Between(marginal.name, low, high) for low, high in pairwise(edges)]
    return [condition for condition in found if _possible(marginal, condition)]


def define_pairs(
    copula: Copula,
    protected: Mapping[str, Bands | None],
    *,
    n_pairs: int | None,
    intersectionality: Amount | None,
    granularity: Amount | None,
    similarity: Amount,
    bias: Amount,
    rng: np.random.Generator,
) -> list[Pair]:
    """Draw pairs: defining attributes at random, side A's values at random, side B by changing a share of them.

    At least one protected attribute differs between the sides, so the similarity reached is at most (k - 1) / k for k
    defining attributes. Where the share asked for is not a whole number of them, pairs with one more and one less take
    turns, so that their mean comes as near to it as their number allows (see `Changes`). No two pairs share their
    biased side, and no biased side is another pair's partner. Without a number there are ten, or as many as can be
    formed.
    """
    wanted = _USUAL_PAIRS if n_pairs is None else n_pairs
    menu = {name: choices(marginal, protected.get(name)) for name, marginal in copula.marginals.items()}
    first = [name for name in protected if len(menu[name]) > 1]
    second = [name for name in copula.columns if name not in protected and menu[name]]
    if not first:
        raise SpecError("Subgroup pairs need a protected attribute with at least two common values; there is none.")
    intersectionality = (1, min(2, len(first))) if intersectionality is None else intersectionality
    granularity = (0, min(2, len(second))) if granularity is None else granularity
    across = amounts(intersectionality, wanted, rng, "intersectionality", low=1, high=len(first), whole=True)
    deep = amounts(granularity, wanted, rng, "granularity", low=0, high=len(second), whole=True)
    alike = amounts(similarity, wanted, rng, "similarity", low=0.0, high=1.0)
    sizes = biases(bias, wanted, rng)
    pairs: list[Pair] = []
    taken: set[frozenset[Condition]] = set()
    partners: set[frozenset[Condition]] = set()
    changes = Changes()
    tries = 0
    while len(pairs) < wanted:
        i = len(pairs)
        tries += 1
        if tries > 200 + 50 * wanted:
            if n_pairs is None and pairs:
                return pairs
            raise SpecError(
                f"Only {i} of {wanted} distinct subgroup pairs could be formed. Ask for fewer pairs, or raise "
                "`intersectionality` or `granularity`."
            )
        sizes_of = int(across[i]), int(deep[i])
        differing = changes.wanted(sum(sizes_of), float(alike[i]))
        a, b, changed = _draw_pair(menu, first, second, *sizes_of, round_half_up(differing), rng)
        key_a, key_b = frozenset(a), frozenset(b)
        if key_a in taken | partners or key_b in taken or not (_common(copula, a) and _common(copula, b)):
            continue
        taken.add(key_a)
        partners.add(key_b)
        changes.owed = max(-0.5, min(0.5, differing - changed))  # what no pair can have is not made up for
        pairs.append(Pair(a, b, *sizes[i]))
    return pairs


@dataclass
class Changes:
    """How many conditions of a pair are to differ, pair after pair: what one lacks or has too much, the next makes up.

    >>> [round(one, 3) for one in (reached(3, 0.5, 1), reached(3, 0.5, 2), reached(3, 0.25, 4), reached(3, 1.0, 4))]
    [0.333, 0.5, 0.25, 0.667]
    """

    #: Conditions that the pairs so far should have differed in beyond those they do.
    owed: float = 0.0

    def wanted(self, conditions: int, similarity: float) -> float:
        """The number for the next pair of so many conditions, not yet rounded."""
        return (1 - similarity) * conditions + self.owed


def round_half_up(number: float) -> int:
    """A half counts as one more; so does what is a half but for rounding."""
    return int(np.floor(number + 0.5 + 1e-9))


def reached(conditions: int, similarity: float, pairs: int) -> float:
    """The mean similarity of so many pairs of so many conditions each, where as much is asked for."""
    changes, total = Changes(), 0
    for _ in range(pairs):
        wanted = changes.wanted(conditions, similarity)
        changed = min(max(round_half_up(wanted), 1), conditions)
        changes.owed = max(-0.5, min(0.5, wanted - changed))
        total += changed
    return 1 - total / (conditions * pairs)


def _draw_pair(
    menu: Mapping[str, list[Condition]],
    first: Sequence[str],
    second: Sequence[str],
    across: int,
    deep: int,
    changes: int,
    rng: np.random.Generator,
) -> tuple[tuple[Condition, ...], tuple[Condition, ...], int]:
    """Both sides, and how many conditions differ: as many as wanted, at least one and at most all that can."""
    chosen = [str(name) for name in rng.choice(first, across, replace=False)]
    names = [*chosen, *(str(name) for name in rng.choice(second, deep, replace=False))] if deep else chosen
    a = {name: menu[name][rng.integers(len(menu[name]))] for name in names}
    must = chosen[rng.integers(len(chosen))]
    others = [name for name in names if name != must and len(menu[name]) > 1]
    more = min(max(changes - 1, 0), len(others))
    changed = {must, *(str(name) for name in rng.choice(others, more, replace=False))} if more else {must}
    b = dict(a)
    for name in sorted(changed):
        rest = [condition for condition in menu[name] if condition != a[name]]
        b[name] = rest[rng.integers(len(rest))]
    return tuple(a.values()), tuple(b.values()), len(changed)


def _common(copula: Copula, conditions: tuple[Condition, ...]) -> bool:
    return copula.probability(conditions, n=256) >= _SMALLEST_SHARE


def _possible(marginal: Marginal, condition: Condition) -> bool:
    try:
        marginal.regions(condition)
    except DataError:
        return False
    return True


def amounts(
    given: Amount, n: int, rng: np.random.Generator, name: str, *, low: float, high: float, whole: bool = False
) -> NDArray[np.float64]:
    """One number per pair: the same for all, drawn from a range, or as listed.

    >>> amounts((0.2, 0.2), 2, np.random.default_rng(0), "similarity", low=0, high=1).tolist()
    [0.2, 0.2]
    >>> amounts(1.5, 2, np.random.default_rng(0), "similarity", low=0, high=1)
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: `similarity` must lie in [0, 1]; got 1.5.
    """
    if isinstance(given, Mapping):
        if set(given) != {"low", "high"}:
            raise SpecError(f"`{name}` given as a range must have `low` and `high`; got {sorted(map(str, given))}.")
        given = (given["low"], given["high"])
    if isinstance(given, tuple):
        if len(given) != 2 or not given[0] <= given[1]:
            raise SpecError(f"`{name}` given as a range must be (low, high) with low <= high; got {given!r}.")
        ends = _checked(given, name, low, high, whole)
        if whole:
            return rng.integers(int(ends[0]), int(ends[1]), n, endpoint=True).astype(float)
        return rng.uniform(ends[0], ends[1], n)
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != n:
            raise SpecError(f"`{name}` given as a list must have one number per pair ({n}); got {len(given)}.")
        return _checked(given, name, low, high, whole)
    return np.repeat(_checked([given], name, low, high, whole), n)


def biases(given: Amount, n: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """The bias of side A and of side B of each pair; a number is for side A, a pair in a list for both."""
    if isinstance(given, Sequence) and not isinstance(given, tuple | str):
        sides = [tuple(item) if isinstance(item, list | tuple) else (item, 0.0) for item in given]
        first = amounts([side[0] for side in sides], n, rng, "bias", low=-np.inf, high=np.inf)
        second = amounts([side[1] for side in sides], n, rng, "bias", low=-np.inf, high=np.inf)
        return list(zip(first.tolist(), second.tolist(), strict=True))
    return [(size, 0.0) for size in amounts(given, n, rng, "bias", low=-np.inf, high=np.inf).tolist()]


def _checked(given: Sequence[Any], name: str, low: float, high: float, whole: bool) -> NDArray[np.float64]:
    shown = given[0] if len(given) == 1 else list(given)
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise SpecError(f"`{name}` must be a number, a range (low, high) or a list; got {shown!r}.") from None
    if not np.isfinite(numbers).all() or (numbers < low).any() or (numbers > high).any():
        raise SpecError(f"`{name}` must lie in [{low:g}, {high:g}]; got {shown}.")
    if whole and (numbers != np.rint(numbers)).any():
        raise SpecError(f"`{name}` must be whole; got {shown}.")
    return numbers
