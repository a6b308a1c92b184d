"""All scenarios on one page: what each metric loses at worst, which scenario harms most, how stable the model is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isonomia.errors import SpecError
from isonomia.evidence import Estimate, Finding, Picture, Result
from isonomia.languages import Message, msg
from isonomia.metrics import METRICS, Metric
from isonomia.robustness.missing_reasons import NO_INTERVAL
from isonomia.robustness.perturbation.degradation import scale_of, worse_by
from isonomia.robustness.stress.scenario_tables import measured_row, spread_note, table_of
from isonomia.robustness.stress.scenarios import Scenarios
from isonomia.robustness.stress.scenarios import scenarios as run_scenarios
from isonomia.typing import Floats

#: Degradations that differ by less are the same: one metric is another by a different name.
SAME = 1e-12


@dataclass(frozen=True, repr=False)
class Dashboard(Result):
    """A summary of scenarios.

    Attributes
    ----------
    scenarios : Scenarios
        What was run.
    stability : Estimate
        Between 0 and 1; 1 where no metric gets worse in any trial.
    large_drops : tuple of str
        Metrics that lose more than the tolerance in some scenario, worst first.
    """

    scenarios: Scenarios | None = None
    stability: Estimate = field(default_factory=lambda: Estimate.missing("no scenario was run"))
    large_drops: tuple[str, ...] = ()


def dashboard(data: Any, model: Any = None, scenarios: Any = None, *, level: float = 0.95, **options: Any) -> Dashboard:
    """A direction-aware summary: base values, worst scenarios, large drops, rankings, a score of stability.

    Parameters
    ----------
    data : Dataset or Scenarios
        What `scenarios` takes, or what it returned.
    model, scenarios
        As in `scenarios`; not with a result of it.
    level : float
        Of the intervals over trials.
    **options
        Further options of `scenarios` (n_trials, metrics, metric, tolerance, min_per_group, seed, progress).

    Returns
    -------
    Dashboard
        Tables ``dashboard`` (a row per metric: as it is, its worst scenario, the degradation there with the middle part
        of the trials), ``ranking`` (a row per scenario: mean degradation, metrics with large drops) and ``stability``
        (the parts of the score).

    Notes
    -----
    Stability = mean over scenarios of (1 - mean over metrics of the degradation), degradations on the common scale
    (points of a metric with an upper end, shares of the baseline otherwise), each trial clipped to [0, 1]. Metrics that
    always lose exactly the same (recall and the true positive rate) count once. It says how much the metrics move under
    these scenarios at these strengths, not how good the model is.

    Examples
    --------
    >>> from isonomia import Dataset
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> data = Dataset({"x": p, "y": (rng.random(1000) < p).astype(int), "p": p}, target="y", score="p")
    >>> page = dashboard(data, scenarios=["label_noise", "score_noise"], n_trials=10, metrics=["auc", "logloss", "tpr"])
    >>> [(row["metric"], row["worst_scenario"]) for row in page.tables["dashboard"].rows()][0]
    ('logloss', 'label_noise')
    >>> 0 < page.stability.value < 1
    True
    """
    if isinstance(data, Scenarios):
        if model is not None or scenarios is not None or options:
            raise SpecError(
                "A result of `scenarios` already has its model and scenarios; leave out the other arguments."
            )
        measured = data
    else:
        measured = run_scenarios(data, model, scenarios, level=level, **options)
    return _Page(measured, level).result()


@dataclass(frozen=True, eq=False)
class _Page:
    measured: Scenarios
    level: float

    @property
    def judged(self) -> list[tuple[int, Metric]]:
        """Metrics that can get worse, with their indices."""
        return [(i, m) for i, m in enumerate(self.measured.metrics) if m.higher_is_better is not None]

    def _base(self, metric: Metric) -> float:
        value = self.measured.baseline[metric.id].value
        return float("nan") if value is None else value

    def result(self) -> Dashboard:
        """The result that a user sees."""
        backend = self.measured.tables["scenarios"].backend
        rows = self._metrics()
        ranking = self._ranking()
        parts, stability = self._stability()
        tables = {
            "dashboard": table_of(
                rows,
                (
                    "rank",
                    "metric",
                    "direction",
                    "baseline",
                    "worst_scenario",
                    "mean",
                    "degradation",
                    "degradation_low",
                    "degradation_high",
                    "relative",
                    "large",
                ),
                msg("Largest loss of each metric"),
                backend,
                notes_on="degradation",
            ),
            "ranking": table_of(
                ranking,
                ("rank", "scenario", "level", "relative", "large_drops", "worst_metric", "degradation"),
                msg("Which scenario harms most"),
                backend,
            ),
            "stability": table_of(
                parts, ("scenario", "score", "score_low", "score_high"), msg("Parts of the stability score"), backend
            ),
        }
        large = tuple(row["metric"] for row in rows if row["large"])
        values: dict[str, Any] = {
            "stability": stability,
            "large_drops": len(large),
            "metrics": len(rows),
            "worst_scenario": self._title(ranking[0]["scenario"]) if ranking else msg("none could be run"),
        }
        titles = {
            "stability": msg("Stability (1: no metric gets worse)"),
            "large_drops": msg("Metrics with large drops"),
            "metrics": msg("Metrics evaluated"),
            "worst_scenario": msg("Worst scenario"),
        }
        return Dashboard(
            "dashboard",
            msg("Scenarios at a glance"),
            tables,
            values,
            self._findings(rows, large, stability),
            self._pictures(rows, ranking),
            self._notes(),
            titles=titles,
            scenarios=self.measured,
            stability=stability,
            large_drops=large,
        )

    def _title(self, name: str) -> Message:
        return self.measured.runs[name].plan.scenario.title

    def _metrics(self) -> list[dict[str, Any]]:
        rows = []
        for index, metric in self.judged:
            figure = self.measured.baseline[metric.id]
            by_scenario = {
                name: measured_row(metric, figure, run.values[:, index], self.level)
                for name, run in self.measured.runs.items()
            }
            known = {name: row for name, row in by_scenario.items() if not np.isnan(row["degradation"])}
            if not known:
                continue
            worst = max(known, key=lambda name: known[name]["degradation"])
            row = known[worst]
            rows.append(
                {
                    **row,
                    "direction": metric.direction,
                    "worst_scenario": worst,
                    "baseline": figure,
                    "large": bool(row["relative"] > self.measured.tolerance),
                    "note": row["note"] or (NO_INTERVAL if figure.low is None else None),
                }
            )
        rows.sort(key=lambda row: -np.nan_to_num(row["relative"], nan=-np.inf))
        return [{"rank": rank, **row} for rank, row in enumerate(rows, 1)]

    def _relative(self, name: str) -> dict[str, Floats]:
        """By metric: the degradation of every trial on the common scale."""
        run = self.measured.runs[name]
        out = {}
        for index, metric in self.judged:
            base = self._base(metric)
            out[metric.id] = worse_by(metric, run.values[:, index], base) / scale_of(metric, base)
        return out

    def _ranking(self) -> list[dict[str, Any]]:
        rows = []
        for name, run in self.measured.runs.items():
            means = {
                metric: float(trials[~np.isnan(trials)].mean())
                for metric, trials in self._relative(name).items()
                if not np.isnan(trials).all()
            }
            kept = [means[metric] for metric in self._distinct if metric in means]
            main = METRICS[self.measured.main]
            rows.append(
                {
                    "scenario": name,
                    "level": run.plan.level,
                    "relative": float(np.mean(kept)) if kept else float("nan"),
                    "large_drops": sum(value > self.measured.tolerance for value in means.values()),
                    "worst_metric": max(means, key=lambda one: means[one]) if means else None,
                    "degradation": measured_row(
                        main, self.measured.baseline[main.id], self.measured.of(name, main.id), self.level
                    )["degradation"],
                }
            )
        rows.sort(key=lambda row: -np.nan_to_num(row["relative"], nan=-np.inf))
        return [{"rank": rank, **row} for rank, row in enumerate(rows, 1)]

    @property
    def _distinct(self) -> list[str]:
        """Metrics, each of those that always lose the same only once."""
        stacked = {
            metric.id: np.concatenate([self._relative(name)[metric.id] for name in self.measured.runs] or [np.empty(0)])
            for _, metric in self.judged
        }
        kept: list[str] = []
        for name, trials in stacked.items():
            if trials.size == 0 or np.isnan(trials).all():
                continue
            if not any(np.allclose(trials, stacked[other], rtol=0, atol=SAME, equal_nan=True) for other in kept):
                kept.append(name)
        return kept

    def _stability(self) -> tuple[list[dict[str, Any]], Estimate]:
        """A score a scenario, and their mean, trial by trial."""
        kept = self._distinct
        scores: dict[str, Floats] = {}
        for name in self.measured.runs:
            relative = self._relative(name)
            if kept:
                lost = np.stack([np.clip(relative[metric], 0.0, 1.0) for metric in kept])
                with_value = (~np.isnan(lost)).sum(axis=0)
                total = np.nan_to_num(lost).sum(axis=0)
                scores[name] = 1.0 - np.where(with_value > 0, total / np.maximum(with_value, 1), np.nan)
        known = {name: trials for name, trials in scores.items() if not np.isnan(trials).all()}
        if not known:
            return [], Estimate.missing(msg("no scenario could be run"))
        parts: list[dict[str, Any]] = [
            {"scenario": name, **_spread(trials, self.level)} for name, trials in known.items()
        ]
        stacked = np.stack(list(known.values()))
        together = np.nanmean(stacked[:, ~np.isnan(stacked).all(axis=0)], axis=0)
        return parts, Estimate(float(together.mean()), n=together.size, method="trials", level=self.level)

    def _findings(
        self, rows: Sequence[Mapping[str, Any]], large: Sequence[str], stability: Estimate
    ) -> tuple[Finding, ...]:
        if not large:
            return ()
        worst = rows[0]
        return (
            Finding(
                "dashboard.large_drops",
                "notice",
                msg(
                    "{n:int} of {all:int} metrics {n:loses|lose} more than {tolerance:pct} in some scenario; {metric} "
                    'loses most ({lost:pct}, under "{scenario}").',
                    n=len(large),
                    all=len(rows),
                    tolerance=self.measured.tolerance,
                    metric=METRICS[worst["metric"]].title,
                    lost=worst["relative"],
                    scenario=self._title(worst["worst_scenario"]),
                ),
                stability,
                n=self.measured.n_rows,
                magnitude=worst["relative"] / self.measured.tolerance
                if self.measured.tolerance
                else 1.0 + worst["relative"],
                evidence="dashboard/dashboard",
                format="num",
                topic="disturbance",
                remedy="judge_by_stable_metrics",
            ),
        )

    def _pictures(self, rows: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]]) -> tuple[Picture, ...]:
        names = {name: self._title(name) for name in self.measured.runs}
        pictures = []
        if rows:
            pictures.append(
                Picture(
                    "bars",
                    "dashboard",
                    msg("Largest loss of each metric, on a common scale"),
                    {
                        "labels": "metric",
                        "value": "relative",
                        "names": METRICS.titles(),
                        "reference": self.measured.tolerance,
                        "reference_label": msg("reported"),
                    },
                )
            )
        if ranking:
            pictures.append(
                Picture(
                    "forest",
                    "stability",
                    msg("Stability under each scenario"),
                    {
                        "labels": "scenario",
                        "value": "score",
                        "low": "score_low",
                        "high": "score_high",
                        "names": names,
                        "reference": 1.0,
                        "reference_label": msg("baseline"),
                    },
                )
            )
        return tuple(pictures)

    def _notes(self) -> tuple[Message, ...]:
        notes = [
            msg(
                "Stability is the mean share of a metric that is retained over scenarios: it depends on the scenarios "
                "and their strengths."
            ),
            spread_note(),
        ]
        if self.measured.absent:
            notes.append(
                msg(
                    "{n:# scenario|# scenarios} could not be run; a table gives the reasons.",
                    n=len(self.measured.absent),
                )
            )
        return tuple(notes)


def _spread(trials: Floats, level: float) -> dict[str, float]:
    known = trials[~np.isnan(trials)]
    low, high = np.quantile(known, [0.5 - level / 2, 0.5 + level / 2])
    return {"score": float(known.mean()), "score_low": float(low), "score_high": float(high)}
