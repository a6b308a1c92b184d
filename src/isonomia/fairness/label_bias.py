"""Are the labels themselves even-handed: base rates, what the attribute adds, labels of similar people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes
from isonomia.data import Dataset, kind_of, wrap
from isonomia.errors import NotApplicable
from isonomia.evidence import (
    Estimate,
    Picture,
    Result,
    Table,
    benjamini_hochberg,
    check_level,
    normal_p,
    normal_quantile,
)
from isonomia.fairness.averages import mean_interval
from isonomia.fairness.encoding import encode_people
from isonomia.fairness.group_metrics import measure_groups
from isonomia.fairness.groups import dataset_attributes
from isonomia.languages import msg
from isonomia.models import Outcome, Surface

Floats = NDArray[np.float64]

#: More rows than this are sampled for the search of neighbours.
MAX_ROWS = 20_000
#: Draws behind the p-value of the conditional mutual information.
N_PERMUTATIONS = 200
#: A regression's target is cut into this many bins for it.
TARGET_BINS = 5


@dataclass(frozen=True, repr=False)
class LabelBias(Result):
    """Signs that labels depend on the group.

    ``tables["base_rates"]``: base rate (or mean) of each group. ``tables["information"]``: what an attribute tells
    about the label, alone and given the strata. ``tables["neighbours"]``: labels of each group against those of the
    most similar people of other groups.
    """

    conditional: dict[str, Estimate] = field(default_factory=dict)


def label_bias(
    data: Dataset, *, given: Sequence[str] | None = None, k: int = 5, max_rows: int = MAX_ROWS,
    n_boot: int = 500, level: float = 0.95, seed: int = 0,
) -> LabelBias:  # fmt: skip
    """Signs of bias in the true labels.

    Parameters
    ----------
    data : Dataset
        With a target and protected attributes.
    given : sequence of str, optional
        Legitimate factors: the label and the attribute are compared within strata of these (numbers in four bins). By
        default the two other features that tell most about the label.
    k : int
        How many neighbours of other groups a row is held against.
    max_rows : int
        More rows are sampled for the neighbours.

    Notes
    -----
    Conditional mutual information I(label; attribute | given) in nats, less what chance alone gives; its p-value comes
    from permuting the attribute within strata, without weights. None of this proves bias: base rates can differ for
    reasons, and a column that explains the difference may itself be the product of unequal treatment.

    Returns
    -------
    LabelBias
    """
    check_level(level)
    attributes = dataset_attributes(data)
    if data.target is None or not attributes:
        raise NotApplicable("the data name no target or no protected attribute")
    label = Codes.encode(data.column(data.target), name=data.target)
    rows = np.arange(len(data)) if label.missing is None else np.flatnonzero(label.codes != label.missing)
    known = data if rows.size == len(data) else data.take(rows)
    attributes = tuple(column.take(rows).observed() for column in attributes)
    label = label.take(rows).observed()
    if label.size < 2:
        raise NotApplicable("every label is the same")
    numbers = _numbers(known, label)
    tables = {"base_rates": _base_rates(known, label, attributes, n_boot, level, seed)}
    classes = label if known.task != "regression" else _cut(known, data.target)
    chosen = tuple(given) if given is not None else _telling(known, classes)
    strata = _strata(known, chosen)
    tables["information"], conditional = _information(known, classes, attributes, strata, level, seed)
    tables["neighbours"] = _neighbours(known, numbers, attributes, k, max_rows, level, seed)
    pictures = (
        Picture("forest", "neighbours", msg("Labels against those of similar people in other groups"),
                {"labels": "group", "value": "difference", "reference": 0.0}),
    )  # fmt: skip
    said = msg("The label is compared within strata of: {names}.", names=", ".join(chosen) or "—")
    return LabelBias(
        "label_bias", msg("Label bias"), tables,
        {f"information[{name}]": value for name, value in conditional.items()}, (), pictures, (said,), conditional,
        titles={f"information[{name}]": msg("{name}: told about the label beyond the strata (nats)", name=name)
                for name in conditional},
    )  # fmt: skip


def _numbers(data: Dataset, label: Codes) -> Floats | None:
    """Labels as numbers: 1 for the favourable one; None for several classes (their shares are compared)."""
    if data.task == "regression":
        return np.asarray(data.column(label.name).to_numpy(), dtype=float)
    if data.task == "binary":
        return np.asarray(label.codes == label.code_of(data.positive), dtype=float)
    return None


def _base_rates(
    data: Dataset, label: Codes, attributes: Sequence[Codes], n_boot: int, level: float, seed: int
) -> Table:
    """The labels taken as if they were decisions: their selection rate is the base rate."""
    if data.task == "regression":
        surface, metric = Surface.of_numbers(data.column(label.name).to_numpy()), "mean_prediction"
    else:
        classes = tuple(label.labels)
        codes = label.codes
        if data.task == "binary":
            place = label.code_of(data.positive)
            classes = (*(x for i, x in enumerate(label.labels) if i != place), data.positive)
            codes = (label.codes == place).astype(np.uint8)
        surface, metric = Surface(data.task or "binary", classes, label=codes), "selection_rate"
    privileged: Any = {name: list(values) for name, values in data.privileged.items()} or "largest"
    result = measure_groups(
        Outcome(None, surface), attributes, metrics=[metric], weights=data.weights, reference=privileged, by="each",
        n_boot=n_boot, level=level, seed=seed, backend=data.backend,
    )  # fmt: skip
    return result.tables["comparisons"]


def _cut(data: Dataset, target: str) -> Codes:
    values = np.asarray(data.column(target).to_numpy(), dtype=float)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, TARGET_BINS + 1)))
    return Codes.cut(values, edges.tolist(), name=target).observed()


def _column_codes(data: Dataset, name: str, bins: int = 4) -> Codes:
    column = data.column(name)
    if kind_of(column) in ("numeric", "integer") and column.n_unique() > bins:
        values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)
        known = values[np.isfinite(values)]
        edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)))
        if edges.size >= 2:
            return Codes.cut(np.where(np.isfinite(values), values, np.nan), edges.tolist(), name=name).observed()
    return Codes.encode(column, name=name)


def _telling(data: Dataset, label: Codes) -> tuple[str, ...]:
    """The two features, protected ones apart, that tell most about the label."""
    scores = []
    for name in data.features:
        if name in data.protected or kind_of(data.column(name)) == "datetime":
            continue
        codes = _column_codes(data, name)
        if 1 < codes.size <= 50:
            scores.append((-_mutual(label, codes, Codes("", np.zeros(len(label), np.uint8), (0,)))[0], name))
    return tuple(name for _, name in sorted(scores)[:2])


def _strata(data: Dataset, names: Sequence[str]) -> Codes:
    code = np.zeros(len(data), dtype=np.int64)
    for name in names:
        column = _column_codes(data, name)
        code = code * column.size + column.codes
    values, inverse = np.unique(code, return_inverse=True)
    return Codes("strata", inverse.astype(np.uint32), tuple(range(values.size)))


def _mutual(label: Codes, attribute: Codes, strata: Codes) -> tuple[float, NDArray[np.int64]]:
    """I(label; attribute | strata) in nats, and the counts (strata, attribute, label)."""
    shape = (strata.size, attribute.size, label.size)
    flat = (strata.codes.astype(np.int64) * shape[1] + attribute.codes) * shape[2] + label.codes
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
    return _conditional(counts[None])[0], counts


def _conditional(counts: NDArray[Any]) -> Floats:
    """I(y; a | s) of tables (..., s, a, y)."""
    n = counts.sum(axis=(-3, -2, -1), keepdims=True)
    a, y, s = (counts.sum(axis=axes, keepdims=True) for axes in (-1, -2, (-2, -1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, counts / n * np.log(counts * s / (a * y)), 0.0)
    return np.asarray(terms.sum(axis=(-3, -2, -1)))


def _information(
    data: Dataset, label: Codes, attributes: Sequence[Codes], strata: Codes, level: float, seed: int
) -> tuple[Table, dict[str, Estimate]]:
    rng = np.random.default_rng(seed)
    out: dict[str, list[Any]] = {name: [] for name in ("attribute", "alone", "given", "p_value", "strata")}
    estimates: dict[str, Estimate] = {}
    single = Codes("", np.zeros(len(label), np.uint8), (0,))
    for column in attributes:
        alone = _mutual(label, column, single)[0]
        value, counts = _mutual(label, column, strata)
        drawn = _permuted(counts, rng)
        excess = max(0.0, float(value - drawn.mean()))
        p = float((1 + (drawn >= value).sum()) / (1 + drawn.size))
        spread = normal_quantile(level) * float(drawn.std())
        estimates[column.name] = Estimate(
            excess, max(0.0, excess - spread), excess + spread, n=len(label), method="permutation", level=level
        )
        chance = (column.size - 1) * (label.size - 1) / (2 * len(label))
        for key, item in zip(out, (column.name, max(0.0, float(alone - chance)), excess, p, strata.size), strict=True):
            out[key].append(item)
    shown: dict[str, Any] = {**out, "p_adjusted": benjamini_hochberg(np.array(out["p_value"], dtype=float))}
    titles = {
        "attribute": msg("protected attribute"), "alone": msg("told about the label alone (nats)"),
        "given": msg("told beyond the strata (nats)"), "p_value": msg("p-value"), "p_adjusted": msg("p adjusted"),
        "strata": msg("strata"),
    }  # fmt: skip
    formats: dict[str, Any] = {"alone": "num4", "given": "num4", "p_value": "p", "p_adjusted": "p", "strata": "int"}
    return Table(shown, formats, titles, msg("What an attribute tells about the label"), data.backend), estimates


def _permuted(counts: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """The information when the attribute is permuted within strata: tables of the same margins, drawn on counts."""
    draws = np.zeros((N_PERMUTATIONS, *counts.shape), dtype=np.int64)
    for stratum in range(counts.shape[0]):
        left = np.broadcast_to(counts[stratum].sum(axis=0), (N_PERMUTATIONS, counts.shape[2])).copy()
        for group, size in enumerate(counts[stratum].sum(axis=1).tolist()):
            remaining = np.full(N_PERMUTATIONS, size)
            for value in range(counts.shape[2] - 1):
                others = left[:, value + 1 :].sum(axis=1)
                took = rng.hypergeometric(left[:, value], others, remaining)
                draws[:, stratum, group, value] = took
                remaining = remaining - took
            draws[:, stratum, group, -1] = remaining
            left = left - draws[:, stratum, group]
    return _conditional(draws)


def _neighbours(
    data: Dataset, numbers: Floats | None, attributes: Sequence[Codes], k: int, max_rows: int, level: float, seed: int
) -> Table:
    """Labels of each group less those of the k most similar people who are not in it."""
    out: dict[str, list[Any]] = {name: [] for name in ("group", "n", "own", "similar", "difference",
                                                       "difference_low", "difference_high", "p_value")}  # fmt: skip
    rng = np.random.default_rng(seed)
    rows = np.arange(len(data))
    if rows.size > max_rows:
        rows = np.sort(rng.choice(rows, max_rows, replace=False))
    w = None if data.weights is None else data.weights[rows]
    features = [name for name in data.features if name not in data.protected]
    if numbers is not None and features:
        points = encode_people(_select(data, features, rows)).matrix
        for column in attributes:
            for code in range(column.size):
                own = column.codes[rows] == code
                if own.sum() < 2 or (~own).sum() < k:
                    continue
                _one_group(f"{column.name}={column.texts[code]}", points, own, numbers[rows], w, k, level, out)
    shown: dict[str, Any] = {**out, "p_adjusted": benjamini_hochberg(np.array(out["p_value"], dtype=float))}
    titles = {
        "group": msg("group"), "n": msg("rows"), "own": msg("mean true outcome"),
        "similar": msg("of similar people in other groups"), "difference": msg("difference"),
        "difference_low": msg("from"), "difference_high": msg("to"), "p_value": msg("p-value"),
        "p_adjusted": msg("p adjusted"),
    }  # fmt: skip
    formats: dict[str, Any] = {"n": "int", "p_value": "p", "p_adjusted": "p"}
    formats |= dict.fromkeys(("own", "similar", "difference", "difference_low", "difference_high"), "num")
    return Table(shown, formats, titles, msg("Labels of similar people in other groups"), data.backend)


def _select(data: Dataset, names: Sequence[str], rows: NDArray[Any]) -> Any:
    return wrap(data.frame).select(names)[rows.tolist()].to_native()


def _one_group(
    name: str, points: Floats, own: NDArray[np.bool_], y: Floats, weights: Floats | None, k: int, level: float,
    out: dict[str, list[Any]],
) -> None:  # fmt: skip
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=k).fit(points[~own]).kneighbors(points[own], return_distance=False)
    similar = y[~own][found].mean(axis=1)
    w = None if weights is None else weights[own]
    gap = mean_interval(y[own] - similar, w, level)
    error = (gap[2] - gap[1]) / (2 * normal_quantile(level))
    p = float(normal_p(gap[0] / error)) if error > 0 else None
    means = (mean_interval(values, w, level)[0] for values in (y[own], similar))
    for key, value in zip(out, (name, int(own.sum()), *means, *gap, p), strict=True):
        out[key].append(value)
