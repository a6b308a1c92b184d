"""Which metrics rank models, slices or scenarios differently, and which pairs swap ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np

from isonomia.counting import Codes
from isonomia.data import Backend, is_searchable
from isonomia.errors import NotApplicable, SpecError
from isonomia.events import Progress, ProgressLike
from isonomia.evidence import Estimate, Result
from isonomia.fairness import group_metrics
from isonomia.languages import Message, msg
from isonomia.metrics import METRIC_NAMES, METRICS, Metric, Rows, evaluate_all
from isonomia.parameters import LEVEL, NAMES, SEED, Choice, Integer, validated
from isonomia.robustness._features import check_features
from isonomia.robustness.slices.counted_slices import CountedSlices
from isonomia.robustness.slices.slicing import learn_cuts
from isonomia.robustness.stress.scenario import PLAN
from isonomia.robustness.stress.scenarios import Scenarios
from isonomia.robustness.stress.scenarios import scenarios as run_scenarios
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

#: Values that differ by less, a shift apart, are those of one metric.
SAME = 1e-12
Across = Literal["models", "slices", "scenarios"]
_KINDS: Mapping[Across, Message] = {
    "models": msg("models"),
    "slices": msg("slices"),
    "scenarios": msg("scenarios"),
}


@dataclass(frozen=True, eq=False)
class Ranked:
    """Items measured by several metrics: (items, metrics) values with the ends of their intervals."""

    across: Across
    items: tuple[str, ...]
    metrics: tuple[Metric, ...]
    value: Floats
    low: Floats
    high: Floats

    @property
    def better(self) -> Floats:
        """The values turned so that higher is better for every metric."""
        signs = np.array([1.0 if metric.higher_is_better else -1.0 for metric in self.metrics])
        return np.asarray(self.value * signs, dtype=float)

    @property
    def noise(self) -> Floats:
        """Half the width of each interval; 0 where there is none."""
        return np.nan_to_num((self.high - self.low) / 2)


@validated(
    across=Choice(("models", "slices", "scenarios")).or_none(),
    features=NAMES.or_none(),
    scenarios=PLAN.or_none("for all"),
    metrics=METRIC_NAMES.or_none(),
    bins=Integer(1),
    min_samples=Integer(1),
    n_trials=Integer(1),
    level=LEVEL,
    seed=SEED,
)
def metric_disagreement(
    data: Any,
    model: Any = None,
    *,
    across: Across | None = None,
    models: Mapping[str, Any] | None = None,
    features: Sequence[str] | None = None,
    scenarios: Any = None,
    metrics: Sequence[str] | None = None,
    bins: int = 5,
    min_samples: int = 30,
    n_trials: int = 50,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Result:
    """Rank models, slices or scenarios by every metric and report where the rankings differ.

    Parameters
    ----------
    data : Dataset or Scenarios
        With a target; or what `scenarios` returned, whose scenarios are ranked.
    model : optional
        Anything that predicts; the predictions of the dataset without it.
    across : "models", "slices" or "scenarios", optional
        What is ranked. By default models where several are given, scenarios where some are named, slices otherwise.
    models : mapping, optional
        Models by name, to be ranked against each other (with `model`, if that is given, as "model").
    features : sequence of str, optional
        Whose slices are ranked: the protected attributes, or else all features, by default. Numbers are cut into
        `bins` slices with as many rows each.
    bins : int
        Slices of a numeric feature.
    scenarios, n_trials
        Options as in `scenarios`.
    metrics : sequence of str, optional
        Metrics to compare; by default all that apply and have a direction; of metrics that are one another's complement
        or namesake (specificity, the false positive rate) the first.
    min_samples : int
        Smaller slices are left out.
    level, seed
        Of the intervals.
    progress : callable or Progress, optional
        Receives an `Event` as work goes on; a `Progress` can end it.

    Returns
    -------
    Result
        Tables ``agreement`` (Kendall's tau-b and Spearman's rho of every two metrics, number of swapped pairs),
        ``swaps`` (items that two metrics put in opposite order) and ``rankings`` (value and rank of every item).

    Notes
    -----
    Metrics are turned so that higher is better before they are compared. A swap is *clear* where both differences are
    larger than the root of the summed squares of the half widths of the intervals: chance alone would not show it.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> x = y + rng.normal(size=2000)
    >>> data = Dataset({"x": x, "y": y}, target="y", features=["x"])
    >>> def sharp(frame): return np.clip(0.5 + 4 * (np.asarray(frame["x"]) - 0.5), 0.001, 0.999)
    >>> def dull(frame): return np.clip(0.5 + 0.1 * (np.asarray(frame["x"]) - 0.8), 0.001, 0.999)
    >>> found = metric_disagreement(data, models={"sharp": sharp, "dull": dull}, metrics=["accuracy", "logloss"])
    >>> [(row["metric_1"], row["metric_2"], row["tau"]) for row in found.tables["agreement"].rows()]
    [('accuracy', 'logloss', -1.0)]
    """
    from isonomia.robustness.stress.disagreement_tables import show

    metrics = (metrics,) if isinstance(metrics, str) else metrics
    kind = _across(across, data, models, scenarios)
    notes: tuple[Message, ...] = ()
    if kind == "scenarios":
        measured = (
            data
            if isinstance(data, Scenarios)
            else run_scenarios(
                data,
                model,
                scenarios,
                n_trials=n_trials,
                metrics=metrics,
                level=level,
                seed=seed,
                progress=progress,
                **given,
            )
        )
        ranked, backend = _of_scenarios(measured, level, metrics is not None), measured.tables["scenarios"].backend
    elif kind == "models":
        everyone = _named_models(model, models)
        ranked, backend = _of_models(data, everyone, metrics, level, seed, given, Progress.of(progress))
    else:
        subject = Subject.of(data, model, progress=progress, counted=True, **given).fitting()
        ranked = _of_slices(subject, features, metrics, bins, min_samples, level, seed)
        backend, notes = subject.backend, subject.notes
    if len(ranked.items) < 2:
        raise NotApplicable(msg("there are fewer than two {kind} to rank", kind=_KINDS[kind]))
    if len(ranked.metrics) < 2:
        raise NotApplicable(msg("fewer than two metrics have a direction and a value here"))
    found = show(ranked, backend, level)
    return replace(found, notes=(*found.notes, *notes))


def _across(across: Any, data: Any, models: Any, scenarios: Any) -> Across:
    if isinstance(data, Scenarios) or across == "scenarios" or (across is None and scenarios is not None):
        if across not in (None, "scenarios"):
            raise SpecError("A result of `scenarios` ranks scenarios; leave `across` out.")
        return "scenarios"
    if across == "models" or (across is None and models is not None):
        return "models"
    return "slices"


def _of_scenarios(measured: Scenarios, level: float, all_named: bool) -> Ranked:
    judged = [(i, m) for i, m in enumerate(measured.metrics) if m.higher_is_better is not None]
    names = tuple(measured.runs)
    shape = (len(names), len(judged))
    value, low, high = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    for s, name in enumerate(names):
        for m, (index, _) in enumerate(judged):
            known = measured.runs[name].values[:, index]
            known = known[~np.isnan(known)]
            if known.size:
                value[s, m] = known.mean()
                low[s, m], high[s, m] = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return _usable(Ranked("scenarios", names, tuple(m for _, m in judged), value, low, high), all_named=all_named)


def _named_models(model: Any, models: Any) -> Mapping[str, Any]:
    if not isinstance(models, Mapping) or not models:
        raise SpecError("`models` must map names to models, as in {'old': ..., 'new': ...}.")
    return {**({"model": model} if model is not None else {}), **models}


def _of_models(
    data: Any,
    models: Mapping[str, Any],
    metrics: Sequence[str] | None,
    level: float,
    seed: int,
    given: Reading,
    progress: Progress,
) -> tuple[Ranked, Backend | None]:
    found: dict[str, dict[str, Estimate]] = {}
    with progress.stage("models", msg("Measuring models"), total=len(models)) as stage:
        subjects = [
            Subject.of(data.data if isinstance(data, Subject) else data, one, progress=progress, **given)
            for one in stage.over(models.values())
        ]
    for name, subject in zip(models, subjects, strict=True):
        progress.check()
        rows = Rows.of(subject.needs_outcomes())
        found[str(name)] = evaluate_all(rows, metrics=metrics, level=level, n_boot=200, seed=seed)
    ids = [name for name in next(iter(found.values())) if METRICS[name].higher_is_better is not None]
    ids = [name for name in ids if all(name in part for part in found.values())]

    def table(field: str) -> Floats:
        numbers = [[getattr(part[name], field) for name in ids] for part in found.values()]
        return np.array(numbers, dtype=float).reshape(len(found), len(ids))

    chosen = tuple(METRICS[name] for name in ids)
    ranked = Ranked("models", tuple(found), chosen, table("value"), table("low"), table("high"))
    return _usable(ranked, all_named=metrics is not None), subject.backend


def _of_slices(
    subject: Subject,
    features: Sequence[str] | None,
    metrics: Sequence[str] | None,
    bins: int,
    minimum: int,
    level: float,
    seed: int,
) -> Ranked:
    table = subject.known if subject.counts is None else subject.data
    protected = tuple(name for name in table.protected if is_searchable(table.column(name)))
    names = check_features(table, features, protected or table.searchable)
    surface = subject.surface
    wanted = [METRICS[name] for name in metrics] if metrics is not None else list(METRICS)
    chosen = [m for m in wanted if m.higher_is_better is not None and surface.task in m.tasks]
    chosen = [m for m in chosen if any(kind in surface.kinds for kind in m.surface)]
    if not chosen:
        raise NotApplicable(msg("none of the metrics has a direction and applies to these predictions"))
    items: list[str] = []
    parts: list[tuple[Floats, Floats, Floats]] = []
    sliced = _sliced(subject, names, bins, minimum)
    stage = subject.progress.stage("features", msg("Slicing features"), total=len(sliced))
    for part, column in stage.over(sliced):
        if column.size < 2:
            continue
        by_group = group_metrics(
            part.with_attributes([column]),
            metrics=[m.id for m in chosen],
            n_boot=200,
            level=level,
            seed=seed,
            min_per_group=minimum,
            reference="largest",
        )
        enough = np.flatnonzero(by_group.sizes >= minimum)
        assert by_group.groups is not None
        items += [by_group.groups.groups[int(g)].name for g in enough]
        measured = [by_group.measured[m.id] for m in chosen]
        value, low, high = (
            np.stack([getattr(part, name)[enough] for part in measured], axis=1) for name in ("value", "low", "high")
        )
        parts.append((value, low, high))
    if not parts:
        raise NotApplicable(msg("no feature has two slices with enough rows"))
    value, low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    ranked = Ranked("slices", tuple(items), tuple(chosen), value, low, high)
    return _usable(ranked, all_named=metrics is not None)


def _sliced(subject: Subject, names: Sequence[str], bins: int, minimum: int) -> list[tuple[Subject, Codes]]:
    """For each feature the rows and their slices; where an engine counts them, counted by the feature."""
    if subject.counts is None:
        cuts = learn_cuts(subject.known, names, slicing="quantile", bins=bins, min_samples=minimum)
        return [(subject, cut.codes(subject.known).observed()) for cut in cuts]
    slices = CountedSlices(subject, names, slicing="quantile", bins=bins, min_samples=minimum)
    parts = slices.with_scores([(cut.name,) for cut in slices.cuts])
    return [(part, cut.codes(part.known).observed()) for part, cut in zip(parts, slices.cuts, strict=True)]


def _usable(ranked: Ranked, *, all_named: bool) -> Ranked:
    """Metrics with at least two values; of those that are another one by name or complement only the first.

    Metrics that the caller named all stay.
    """
    kept: list[int] = []
    for index in np.flatnonzero((~np.isnan(ranked.value)).sum(axis=0) >= 2):
        gaps = [ranked.better[:, index] - ranked.better[:, other] for other in kept]
        same = any(
            np.array_equal(np.isnan(ranked.value[:, index]), np.isnan(ranked.value[:, other]))
            and np.nanmax(gap) - np.nanmin(gap) < SAME
            for other, gap in zip(kept, gaps, strict=True)
        )
        if all_named or not same:
            kept.append(int(index))
    chosen = tuple(ranked.metrics[index] for index in kept)
    return Ranked(ranked.across, ranked.items, chosen, ranked.value[:, kept], ranked.low[:, kept], ranked.high[:, kept])
