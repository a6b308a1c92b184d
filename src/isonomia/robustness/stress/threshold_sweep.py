"""Performance and fairness at every threshold: what another one would cost, and whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from isonomia.counting import Codes, quantiles
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import ProgressLike
from isonomia.evidence import Gaps, Result, gaps_of_rates, simultaneous_level
from isonomia.languages import Message, msg
from isonomia.metrics import METRIC_NAMES, METRICS, Measured, Metric, ThresholdSets, measure
from isonomia.models import Surface
from isonomia.parameters import (
    LEVEL,
    MIN_PER_GROUP,
    N_BOOT,
    SEED,
    Anything,
    Choice,
    Either,
    Integer,
    Keyed,
    Number,
    Several,
    validated,
)
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

#: Metrics of the sweep where none are named.
USUAL = (
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "f1",
    "matthews_corrcoef",
    "selection_rate",
)
#: Rates that are compared between groups.
COMPARED = ("selection_rate", "tpr", "fpr")
STEPS, MOST = 101, 5001
#: Value and both ends of the interval at every threshold.
Curve = tuple[Floats, Floats, Floats]
#: The limit where none is given: the four-fifths rule.
USUAL_LIMITS = {"selection_rate_ratio": 0.8}


@dataclass(frozen=True, eq=False)
class Between:
    """Gaps of one attribute at every threshold: by name, value and interval (T,)."""

    attribute: str
    groups: tuple[str, ...]
    sizes: NDArray[np.int64]
    rates: Mapping[str, Curve]
    gaps: Mapping[str, Curve]


@dataclass(frozen=True, eq=False)
class Curves:
    """Everything measured at every threshold."""

    thresholds: Floats
    current: float
    metrics: tuple[Metric, ...]
    overall: Mapping[str, Curve]
    between: tuple[Between, ...]
    small: tuple[str, ...]
    n_rows: int

    @property
    def current_index(self) -> int:
        """The index of the threshold in use."""
        return int(np.argmin(np.abs(self.thresholds - self.current)))


@validated(
    thresholds=Either(Integer(2, MOST, hint=" of them"), Choice(("all",)), Several(Number(), 1)).or_none(),
    metrics=METRIC_NAMES.or_none(),
    limits=Keyed(Number()).or_none(),
    of_class=Anything("a class of the target"),
    min_per_group=MIN_PER_GROUP,
    n_boot=N_BOOT,
    level=LEVEL,
    seed=SEED,
)
def threshold_sweep(
    data: Any,
    model: Any = None,
    *,
    thresholds: int | str | Sequence[float] | None = None,
    metrics: Sequence[str] | None = None,
    limits: Mapping[str, float] | None = None,
    of_class: Any = None,
    min_per_group: int = 30,
    n_boot: int = 200,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Cut probabilities (or scores) at many thresholds: metrics, gaps between groups, and where limits are kept.

    Parameters
    ----------
    data : Dataset
        With a target, and with protected attributes where gaps are wanted.
    model : optional
        Anything that predicts; the predictions of the dataset without it.
    thresholds : int, "all" or sequence of float, optional
        Thresholds to try; how many (101 by default: in equal steps of a probability, at quantiles of a score), every
        value that occurs (at most 5,001 of them), or the thresholds themselves. The one in use is added.
    metrics : sequence of str, optional
        Metrics of decisions.
    limits : mapping, optional
        Limits to keep; a metric's id, or "selection_rate", "tpr", "fpr" or "equalized_odds" with "_difference" or
        "_ratio", to a number. Differences, and metrics that should be low, at most; all others at least. By default
        the four-fifths rule, ``{"selection_rate_ratio": 0.8}``.
    of_class : optional
        Class, of several, whose probability is cut, against all others.
    min_per_group : int
        Smaller groups are left out of gaps.
    n_boot, level, seed
        Of the intervals: Wilson's for rates, a bootstrap of the tables otherwise.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``metrics`` (a row for each threshold and metric), ``best`` (the best threshold of each metric, and the
        one in use), ``gaps`` and ``groups`` (between and of groups) and ``limits`` (where each limit is kept).

    Notes
    -----
    All tables come from one pass over the rows: rows are counted between thresholds and the counts added up. The best
    threshold is picked on the same rows it is measured on, so its value is a little optimistic.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> p = np.linspace(0, 1, 200)
    >>> data = Dataset({"p": p, "y": (p > 0.3).astype(int), "x": p}, target="y", score="p")
    >>> found = threshold_sweep(data, metrics=["accuracy"])
    >>> [(row["threshold"], row["value"]) for row in found.tables["best"].rows()]
    [(0.3, 1.0)]
    """
    from isonomia.robustness.stress.threshold_sweep_tables import show

    subject = Subject.of(data, model, progress=progress, counted=True, **given).fitting().needs_outcomes()
    surface, truth = binary_of(subject, of_class)
    score = surface.ranking
    if score is None:
        raise NotApplicable(msg("the predictions have neither probabilities nor scores, so no threshold applies"))
    if truth.all() or not truth.any():
        raise NotApplicable(msg("all labels belong to one class, so no threshold can separate them"))
    chosen = _metrics(metrics)
    steps = _thresholds(thresholds, score, surface, subject.counts)
    everyone = Codes("", np.zeros(score.size, dtype=np.uint8), ("everyone",))
    between, small = [], []
    stage = subject.progress.stage("thresholds", msg("Moving the threshold"), total=1 + len(subject.attributes))
    stage.at(0)
    whole = ThresholdSets.cut(score, truth, steps, everyone, subject.weights, subject.counts)
    measured = measure(chosen, whole, n_boot=n_boot, seed=seed, level=level)
    overall = {name: _certain(part) for name, part in measured.items()}
    stage.advance()
    for column in stage.over(subject.attributes):
        sets = ThresholdSets.cut(score, truth, steps, column, subject.weights, subject.counts)
        found = _between(sets, min_per_group, n_boot, level, seed)
        if found is None:
            small.append(column.name)
        else:
            between.append(found)
    curves = Curves(steps, surface.single_threshold, chosen, overall, tuple(between), tuple(small), len(subject))
    bounds = _limits(limits, chosen, bool(between))
    result = show(curves, bounds, subject.backend, level)
    return subject.noted(replace(result, notes=(*result.notes, *_bin_notes(subject, steps))))


