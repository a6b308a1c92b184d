"""How a feature is cut into slices: learnt on some rows, applied to any, so that edges can be shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, bin_edges, count_by, sum_by
from isonomia.counting.cuts import Cut, as_floats
from isonomia.counting.threads import in_threads
from isonomia.data import Dataset
from isonomia.errors import DataError, SpecError
from isonomia.parameters import Choice, Integer, validated
from isonomia.typing import Floats

Slicing = Literal["quantile", "uniform", "tree", "adaptive"]
SLICINGS: tuple[Slicing, ...] = get_args(Slicing)

#: Whole numbers with at most this many values are slices of their own.
FEW_VALUES = 20
#: More categories than this are not kept separate: the rarest share a slice.
MAX_LEVELS = 50
#: Number of candidates for an adaptive boundary.
CANDIDATES = 1000
#: Kinds of columns that are cut at numbers.
_NUMBERS = ("numeric", "integer", "datetime")
#: Rows from which trees and candidates are learnt.
SAMPLE = 200_000


@validated(slicing=Choice(SLICINGS), bins=Integer(1))
def learn_cuts(
    data: Dataset,
    names: Sequence[str],
    *,
    slicing: Slicing,
    bins: int,
    min_samples: int,
    loss: Floats | None = None,
    counted: NDArray[np.bool_] | None = None,
    measured: Sequence[Dataset] = (),
) -> tuple[Cut, ...]:
    """Slices of each feature.

    Parameters
    ----------
    data : Dataset
        The rows to learn from.
    names : sequence of str
    slicing : "quantile", "uniform", "tree" or "adaptive"
    bins : int
        At most so many slices of numbers.
    min_samples : int
        Fewest rows of a slice of a tree and of an adaptive one; categories with fewer rows share one slice.
    loss, counted : arrays, needed for "tree" and "adaptive"
        How wrong the model is on each row, and the rows that count (None: all).
    measured : sequence of Dataset
        The rows that slices chosen by the errors are measured on: neighbours with fewer than `min_samples` of them are
        joined. That looks at values, never at errors, so nothing that is measured becomes optimistic.
    """
    if slicing in ("tree", "adaptive") and loss is None:
        raise SpecError(f"`slicing={slicing!r}` needs the error of each row: give true outcomes and predictions.")

    def learn(name: str) -> Cut:
        columns = [as_floats(part, name) for part in measured] if data.kinds[name] in _NUMBERS else []
        return _learn(data, name, slicing, bins, min_samples, loss, counted, columns)

    return tuple(in_threads(learn, names, data.height))


def _learn(
    data: Dataset,
    name: str,
    slicing: Slicing,
    bins: int,
    minimum: int,
    loss: Floats | None,
    counted: Any,
    measured: Sequence[Floats],
) -> Cut:
    kind = data.kinds[name]
    if name in data.roles.bands:
        return Cut(name, kind, bands=data.roles.bands[name])
    if kind in ("category", "boolean"):
        column = Codes.encode(data.packed_column(name), name=name)
        return Cut(name, kind, labels=common_labels(column, column.counts(), minimum))
    values = as_floats(data, name)
    known = np.isfinite(values)
    if not known.any():
        raise DataError(f"The feature '{name}' has no finite number; leave it out with features=[...].")
    few = _few_values(values[known], FEW_VALUES if kind == "integer" else min(bins, FEW_VALUES))
    enough = slicing == "quantile" or (few is not None and all(_least(part, few) >= minimum for part in measured))
    if few is not None and kind != "datetime" and slicing in ("quantile", "tree") and enough:
        column = Codes.encode(data.packed_column(name), name=name)
        return Cut(name, kind, labels=common_labels(column, column.counts(), 1))
    if slicing == "adaptive":
        assert loss is not None
        used = known if counted is None else known & counted
        inner = change_points(values[used], loss[used], bins=bins, min_samples=minimum)
        low, high = float(values[known].min()), float(values[known].max())
        edges = joined(tuple(np.unique([low, *inner, high]).tolist()), measured, minimum)
        return Cut(name, kind, edges if len(edges) > 1 else (low, float(np.nextafter(low, np.inf))))
    step = max(1, values.size // SAMPLE) if slicing == "tree" else 1
    target = None if loss is None else loss[::step]
    edges = bin_edges(values[::step], binning=slicing, bins=bins, target=target, smallest=-(-minimum // step))
    return Cut(name, kind, joined(edges, measured, minimum) if slicing == "tree" else edges)


def joined(edges: Sequence[float], columns: Sequence[Floats], minimum: int) -> tuple[float, ...]:
    """The edges of slices that have enough rows of every column: smaller ones are joined with a neighbour.

    >>> joined((0, 1, 2, 3), [np.array([0.5, 1.5, 1.6, 2.5, 2.6])], 2)
    (0, 2, 3)
    """
    inner = list(edges[1:-1])
    while inner and columns:
        slots = [np.searchsorted(inner, column[np.isfinite(column)], side="right") for column in columns]
        fewest = np.min([count_by(slot, len(inner) + 1) for slot in slots], axis=0)
        small = int(fewest.argmin())
        if fewest[small] >= minimum:
            break
        left, right = (fewest[at] if 0 <= at < fewest.size else np.inf for at in (small - 1, small + 1))
        inner.pop(small - 1 if left <= right else small)
    return (edges[0], *inner, edges[-1])


def _least(values: Floats, few: Floats) -> int:
    """The rows of the rarest of a few values."""
    return int(count_by(np.searchsorted(few, values[np.isin(values, few)]), few.size).min())


def change_points(values: Floats, loss: Floats, *, bins: int, min_samples: int) -> list[float]:
    """Where the mean of a loss changes along a feature: at most `bins` - 1 cuts, each worth its while.

    Binary segmentation: of all cuts of all segments take the one that lowers the sum of squares most; stop when it
    lowers it by less than 3 log(n) times the variance of the loss (a change that chance would not make).

    References
    ----------
    L. Y. Vostrikova (1981), Soviet Math. Dokl. 24:55; B. Fryzlewicz (2014), Ann. Stat. 42:2243.

    Examples
    --------
    >>> x = np.arange(1000.0)
    >>> change_points(x, np.where((x >= 400) & (x < 600), 1.0, 0.0), bins=10, min_samples=30)
    [400.0, 600.0]
    """
    if values.size < 2 * min_samples or bins < 2:
        return []
    step = max(1, values.size // SAMPLE)
    cuts = np.unique(np.quantile(values[::step], np.linspace(0, 1, CANDIDATES + 1), method="higher"))[1:]
    if not cuts.size:
        return []
    index = np.searchsorted(cuts, values, side="right")
    n = np.concatenate([[0.0], np.cumsum(count_by(index, cuts.size + 1))])
    s = np.concatenate([[0.0], np.cumsum(sum_by(index, loss - loss.mean(), cuts.size + 1))])
    worth = 3 * np.log(values.size) * float(loss.var())
    segments = [(0, cuts.size + 1)]
    chosen: list[int] = []
    tried = {segment: _best_cut(n, s, *segment, min_samples) for segment in segments}
    while len(chosen) < bins - 1:
        (start, stop), (gain, at) = max(tried.items(), key=lambda item: item[1][0])
        if gain <= worth or gain <= 0:
            break
        chosen.append(at)
        del tried[(start, stop)]
        for segment in ((start, at), (at, stop)):
            tried[segment] = _best_cut(n, s, *segment, min_samples)
    return [float(cuts[at - 1]) for at in sorted(chosen)]


def _best_cut(n: Floats, s: Floats, start: int, stop: int, minimum: int) -> tuple[float, int]:
    """The gain and the index of the best cut of one segment of fine bins."""
    if stop - start < 2:
        return -1.0, start
    inner = np.arange(start + 1, stop)
    n1, n2 = n[inner] - n[start], n[stop] - n[inner]
    s1, s2 = s[inner] - s[start], s[stop] - s[inner]
    allowed = (n1 >= minimum) & (n2 >= minimum)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = s1**2 / n1 + s2**2 / n2 - (s1 + s2) ** 2 / (n1 + n2)
    gain = np.where(allowed, gain, -1.0)
    best = int(gain.argmax())
    return float(gain[best]), int(inner[best])


def _few_values(values: Floats, maximum: int) -> Floats | None:
    """The different values where they are few."""
    if np.unique(values[:2000]).size > maximum:
        return None
    found = np.unique(values)
    return found if found.size <= maximum else None


def common_labels(column: Codes, counts: NDArray[Any], minimum: int) -> tuple[Any, ...]:
    """The labels that get a slice of their own: those with enough rows, up to a maximum."""
    order = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
    kept = {int(code) for code in order if counts[code] >= minimum}
    return tuple(label for code, label in enumerate(column.labels) if code in kept and label is not None)
