"""Phase 4: the outcome. A linear model of the legitimate columns, plus bias, plus two kinds of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data.synthetic.copula import Coded, Copula
from isonomia.data.synthetic.marginals import Levels, Marginal
from isonomia.errors import SpecError, close_to
from isonomia.parameters import Choice, Integer, Number
from isonomia.typing import Floats

OutcomeKind = Literal["binary", "multiclass", "regression"]
Decision = Literal["draw", "threshold"]

#: Rows of the unbiased population on which scale, intercept and cut points are set.
_REFERENCE_ROWS = 20_000


@dataclass(frozen=True)
class Outcome:
    """What the outcome is and how it comes about.

    Attributes
    ----------
    kind : "binary", "multiclass" or "regression"
    target : str, optional
        The name of the outcome's column ("outcome", or the target of the data the generator was fitted to).
    labels : sequence, optional
        From the least to the most favourable: two for binary (0, 1 by default), any number of ordered classes for
        multiclass (three by default).
    weights : mapping, optional
        What each column adds to the score for a standard deviation of it; for a category a mapping from value to what
        it adds. By default drawn at random for every column that is not protected, and scaled to `signal`.
    rate : float, optional
        The favourable share in the population without bias (0.5, or that of the data the generator was fitted to).
    signal : float
        The standard deviation of the score where weights are drawn.
    decision : "draw" or "threshold"
        Whether the label is drawn with the probability, or is whether it exceeds a half.
    members : int
        How many perturbed models make the ensemble.
    """

    kind: OutcomeKind = "binary"
    target: str | None = None
    labels: Sequence[Any] | None = None
    weights: Mapping[str, Any] | None = None
    rate: float | None = None
    signal: float = 1.5
    decision: Decision = "draw"
    members: int = 20

    def __post_init__(self) -> None:
        Choice(("binary", "multiclass", "regression")).check("outcome", self.kind)
        Choice(("draw", "threshold")).check("decision", self.decision)
        Integer(2).check("members", self.members)
        Number(above=0).check("signal", self.signal)
        if self.rate is not None:
            Number(above=0, below=1).check("rate", self.rate)
        if self.labels is not None:
            wanted = "two" if self.kind == "binary" else "at least three"
            if len(self.labels) != 2 if self.kind == "binary" else len(self.labels) < 3:
                raise SpecError(f"A {self.kind} outcome needs {wanted} labels; got {list(self.labels)}.")
            if len(set(self.labels)) != len(self.labels):
                raise SpecError(f"`labels` must differ from one another; got {list(self.labels)}.")

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels from the least to the most favourable; empty for regression."""
        if self.kind == "regression":
            return ()
        return tuple(self.labels) if self.labels is not None else tuple(range(2 if self.kind == "binary" else 3))