def _bin_notes(subject: Subject, steps: Floats) -> tuple[Message, ...]:
    """How far off a threshold can be that lies within a bin of scores; nothing where all are edges of bins."""
    edges = None if subject.dataset is None else subject.dataset.score_edges
    if edges is None or np.isin(steps, edges).all():
        return ()
    return (
        msg(
            "Scores were counted in {bins:int} bins: a threshold within a bin decides its rows by their mean score, so "
            "thresholds are exact to {width:num}.",
            bins=edges.size - 1,
            width=float(np.diff(edges).max()),
        ),
    )


def binary_of(subject: Subject, of_class: Any) -> tuple[Surface, NDArray[np.bool_]]:
    """The predictions and labels as two classes; of several, one against the rest."""
    surface = subject.surface
    if surface.task == "regression":
        raise NotApplicable(msg("a predicted number is not a decision, so there is no threshold to change"))
    if surface.task == "binary":
        if of_class is not None:
            raise SpecError("`of_class` is for several classes; these data have two.")
        return surface, subject.truth == 1
    if of_class is None:
        raise NotApplicable(
            msg(
                "several classes are decided by the largest probability, not by a threshold; name "
                "one class with `of_class`"
            )
        )
    indices = [index for index, label in enumerate(surface.classes) if label == of_class or str(label) == str(of_class)]
    if not indices:
        raise SpecError(
            f"`of_class` must be one of the classes; got {of_class!r}.{close_to(of_class, surface.classes)}"
        )
    if surface.probability is None:
        raise NotApplicable(msg("the predictions have no probabilities"))
    index = indices[0]
    one = replace(
        surface,
        task="binary",
        classes=("other", surface.classes[index]),
        probability=surface.probability[:, index],
        label=None if surface.label is None else (surface.label == index).astype(np.uint8),
        threshold=0.5,
    )
    return one, subject.truth == index


def _metrics(metrics: Sequence[str] | None) -> tuple[Metric, ...]:
    names = (metrics,) if isinstance(metrics, str) else USUAL if metrics is None else tuple(metrics)
    chosen = tuple(METRICS[name] for name in names)
    for metric in chosen:
        if not metric.of_decisions or "binary" not in metric.tasks:
            raise SpecError(
                f"A sweep takes metrics of two-class decisions, such as {', '.join(USUAL)}; got '{metric.id}'."
            )
    return chosen


