"""LIMI: find the decision boundary in the latent space of a generator, and look on both sides of it."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from isonomia.data.synthetic import Copula
from isonomia.data.synthetic.marginals import Levels
from isonomia.discovery.pairs.method import at_least, pair_method
from isonomia.discovery.pairs.space import Space
from isonomia.errors import NotApplicable, SpecError
from isonomia.languages import msg
from isonomia.probing import Search
from isonomia.probing.features import Floats

#: Latent points of each class the surrogate is fitted to, at most.
PER_CLASS = 50_000
#: Latent points tested together.
ROUND = 20_000


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
def limi(
    space: Space,
    *,
    generator: Literal["copula", "pca"] | Generator = "copula",
    lambda_val: float = 0.3,
    n_test_samples: int = 2000,
    n_approx_samples: int = 50_000,
    confidence: float = 0.7,
) -> Search:
    """Search in a latent space.

    `n_approx_samples` latent points become people, the model scores them, and a linear boundary (support vectors) is
    fitted to those it is sure of (probability of the decided class above `confidence`; the most sure ones, both
    classes alike). Then `n_test_samples` new points are moved onto that boundary and tested; those not found are
    tested `lambda_val` to the positive side of it, and after that to the negative side.

    The generator is a Gaussian copula of the data (people of plausible make), "pca" as some re-implementations have
    it (no claim of being natural; the result calls it LIMI-PCA), or anything with ``size`` and ``people(latent)``. The
    published method trains a CTGAN.
    """
    at_least("n_test_samples", n_test_samples, 1)
    at_least("n_approx_samples", n_approx_samples, 100)
    made = _generator(space, generator)
    space.facts["generator"] = generator if isinstance(generator, str) else type(generator).__name__
    if generator == "pca":
        space.notes.append(msg("LIMI-PCA: the generator is a principal component analysis, not a generative model."))
    latent = space.rng.standard_normal((n_approx_samples, made.size))
    weight, offset, auc = _boundary(space, made, latent, confidence)
    space.facts["surrogate_auc"] = auc
    if weight is None:
        space.notes.append(msg("The model decides the same about every generated person; there is no boundary."))
        yield made.people(space.rng.standard_normal((n_test_samples, made.size)))
        return
    for start in range(0, n_test_samples, ROUND):
        points = space.rng.standard_normal((min(ROUND, n_test_samples - start), made.size))
        left = points - np.outer(points @ weight + offset, weight)
        for side in (0.0, lambda_val, -lambda_val):
            answer = yield made.people(left + side * weight)
            left = left[~answer.found]


def _generator(space: Space, generator: str | Generator) -> Generator:
    if not isinstance(generator, str):
        return generator
    if generator not in ("copula", "pca"):
        raise SpecError(
            f"`generator` must be 'copula', 'pca' or an object with `size` and `people`; got {generator!r}."
        )
    if len(space.people) < 2:
        raise NotApplicable("LIMI learns its generator from rows of data; only a domain was given")
    return CopulaGenerator(space) if generator == "copula" else PcaGenerator(space)


class CopulaGenerator:
    """A Gaussian copula of the data: standard normals, correlated, become values of the columns' own distributions."""

    def __init__(self, space: Space) -> None:
        self.domain = space.domain
        self.copula = Copula.fit(space.domain.decode(space.people))
        self._places = [
            np.append(feature.places(marginal.values), np.nan) if isinstance(marginal, Levels) else None
            for feature, marginal in zip(space.domain.features, self.copula.marginals.values(), strict=True)
        ]
        correlation = self.copula.correlation
        self.factor = np.linalg.cholesky(correlation + 1e-9 * np.eye(len(correlation)))

    @property
    def size(self) -> int:
        """One latent number a column, and one for each column that may be missing."""
        return len(self.factor)

    def people(self, latent: Floats) -> Floats:
        """Rows of the domain."""
        coded = self.copula.decode(latent @ self.factor.T)
        rows = np.empty((len(latent), len(self.domain)))
        for place, (known, codes) in enumerate(zip(self._places, coded.values(), strict=True)):
            rows[:, place] = codes if known is None else known[codes]  # code -1, missing, is the last one
        return self.domain.snap(rows)


class PcaGenerator:
    """Principal components of the scaled columns, as wide as in the data, rounded to valid people."""

    def __init__(self, space: Space) -> None:
        self.space = space
        scaled = space.scaled(space.people)
        self.mean = scaled.mean(axis=0)
        _, width, self.axes = np.linalg.svd(scaled - self.mean, full_matrices=False)
        self.count = max(1, min(10, int(scaled.shape[1]) - 1))
        self.width = width[: self.count] / np.sqrt(len(scaled) - 1)

    @property
    def size(self) -> int:
        """At most ten components."""
        return self.count

    def people(self, latent: Floats) -> Floats:
        """Rows of the domain."""
        domain = self.space.domain
        scaled = self.mean + (latent * self.width) @ self.axes[: self.count]
        return domain.snap(domain.low + scaled * (domain.high - domain.low))


def _boundary(
    space: Space, made: Generator, latent: Floats, confidence: float
) -> tuple[Floats | None, float, float | None]:
    """The unit normal and offset of a linear surrogate of the decision, and its AUC on all latent points."""
    from sklearn.metrics import roc_auc_score
    from sklearn.svm import LinearSVC

    said = space.loop.consult(made.people(latent))
    score = said.label.astype(float) if said.score is None and said.label is not None else space.scores_of(said.score)
    label = said.label if said.label is not None else (score > np.median(score)).astype(np.int64)
    if said.score is not None and said.score.ndim == 2:  # several classes: the first against the others
        label, score = (label > 0).astype(np.int64), 1.0 - said.score[:, 0]
    if label.max() == label.min():
        return None, 0.0, None
    sure = _sure(space, score, label)
    chosen = np.concatenate([_most_sure(sure, label == side, confidence) for side in (0, 1)])
    counts = [int((label[chosen] == side).sum()) for side in (0, 1)]
    if min(counts) == 0:
        return None, 0.0, None
    fewer = int(counts[1] < counts[0])
    extra = space.rng.choice(chosen[label[chosen] == fewer], size=max(counts) - min(counts))
    chosen = np.concatenate([chosen, extra])
    svm = LinearSVC(dual=False, C=1.0).fit(latent[chosen], label[chosen])
    weight, offset = svm.coef_.ravel(), float(svm.intercept_[0])
    norm = float(np.linalg.norm(weight))
    if norm == 0:
        return None, 0.0, None
    auc = float(roc_auc_score(label, latent @ weight))
    return weight / norm, offset / norm, auc


def _sure(space: Space, score: Floats, label: NDArray[np.int64]) -> Floats:
    """How sure the model is of what it decided, 0 to 1."""
    if space.probe.oracle.task == "regression" or space.probe.oracle.threshold == 0.0:
        place = np.argsort(np.argsort(score)) / max(1, len(score) - 1)
        return np.where(label == 1, place, 1.0 - place)
    return np.where(label == 1, score, 1.0 - score)


def _most_sure(sure: Floats, members: NDArray[np.bool_], confidence: float) -> NDArray[np.intp]:
    """The most sure ones above the confidence; all where none is that sure."""
    rows = np.flatnonzero(members & (sure > confidence))
    rows = rows if len(rows) else np.flatnonzero(members)
    return rows[np.argsort(-sure[rows], kind="stable")[:PER_CLASS]]
