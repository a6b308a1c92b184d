"""Trees over the people of a domain: every node tests one feature, in the codes of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.pairs.exact.column_mapping import ColumnMapping
from isonomia.discovery.pairs.exact.split_rules import SplitRules
from isonomia.errors import NotApplicable
from isonomia.models import Link, TreeEnsemble, apply_link, read_trees, split_pipeline
from isonomia.probing import Oracle, Predictions
from isonomia.typing import Floats

Scale = Literal["probability", "score", "prediction"]

#: People on whom the trees are compared with the model: a third at random, the others exactly at a cut and beyond it.
CHECKED = 1500
#: Predicts rows.
Ask = Callable[[Floats], Predictions]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A sum of trees: raw(x) = base + sum of the values of the leaves that x reaches, one number per class.

    The nodes of all trees share one set of arrays; a tree starts at its root. A leaf has `feature` -1. A node
    sends left the values up to `cut`, or, where `group` is not -1, those whose bits (counted from `origin`) are set in
    `masks[group]`; `unordered` lists the features that are tested like this. `low` and `high` are the smallest and the
    largest leaf value below each node; `uses` is set where a node or one below it tests a protected feature.
    Of two classes the second is predicted where the raw score exceeds `decide`, of several the one with the largest.

    Attributes
    ----------
    link : str
        How the raw score becomes the prediction (the scale of gaps), see `apply_link`.
    tolerance : float
        Raw scores closer than this to a tie, and gaps closer than this to gamma, are decided by the model itself.
    """

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    cut: Floats
    group: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats
    low: Floats
    high: Floats
    uses: NDArray[np.bool_]
    masks: NDArray[np.uint64]
    unordered: NDArray[np.int64]
    origin: Floats
    base: Floats
    decide: float
    classifier: bool
    link: Link
    scale: Scale
    tolerance: float

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int((self.feature < 0).sum())

    @property
    def n_classes(self) -> int:
        """Numbers per leaf: 1 for two classes and for regressions."""
        return int(self.value.shape[1])

    def raw(self, rows: Floats) -> Floats:
        """The raw scores (n, K) of rows; all trees are descended at once."""
        flat, count = np.tile(self.roots, len(rows)), len(self.roots)
        todo = np.flatnonzero(self.feature[flat] >= 0)
        while todo.size:
            node = flat[todo]
            feature = self.feature[node]
            at = rows[todo // count, feature]
            below = at <= self.cut[node]
            grouped = np.flatnonzero(self.group[node] >= 0)
            if grouped.size:
                value = at[grouped] - self.origin[feature[grouped]]
                below[grouped] = in_mask(self.masks, self.group[node[grouped]], value)
            flat[todo] = np.where(below, self.left[node], self.right[node])
            todo = todo[self.feature[flat[todo]] >= 0]
        return np.asarray(self.base + self.value[flat].reshape(len(rows), count, -1).sum(axis=1))

    def predicted(self, raw: Floats) -> Floats:
        """The predictions at raw scores."""
        return apply_link(self.link, raw)


def in_mask(masks: NDArray[np.uint64], group: NDArray[np.int64], value: Floats) -> NDArray[np.bool_]:
    """Whether the bit of a value is set in a mask."""
    index = value.astype(np.int64)
    word = masks[group, index >> 6]
    return np.asarray((word >> (index & 63).astype(np.uint64)) & np.uint64(1), dtype=bool)


def read_domain_trees(
    oracle: Oracle,
    protected: NDArray[np.intp],
    variants: Floats,
    *,
    max_leaves: int | None = None,
    ask: Ask | None = None,
    checked: int = CHECKED,
) -> Ensemble:
    """The trees of an oracle's model over its domain, checked against the predictions of the model itself.

    Parameters
    ----------
    protected, variants
        Columns of the domain and the combinations of their values; no other values are examined.
    max_leaves : int, optional
        Maximum number of leaves of an ensemble (not of a single tree).
    ask : function, optional
        Predicts rows, and counts them; by default `oracle.ask`.
    checked : int
        Number of people on whom the trees are compared with the model.
    """
    domain = oracle.domain
    if domain.may_miss.any():
        missing = domain.names[int(np.flatnonzero(domain.may_miss)[0])]
        raise NotApplicable(f"exact answers need columns without missing numbers; '{missing}' has some")
    takes = getattr(oracle.estimator, "feature_names_in_", None)
    own = type(oracle.estimator).__module__.startswith("sklearn")
    if own and takes is not None and tuple(map(str, takes)) != domain.names:
        raise NotApplicable("the model's features are not those of the domain, or are in another order")
    steps, last = split_pipeline(oracle.estimator)
    try:
        trees = read_trees(last)
    except NotApplicable as reason:
        raise NotApplicable(
            f"exact answers are for linear models and trees, also behind column-wise encoders; {reason}"
        ) from reason
    if max_leaves is not None and len(trees.roots) > 1 and trees.n_leaves > max_leaves:
        raise NotApplicable(f"the forest has {trees.n_leaves:,} leaves, too many for a proof within another search")
    mapping = ColumnMapping(oracle, steps, trees)
    rules = SplitRules(trees, mapping, protected, variants)
    ensemble = _ensemble(trees, rules, protected, domain.low)
    rows = people_to_check(ensemble, oracle, protected, variants, checked)
    return _checked(ensemble, oracle, rows, (ask or oracle.ask)(rows))


def _ensemble(trees: TreeEnsemble, rules: SplitRules, protected: NDArray[np.intp], origin: Floats) -> Ensemble:
    """Rules in place of columns and thresholds; nodes where everyone goes the same direction are skipped."""
    rule = rules.of_node
    inner = trees.feature >= 0
    left = np.where(rules.swap[rule] & inner, trees.right, trees.left)
    right = np.where(rules.swap[rule] & inner, trees.left, trees.right)
    jump = np.arange(len(inner))
    always = np.where(inner, rules.always[rule], 0)
    jump = np.where(always > 0, left, np.where(always < 0, right, jump))
    while not np.array_equal(further := jump[jump], jump):
        jump = further
    nodes: dict[str, NDArray[Any]] = {
        "feature": np.where(inner, rules.feature[rule], -1),
        "left": jump[left],
        "right": jump[right],
        "value": trees.value * trees.link_scale / trees.divisor,
    }
    roots = jump[trees.roots]
    low, high, _ = _below(nodes, roots, protected)
    constant = (low == high).all(axis=1)  # all leaves below are equal
    nodes["feature"] = np.where(constant, -1, nodes["feature"])
    nodes["value"] = np.where(constant[:, None], low, nodes["value"])
    low, high, uses = _below(nodes, roots, protected)
    largest = np.maximum(np.abs(low[roots]), np.abs(high[roots])).max(axis=1).sum()
    base = trees.base * trees.link_scale / trees.divisor
    rounding = float(np.finfo(trees.sum_dtype).eps) / 2
    # the error of T additions is at most T roundings of the largest possible sum
    tolerance = (len(trees.roots) + 2) * rounding * float(largest + np.abs(base).max(initial=1.0))
    tolerance = max(1e-9, 2.0 * tolerance)
    return Ensemble(
        roots,
        **nodes,
        cut=rules.cut[rule],
        group=np.where(nodes["feature"] >= 0, rules.group[rule], -1),
        low=low,
        high=high,
        uses=uses,
        masks=rules.masks,
        unordered=rules.unordered,
        origin=origin,
        base=base,
        decide=0.0,
        classifier=trees.classifier,
        link=trees.link,
        scale="prediction",
        tolerance=tolerance,
    )


def _below(
    nodes: dict[str, NDArray[Any]], roots: NDArray[np.int64], protected: NDArray[np.intp]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Smallest and largest leaf below each node, and whether protected features are tested; from the leaves up."""
    leaf, left, right = nodes["feature"] < 0, nodes["left"], nodes["right"]
    low = np.where(leaf[:, None], nodes["value"], np.inf)
    high = np.where(leaf[:, None], nodes["value"], -np.inf)
    uses = np.isin(nodes["feature"], protected) & ~leaf
    levels = [roots[~leaf[roots]]]
    while len(levels[-1]):
        children = np.concatenate([left[levels[-1]], right[levels[-1]]])
        levels.append(children[~leaf[children]])
    for level in levels[::-1]:
        low[level] = np.minimum(low[left[level]], low[right[level]])
        high[level] = np.maximum(high[left[level]], high[right[level]])
        uses[level] |= uses[left[level]] | uses[right[level]]
    return low, high, uses


# the comparison with the model ------------------------------------------------------------------------------------


def _checked(ensemble: Ensemble, oracle: Oracle, rows: Floats, predicted: Predictions) -> Ensemble:
    """The ensemble on the scale of the model's own predictions; `NotApplicable` where the two differ."""
    raw = ensemble.raw(rows)
    cut = oracle.threshold
    tolerance = max(1e-7, 10 * ensemble.tolerance)
    if predicted.label is None:
        if not _close(ensemble.predicted(raw)[:, 0], predicted.score, tolerance):
            raise _differs(oracle, rows, ensemble.predicted(raw)[:, 0], predicted.score)
        return ensemble
    if ensemble.n_classes > 1:
        return _checked_classes(ensemble, oracle, rows, raw, predicted)
    if not ensemble.classifier:
        raise NotApplicable("the trees give numbers and the model gives classes; its threshold is not known")
    score = ensemble.predicted(raw)[:, 0]
    flips = {"straight": (score, False), "turned": (1.0 - score, True)}
    raws = {"straight": (raw[:, 0], False), "turned": (-raw[:, 0], True)}
    candidates = [("probability", *part) for part in flips.values()] + [("score", *part) for part in raws.values()]
    for scale, numbers, flipped in candidates:
        if predicted.score is not None and not _close(numbers, predicted.score, tolerance):
            continue
        link: Link = ensemble.link if scale == "probability" else "identity"
        at = (1.0 - cut if flipped else cut) if scale == "probability" else (-cut if flipped else cut)
        decide = at if link == "identity" else float(np.log(at) - np.log1p(-at)) if 0 < at < 1 else np.nan
        sure = np.abs(raw[:, 0] - decide) > max(ensemble.tolerance, 1e-6)
        yes = (raw[:, 0] > decide) ^ flipped
        if np.isfinite(decide) and bool((yes == (predicted.label == 1))[sure].all()):
            name: Scale = "probability" if scale == "probability" else "score"
            return replace(ensemble, link=link, decide=float(decide), scale=name)
    raise _differs(oracle, rows, score, predicted.score)


def _checked_classes(ensemble: Ensemble, oracle: Oracle, rows: Floats, raw: Floats, predicted: Any) -> Ensemble:
    """More than two classes in any order: the same probabilities, and a one-to-one match of classes."""
    ours = ensemble.predicted(raw)
    if predicted.score is not None and not _close(np.sort(ours, axis=1), np.sort(predicted.score, axis=1), 1e-4):
        raise _differs(oracle, rows, ours.max(axis=1), predicted.score.max(axis=1))
    two = np.partition(raw, -2, axis=1)
    sure = two[:, -1] - two[:, -2] > max(ensemble.tolerance, 1e-6)
    pairs = np.unique(np.stack([raw.argmax(axis=1), predicted.label], axis=1)[sure], axis=0)
    if len(np.unique(pairs[:, 0])) != len(pairs) or len(np.unique(pairs[:, 1])) != len(pairs):
        raise _differs(oracle, rows, ours.max(axis=1), None)
    return replace(ensemble, scale="probability")


def people_to_check(
    ensemble: Ensemble, oracle: Oracle, protected: NDArray[np.intp], variants: Floats, count: int = CHECKED
) -> Floats:
    """People at random, and people exactly at a cut and one step beyond it."""
    domain, rng = oracle.domain, np.random.default_rng(0)
    rows = domain.sample(count // 3, rng)
    cuts = np.flatnonzero((ensemble.feature >= 0) & (ensemble.group < 0) & ~np.isin(ensemble.feature, protected))
    if len(cuts):
        some = rng.choice(cuts, size=min(count // 3, len(cuts)), replace=False)
        feature, cut = ensemble.feature[some], ensemble.cut[some]
        at = domain.sample(2 * len(some), rng)
        beyond = np.where(domain.whole[feature], np.floor(cut) + 1, np.nextafter(cut, np.inf))
        both = np.concatenate([np.where(domain.whole[feature], np.floor(cut), cut), beyond])
        column = np.tile(feature, 2)
        at[np.arange(len(at)), column] = np.clip(both, domain.low[column], domain.high[column])
        rows = np.concatenate([rows, at])
    rows[:, protected] = variants[rng.integers(len(variants), size=len(rows))]
    return rows


def _close(ours: Floats, theirs: Floats | None, tolerance: float) -> bool:
    if theirs is None or ours.shape != theirs.shape:
        return False
    return bool((np.abs(ours - theirs) <= tolerance * np.maximum(1.0, np.abs(theirs))).all())


def _differs(oracle: Oracle, rows: Floats, ours: Floats, theirs: Floats | None) -> NotApplicable:
    """The error for trees whose predictions differ from the model's."""
    if theirs is None or np.shape(ours) != np.shape(theirs):
        return NotApplicable(
            "the trees as read do not predict the model's classes, so no exact answer can rely on them"
        )
    worst = int(np.abs(ours - theirs).argmax())
    person = dict(zip(oracle.domain.names, oracle.domain.texts(rows[worst]), strict=True))
    return NotApplicable(
        f"the trees as read predict {ours[worst]:.6g} and the model {theirs[worst]:.6g} for {person}, so "
        "no exact answer can rely on them"
    )
