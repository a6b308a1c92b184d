"""How firm each decision is: how often it survives small perturbations, and how far the nearest other one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.counting import Codes
from isonomia.errors import NotApplicable, SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Result, wilson
from isonomia.languages import msg
from isonomia.models import Surface
from isonomia.parameters import LEVEL, MIN_PER_GROUP, NAMES, SEED, Boolean, Integer, Number, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.perturbation.altered_rows import Altering, check_frame
from isonomia.robustness.perturbation.local_robustness_tables import show
from isonomia.robustness.perturbation.nearest_flip import Judge, Nearest, Search
from isonomia.robustness.perturbation.perturb import Wanted, choose_perturbers
from isonomia.robustness.perturbation.perturbation_trials import differences
from isonomia.robustness.perturbation.perturbers import PERTURBER_NAMES, PERTURBERS, Perturber, perturb_rows
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

#: Decisions that survive fewer perturbed copies than this are fragile.
FRAGILE = 0.8


@dataclass(frozen=True, repr=False)
class LocalRobustness(Result):
    """How firm each decision is.

    Attributes
    ----------
    scores : array of float
        For each row of the data the share of perturbed copies with the same decision; for numbers, with a prediction
        within the tolerance.
    deviation : array of float
        For each row the mean change of the prediction, over the tolerance for numbers.
    distance : array of float
        For each row how far the nearest other decision that was found is, in standard deviations; NaN where none was
        found or none was looked for.
    """

    scores: Floats = field(default_factory=lambda: np.empty(0), kw_only=True)
    deviation: Floats = field(default_factory=lambda: np.empty(0), kw_only=True)
    distance: Floats = field(default_factory=lambda: np.empty(0), kw_only=True)


@dataclass(frozen=True, eq=False)
class Firmness:
    """What was measured, before it is shown."""

    altering: Altering
    scores: Floats
    low: Floats
    high: Floats
    deviation: Floats
    nearest: Nearest | None
    after: Surface | None
    groups: tuple[Codes, ...]
    weights: Floats | None
    privileged: Any
    perturbers: tuple[Perturber, ...]
    strength: float
    n_iterations: int
    tolerance: float | None
    fragile: float
    most_rows: int
    min_per_group: int
    level: float


@validated(
    strength=Number(at_least=0),
    n_iterations=Integer(1),
    perturbers=PERTURBER_NAMES.or_none(),
    features=NAMES.or_none(),
    tolerance=Number(at_least=0).or_none(),
    nearest=Boolean(),
    budget=Integer(1),
    fragile=Number(at_least=0),
    most_rows=Integer(1),
    min_per_group=MIN_PER_GROUP,
    keep_valid=Boolean(),
    level=LEVEL,
    seed=SEED,
)
def local_robustness(
    data: Any,
    model: Any = None,
    *,
    strength: float = 0.1,
    n_iterations: int = 10,
    perturbers: Wanted | Sequence[Wanted] | None = None,
    features: Sequence[str] | None = None,
    tolerance: float | None = None,
    nearest: bool = True,
    budget: int = 40,
    fragile: float = FRAGILE,
    most_rows: int = 20,
    min_per_group: int = 30,
    keep_valid: bool = True,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> LocalRobustness:
    """Perturb every row a few times, see whether its decision stays, and look for the nearest flip.

    Parameters
    ----------
    data : Dataset
        A target is not needed. Protected attributes are compared.
    model : estimator, function or Model
    strength : float
        The level of the perturbers: standard deviations of noise, share of categories swapped.
    n_iterations : int
        Perturbed copies of each row.
    perturbers : name, `Perturber` or function, or several, optional
        Perturbers applied one after the other to every copy; by default noise on numbers and swaps of categories. A
        function of frames stands alone.
    features : sequence of str, optional
        What may change; all features by default.
    tolerance : float, optional
        Largest move of a number (or score) that counts as the same prediction. By default a
        tenth of the standard deviation of the predictions.
    nearest : bool
        Whether to look for the nearest flip of each row.
    budget : int
        Queries per row that this search may use.
    fragile : float
        Decisions with a lower score are fragile.
    most_rows : int
        How many of the most fragile rows are listed.
    min_per_group : int
        Minimum number of rows of a group that is tested; smaller ones are shown.
    keep_valid, level, seed
        Perturbed values stay valid; level of the intervals; seed of all draws.

    Returns
    -------
    LocalRobustness
        With ``scores``, ``deviation`` and ``distance`` a row. Tables ``fragile`` (the most fragile rows and what flips
        them), ``groups`` (are some people's decisions more fragile than others'?), ``flips`` (which features flip
        decisions) and ``distribution`` (of the scores).

    Notes
    -----
    The score of a row has Wilson's interval over its copies. The distance is sqrt(sum of squared moves in standard
    deviations + categories exchanged) of the nearest flip found: an upper bound of the true distance, exact for linear
    models. A group is compared with the privileged one (else the largest) by Welch's test of the mean share of copies
    that flip, adjusted over all groups.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> x = np.append(np.linspace(-3, -1, 50), [0.01, 1.0])
    >>> found = local_robustness(Dataset({"x": x}), lambda frame: (frame["x"] > 0).astype(int), n_iterations=50)
    >>> int(found.scores.argmin()), round(float(found.distance[50] * x.std()), 3)
    (50, 0.01)
    >>> float(found.scores[0])
    1.0
    """
    subject = Subject.of(data, model, progress=progress, **given)
    rows = subject.known
    chosen = _perturbers(perturbers)
    steps = [one.check_level(strength, "strength") for one in chosen]
    events = subject.progress
    names = check_features(rows, features)
    altering = Altering(
        rows, subject.needs_model(), names, subject.surface, strict=features is not None, progress=events
    )
    judge = Judge(altering.predicted, tolerance)
    copies = Copies(altering, chosen, steps[0], keep_valid=keep_valid, seed=seed)
    search = Search(altering, judge, budget=budget, seed=seed) if nearest else None
    same, deviation = copies.run(n_iterations, judge, search, events)
    found = None if search is None else search.run(events)
    low, high = wilson(same, n_iterations, level)
    firm = Firmness(
        altering,
        same / n_iterations,
        low,
        high,
        deviation,
        found,
        _after(altering, found),
        subject.attributes,
        subject.weights,
        rows.privileged,
        chosen,
        strength,
        n_iterations,
        judge.tolerance,
        fragile,
        most_rows,
        min_per_group,
        level,
    )
    return subject.noted(show(firm, rows.backend))


def _perturbers(wanted: Any) -> tuple[Perturber, ...]:
    chosen = choose_perturbers(wanted) if wanted is not None else (PERTURBERS["raw"], PERTURBERS["swap"])
    if len(chosen) > 1 and any(one.on_frame is not None for one in chosen):
        raise SpecError(
            "A function of frames cannot be combined with other perturbers. Leave them out, or call them inside it."
        )
    return chosen


def _after(altering: Altering, found: Nearest | None) -> Surface | None:
    """What the model says about the nearest flips, for the rows that have one."""
    if found is None or np.isnan(found.distance).all():
        return None
    return altering.ask_changed(found.rows)[0]


class Copies:
    """Disturbed copies of all rows, as many at a time as fit."""

    def __init__(
        self, altering: Altering, perturbers: Sequence[Perturber], strength: float, *, keep_valid: bool, seed: int
    ) -> None:
        self.altering, self.strength, self.keep_valid, self.seed = altering, strength, keep_valid, seed
        columns = altering.columns
        # noise is scaled to the known values, and leaves a constant column as it is
        self.perturbers = [
            one
            for one in perturbers
            if one.on_frame is not None or (one.changes(columns) & ~(columns.constant & one.valid)).any()
        ]
        if not self.perturbers:
            names = ", ".join(f"'{one.id}'" for one in perturbers)
            raise NotApplicable(
                msg("no column can be perturbed by {names}: each is constant or of another kind", names=names)
            )

    def run(self, count: int, judge: Judge, search: Search | None, progress: Progress) -> tuple[Floats, Floats]:
        """How many copies of each row keep their decision, and the mean change of its prediction."""
        n = len(self.altering)
        same, moved = np.zeros(n), np.zeros(n)
        step = max(1, self.altering.portion // n)
        everyone = np.arange(n)
        stage = progress.stage("copies", msg("Perturbing every row"), total=count)
        for start in range(0, count, step):
            stage.at(start)
            size = min(step, count - start)
            rngs = [self.generator(copy) for copy in range(start, start + size)]
            first = self.perturbers[0]
            rows = None
            if first.on_frame is not None:
                frame = self.altering.whole
                made = [check_frame(first.on_frame(frame, self.strength, rng), frame, first.id) for rng in rngs]
                predicted = self.altering.ask_frames(made, np.arange(len(self.altering.names)))
            else:
                rows = np.concatenate([self.disturbed(rng) for rng in rngs])
                predicted, _ = self.altering.ask_changed(rows, size)
            own = np.tile(everyone, size)
            flipped = judge.changed(predicted, own)
            same += size - flipped.reshape(size, n).sum(axis=0)
            moved += differences(self.altering.predicted, predicted)[1].sum(axis=0)
            if search is not None and rows is not None:
                search.keep(rows, own, flipped)
        scale = judge.tolerance if judge.tolerance else 1.0
        return same, moved / count / scale

    def generator(self, copy: int) -> np.random.Generator:
        """The draws of one copy of all rows."""
        return np.random.default_rng([self.seed, 3, copy])

    def disturbed(self, rng: np.random.Generator) -> Floats:
        """One copy of all rows, perturbed by every perturber in turn."""
        rows = self.altering.rows
        for one in self.perturbers:
            rows = perturb_rows(one, rows, self.altering.columns, self.strength, rng, keep_valid=self.keep_valid)
        return rows
