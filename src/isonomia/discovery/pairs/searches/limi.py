"""LIMI: find the decision boundary in the latent space of a generator, and look on both sides of it."""

from __future__ import annotations

from datetime import date
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import count_by, sum_by
from isonomia.discovery.pairs.method import pair_method
from isonomia.discovery.pairs.people_copula import PeopleCopula
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable
from isonomia.languages import msg
from isonomia.parameters import Boolean, Choice, Either, Integer, Made, Number, validated
from isonomia.probing import Search
from isonomia.typing import Floats

#: Maximum number of latent points per class for the surrogate.
PER_CLASS = 50_000
#: People tested together, about; few points are expected to be someone new who could exist, but this share at least.
ROUND, MIN_TESTED = 2000, 0.1
#: Maximum number of people predicted to order the values of categories.
ORDERING = 5000


class Generator(Protocol):
    """Latent points to people: what LIMI needs of a generator."""

    @property
    def size(self) -> int:
        """How many latent numbers a person has."""

    def people(self, latent: Floats) -> Floats:
        """Rows of the domain for standard normal points (n, size)."""


@pair_method(
    "limi",
    "latent points moved onto a surrogate of the decision boundary and to both sides of it",
    reference="Xiao, Liu, Liu & Dong, Latent imitator: generating natural individual discriminatory instances, "
    "ISSTA 2023",
)
@validated(
    generator=Either(
        Choice(("copula", "pca")),
        Made(lambda it: hasattr(it, "size") and hasattr(it, "people"), "an object with `size` and `people`"),
    ),
    early_stop=Boolean(),
    n_test_samples=Integer(1),
    n_approx_samples=Integer(100),
    lambda_val=Number(at_least=0),
    confidence=Number(at_least=0, at_most=1),
)
def limi(
    space: Space,
    *,
    generator: Literal["copula", "pca"] | Generator = "copula",
    lambda_val: float = 0.3,
    n_test_samples: int = 2000,
    n_approx_samples: int = 50_000,
    confidence: float = 0.7,
    early_stop: bool = False,
) -> Search:
    """Search in a latent space.

    `n_approx_samples` latent points become people, the model scores them, and a linear boundary (support vectors) is
    fitted to those it is sure of (probability of the decided class above `confidence`; the most sure ones, both
    classes alike). Its normal is kept; it is moved along it until as many points lie on either side as the model
    decides either way, since classes made alike pull a boundary into the larger one. Then `n_test_samples` new points
    are moved onto it and tested, then `lambda_val` to its positive side, then to the negative side. With `early_stop`
    a point at which someone was found is not moved on, as in the authors' code.

    The generator is a Gaussian copula of the data (people of plausible make; the values of a category lie on its
    latent line in the order of the model's mean score), "pca" as some re-implementations have it (no claim of being
    natural; the result calls it LIMI-PCA), or anything with ``size`` and ``people(latent)``. The published method
    trains a CTGAN.

    Parameters
    ----------
    generator
        What makes people of latent points: copula, pca, or an object with `size` and `people`.
    lambda_val
        How far points are moved to either side of the boundary.
    n_test_samples
        Points tested.
    n_approx_samples
        Points that the boundary is fitted to.
    confidence
        Probability of the decided class above which a point is used for the fit.
    early_stop
        Whether a point at which someone was found is not moved on.
    """
    people_source = _generator(space, generator)
    space.facts["generator"] = generator if isinstance(generator, str) else type(generator).__name__
    if generator == "pca":
        space.notes.append(msg("LIMI-PCA: the generator is a principal component analysis, not a generative model."))
    latent = space.rng.standard_normal((n_approx_samples, people_source.size))
    weight, offset, auc = _boundary(space, people_source, latent, confidence)
    space.facts["surrogate_auc"] = auc
    if weight is None:
        space.notes.append(
            msg("The model makes the same decision for every generated person, so there is no boundary.")
        )
        yield people_source.people(space.rng.standard_normal((n_test_samples, people_source.size)))
        return
    size, start = ROUND, 0
    while start < n_test_samples:
        points = space.rng.standard_normal((min(size, n_test_samples - start), people_source.size))
        start += len(points)
        left = points - np.outer(points @ weight + offset, weight)
        tested = 0
        for side in (0.0, lambda_val, -lambda_val):
            answer = yield people_source.people(left + side * weight)
            tested += int(answer.fresh.sum())
            left = left[~answer.found] if early_stop else left
        size = int(ROUND / max(tested / (3 * len(points)), MIN_TESTED))


def _generator(space: Space, generator: str | Generator) -> Generator:
    if not isinstance(generator, str):
        return generator
    if len(space.people) < 2:
        raise NotApplicable("LIMI learns its generator from rows of data; only a domain was given")
    return CopulaGenerator(space) if generator == "copula" else PcaGenerator(space)


