"""How much worse a model gets when its inputs are perturbed: noise, swaps, gaps, wrong units, and an adversary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.errors import ModelError, NotApplicable, SpecError, close_to
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Result
from isonomia.languages import Message, error_message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import METRIC_NAMES
from isonomia.parameters import LEVEL, NAMES, SEED, Boolean, Integer, Number, Several, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.perturbation.adversary import Attack, attack
from isonomia.robustness.perturbation.altered_rows import Altering
from isonomia.robustness.perturbation.perturb_result import show
from isonomia.robustness.perturbation.perturbation_trials import Effect, Trials
from isonomia.robustness.perturbation.perturbers import PERTURBER_NAMES, PERTURBERS, Perturber
from isonomia.robustness.perturbation.trial_metrics import TrialMetrics, choose_metrics
from isonomia.robustness.row_metrics import METRIC
from isonomia.subject import Reading, Subject

#: Steps of 0.05, as far as noise is still noise.
LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
#: The default perturbers; each is tried where there are columns of its kind.
USUAL = ("raw", "quantile", "swap")

Wanted = str | Perturber | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Study:
    """What was tried and what came of it."""

    trials: Trials
    effects: tuple[Effect, ...]
    features: tuple[Effect, ...]
    attacks: tuple[Attack, ...]
    failed: Mapping[str, tuple[Perturber, str]]
    idle: tuple[Perturber, ...]
    tolerance: float
    left_out: Mapping[str, str] = field(default_factory=dict)


@validated(
    levels=Several(Number(at_least=0), 1, single=True),
    n_trials=Integer(1),
    perturbers=PERTURBER_NAMES.or_none(),
    features=NAMES.or_none(),
    metric=METRIC,
    metrics=METRIC_NAMES.or_none(),
    by_feature=Boolean(),
    adversarial=Boolean(),
    budget=Integer(1),
    tolerance=Number(at_least=0),
    keep_valid=Boolean(),
    level=LEVEL,
    seed=SEED,
)
def perturb(
    data: Any,
    model: Any = None,
    *,
    levels: float | Sequence[float] = LEVELS,
    n_trials: int = 10,
    perturbers: Wanted | Sequence[Wanted] | Mapping[str, Callable[..., Any]] | None = None,
    features: Sequence[str] | None = None,
    metric: str | None = None,
    metrics: str | Sequence[str] | None = None,
    by_feature: bool = True,
    adversarial: bool = False,
    budget: int = 100,
    tolerance: float = 0.05,
    keep_valid: bool = True,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Disturb the inputs, predict again, and report what every metric loses.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; rows without one are left out.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : estimator, function or Model
    levels : float or sequence of float
        Levels of strength; the noise in standard deviations ("raw", "correlated", "rounding"), the width of the shift
        in ranks ("quantile"), or the share of values hit ("swap", "missing", "units").
    n_trials : int
        Repetitions with other draws; rounding, which draws nothing, runs once.
    perturbers : name, `Perturber` or function, or several, optional
        Names of `PERTURBERS`; by default "raw", "quantile" and "swap". A function takes ``(frame, level, rng)``, the
        frame of the columns in the user's own kind, and returns a frame of the same rows and columns.
    features : sequence of str, optional
        Features that may be perturbed; all features by default.
    metric, metrics : optional
        Metric of the findings, and metrics to measure; by default accuracy (or the mean absolute error), and every one
        that applies and has a direction.
    by_feature : bool
        Whether each feature is also perturbed alone, at the highest level: its importance for robustness.
    adversarial : bool
        Whether to look for the worst case within each level too, see Notes.
    budget : int
        Queries per row and level that the search for the worst case may use.
    tolerance : float
        Loss that is reported; as a share of the metric's range, or of its value without perturbation where its range
        has no end (a mean absolute error). It is a notice: what would happen, not what did.
    keep_valid : bool
        Perturbed numbers stay within the observed range, and whole where they are whole.
    level, seed
        Of the intervals; of all draws. The draws are the same at every level.

    Returns
    -------
    Result
        Tables ``levels`` (the main metric, perturber by perturber and level by level), ``metrics`` (all metrics),
        ``features`` (each perturbed alone) and ``adversarial``.

    Notes
    -----
    A loss is positive where the metric got worse: MAE risen, AUC fallen. Its interval takes rows and trials as a
    sample: the influence of a row on the change is averaged over the trials, and the spread of these averages is the
    standard error. Metrics without known influences (average precision, calibration error, the largest error) have the
    interval of the mean over trials.

    The adversary moves each number by at most level standard deviations, within the values seen, and may exchange
    categories; see `robustness.adversary`.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> x = np.linspace(-1, 1, 2000)
    >>> data = Dataset({"x": x, "z": x[::-1] ** 2, "y": (x > 0).astype(int)}, target="y")
    >>> result = perturb(data, lambda frame: (frame["x"] > 0).astype(int), levels=[0, 0.3], perturbers="raw")
    >>> [(row["level"], round(row["drop"], 2)) for row in result.tables["levels"].rows()]
    [(0.0, 0.0), (0.3, 0.07)]
    >>> [(row["feature"], round(row["drop"], 2)) for row in result.tables["features"].rows()]
    [('x', 0.07), ('z', 0.0)]
    """
    chosen = choose_perturbers(perturbers)
    steps = _levels(levels, chosen)
    subject = Subject.of(data, model, progress=progress, **given).needs_outcomes()
    model_ = subject.needs_model()
    surface = subject.surface
    metrics_ = choose_metrics(metrics, metric, subject.truth, surface, subject.weights)
    names = check_features(subject.known, features)
    events = subject.progress
    altering = Altering(subject.known, model_, names, surface, strict=features is not None, progress=events)
    measures = TrialMetrics(metrics_, subject.truth, subject.weights, level)
    trials = Trials(altering, measures, n_trials=n_trials, level=level, seed=seed, keep_valid=keep_valid)
    run = _Run(trials, events)
    for perturber in chosen:
        run.all_levels(perturber, steps)
    if by_feature:
        run.single_features(max(steps))
    if not run.effects:
        raise NotApplicable(run.reason())
    attacks = attack(trials, [step for step in steps if step > 0], budget=budget) if adversarial else ()
    study = Study(
        trials,
        tuple(run.effects),
        tuple(run.features),
        attacks,
        run.failed,
        tuple(run.idle),
        tolerance,
        altering.left,
    )
    return subject.noted(show(study, subject.backend))