def _thresholds(given: Any, score: Floats, surface: Surface, counts: NDArray[np.int64] | None) -> Floats:
    if isinstance(given, str):
        values = np.unique(score)
        steps = values if values.size <= MOST else values[np.linspace(0, values.size - 1, MOST).astype(np.intp)]
    elif given is None or isinstance(given, int):
        count = STEPS if given is None else given
        whole = surface.probability is not None
        shares = np.linspace(0, 1, count)
        steps = np.arange(count) / (count - 1) if whole else np.unique(quantiles(score, shares, counts))
    else:
        steps = np.unique(np.asarray(given, dtype=float))
        if steps.size > MOST:
            raise SpecError(f"`thresholds` must be at most {MOST} numbers; got {steps.size}.")
    return np.unique(np.append(steps, surface.single_threshold))


def _between(sets: ThresholdSets, minimum: int, n_boot: int, level: float, seed: int) -> Between | None:
    """The rates of every group at every threshold, and the gaps between them."""
    (column,), steps = sets.columns, sets.thresholds
    counts = sets.counts.n.sum(axis=(1, 2))
    enough = np.flatnonzero(counts >= minimum)
    if enough.size < 2:
        return None
    measured = measure([METRICS[name] for name in COMPARED], sets, n_boot=n_boot, seed=seed, level=level)

    def of_groups(part: Floats) -> Floats:
        """(T, G, ...) for the groups that are large enough."""
        return part.reshape(steps.size, column.size, *part.shape[1:])[:, enough]

    gaps: dict[str, Curve] = {}
    for name, part in measured.items():
        found = gaps_of_rates(of_groups(part.value), of_groups(part.size), level)
        gaps[f"{name}_difference"] = (found.difference, found.difference_low, found.difference_high)
        gaps[f"{name}_ratio"] = (found.ratio, found.ratio_low, found.ratio_high)
    gaps["equalized_odds_difference"] = _worse_of(
        [
            gaps_of_rates(of_groups(part.value), of_groups(part.size), simultaneous_level(level, 2))
            for name, part in measured.items()
            if name != "selection_rate"
        ]
    )
    return Between(
        attribute=column.name,
        groups=tuple(column.text(int(code)) for code in enough),
        sizes=counts[enough],
        rates={name: (of_groups(p.value), of_groups(p.low), of_groups(p.high)) for name, p in measured.items()},
        gaps=gaps,
    )


def _certain(part: Measured) -> Curve:
    """Values and intervals; where all replicates agree within the range, a cut at the end decides all rows alike."""
    if part.at_boundary is None:
        return part.value, part.low, part.high
    low, high = (np.where(part.at_boundary & np.isnan(end), part.value, end) for end in (part.low, part.high))
    return part.value, low, high


def _worse_of(gaps: Sequence[Gaps]) -> Curve:
    """The larger of several differences; their intervals hold together."""
    parts = [(gap.difference, gap.difference_low, gap.difference_high) for gap in gaps]
    value, low, high = (np.fmax.reduce(part) for part in zip(*parts, strict=True))
    return value, low, high


@dataclass(frozen=True)
class Limit:
    """A limit: of a metric over everyone, or of a gap between groups."""

    name: str
    value: float
    at_least: bool
    between: bool

    def met(self, values: Floats) -> NDArray[np.bool_]:
        """Where it is kept; not where there is no value."""
        with np.errstate(invalid="ignore"):
            return values >= self.value if self.at_least else values <= self.value


def _limits(limits: Any, chosen: Sequence[Metric], groups: bool) -> tuple[Limit, ...]:
    gaps = [f"{name}_{kind}" for name in COMPARED for kind in ("difference", "ratio")] + ["equalized_odds_difference"]
    if limits is None:
        limits = USUAL_LIMITS if groups else {}
    ids = [metric.id for metric in chosen]
    out = []
    for name, value in limits.items():
        if name in gaps:
            out.append(Limit(name, float(value), name.endswith("_ratio"), True))
        elif name in ids:
            better = METRICS[name].higher_is_better
            out.append(Limit(name, float(value), better is not False, False))
        else:
            raise SpecError(f"There is no limit for {name!r}.{close_to(name, [*gaps, *ids])}")
    return tuple(out)
