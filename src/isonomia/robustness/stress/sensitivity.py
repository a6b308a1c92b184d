"""How every metric answers to a change that grows: curves over levels, and the metric that moves first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from isonomia.errors import NotApplicable, SpecError
from isonomia.events import ProgressLike
from isonomia.evidence import Estimate, Finding, Picture, Result
from isonomia.languages import Message, msg
from isonomia.languages.naming import as_text
from isonomia.metrics import METRIC_NAMES, METRICS, Metric
from isonomia.parameters import LEVEL, SEED, Integer, Number, Several, validated
from isonomia.robustness.perturbation.degradation import scale_of
from isonomia.robustness.stress.measures import Measures
from isonomia.robustness.stress.scenario import PLAN, Planned, check_strength, plan
from isonomia.robustness.stress.scenario_tables import absent_table, measured_row, table_of
from isonomia.robustness.stress.scenarios import baselines, measures_of, situation
from isonomia.robustness.stress.trials import Run, play
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
#: Curves drawn in one picture: those of the metrics that move most.
DRAWN = 6


@dataclass(frozen=True, repr=False)
class Sensitivity(Result):
    """How metrics answer to growing change.

    Attributes
    ----------
    levels : tuple of float
        The levels tried, 0 first.
    most_sensitive : mapping of str
        By scenario: the metric whose degradation grows fastest with the level, on the common scale.
    responses : mapping
        By scenario and metric: the mean value at each level.
    absent : mapping of str
        Scenarios that could not be run, and why.
    """

    levels: tuple[float, ...] = ()
    most_sensitive: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


@validated(
    scenarios=PLAN,
    levels=Several(Number(at_least=0), 1, single=True),
    n_trials=Integer(1),
    metrics=METRIC_NAMES.or_none(),
    tolerance=Number(at_least=0),
    level=LEVEL,
    seed=SEED,
)
def sensitivity(
    data: Any,
    model: Any = None,
    scenarios: Any = "score_noise",
    *,
    levels: Sequence[float] = LEVELS,
    n_trials: int = 50,
    metrics: Sequence[str] | None = None,
    tolerance: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Sensitivity:
    """Play scenarios at growing levels and report which metric gives way first.

    Parameters
    ----------
    data, model, metrics, level, seed
        Options as in `scenarios`.
    scenarios : str or list
        Scenarios whose level grows, named as in `scenarios`.
    levels : sequence of float
        The levels, in units of each scenario (`SCENARIOS`); 0 is added.
    n_trials : int
        Trials at each level. Levels share their random numbers, so that curves are smooth.
    tolerance : float
        The degradation (on the common scale) at which a metric counts as degraded.

    Returns
    -------
    Sensitivity
        Tables ``curves`` (every metric at every level, with the spread over trials and the degradation in the harmful
        direction) and ``metrics`` (how fast each metric gives way, and at which level it has lost `tolerance`).

    Notes
    -----
    The slope is that of a line through the origin, fitted to the mean degradation on the common scale (points of a
    metric with an upper end, shares of the baseline otherwise): sum(level x degradation) / sum(level^2). The level at
    which a metric gives way is read off between the levels tried, in a straight line.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=1000)
    >>> frame = {"x": x, "y": x + 0.1 * rng.normal(size=1000), "predicted": x}
    >>> data = Dataset(frame, target="y", prediction="predicted")
    >>> found = sensitivity(data, metrics=["mae", "r2"], n_trials=10)
    >>> found.most_sensitive
    {'score_noise': 'mae'}
    """
    planned = plan(scenarios)
    steps = _levels(levels, planned)
    subject = Subject.of(data, model, progress=progress, **given)
    base = situation(subject)
    measures, _ = measures_of(base, metrics)
    judged = tuple(metric for metric in measures.metrics if metric.higher_is_better is not None)
    if not judged:
        raise SpecError("The metrics are all descriptive: name at least one that can get worse, such as accuracy.")
    measures = Measures(base, judged)
    figures = baselines(measures, level, 0, seed)
    runs: dict[str, list[Run]] = {}
    absent: dict[str, str] = {}
    with base.progress.stage("scenarios", msg("Running scenarios"), total=len(planned)) as stage:
        for one in stage.over(planned):
            try:
                runs[one.name] = [play(one.at(step), measures, n_trials if step else 1, seed) for step in steps]
            except NotApplicable as reason:
                absent[one.name] = as_text(reason.message)
    return _Shown(measures, figures, runs, absent, steps, tolerance, level).result()


def _levels(levels: Any, planned: Sequence[Planned]) -> tuple[float, ...]:
    for one in planned:
        for step in levels:
            check_strength(one.scenario, step)
    steps = tuple(sorted({0.0, *levels}))
    if len(steps) < 2:
        raise SpecError(f"`levels` must have at least one number above 0, such as 0.1; got {list(levels)!r}.")
    return steps


@dataclass(frozen=True, eq=False)
class _Shown:
    """What was run, as tables, findings and pictures."""

    measures: Measures
    figures: Mapping[str, Estimate]
    runs: Mapping[str, Sequence[Run]]
    absent: Mapping[str, str]
    levels: tuple[float, ...]
    tolerance: float
    level: float

    def result(self) -> Sensitivity:
        """The result that a user sees."""
        backend = self.measures.base.data.backend
        curves = [row for name, runs in self.runs.items() for row in self._curves(name, runs)]
        rows = [row for name in self.runs for row in self._metrics(name, curves)]
        names = (
            "scenario",
            "level",
            "metric",
            "mean",
            "std",
            "low",
            "high",
            "degradation",
            "degradation_low",
            "degradation_high",
            "relative",
            "trials",
        )
        tables = {
            "curves": table_of(curves, names, msg("Every metric at every strength"), backend, notes_on="degradation"),
            "metrics": table_of(
                rows,
                ("scenario", "metric", "response", "slope", "gives_way", "rank"),
                msg("Metrics that degrade first"),
                backend,
                notes_on="gives_way",
            ),
        }
        if self.absent:
            tables["absent"] = absent_table(self.absent, backend)
        first = {name: self._first(name, rows) for name in self.runs}
        most_sensitive = {name: metric for name, metric in first.items() if metric is not None}
        titles = {name: runs[0].plan.scenario.title for name, runs in self.runs.items()}
        findings = tuple(
            self._finding(row, titles[row["scenario"]]) for row in rows if row["rank"] == 1 and row["gives_way"] > 0
        )
        values: dict[str, Any] = {"most_sensitive": self._text(most_sensitive, titles), "strengths": len(self.levels)}
        responses = {
            name: {
                metric.id: np.array(
                    [row["mean"] for row in curves if (row["scenario"], row["metric"]) == (name, metric.id)]
                )
                for metric in self.measures.metrics
            }
            for name in self.runs
        }
        return Sensitivity(
            "sensitivity",
            msg("Sensitivity"),
            tables,
            values,
            findings,
            self._pictures(rows, titles),
            self._notes(),
            titles={"most_sensitive": msg("Most sensitive metric"), "strengths": msg("Strengths tested")},
            levels=self.levels,
            most_sensitive=most_sensitive,
            responses=responses,
            absent=dict(self.absent),
        )

    def _curves(self, name: str, runs: Sequence[Run]) -> list[dict[str, Any]]:
        return [
            {
                "scenario": name,
                "level": run.plan.level,
                **measured_row(metric, self.figures[metric.id], run.values[:, index], self.level),
            }
            for index, metric in enumerate(self.measures.metrics)
            for run in runs
        ]

    def _metrics(self, name: str, curves: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        rows = []
        for metric in self.measures.metrics:
            own = [row for row in curves if row["scenario"] == name and row["metric"] == metric.id]
            steps = np.array([row["level"] for row in own])
            relative = np.array([row["relative"] for row in own], dtype=float)
            yields = gives_way(steps, relative, self.tolerance)
            rows.append(
                {
                    "scenario": name,
                    "metric": metric.id,
                    "response": relative[-1],
                    "slope": slope(steps, relative),
                    "gives_way": yields,
                    "note": self._why_not(own[-1]["note"], yields, relative),
                }
            )
        order = sorted(rows, key=lambda row: -np.nan_to_num(row["slope"], nan=-np.inf))
        return [{**row, "rank": rank} for rank, row in enumerate(order, 1)]

    def _why_not(self, note: Message | None, yields: float, relative: Any) -> Message | None:
        if np.isnan(relative).any():
            return note or msg("the baseline is 0, so a relative loss is not defined")
        return (
            None
            if np.isfinite(yields)
            else msg("it never loses {least:pct} at the strengths tested", least=self.tolerance)
        )

    def _first(self, name: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
        top = next(row for row in rows if row["scenario"] == name)
        return top["metric"] if np.isfinite(top["slope"]) and top["slope"] > 0 else None

    def _text(self, most_sensitive: Mapping[str, str], titles: Mapping[str, Message]) -> Any:
        if not most_sensitive:
            return msg("none: no metric gets worse")
        if len(most_sensitive) == 1:
            return METRICS[next(iter(most_sensitive.values()))].title
        return Message.join(
            Message("{scenario}: {metric}", {"scenario": titles[name], "metric": METRICS[metric].title})
            for name, metric in most_sensitive.items()
        )

    def _finding(self, row: Mapping[str, Any], title: Message) -> Finding:
        metric = METRICS[row["metric"]]
        return Finding(
            "sensitivity.gives_way",
            "notice",
            msg(
                '{metric} degrades first under the scenario "{scenario}": it loses {tolerance:pct} at a strength of '
                "{at:num}.",
                metric=metric.title,
                scenario=title,
                tolerance=self.tolerance,
                at=row["gives_way"],
            ),
            Estimate(row["gives_way"], n=len(self.measures.base), note="read off between the strengths tried"),
            n=len(self.measures.base),
            magnitude=1.0,
            evidence="sensitivity/metrics",
            format="num",
            topic="disturbance",
            remedy="read_other_metrics_too",
        )

    def _pictures(self, rows: Sequence[Mapping[str, Any]], titles: Mapping[str, Message]) -> tuple[Picture, ...]:
        names = METRICS.titles()
        pictures = []
        for name, title in titles.items():
            drawn = [row["metric"] for row in rows if row["scenario"] == name and np.isfinite(row["slope"])][:DRAWN]
            if drawn:
                pictures.append(
                    Picture(
                        "lines",
                        "curves",
                        msg("Degradation by strength: {scenario}", scenario=title),
                        {
                            "x": "level",
                            "value": "relative",
                            "color": "metric",
                            "names": names,
                            "where": {"scenario": name, "metric": drawn},
                            "reference": self.tolerance,
                            "reference_label": msg("reported"),
                        },
                    )
                )
        return tuple(pictures)

    def _notes(self) -> tuple[Message, ...]:
        notes = []
        for runs in self.runs.values():
            entry = runs[0].plan.scenario
            if entry.unit is not None:
                notes.append(msg("Strength of {scenario}: {unit}.", scenario=entry.title, unit=entry.unit))
        zero = [metric.id for metric in self.measures.metrics if np.isnan(_scale(metric, self.figures))]
        if zero:
            notes.append(
                msg(
                    "A share of 0 is not defined, so these metrics are not on the common scale: {names}.",
                    names=", ".join(zero),
                )
            )
        return tuple(notes)


def _scale(metric: Metric, figures: Mapping[str, Estimate]) -> float:
    value = figures[metric.id].value
    return float("nan") if value is None else scale_of(metric, value)


def slope(levels: Floats, degradation: Floats) -> float:
    """The slope of a line through the origin: sum(level x degradation) / sum(level^2); NaN without known values.

    >>> slope(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]))
    0.5
    """
    known = ~np.isnan(degradation) & (levels > 0)
    if not known.any():
        return float("nan")
    return float(levels[known] @ degradation[known] / (levels[known] @ levels[known]))


def gives_way(levels: Floats, degradation: Floats, tolerance: float) -> float:
    """The smallest level at which the degradation passes the tolerance, between levels in a straight line; else NaN.

    >>> gives_way(np.array([0.0, 0.1, 0.2]), np.array([0.0, 0.02, 0.08]), 0.05)
    0.15000000000000002
    """
    above = np.flatnonzero(degradation > tolerance)
    if above.size == 0:
        return float("nan")
    at = int(above[0])
    if at == 0 or np.isnan(degradation[at - 1]):
        return float(levels[at])
    share = (tolerance - degradation[at - 1]) / (degradation[at] - degradation[at - 1])
    return float(levels[at - 1] + share * (levels[at] - levels[at - 1]))
