"""A naive Bayes classifier without discrimination patterns: find some, forbid them, fit again, until there are none.

The paper solves each fit as a signomial programme. Here the parameters are logits, so that the likelihood is smooth and
every forbidden pattern is two smooth constraints -delta <= Delta <= delta with exact gradients, solved by sequential
quadratic programming. The end is checked by the exact search, not by the solver.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomia.counting import Binning, Bins, Codes, cross_sum, encode_features, sum_by
from isonomia.counting.bins import DEFAULT_BINS
from isonomia.discovery.questions import mark_of, marks_of_data
from isonomia.discovery.subgroups import _reading
from isonomia.discovery.subgroups.bayes.mining import Ranking, discrimination_patterns
from isonomia.discovery.subgroups.bayes.network import NaiveBayes
from isonomia.discovery.subgroups.bayes.patterns import Patterns
from isonomia.discovery.subgroups.mass import Mass
from isonomia.errors import DataError
from isonomia.events import Clock
from isonomia.keeping import Keeper, opened
from isonomia.parameters import Integer, Number, validated
from isonomia.subject import Reading
from isonomia.typing import Floats

#: Patterns are kept this much below delta, so that rounding does not bring them back.
_MARGIN = 1e-4


@dataclass(frozen=True, eq=False)
class FairNaiveBayes:
    """A naive Bayes classifier without patterns above delta, and what it cost.

    Attributes
    ----------
    network : NaiveBayes
        The fair classifier.
    unconstrained : NaiveBayes
        The most likely one.
    log_likelihood, log_likelihood_unconstrained : float
        How well each fits the data.
    delta : float
        The discrimination that is allowed.
    rounds : int
        Fits that were made.
    forbidden : int
        Patterns that were forbidden on the way.
    left : int
        Patterns above delta that are left (0 where the fit is complete).
    complete : bool
        Whether the exact search finds no pattern any more.
    features : tuple of Codes
        How the features were encoded.
    """

    network: NaiveBayes
    unconstrained: NaiveBayes
    log_likelihood: float
    log_likelihood_unconstrained: float
    delta: float
    rounds: int
    forbidden: int
    left: int
    complete: bool
    features: tuple[Codes, ...]

    def predict_proba(self, codes: Any) -> Floats:
        """P(d | row), from codes (rows, features)."""
        return self.network.predict_proba(codes)

    def __repr__(self) -> str:
        state = "no pattern left" if self.complete else f"{self.left} patterns left"
        return f"FairNaiveBayes(delta={self.delta:g}, {self.rounds} rounds, {self.forbidden} forbidden, {state})"


@validated(delta=Number(above=0, below=1), smoothing=Number(above=0), k=Integer(1), max_rounds=Integer(0))
def fit_fair_naive_bayes(
    data: Any,
    *,
    y_true: Any = None,
    protected: Sequence[str] | str | None = None,
    features: Sequence[str] | None = None,
    positive: Any = None,
    weights: Any = None,
    delta: float = 0.1,
    k: int = 20,
    ranking: Ranking = "discrimination",
    smoothing: float = 1.0,
    bins: Bins = DEFAULT_BINS,
    binning: Binning = "quantile",
    max_rounds: int = 100,
    max_seconds: float | None = None,
    store: Keeper | str | os.PathLike[str] | None = None,
) -> FairNaiveBayes:
    """Fit a naive Bayes classifier in which no pattern discriminates by more than `delta`.

    Parameters
    ----------
    data : Dataset, or any frame of features
    y_true : column, optional
        The outcome to be predicted; the dataset's target where left out.
    protected : sequence of str, optional
        Sensitive features of a bare frame.
    delta : float
        The discrimination that is allowed, in (0, 1).
    k : int
        Patterns forbidden per round, at most.
    ranking : "discrimination" or "divergence"
        Which patterns are forbidden first.
    smoothing : float
        Added to each count of a value, above 0: a value that never occurs with one outcome has no finite logit.
    bins, binning
        How numeric features are cut: see `counting.encode_features`.
    store : Store or address, optional
        Where the classifier is kept: for the same data and options it is not trained again.

    References
    ----------
    Y. Choi, G. Farnadi, B. Babaki, G. Van den Broeck (2020), Learning fair naive Bayes classifiers by discovering and
    eliminating discrimination patterns, AAAI.
    """
    clock = Clock(max_seconds)
    reading: Reading = {"y_true": y_true, "protected": protected, "positive": positive, "weights": weights}
    subject = _reading.read_subject(data, None, features, reading, clock.progress)
    dataset, outcome = subject.known, subject.outcome
    if outcome.truth is None or outcome.task != "binary":
        raise DataError("A naive Bayes classifier needs an outcome of two classes: give y_true, or a Dataset with one.")
    if not dataset.protected:
        raise DataError("Discrimination patterns need protected attributes: give protected=.")
    encoded = encode_features(dataset, bins=bins, binning=binning, target=outcome.truth.astype(float))
    weight = Mass(len(subject), subject.weights).mean_one
    truth = outcome.truth.astype(np.int64)

    def train() -> FairNaiveBayes:
        start = NaiveBayes.fit(encoded, truth, weights=weight, smoothing=smoothing)
        fit = _Fit(start, encoded, truth, weight, smoothing)
        network, rounds, left = start, 0, 0
        while True:
            found = discrimination_patterns(network, dataset.protected, delta=delta, k=k, ranking=ranking, clock=clock)
            left = len(found)
            if not left or clock.over or rounds >= max_rounds or not fit.forbid(found):
                break
            network = fit.solve(delta * (1 - _MARGIN))
            rounds += 1
        codes = np.column_stack([column.codes for column in encoded]).astype(np.int64)
        return FairNaiveBayes(
            network=network,
            unconstrained=start,
            log_likelihood=network.log_likelihood(codes, truth, weight),
            log_likelihood_unconstrained=start.log_likelihood(codes, truth, weight),
            delta=float(delta),
            rounds=rounds,
            forbidden=len(fit.in_x),
            left=left,
            complete=left == 0 and found.complete,
            features=encoded,
        )

    if store is None:
        return train()
    key = {
        "kind": "fair_naive_bayes",
        **marks_of_data(dataset),
        "columns": mark_of({**reading, "truth": truth}),
        "encoding": mark_of([bins, binning, [column.name for column in encoded]]),
        "options": mark_of([delta, k, ranking, smoothing, max_rounds, max_seconds]),
    }
    return opened(store).trained(key, train, write=_written, read=lambda record: _read(record, encoded))


_NETWORKS = ("network", "unconstrained")


def _written(fitted: FairNaiveBayes) -> dict[str, Any]:
    """The classifier as JSON, without the encoded rows."""
    parts = {name: getattr(fitted, name) for name in fitted.__dataclass_fields__ if name != "features"}
    for name in _NETWORKS:
        network = parts[name]
        tables = [table.tolist() for table in network.tables]
        parts[name] = {"prior": network.prior, "tables": tables, "names": list(network.names)}
    return parts


def _read(record: Mapping[str, Any], encoded: tuple[Codes, ...]) -> FairNaiveBayes:
    parts = dict(record)
    for name in _NETWORKS:
        given = parts[name]
        tables = tuple(np.array(table) for table in given["tables"])
        parts[name] = NaiveBayes(prior=given["prior"], tables=tables, names=tuple(given["names"]))
    return FairNaiveBayes(**parts, features=encoded)


class _Fit:
    """The most likely parameters under the constraints so far; parameters are logits with the first value at 0."""

    def __init__(
        self, start: NaiveBayes, encoded: Sequence[Codes], truth: Any, weights: Floats | None, smoothing: float
    ) -> None:
        self.sizes = [column.size for column in encoded]
        self.names = start.names
        weight = np.ones(len(truth)) if weights is None else weights
        self.counts = []
        for column in encoded:
            self.counts.append(cross_sum(truth, column.codes, (2, column.size), weight) + smoothing)
        self.total = sum_by(truth, weight, 2)
        self.scale = float(weight.sum())
        self.point = np.concatenate(
            [
                [np.log(start.prior) - np.log1p(-start.prior)],
                *((np.log(table[:, 1:]) - np.log(table[:, :1])).ravel() for table in start.tables),
            ]
        )
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(int)
        self.in_x: list[Floats] = []
        self.in_y: list[Floats] = []
        self._known: set[bytes] = set()

    def forbid(self, found: Patterns) -> bool:
        """Add constraints; False where none is new."""
        new = False
        for row in found.assigned:
            if row.tobytes() in self._known:
                continue
            self._known.add(row.tobytes())
            x, y = np.zeros(self.offsets[-1]), np.zeros(self.offsets[-1])
            for j, code in enumerate(row.tolist()):
                if code >= self.sizes[j]:
                    x[self.offsets[j] + code - self.sizes[j]] = 1.0
                elif code >= 0:
                    y[self.offsets[j] + code] = 1.0
            self.in_x.append(x)
            self.in_y.append(y)
            new = True
        return new

    def _tables(self, point: Floats) -> list[Floats]:
        """Log P(value | decision) of each feature."""
        out, index = [], 1
        for size in self.sizes:
            logits = np.zeros((2, size))
            logits[:, 1:] = point[index : index + 2 * (size - 1)].reshape(2, size - 1)
            out.append(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
            index += 2 * (size - 1)
        return out

    def _loss(self, point: Floats) -> tuple[float, Floats]:
        """Minus the log likelihood a row, and its gradient."""
        t, tables = point[0], self._tables(point)
        share = 1 / (1 + np.exp(-t))
        value = self.total[1] * np.logaddexp(0, -t) + self.total[0] * np.logaddexp(0, t)
        slope = [np.array([share * self.total.sum() - self.total[1]])]
        for logs, counts in zip(tables, self.counts, strict=True):
            value -= float((counts * logs).sum())
            slope.append((np.exp(logs) * counts.sum(axis=1, keepdims=True) - counts)[:, 1:].ravel())
        return float(value) / self.scale, np.concatenate(slope) / self.scale

    def _deltas(self, point: Floats) -> tuple[Floats, Floats]:
        """Delta of every forbidden pattern, and the gradients."""
        from scipy.special import expit

        tables = self._tables(point)
        ratios = np.concatenate([logs[1] - logs[0] for logs in tables])
        x, y = np.array(self.in_x), np.array(self.in_y)
        odds = point[0] + y @ ratios
        with_x, without = expit(odds + x @ ratios), expit(odds)
        steep, flat = with_x * (1 - with_x), without * (1 - without)
        by_ratio = steep[:, None] * x + (steep - flat)[:, None] * y
        parts = [(steep - flat)[:, None]]
        for j, logs in enumerate(tables):
            mine = by_ratio[:, self.offsets[j] : self.offsets[j + 1]]
            total = mine.sum(axis=1, keepdims=True)
            share = np.exp(logs)[:, 1:]
            parts.append(-(mine[:, 1:] - total * share[0]))
            parts.append(mine[:, 1:] - total * share[1])
        return with_x - without, np.concatenate(parts, axis=1)

    def solve(self, delta: float) -> NaiveBayes:
        """The most likely classifier in which no forbidden pattern exceeds delta."""
        from scipy.optimize import minimize

        def gaps(point: Floats) -> Floats:
            values = self._deltas(point)[0]
            return np.concatenate([delta - values, delta + values])

        def slopes(point: Floats) -> Floats:
            gradient = self._deltas(point)[1]
            return np.concatenate([-gradient, gradient])

        loss: Any = self._loss
        forbidden: Any = [{"type": "ineq", "fun": gaps, "jac": slopes}]
        done = minimize(
            loss,
            self.point,
            jac=True,
            method="SLSQP",
            constraints=forbidden,
            bounds=[(-30.0, 30.0)] * len(self.point),
            options={"maxiter": 300, "ftol": 1e-10},
        )
        self.point = np.asarray(done.x, dtype=float)
        tables = tuple(np.exp(logs) for logs in self._tables(self.point))
        return NaiveBayes(prior=float(1 / (1 + np.exp(-self.point[0]))), tables=tables, names=self.names)
