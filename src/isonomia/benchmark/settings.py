"""What a benchmark varies: one setting of the generator and the model, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal, get_args

from isonomia.data.synthetic.pairs import reached

Task = Literal["binary", "multiclass", "regression"]
FallsOn = Literal["matching", "members"]
Source = Literal["schema", "adult", "compas", "german"]
ModelName = Literal["oracle", "logistic", "forest", "boosting", "network", "boosting_blind"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One point of a grid; the defaults are the centre.

    Attributes
    ----------
    intersectionality, granularity : int
        Protected and other attributes that define a subgroup.
    similarity : float
        Share of defining values that the two subgroups of a pair are to have in common; what their number allows is
        `similarity_reached`.
    bias : float
        Added to the log-odds (regression: to the number) of the biased subgroup of each pair.
    aleatoric, epistemic : float
        Standard deviation of noise in the score, and of the models' weights.
    group_rows, background, n_pairs : int
        Rows drawn for each subgroup and for the plain population; pairs of subgroups.
    model : str
        See `BENCHMARK_MODELS`.
    task : "binary", "multiclass" or "regression"
    falls_on : "matching" or "members"
        Whether the bias falls on all who satisfy the conditions or on the rows drawn for the subgroup alone.
    source : "schema", "adult", "compas" or "german"
    judged : int
        Rows of the fresh sample on which methods are judged.
    """

    intersectionality: int = 2
    granularity: int = 1
    similarity: float = 0.5
    bias: float = -1.0
    aleatoric: float = 0.25
    epistemic: float = 0.1
    group_rows: int = 500
    background: int = 10_000
    n_pairs: int = 5
    model: ModelName = "boosting"
    task: Task = "binary"
    falls_on: FallsOn = "matching"
    source: Source = "schema"
    judged: int = 50_000

    @property
    def null(self) -> bool:
        """Whether nobody is treated differently: no bias, and the generator's own scorer as the model."""
        return self.bias == 0 and self.model == "oracle"

    @property
    def sign(self) -> int:
        """Whom methods are asked for: -1 those treated worse than they should be, 1 those treated better."""
        return 1 if self.bias > 0 else -1

    @property
    def text(self) -> str:
        """What differs from the centre.

        >>> Setting(bias=-2.0, model="forest").text
        'bias=-2 model=forest'
        """
        centre = asdict(CENTRE)
        changed = [
            f"{name}={value:g}" if isinstance(value, int | float) else f"{name}={value}"
            for name, value in asdict(self).items()
            if value != centre[name] and name != "judged"
        ]
        return " ".join(changed) or "centre"

    @property
    def similarity_reached(self) -> float:
        """The mean share of defining values that the two subgroups of a pair have in common."""
        return reached(self.intersectionality + self.granularity, self.similarity, self.n_pairs)

    @property
    def similarity_rounded(self) -> float:
        """The same where every pair is rounded for itself: what cells without a statement of it were measured with."""
        conditions = self.intersectionality + self.granularity
        return 1 - max(round((1 - self.similarity) * conditions), 1) / conditions

    @property
    def stated(self) -> dict[str, float]:
        """The similarity reached, where it is not that of each pair rounded for itself: part of a cell's identity."""
        now = self.similarity_reached
        return {} if abs(now - self.similarity_rounded) < 1e-9 else {"similarity_reached": round(now, 6)}

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return asdict(self)


CENTRE = Setting()
#: The factors and their levels, the centre's among them; each is varied alone around the centre.
LEVELS: dict[str, tuple[Any, ...]] = {
    "intersectionality": (1, 2, 3, 4),
    "granularity": (0, 1, 2, 3),
    "similarity": (0.0, 0.25, 0.5, 0.667),  # the last is the most that three conditions allow
    "bias": (0.0, -0.25, -0.5, -1.0, -2.0, 1.0),
    "aleatoric": (0.0, 0.25, 0.5, 1.0),
    "epistemic": (0.0, 0.1, 0.3, 0.6),
    "group_rows": (50, 100, 250, 500, 2000),
    "background": (2000, 10_000, 100_000),
    "n_pairs": (1, 5, 10, 20),
    "model": get_args(ModelName),
    "task": get_args(Task),
    "falls_on": get_args(FallsOn),
    "source": get_args(Source),
}
#: Factors that are numbers, with the range that Sobol points are drawn from.
RANGES: dict[str, tuple[float, float]] = {
    "intersectionality": (1, 4),
    "granularity": (0, 3),
    "similarity": (0, 1),
    "bias": (-2, -0.25),
    "aleatoric": (0, 1),
    "epistemic": (0, 0.6),
    "group_rows": (50, 2000),
    "background": (2000, 20_000),
    "n_pairs": (1, 10),
}


def one_at_a_time() -> Iterator[Setting]:
    """The centre, then every other level of every factor."""
    yield CENTRE
    for name, levels in LEVELS.items():
        for level in levels:
            if level != getattr(CENTRE, name):
                yield replace(CENTRE, **{name: level})


def bias_by_size(biases: Sequence[float], sizes: Sequence[int]) -> Iterator[Setting]:
    """Every size of bias with every size of subgroup."""
    for bias, size in product(biases, sizes):
        yield replace(CENTRE, bias=bias, group_rows=size)


def sobol_points(n: int) -> Iterator[Setting]:
    """Points spread evenly over the ranges of all numeric factors at once (Sobol, scrambled with a fixed seed)."""
    from scipy.stats import qmc

    points = qmc.Sobol(len(RANGES), rng=0).random(n)
    for point in points:
        chosen: dict[str, Any] = {}
        for (name, (low, high)), share in zip(RANGES.items(), point, strict=True):
            whole = isinstance(getattr(CENTRE, name), int)
            value = low + share * (high + whole - low)
            chosen[name] = min(int(value), int(high)) if whole else round(float(value), 3)
        yield replace(CENTRE, **chosen)


def nulls(n: int) -> Iterator[Setting]:
    """Settings without bias whose model is the generator's own scorer: whatever is claimed is false."""
    noises = product((0.25, 0.0, 0.5, 1.0), (0.1, 0.3), (10_000, 2000), (500, 100))
    for (aleatoric, epistemic, background, size), _ in zip(noises, range(n), strict=False):
        yield replace(
            CENTRE,
            bias=0.0,
            model="oracle",
            aleatoric=aleatoric,
            epistemic=epistemic,
            background=background,
            group_rows=size,
        )