class CopulaGenerator:
    """A Gaussian copula of the data: standard normals, correlated, become values of the columns' own distributions."""

    def __init__(self, space: Space) -> None:
        self.fitted = PeopleCopula.of(space.domain, space.people, orders=_orders(space))
        correlation = self.fitted.copula.correlation
        self.factor = np.linalg.cholesky(correlation + 1e-9 * np.eye(len(correlation)))

    @property
    def size(self) -> int:
        """One latent number per column, and one for each column that may be missing."""
        return len(self.factor)

    def people(self, latent: Floats) -> Floats:
        """Rows of the domain."""
        return self.fitted.people(latent @ self.factor.T)


def _orders(space: Space) -> dict[str, list[float]]:
    """The values of every category that the data has, from those the model scores lowest on average to the highest.

    They have no order of their own, and a linear boundary can only follow one that the model has. Dates keep theirs.
    """
    some = np.arange(0, len(space.people), max(1, len(space.people) // ORDERING))
    score = _leaning(space, space.people[some])[1]
    orders = {}
    for index, feature in enumerate(space.domain.features):
        if feature.kind != "category":
            continue
        codes, observed = space.people[some, index].astype(np.intp), np.unique(space.people[:, index])
        if len(observed) > 2 and not isinstance(feature.levels[0], date):
            # a value seen once is weak evidence: every mean starts from one average person
            count, total = count_by(codes, len(feature.levels)), sum_by(codes, score, len(feature.levels))
            mean = (total + score.mean()) / (count + 1)
            observed = observed[np.argsort(mean[observed.astype(np.intp)], kind="stable")]
        orders[feature.name] = observed.tolist()
    return orders


class PcaGenerator:
    """Principal components of the standardised columns, as wide as in the data, rounded to valid people."""

    def __init__(self, space: Space) -> None:
        self.domain = space.domain
        middle = (space.domain.low + space.domain.high) / 2
        people = np.where(np.isnan(space.people), middle, space.people)
        self.mean, spread = people.mean(axis=0), people.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)
        _, width, self.axes = np.linalg.svd((people - self.mean) / self.spread, full_matrices=False)
        self.count = max(1, min(10, int(people.shape[1]) - 1))
        self.width = width[: self.count] / np.sqrt(len(people) - 1)

    @property
    def size(self) -> int:
        """At most ten components."""
        return self.count

    def people(self, latent: Floats) -> Floats:
        """Rows of the domain."""
        return self.domain.snap(self.mean + self.spread * ((latent * self.width) @ self.axes[: self.count]))


def _boundary(
    space: Space, people_source: Generator, latent: Floats, confidence: float
) -> tuple[Floats | None, float, float | None]:
    """The unit normal and offset of a linear surrogate of the decision, and its AUC on all latent points.

    The offset leaves as many points on the positive side as the model decides positively: with both classes made
    alike the machine's own one lies far inside the larger class, where nobody is near the model's boundary.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import LinearSVC

    label, score = _leaning(space, people_source.people(latent))
    if label.max() == label.min():
        return None, 0.0, None
    sure = _sure(space, score, label)
    chosen = np.concatenate([_most_certain(sure, label == side, confidence) for side in (0, 1)])
    counts = [int((label[chosen] == side).sum()) for side in (0, 1)]
    if min(counts) == 0:
        return None, 0.0, None
    fewer = int(counts[1] < counts[0])
    extra = space.rng.choice(chosen[label[chosen] == fewer], size=max(counts) - min(counts))
    chosen = np.concatenate([chosen, extra])
    svm = LinearSVC(dual=False, C=1.0).fit(latent[chosen], label[chosen])
    weight = svm.coef_.ravel()
    norm = float(np.linalg.norm(weight))
    if norm == 0:
        return None, 0.0, None
    along = latent @ (weight / norm)
    return weight / norm, -float(np.quantile(along, 1.0 - label.mean())), float(roc_auc_score(label, along))


def _leaning(space: Space, rows: Floats) -> tuple[NDArray[np.int64], Floats]:
    """What the model decides about rows and how it scores them; of several classes, the first against the others."""
    predicted = space.loop.consult(rows)
    if predicted.label is not None and len(space.probe.oracle.classes) > 2:
        others = predicted.label > 0
        return others.astype(np.int64), others.astype(float) if predicted.score is None else 1 - predicted.score[:, 0]
    if predicted.score is None:
        assert predicted.label is not None
        return predicted.label, predicted.label.astype(float)
    score = space.scores_of(predicted.score)
    return predicted.label if predicted.label is not None else (score > np.median(score)).astype(np.int64), score


def _sure(space: Space, score: Floats, label: NDArray[np.int64]) -> Floats:
    """How sure the model is of what it decided, 0 to 1."""
    if space.probe.oracle.task == "regression" or space.probe.oracle.threshold == 0.0:
        index = np.argsort(np.argsort(score)) / max(1, len(score) - 1)
        return np.where(label == 1, index, 1.0 - index)
    return np.where(label == 1, score, 1.0 - score)


def _most_certain(sure: Floats, members: NDArray[np.bool_], confidence: float) -> NDArray[np.intp]:
    """The most sure ones above the confidence; all where none is that sure."""
    rows = np.flatnonzero(members & (sure > confidence))
    rows = rows if len(rows) else np.flatnonzero(members)
    return rows[np.argsort(-sure[rows], kind="stable")[:PER_CLASS]]