@dataclass(frozen=True, eq=False)
class Scorer:
    """The linear model behind the outcome: score = x w, cut at `cuts`; `deltas` perturb w into an ensemble.

    x is a column each: numbers and levels standardised by the marginal's own mean and standard deviation, missing as 0.
    """

    copula: Copula
    encodings: Mapping[str, tuple[float, float, Floats | None]]
    weights: Floats
    deltas: Floats
    cuts: Floats

    @classmethod
    def make(cls, copula: Copula, outcome: Outcome, protected: Sequence[str], rng: np.random.Generator) -> Scorer:
        """Draw (or take) the weights, then set scale, intercept and cut points on the unbiased population."""
        given = outcome.weights
        for name in given or ():
            if name not in copula.marginals:
                raise SpecError(f"`weights` must name columns; got {name!r}.{close_to(name, copula.columns)}")
        names = list(given) if given is not None else [name for name in copula.columns if name not in protected]
        if not names:
            raise SpecError("The outcome needs at least one column that is not protected, or explicit `weights`.")
        encodings: dict[str, tuple[float, float, Floats | None]] = {}
        weights = rng.standard_normal(len(names))
        for j, name in enumerate(names):
            encodings[name], own = _encoding(copula.marginals[name], None if given is None else given[name], rng)
            weights[j] = weights[j] if own is None else own
        deltas = rng.standard_normal((outcome.members, len(names)))
        deltas = (deltas - deltas.mean(axis=0)) / np.sqrt(max(len(names), 1))  # centred: the ensemble's mean is w
        plain = cls(copula, encodings, weights, deltas, np.zeros(0))
        design = plain.design(copula.draw(_REFERENCE_ROWS, rng))
        scores = design @ weights
        if given is None and scores.std() > 0:
            weights = weights * outcome.signal / scores.std()
            scores = design @ weights
        return cls(copula, encodings, weights, deltas, _cuts(scores, outcome))

    def design(self, coded: Coded) -> Floats:
        """Rows as standardised numbers, a column for each weight."""
        columns = []
        for name, (centre, spread, table) in self.encodings.items():
            codes = coded[name]
            raw = codes if table is None else np.append(table, np.nan)[codes]
            columns.append(np.nan_to_num((raw - centre) / spread))
        return np.stack(columns, axis=1)

    def score(self, design: Floats, epistemic: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The score of each row by one member of the ensemble, and the standard deviation over all members.

        Member m has weights w + e delta_m with e the row's `epistemic` scale. The deviation is e sqrt(x' C x) with C
        the covariance of the deltas over the members: no rows x members array is made.
        """
        covariance = self.deltas.T @ self.deltas / len(self.deltas)
        deviation = epistemic * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", design, covariance, design), 0.0))
        member = rng.integers(len(self.deltas), size=len(design))
        shift = np.einsum("ij,ij->i", design, self.deltas[member])
        return design @ self.weights + epistemic * shift, deviation

    def decide(self, score: Floats, outcome: Outcome, rng: np.random.Generator) -> tuple[NDArray[Any], Floats | None]:
        """Labels (or numbers) from final scores, and the probability of the most favourable label."""
        from scipy.special import expit

        if outcome.kind == "regression":
            return score, None
        top = expit(score - self.cuts[-1])
        # a logistic draw added to the score makes P(class above cut) = sigmoid(score - cut) for every cut at once
        noise = rng.logistic(size=score.size) if outcome.decision == "draw" else 0.0
        codes = np.searchsorted(self.cuts, score + noise, side="left")
        classes = outcome.classes
        table: NDArray[Any] = np.empty(len(classes), dtype=object)
        table[:] = classes
        if all(isinstance(label, bool) for label in classes) or all(type(label) is int for label in classes):
            table = np.asarray(classes)
        return table[codes], top


def _encoding(
    marginal: Marginal, given: Any, rng: np.random.Generator
) -> tuple[tuple[float, float, Floats | None], float | None]:
    """Centre, spread and level table of a column, and its weight where one was given."""
    if not isinstance(marginal, Levels):
        if given is not None and not isinstance(given, int | float):
            raise SpecError(f"The weight of '{marginal.name}' must be a number; got {given!r}.")
        spread = float(marginal.knots.std()) or 1.0
        return (float(marginal.knots.mean()), spread, None), given
    table = _level_numbers(marginal, given, rng)
    centre = float(marginal.shares @ table)
    spread = float(np.sqrt(marginal.shares @ (table - centre) ** 2)) or 1.0
    own = spread if isinstance(given, Mapping) else given
    return (centre, spread, table), None if own is None else float(own)


def _level_numbers(marginal: Levels, given: Any, rng: np.random.Generator) -> Floats:
    if isinstance(given, Mapping):
        table = np.zeros(len(marginal.values))
        for value, effect in given.items():
            table[marginal._code_of(value)] = float(effect)
        return table
    if given is not None and not isinstance(given, int | float):
        raise SpecError(f"The weight of '{marginal.name}' must be a number or a mapping by value; got {given!r}.")
    if marginal.kind in ("integer", "numeric"):
        return np.asarray(marginal.values, dtype=float)
    if marginal.kind == "boolean" and None not in marginal.values:
        return np.asarray(marginal.values, dtype=float)
    # a category without effects: drawn at random, or, with a weight, its order
    return rng.standard_normal(len(marginal.values)) if given is None else np.arange(len(marginal.values), dtype=float)


def _cuts(scores: Floats, outcome: Outcome) -> Floats:
    """Cut points that give the wanted shares in the unbiased population."""
    from scipy.optimize import brentq
    from scipy.special import expit

    if outcome.kind == "regression":
        return np.zeros(0)
    size = len(outcome.classes)
    rate = 0.5 if outcome.rate is None else outcome.rate
    above = [rate] if outcome.kind == "binary" else [1 - k / size for k in range(1, size)]
    if outcome.decision == "threshold":
        return np.quantile(scores, [1 - share for share in above])
    low, high = float(scores.min()) - 40, float(scores.max()) + 40
    return np.array([brentq(lambda cut, s=share: expit(scores - cut).mean() - s, low, high) for share in above])
