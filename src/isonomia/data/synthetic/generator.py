"""The generator: four phases from a source (or a schema) to a dataset whose biases are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from isonomia.data.dataset import Dataset
from isonomia.data.synthetic.conditions import Condition
from isonomia.data.synthetic.copula import Coded, Copula
from isonomia.data.synthetic.outcome import Outcome, OutcomeKind, Scorer
from isonomia.data.synthetic.pairs import Amount, Pair, amounts, define_pairs
from isonomia.data.synthetic.source import Source, read_source
from isonomia.data.synthetic.truth import GroundTruth, Side, Subgroup
from isonomia.errors import SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.languages import msg
from isonomia.parameters import SEED, Choice, Integer, Maybe, validated
from isonomia.typing import Floats

#: What `_subgroup` says of rows drawn for none.
BACKGROUND = "background"

Applies = Literal["matching", "members"]


@dataclass(frozen=True, eq=False)
class Synthetic:
    """A synthetic dataset with what is true about it.

    Attributes
    ----------
    dataset : Dataset
        Ready to be audited: target, positive, protected, privileged; its features exclude the annotations.
    truth : GroundTruth
        The subgroups, their rows and their bias.
    copula : Copula
        The population that rows were drawn from.
    scorer : Scorer
        The linear model behind the outcome, without bias.
    """

    dataset: Dataset
    truth: GroundTruth
    copula: Copula
    scorer: Scorer

    @property
    def frame(self) -> Any:
        """All columns, annotations included (they start with an underscore)."""
        return self.dataset.frame

    def scores(self, frame: Any, *, biased: bool = True) -> Floats:
        """The score of people of any frame by the generator's own rule, without noise.

        Parameters
        ----------
        frame : frame with the columns of the generator
        biased : bool
            Whether the bias of every subgroup whose conditions a person satisfies is added.
        """
        score = self.scorer.design(self.copula.codes(frame)) @ self.scorer.weights
        for subgroup in self.truth.biased if biased else ():
            score = score + subgroup.bias * subgroup.matches(frame)
        return score

    def __repr__(self) -> str:
        return f"Synthetic({len(self.dataset)} rows, {len(self.truth.biased)} biased subgroups; {self.dataset!r})"


@validated(applies=Choice(("matching", "members")), n_pairs=Maybe(Integer(0)), n_background=Integer(0), seed=SEED)
def generate(
    source: Any,
    *,
    n_pairs: int | None = None,
    n_samples: Amount = 500,
    n_background: int = 10_000,
    bias: Amount = -1.0,
    similarity: Amount = (0.0, 1.0),
    intersectionality: Amount | None = None,
    granularity: Amount | None = None,
    aleatoric: Amount = 0.25,
    epistemic: Amount = 0.1,
    outcome: OutcomeKind | Outcome = "binary",
    pairs: Sequence[Pair | Mapping[str, Any]] | None = None,
    applies: Applies = "matching",
    protected: str | Sequence[str] | Mapping[str, Any] | None = None,
    privileged: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    name: str | None = None,
    seed: int = 0,
    progress: ProgressLike = None,
) -> Synthetic:
    """Generate data with injected, annotated bias.

    Phase 1 fits a Gaussian copula to `source`. Phase 2 defines pairs of subgroups. Phase 3 draws each subgroup's
    people, and a background population, from the copula. Phase 4 gives every row a score

        x w + (sum of the biases of its subgroups) + e x delta_m + noise,    noise ~ N(0, aleatoric^2)

    with w a linear model that sees no protected attribute, delta_m a random member of an ensemble of perturbations of
    it, and turns the score into a label with probability sigmoid(score - cut).

    Parameters
    ----------
    source : Dataset, frame, Schema (or a mapping that is one), or Copula
        Real data (descriptive) or a schema (prescriptive).
    n_pairs : int, optional
        Pairs of subgroups; by default 10, or as many as can be formed.
    n_samples : Amount
        Rows of each subgroup. An Amount is one number for all pairs, a tuple (low, high) to draw one per pair, or
        a list with one per pair.
    n_background : int
        Rows of the plain population.
    bias : Amount
        Added to the score of side A of a pair (negative: unfavourable); a list may contain (side A, side B) pairs.
    similarity : Amount
        The share of defining values that side B keeps from side A; one protected attribute always differs.
    intersectionality, granularity : Amount
        How many protected, and how many other attributes define a subgroup; by default 1 or 2, and 0 to 2, or as many
        as there are.
    aleatoric, epistemic : Amount
        The standard deviation of noise in the score; the standard deviation of the models' weights around w.
    outcome : "binary", "multiclass", "regression" or Outcome
    pairs : sequence, optional
        Explicit pairs instead of drawn ones: ``{"a": {"sex": "F"}, "b": {"sex": "M"}, "bias": -1}``.
    applies : "matching" or "members"
        Whether a bias falls on every row that satisfies the subgroup's conditions (as a biased rule would) or only on
        the rows drawn for the subgroup.
    protected, privileged : optional
        As in `Dataset`; by default those of the source.
    columns : sequence of str, optional
        The columns to model; by default the features of a dataset, every column of a frame.
    seed : int
        The same seed gives the same data.
    progress : callable or Progress, optional
        Receives the events of the work; a `Progress` can cancel it.

    Returns
    -------
    Synthetic
        The frame has, beside the columns and the target: `_subgroup` (for which the row was drawn), `_bias` (the total
        on the row), `_epistemic` (standard deviation of the score over the ensemble), `_aleatoric` (standard deviation
        of its noise), `_score`, and `_probability` of the most favourable label (not for regression).

    Examples
    --------
    >>> columns = {"sex": {"categories": {"F": 0.5, "M": 0.5}}, "pay": {"normal": {"mean": 3, "sd": 1}}}
    >>> made = generate({"columns": columns, "protected": ["sex"], "privileged": {"sex": "M"}},
    ...                 n_pairs=1, n_samples=50, n_background=100, intersectionality=1, granularity=0, seed=3)
    >>> made
    Synthetic(200 rows, 1 biased subgroups; Dataset(200 rows, binary target 'outcome' (positive: 1), protected: sex))
    >>> made.dataset.features
    ('sex', 'pay')
    """
    events = Progress.of(progress)
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    with events.stage("fit", msg("Learning the columns")):
        plan = read_source(source, outcome, protected, privileged, columns, name, seed)
    made = _pairs(plan, pairs, n_pairs, intersectionality, granularity, similarity, bias, streams[0])
    count = len(made)
    sizes = amounts(n_samples, count, streams[0], "n_samples", low=0, high=1e9, whole=True).astype(int)
    noise = amounts(aleatoric, count, streams[0], "aleatoric", low=0, high=1e6)
    doubt = amounts(epistemic, count, streams[0], "epistemic", low=0, high=1e6)
    if sizes.sum() == 0 and n_background == 0:
        raise SpecError("There would be no row at all: give `n_samples` or `n_background` above 0.")
    coded, drawn_for = _populate(plan.copula, made, sizes, n_background, streams[1], events)
    levels = _spread(drawn_for, noise, aleatoric), _spread(drawn_for, doubt, epistemic)
    settings = {"seed": seed, "n_pairs": count, "n_background": n_background, "applies": applies}
    return _assemble(plan, made, coded, drawn_for, levels, settings, streams[2])


def _pairs(
    plan: Source,
    given: Sequence[Pair | Mapping[str, Any]] | None,
    n_pairs: int | None,
    intersectionality: Amount | None,
    granularity: Amount | None,
    similarity: Amount,
    bias: Amount,
    rng: np.random.Generator,
) -> list[Pair]:
    """Phase 2: the pairs given, checked, or as many as wanted, drawn."""
    if given is None:
        return define_pairs(
            plan.copula,
            plan.protected,
            n_pairs=n_pairs,
            intersectionality=intersectionality,
            granularity=granularity,
            similarity=similarity,
            bias=bias,
            rng=rng,
        )
    made = [Pair.of(pair) for pair in given]
    for index, pair in enumerate(made, start=1):
        sides = [{c for c in side if c.column in plan.protected} for side in (pair.a, pair.b)]
        if sides[0] == sides[1]:
            raise SpecError(
                f"The sides of pair {index} do not differ in a protected attribute "
                f"({', '.join(plan.protected)}); give them different conditions on one."
            )
    return made


def _populate(
    copula: Copula,
    pairs: list[Pair],
    sizes: NDArray[Any],
    n_background: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Coded, NDArray[np.int64]]:
    """Phase 3: the shuffled rows of all subgroups and the background, and for which each was drawn (-1: none)."""
    blocks: list[Coded] = []
    owner: list[int] = []
    sides = [side for pair in pairs for side in (pair.a, pair.b)]
    stage = progress.stage("populate", msg("Drawing rows"), total=len(sides) + 1)
    for index, conditions in enumerate(sides):
        n = int(sizes[index // 2])
        copula._boxes(conditions)  # an impossible condition is an error even where no row is drawn
        if n:
            blocks.append(copula.draw(n, rng, conditions))
            owner += [index] * n
        stage.advance()
    if n_background:
        blocks.append(copula.draw(n_background, rng))
        owner += [-1] * n_background
    stage.advance()
    order = rng.permutation(len(owner))
    coded = {column: np.concatenate([block[column] for block in blocks])[order] for column in copula.columns}
    return coded, np.asarray(owner, dtype=np.int64)[order]


def _spread(drawn_for: NDArray[np.int64], values: Floats, given: Amount) -> Floats:
    """One uncertainty level per row: its pair's, and for the background the middle of what was asked for."""
    if isinstance(given, Mapping):
        given = (given["low"], given["high"])
    numbers = np.asarray(given if isinstance(given, Sequence) else [given], dtype=float)
    return np.append(values, numbers.mean())[np.where(drawn_for < 0, -1, drawn_for // 2)]


def _assemble(
    plan: Source,
    pairs: list[Pair],
    coded: Coded,
    drawn_for: NDArray[np.int64],
    levels: tuple[Floats, Floats],
    settings: dict[str, Any],
    rng: np.random.Generator,
) -> Synthetic:
    """Phase 4: scores, labels, annotations and the ground truth."""
    n = drawn_for.size
    aleatoric, epistemic = levels
    carriers: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    total = np.zeros(n)
    for index in range(2 * len(pairs)):
        pair = pairs[index // 2]
        members = np.flatnonzero(drawn_for == index)
        conditions, size = (pair.a, pair.bias_a) if index % 2 == 0 else (pair.b, pair.bias_b)
        rows = members if settings["applies"] == "members" else np.flatnonzero(_mask(plan.copula, coded, conditions, n))
        total[rows] += size
        carriers.append((members, rows))
    scorer = Scorer.make(plan.copula, plan.outcome, tuple(plan.protected), rng)
    score, deviation = scorer.score(scorer.design(coded), epistemic, rng)
    score = score + total + aleatoric * rng.standard_normal(n)
    labels, probability = scorer.decide(score, plan.outcome, rng)
    names = np.empty(2 * len(pairs) + 1, dtype=object)
    names[:] = [*(_id(index) for index in range(2 * len(pairs))), BACKGROUND]
    extra: dict[str, NDArray[Any]] = {
        str(plan.outcome.target): labels,
        "_subgroup": names[drawn_for],
        "_bias": total,
        "_epistemic": deviation,
        "_aleatoric": aleatoric,
        "_score": score,
    }
    if probability is not None:
        extra["_probability"] = probability
    dataset = Dataset(
        plan.copula.frame(coded, extra),
        target=plan.outcome.target,
        positive=plan.outcome.classes[1] if plan.outcome.kind == "binary" else None,
        protected=dict(plan.protected),
        privileged=plan.privileged,
        features=plan.features,
        kinds={column: marginal.kind for column, marginal in plan.copula.marginals.items()},
        task=plan.outcome.kind,
        name=plan.name,
    )
    subgroups = tuple(
        _subgroup(plan.copula, index, pairs[index // 2], carrier, aleatoric, deviation)
        for index, carrier in enumerate(carriers)
    )
    return Synthetic(dataset, GroundTruth(subgroups, n, settings), plan.copula, scorer)


def _mask(copula: Copula, coded: Coded, conditions: Sequence[Condition], n: int) -> NDArray[np.bool_]:
    rows = np.ones(n, dtype=bool)
    for condition in conditions:
        rows &= copula.marginals[condition.column].mask(condition, coded[condition.column])
    return rows


def _subgroup(
    copula: Copula,
    index: int,
    pair: Pair,
    carrier: tuple[NDArray[np.int64], NDArray[np.int64]],
    aleatoric: Floats,
    deviation: Floats,
) -> Subgroup:
    members, rows = carrier
    side: Side = "A" if index % 2 == 0 else "B"
    conditions = pair.a if side == "A" else pair.b
    return Subgroup(
        id=_id(index),
        pair=index // 2 + 1,
        side=side,
        conditions=conditions,
        bias=pair.bias_a if side == "A" else pair.bias_b,
        similarity=pair.similarity,
        share=copula.probability(conditions),
        aleatoric=float(aleatoric[rows].mean()) if rows.size else None,
        epistemic=float(deviation[rows].mean()) if rows.size else None,
        members=members,
        rows=rows,
    )


def _id(index: int) -> str:
    return f"P{index // 2 + 1:02d}{'AB'[index % 2]}"
