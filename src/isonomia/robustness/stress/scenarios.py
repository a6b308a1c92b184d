"""What becomes of every metric when the world differs from the data: scenarios, each run many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from isonomia.data import Task
from isonomia.errors import NotApplicable, SpecError, close_to
from isonomia.events import ProgressLike
from isonomia.evidence import Estimate, Result, Table
from isonomia.languages import msg
from isonomia.languages.naming import as_text
from isonomia.metrics import METRIC_NAME, METRIC_NAMES, METRICS, Metric, Rows, evaluate_all
from isonomia.parameters import LEVEL, MIN_PER_GROUP, SEED, Integer, Number, validated
from isonomia.robustness.stress.measures import Measures, applicable
from isonomia.robustness.stress.scenario import PLAN, plan
from isonomia.robustness.stress.situation import Situation
from isonomia.robustness.stress.trials import Run, play
from isonomia.subject import Reading, Subject
from isonomia.typing import Floats

#: Metrics whose gaps between groups are followed.
GAPS = {
    "binary": ("selection_rate", "tpr", "fpr", "ppv", "accuracy"),
    "multiclass": ("accuracy", "macro_recall"),
    "regression": ("mean_prediction", "mae", "mean_error"),
}
#: The default main metrics of each task, in order of preference.
MAIN = {
    "binary": ("auc", "balanced_accuracy", "accuracy"),
    "multiclass": ("macro_f1", "accuracy", "logloss"),
    "regression": ("mae",),
}


@dataclass(frozen=True, repr=False)
class Scenarios(Result):
    """What scenarios do to metrics.

    Attributes
    ----------
    metrics : tuple of Metric
        Those that were measured.
    main : str
        The metric the model is judged by first.
    baseline : mapping of Estimate
        Each metric as it is, with its interval.
    runs : mapping of Run
        By name of the scenario: the values of every metric in every trial.
    absent : mapping of str
        Scenarios that could not be run, and why.
    """

    metrics: tuple[Metric, ...] = ()
    main: str = ""
    baseline: Mapping[str, Estimate] = field(default_factory=dict)
    base_gaps: Mapping[tuple[str, str], float] = field(default_factory=dict)
    runs: Mapping[str, Run] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.05
    n_rows: int = 0

    @property
    def trials(self) -> Any:
        """Every trial as a frame: scenario, trial, and a column for each metric."""
        table = next(iter(self.tables.values()))
        columns: dict[str, Any] = {
            "scenario": [name for name, run in self.runs.items() for _ in range(run.n_trials)],
            "trial": np.concatenate([np.arange(run.n_trials) for run in self.runs.values()] or [np.empty(0, int)]),
        }
        stacked = np.concatenate([run.values for run in self.runs.values()] or [np.empty((0, len(self.metrics)))])
        columns |= {metric.id: stacked[:, index] for index, metric in enumerate(self.metrics)}
        return Table.of(columns, backend=table.backend).frame()

    def of(self, scenario: str, metric: str) -> Floats:
        """One metric in every trial of one scenario."""
        if scenario not in self.runs:
            why = f" Reason: {self.absent[scenario]}." if scenario in self.absent else ""
            raise SpecError(f"Scenario {scenario!r} was not run.{why}{close_to(scenario, self.runs)}")
        ids = [metric if metric in one.aliases else one.id for one in self.metrics]
        if metric not in ids:
            raise SpecError(f"The metric {metric!r} was not measured.{close_to(metric, ids)}")
        return self.runs[scenario].values[:, ids.index(metric)]


@validated(
    scenarios=PLAN.or_none("for all"),
    n_trials=Integer(1),
    metrics=METRIC_NAMES.or_none(),
    metric=METRIC_NAME.or_none(),
    tolerance=Number(at_least=0),
    min_per_group=MIN_PER_GROUP,
    level=LEVEL,
    seed=SEED,
)
def scenarios(
    data: Any,
    model: Any = None,
    scenarios: Any = None,
    *,
    n_trials: int = 100,
    metrics: Sequence[str] | None = None,
    metric: str | None = None,
    tolerance: float = 0.05,
    min_per_group: int = 30,
    level: float = 0.95,
    seed: int = 0,
    progress: ProgressLike = None,
    **given: Unpack[Reading],
) -> Scenarios:
    """Play scenarios many times and measure every metric, calibration and gaps between groups in every trial.

    Parameters
    ----------
    data : Dataset, frame or Subject
        With a target; with predictions where no model is given. Rows without a target are left out.
        A plain frame takes its roles as keywords (``target=...``; see `subject.Reading`).
    model : optional
        Anything that predicts. Scenarios of labels, predictions and rows need none; those that change features do.
    scenarios : list, optional
        Scenarios to run (``isonomia scenarios``); ids, mappings such as ``{"type": "label_noise", "level": 0.2}``, or
        functions ``change(now, rng, level) -> Situation``. All that are registered by default; one that has no answer
        for these data is listed with the reason.
    n_trials : int
        Trials of each scenario.
    metrics : sequence of str, optional
        Ids of metrics; by default all that apply.
    metric : str, optional
        The primary metric, which findings are about. By default the area under the ROC curve, F1
        over classes, or the mean absolute error.
    tolerance : float
        The degradation that is reported: points of a metric that has an upper end, a share of the baseline otherwise.
    min_per_group : int
        Smaller groups do not count in gaps.
    level : float
        Of intervals: the baseline's, and the middle part of the trials.
    seed : int
        Same seed, same result. A trial depends on the seed, the scenario and its own number only.
    progress : callable or Progress, optional
        Receives the events of the trials; a `Progress` can cancel them.

    Returns
    -------
    Scenarios
        Tables ``scenarios`` (a row for each scenario and metric: baseline, mean, spread, quantiles over trials, worst
        trial, degradation in the harmful direction), ``gaps`` (largest differences between groups) and ``absent``.

    Notes
    -----
    Degradation is positive where a metric gets worse: AUC falling, MAE rising. Scenarios that only change labels or
    rows never ask the model again; those that change features ask it about the changed rows, many trials in one call.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> data = Dataset({"x": p, "y": (rng.random(2000) < p).astype(int), "p": p}, target="y", score="p")
    >>> both = ["label_noise", "feature_corruption"]
    >>> found = scenarios(data, scenarios=both, n_trials=20, metrics=["auc", "logloss"])
    >>> [(row["metric"], row["degradation"] > 0) for row in found.tables["scenarios"].rows()]
    [('auc', True), ('logloss', True)]
    >>> sorted(found.absent)
    ['feature_corruption']
    """
    from isonomia.robustness.stress.scenario_tables import show

    planned = plan(scenarios)
    subject = Subject.of(data, model, progress=progress, **given)
    base = situation(subject)
    measures, left_out = measures_of(base, metrics, min_per_group=min_per_group)
    main = main_metric(measures.metrics, metric, base.task)
    figures = baselines(measures, level, 200, seed)
    runs: dict[str, Run] = {}
    absent: dict[str, str] = {}
    with base.progress.stage("scenarios", msg("Running scenarios"), total=len(planned)) as stage:
        for one in stage.over(planned):
            try:
                runs[one.name] = play(one, measures, n_trials, seed)
            except NotApplicable as reason:
                absent[one.name] = as_text(reason.message)
    found = show(measures, figures, runs, absent, left_out, main=main, tolerance=tolerance, level=level)
    return subject.noted(found)


def situation(subject: Subject) -> Situation:
    """The rows with a known target, their predictions, and the model if there is one."""
    return Situation(
        subject.known,
        subject.truth,
        subject.surface,
        subject.weights,
        subject.attributes,
        subject.model,
        progress=subject.progress,
    )


def measures_of(
    base: Situation, metrics: Sequence[str] | None, *, min_per_group: int = 30
) -> tuple[Measures, dict[str, str]]:
    """Measures of the metrics named (or of all for the task), and why some are left out."""
    if isinstance(metrics, str):
        metrics = (metrics,)
    named = [METRICS[name] for name in metrics] if metrics is not None else [m for m in METRICS if base.task in m.tasks]
    fitting, left_out = applicable(base, named)
    if not fitting:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise SpecError(f"None of the metrics can be measured here. {reasons}")
    gaps = [METRICS[name] for name in GAPS[base.task]]
    gap_metrics = applicable(base, gaps)[0] if base.attributes else ()
    return Measures(base, fitting, gap_metrics, min_per_group=min_per_group), left_out


def baselines(measures: Measures, level: float, n_boot: int, seed: int) -> dict[str, Estimate]:
    """Each metric as it is, with its interval; the values are those of trials, so that no change is no change."""
    base = measures.base
    rows = Rows(base.truth, base.surface, base.weights)
    figures = evaluate_all(rows, metrics=measures.metrics, level=level, n_boot=n_boot, seed=seed)
    values = measures.values([measures.read(base)])[0]
    for index, metric in enumerate(measures.metrics):
        if figures[metric.id].value is not None:
            figures[metric.id] = replace(figures[metric.id], value=float(values[index]))
    return figures


def main_metric(metrics: Sequence[Metric], wanted: str | None, task: Task) -> str:
    """The metric the model is judged by first."""
    judged = [one.id for one in metrics if one.higher_is_better is not None]
    if wanted is not None:
        if wanted not in judged:
            METRICS[wanted]  # raises the error for an unknown name
            raise SpecError(f"`metric` must be among those measured; got {wanted!r}.{close_to(wanted, judged)}")
        return wanted
    for name in MAIN[task]:
        if name in judged:
            return name
    if not judged:
        raise SpecError("The metrics are all descriptive: name at least one that can get worse, such as accuracy.")
    return judged[0]
