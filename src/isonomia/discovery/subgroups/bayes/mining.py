"""The search for discrimination patterns: which partial assignments can still lead to one.

With log odds o of y and the log likelihood ratio r of x, Delta = s(o + r) - s(o), s the logistic function: it rises
with r and, for a given r > 0, is highest at o = -r / 2. So a partial assignment that can still reach ratios up to r and
odds in [l, u] has no pattern beyond s(o + r) - s(o) at the o in [l, u] closest to -r / 2: the bound that the search
prunes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomia.discovery.subgroups.bayes.network import NaiveBayes
from isonomia.discovery.subgroups.bayes.patterns import Figures, Ints, Patterns
from isonomia.errors import SpecError, close_to
from isonomia.events import Clock
from isonomia.parameters import Choice, Integer, Number, validated
from isonomia.typing import Bools, Floats

Ranking = Literal["discrimination", "divergence"]

#: Likelihood ratios of values that one outcome never has are cut here; e^60 is as good as infinite.
_MAX_RATIO = 60.0
#: Nodes expanded together.
_BATCH = 8192
#: New nodes that one expansion makes, at most.
_MAX_NODES = 1 << 18
#: Maximum number of patterns kept when all above delta are requested.
MAX_PATTERNS = 5_000_000
_FREE = -1


@validated(
    delta=Number(at_least=0, below=1),
    ranking=Choice(("discrimination", "divergence")),
    min_probability=Number(at_least=0, at_most=1),
    k=Integer(1).or_none(),
    max_l=Integer(1).or_none(),
)
def discrimination_patterns(
    network: NaiveBayes,
    sensitive: Sequence[str],
    *,
    delta: float = 0.01,
    k: int | None = None,
    ranking: Ranking = "discrimination",
    max_l: int | None = None,
    min_probability: float = 0.0,
    clock: Clock | None = None,
) -> Patterns:
    """Patterns with \\|Delta\\| above `delta`: the k best, or (k=None) all of them.

    Parameters
    ----------
    network : NaiveBayes
    sensitive : sequence of str
        Features that x may be made of.
    delta : float
        Differences up to this are not discrimination, in [0, 1).
    k : int, optional
        How many; None for all.
    ranking : "discrimination" or "divergence"
        By \\|Delta\\|, or by how much the distribution would have to change (which weighs how many people it concerns).
    max_l : int, optional
        Features in x and y together, at most.
    min_probability : float
        Leave out patterns with P(x, y) below this.

    References
    ----------
    Y. Choi, G. Farnadi, B. Babaki, G. Van den Broeck (2020), Learning fair naive Bayes classifiers by discovering and
    eliminating discrimination patterns, AAAI.
    """
    unknown = [name for name in sensitive if name not in network.names]
    if unknown:
        raise SpecError(
            f"`sensitive` must name features of the classifier; got {unknown[0]!r}."
            f"{close_to(unknown[0], network.names)}"
        )
    return _Miner(network, sensitive, delta, k, ranking, max_l, min_probability, clock or Clock()).run()


class _Nodes(NamedTuple):
    """Partial assignments over the first features of the order.

    `x_ratio`, `y_odds`: log likelihood ratio of x, log odds of y. `x_low`, `x_high`: the lowest and highest ratio that
    other values of the features of x have. `x_logs`, `y_logs`: log probabilities given not d and d.
    """

    assigned: NDArray[Any]
    length: NDArray[Any]
    x_ratio: NDArray[Any]
    y_odds: NDArray[Any]
    x_low: NDArray[Any]
    x_high: NDArray[Any]
    x_logs: NDArray[Any]
    y_logs: NDArray[Any]

    def take(self, rows: NDArray[np.int64] | Bools) -> _Nodes:
        return _Nodes(*(values[rows] for values in self))

    @property
    def has_x(self) -> Bools:
        return np.asarray(np.isfinite(self.x_low), dtype=bool)


class _Miner:
    def __init__(
        self,
        network: NaiveBayes,
        sensitive: Sequence[str],
        delta: float,
        k: int | None,
        ranking: Ranking,
        max_l: int | None,
        min_probability: float,
        clock: Clock,
    ) -> None:
        self.network, self.delta, self.k, self.ranking, self.clock = network, delta, k, ranking, clock
        self.max_l = len(network.tables) if max_l is None else max_l
        self.min_probability = min_probability
        with np.errstate(divide="ignore", invalid="ignore"):
            self.logs = [np.log(table) for table in network.tables]
            ratios = [
                np.nan_to_num(logs[1] - logs[0], nan=0.0, posinf=_MAX_RATIO, neginf=-_MAX_RATIO) for logs in self.logs
            ]
        self.ratios = [np.clip(ratio, -_MAX_RATIO, _MAX_RATIO) for ratio in ratios]
        special = [name in sensitive for name in network.names]
        spread = [float(np.ptp(ratio)) for ratio in self.ratios]
        self.order = sorted(range(len(special)), key=lambda j: (not special[j], -spread[j]))
        self.special = special
        self.sizes = tuple(len(ratio) for ratio in self.ratios)
        self._reach()
        self.patterns: list[tuple[Ints, Figures]] = []
        self.threshold = 0.0 if ranking == "divergence" else delta
        self.n_patterns = self.nodes = 0
        self.complete = True

    def _reach(self) -> None:
        """How far the features from an index of the order on can still move the odds of y and the ratio of x."""
        high = np.array([max(0.0, float(self.ratios[j].max())) for j in self.order])
        low = np.array([min(0.0, float(self.ratios[j].min())) for j in self.order])
        own = np.array([self.special[j] for j in self.order])

        def rest(values: Floats) -> Floats:
            return np.append(np.cumsum(values[::-1])[::-1], 0.0)

        self.y_up, self.y_down = rest(high), rest(low)
        self.x_up, self.x_down = rest(high * own), rest(low * own)

    def run(self) -> Patterns:
        prior = self.network.prior
        odds = float(np.log(prior) - np.log1p(-prior))
        root = _Nodes(
            assigned=np.full((1, len(self.sizes)), _FREE, dtype=np.int32),
            length=np.zeros(1, dtype=np.int32),
            x_ratio=np.zeros(1),
            y_odds=np.array([odds]),
            x_low=np.array([np.inf]),
            x_high=np.array([-np.inf]),
            x_logs=np.zeros((1, 2)),
            y_logs=np.log([[1 - prior, prior]]),
        )
        stacks: list[list[tuple[_Nodes, Floats]]] = [[] for _ in self.sizes]
        stacks[0].append((root, np.array([np.inf])))
        while (depth := _deepest(stacks)) is not None:
            nodes, bound = stacks[depth].pop()
            limit = max(1, _MAX_NODES // self.sizes[self.order[depth]])
            if len(bound) > limit:  # a feature of many values: the most promising nodes alone
                stacks[depth].append((_Nodes(*(values[:-limit] for values in nodes)), bound[:-limit]))
                nodes, bound = _Nodes(*(values[-limit:] for values in nodes)), bound[-limit:]
            nodes = nodes.take(bound > self.threshold)
            if not len(nodes.length):
                continue
            if self.clock.over or self.n_patterns > MAX_PATTERNS:
                self.complete = False
                break
            children, bounds = self._expand(nodes, depth)
            if depth + 1 < len(self.sizes):
                for start in range(0, len(bounds), _BATCH):  # the most promising batch comes last and is taken first
                    part = slice(start, start + _BATCH)
                    stacks[depth + 1].append((_Nodes(*(values[part] for values in children)), bounds[part]))
        return self._result()

    def _expand(self, nodes: _Nodes, depth: int) -> tuple[_Nodes, Floats]:
        """All ways to go on with the next feature, least promising first; those beyond hope are left out."""
        j = self.order[depth]
        extendable = nodes.take(nodes.length < self.max_l)
        new = [self._assign(extendable, j, into_x=False)]
        if self.special[j]:
            new.append(self._assign(extendable, j, into_x=True))
        extended = _concatenate(new)
        if self.min_probability > 0 and len(extended.length):
            extended = extended.take(self._joint(extended).sum(axis=1) >= self.min_probability)
        self._offer(extended)
        children = _concatenate([nodes, extended])
        bounds = self._bound(children, depth + 1)
        order = np.argsort(bounds, kind="stable")
        order = order[bounds[order] > self.threshold]
        return children.take(order), bounds[order]

    def _assign(self, nodes: _Nodes, j: int, *, into_x: bool) -> _Nodes:
        size, n = self.sizes[j], len(nodes.length)
        out: list[Any] = [np.repeat(values, size, axis=0) for values in nodes]
        code = np.tile(np.arange(size), n)
        out[0][:, j] = code + (size if into_x else 0)
        out[1] += 1
        ratio, logs = self.ratios[j][code], self.logs[j][:, code].T
        if not into_x:
            out[3] += ratio
            out[7] = out[7] + logs
            return _Nodes(*out)
        fresh = ~np.isfinite(out[4])
        out[2] += ratio
        out[4] = np.where(fresh, 0.0, out[4]) + self.ratios[j].min()
        out[5] = np.where(fresh, 0.0, out[5]) + self.ratios[j].max()
        out[6] = out[6] + logs
        return _Nodes(*out)

    def _joint(self, nodes: _Nodes) -> Floats:
        """P(not d, x, y) and P(d, x, y)."""
        return np.asarray(np.exp(nodes.x_logs + nodes.y_logs), dtype=float)

    def _offer(self, nodes: _Nodes) -> None:
        """Compute the figures of new patterns and keep the good ones."""
        nodes = nodes.take(nodes.has_x)
        self.nodes += len(nodes.length)
        figures = self._figures(nodes)
        value = np.abs(figures.delta) if self.ranking == "discrimination" else figures.divergence
        good = np.flatnonzero(
            (value > self.threshold) & (figures.probability > 0) & (np.abs(figures.delta) > self.delta)
        )
        if not good.size:
            return
        self.patterns.append((nodes.assigned[good], Figures(*(part[good] for part in figures))))
        self.n_patterns += good.size
        if self.k is not None and self.n_patterns >= self.k:
            assigned, figures = self._sorted()
            self.patterns = [(assigned[: self.k], Figures(*(part[: self.k] for part in figures)))]
            self.n_patterns = self.k
            last = self._value(self.patterns[0][1])[-1]
            self.threshold = max(self.threshold, float(last))

    def _value(self, figures: Figures) -> Floats:
        return np.abs(figures.delta) if self.ranking == "discrimination" else figures.divergence

    def _sorted(self) -> tuple[Ints, Figures]:
        assigned = np.concatenate([part for part, _ in self.patterns])
        figures = Figures(*(np.concatenate(parts) for parts in zip(*(part for _, part in self.patterns), strict=True)))
        order = np.lexsort((-figures.probability, -np.round(self._value(figures), 12)))
        return assigned[order], Figures(*(part[order] for part in figures))

    def _figures(self, nodes: _Nodes) -> Figures:
        joint, context = self._joint(nodes), np.exp(nodes.y_logs)
        total, base = joint.sum(axis=1), context.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            with_x, without_x = joint[:, 1] / total, context[:, 1] / base
            delta = np.where(total > 0, with_x - without_x, 0.0)
        return Figures(
            delta=delta,
            probability=total,
            divergence=self._divergence(delta, joint, total, base),
            with_x=with_x,
            without_x=without_x,
        )

    def _divergence(self, delta: Floats, joint: Floats, total: Floats, base: Floats) -> Floats:
        """Bits to the nearest distribution in which this pattern's \\|Delta\\| is at most delta."""
        excess = np.where(
            delta > self.delta, self.delta - delta, np.where(delta < -self.delta, -self.delta - delta, 0.0)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = excess / (1 / total - 1 / base)
            bits = [
                np.where(joint[:, d] > 0, joint[:, d] * np.log2(joint[:, d] / (joint[:, d] + sign * moved)), 0.0)
                for d, sign in ((1, 1.0), (0, -1.0))
            ]
        return np.where(excess != 0, np.nan_to_num(bits[0] + bits[1], nan=0.0), 0.0)

    def _bound(self, nodes: _Nodes, depth: int) -> Floats:
        """What no pattern that comes of these nodes exceeds."""
        low, high = nodes.y_odds + self.y_down[depth], nodes.y_odds + self.y_up[depth]
        x_high, x_low = nodes.x_ratio + self.x_up[depth], nodes.x_ratio + self.x_down[depth]
        rise = _shift(np.clip(-x_high / 2, low, high), x_high)
        fall = -_shift(np.clip(-x_low / 2, low, high), x_low)
        bound = np.maximum(np.maximum(rise, fall), 0.0)
        bound = np.where(nodes.has_x | (self.x_up[depth] > 0) | (self.x_down[depth] < 0), bound * (1 + 1e-12), 0.0)
        if self.ranking == "discrimination":
            return bound
        return np.where(bound > self.delta, self._divergence_bound(nodes, depth, low, high, x_low, x_high), 0.0)

    def _divergence_bound(
        self, nodes: _Nodes, depth: int, low: Floats, high: Floats, x_low: Floats, x_high: Floats
    ) -> Floats:
        """P(d,x,y) log (max P(d|x,y,..) / min P(d|y,..)) + the same for not d: people can only become fewer."""
        joint = self._joint(nodes)
        other_low = low + np.where(nodes.has_x, np.minimum(nodes.x_low, 0), 0.0) + self.x_down[depth]
        other_high = high + np.where(nodes.has_x, np.maximum(nodes.x_high, 0), 0.0) + self.x_up[depth]
        first = _log_share(high + x_high) - _log_share(np.minimum(other_low, low + x_low))
        second = _log_share(-(low + x_low)) - _log_share(-np.maximum(other_high, high + x_high))
        bits = (joint[:, 1] * np.maximum(first, 0) + joint[:, 0] * np.maximum(second, 0)) / np.log(2)
        return np.asarray(bits * (1 + 1e-9), dtype=float)

    def _result(self) -> Patterns:
        if self.patterns:
            assigned, figures = self._sorted()
        else:
            assigned = np.zeros((0, len(self.sizes)), dtype=np.int32)
            figures = Figures(*(np.zeros(0) for _ in range(5)))
        return Patterns(
            assigned=assigned,
            discrimination=figures.delta,
            probability=figures.probability,
            divergence=figures.divergence,
            with_x=figures.with_x,
            without_x=figures.without_x,
            sizes=self.sizes,
            names=self.network.names,
            nodes=self.nodes,
            complete=self.complete,
        )


def _concatenate(parts: list[_Nodes]) -> _Nodes:
    return _Nodes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _deepest(stacks: list[list[tuple[_Nodes, Floats]]]) -> int | None:
    """The deepest level with work left: good patterns are found early, and the threshold rises."""
    return next((depth for depth in range(len(stacks) - 1, -1, -1) if stacks[depth]), None)


def _shift(odds: Floats, ratio: Floats) -> Floats:
    """s(odds + ratio) - s(odds)."""
    from scipy.special import expit

    return np.asarray(expit(odds + ratio) - expit(odds), dtype=float)


def _log_share(odds: Floats) -> Floats:
    """log s(odds)."""
    return -np.logaddexp(0.0, -odds)