class _Run:
    """All trials, one after the other; a model that fails under a perturber is reported, not raised."""

    def __init__(self, trials: Trials, progress: Progress) -> None:
        self.trials, self.progress = trials, progress
        self.effects: list[Effect] = []
        self.features: list[Effect] = []
        self.failed: dict[str, tuple[Perturber, str]] = {}
        self.idle: list[Perturber] = []
        self.ran: list[Perturber] = []

    def all_levels(self, perturber: Perturber, steps: Sequence[float]) -> None:
        indices = self._indices(perturber)
        if not indices.size:
            self.idle.append(perturber)
            return
        with self.progress.stage(perturber.id, perturber.title, total=len(steps)) as stage:
            for step in stage.over(steps):
                try:
                    self.effects.append(self.trials.run(perturber, step, indices))
                except ModelError as error:
                    self.failed[perturber.id] = (perturber, as_text(error_message(error)))
                    return
        self.ran.append(perturber)

    def single_features(self, step: float) -> None:
        """Each feature alone, perturbed by the first perturber that ran and can change it."""
        names = self.trials.altering.names
        with self.progress.stage("features", msg("Perturbing single features"), total=len(names)) as stage:
            for index in stage.over(range(len(names))):
                able = [one for one in self.ran if index in self._indices(one)]
                if able:
                    self.features.append(self.trials.run(able[0], step, np.array([index])))

    def _indices(self, perturber: Perturber) -> Any:
        """The columns that a perturber can change: of its kind, and not constant where it goes by what was seen."""
        columns = self.trials.altering.columns
        able = perturber.changes(columns)
        return np.flatnonzero(able & ~columns.constant if perturber.valid and perturber.on_frame is None else able)

    def reason(self) -> Message | str:
        """Why nothing ran."""
        if self.failed:
            return next(iter(self.failed.values()))[1]
        names = ", ".join(f"'{one.id}'" for one in self.idle)
        return msg("no column can be perturbed by {names}: each is constant or of another kind", names=names)


def choose_perturbers(
    wanted: Wanted | Sequence[Wanted] | Mapping[str, Callable[..., Any]] | None,
) -> tuple[Perturber, ...]:
    """Perturbers by name, as they are, or made of functions of frames.

    >>> [one.id for one in choose_perturbers(["raw", lambda frame, level, rng: frame])]
    ['raw', '<lambda>']
    """
    if isinstance(wanted, Mapping):
        chosen = [_made(function, str(name)) for name, function in wanted.items()]
    elif wanted is None:
        chosen = [PERTURBERS[name] for name in USUAL]
    else:
        several = [wanted] if isinstance(wanted, str | Perturber) or callable(wanted) else list(wanted)
        chosen = [_one(item) for item in several]
    if not chosen:
        raise SpecError(f"`perturbers` must name at least one; got {wanted!r}.{close_to('', PERTURBERS.ids())}")
    ids = [one.id for one in chosen]
    twice = [name for name in ids if ids.count(name) > 1]
    if twice:
        raise SpecError(f"`perturbers` names {twice[0]!r} twice. Give functions names: {{'mine': function, ...}}.")
    return tuple(chosen)


def _one(item: Any) -> Perturber:
    if isinstance(item, Perturber):
        return item
    if isinstance(item, str):
        return PERTURBERS[item]
    return _made(item, getattr(item, "__name__", type(item).__name__))


def _made(function: Callable[..., Any], name: str) -> Perturber:
    return Perturber(name, "a function of the user", msg("{name}", name=name), on_frame=function, valid=False)


def _levels(levels: Any, chosen: Sequence[Perturber]) -> tuple[float, ...]:
    return tuple(sorted({one.check_level(step, "levels") for one in chosen for step in levels}))
