"""Audits of a right model on fair data: how often they raise an alarm."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import isonomia as iso
from benchmarks.statistics.kept_runs import kept_runs
from benchmarks.statistics.setting import Trials, setting

TASKS = ("binary", "multiclass", "regression")
FEATURES = [f"x{index}" for index in range(8)]
WEIGHTS = np.array([[1.0, 0.8, 0.6, 0.4, 0.2, 0, 0, 0], [-0.2, 1.0, -0.6, 0.8, 0, 0.4, 0, 0]]).T


class RightModel:
    """Predicts with the weights that the data were drawn from."""

    def __init__(self, task: str) -> None:
        self.task = task
        if task != "regression":
            self.classes_ = np.array(["no", "yes"] if task == "binary" else ["low", "mid", "high"])

    def scores(self, rows: Any) -> Any:
        """Means of a regression, probabilities of classes."""
        z = 1.5 * np.asarray(rows[FEATURES], dtype=float) @ WEIGHTS
        if self.task == "regression":
            return z[:, 0]
        logits = np.column_stack([np.zeros(len(z)), z[:, : len(self.classes_) - 1]])
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def predict(self, rows: Any) -> Any:
        """Numbers, or the most probable class."""
        scores = self.scores(rows)
        return scores if self.task == "regression" else self.classes_[scores.argmax(axis=1)]


class RightClassifier(RightModel):
    """The same with probabilities."""

    def predict_proba(self, rows: Any) -> Any:
        """Probabilities of the classes."""
        return self.scores(rows)


def fair(rng: np.random.Generator, task: str, n: int = 3000) -> tuple[iso.Dataset, RightModel]:
    """Rows whose protected attributes (two and five groups) have nothing to do with anything, and the right model."""
    model = RightModel(task) if task == "regression" else RightClassifier(task)
    columns: dict[str, Any] = {name: rng.normal(size=n) for name in FEATURES}
    scores = model.scores(pd.DataFrame(columns))
    if task == "regression":
        target = scores + rng.normal(size=n)
    else:
        target = model.classes_[(rng.uniform(size=(n, 1)) > scores.cumsum(axis=1)[:, :-1]).sum(axis=1)]
    columns |= {
        "sex": rng.choice(["F", "M"], n),
        "ethnicity": rng.choice(list("ABCDE"), n, p=[0.4, 0.25, 0.15, 0.12, 0.08]),
        "y": target,
    }
    positive = "yes" if task == "binary" else None
    return iso.Dataset(pd.DataFrame(columns), target="y", protected=["sex", "ethnicity"], positive=positive), model


def about_groups(finding: Any) -> bool:
    """Whether a finding is about people of a protected group."""
    return bool({"sex", "ethnicity"} & {*finding.who, *finding.columns})


def significant_about_people(report: Any) -> bool:
    """Whether a test about people stands after correcting within their family."""
    table = report.document.balance_sheet.tables["tests"]
    return bool(table["significant"].values[0] > 0)


ALARMS: dict[str, tuple[float, Callable[[Any], bool]]] = {
    "a critical finding": (0.05, lambda report: any(f.severity == "critical" for f in report.findings)),
    "a warning about groups": (
        0.05,
        lambda report: any(f.severity != "notice" and about_groups(f) for f in report.findings),
    ),
    "another warning": (
        0.2,
        lambda report: any(f.severity != "notice" and not about_groups(f) for f in report.findings),
    ),
    "a significant test about people": (0.05, significant_about_people),
}


@cache
def alarms(task: str, checks: str, repetitions: int) -> dict[str, list[bool]]:
    """Run by run, which alarms were raised: the settings of a task share its runs, each with a seed of its own."""

    def raised(run: int) -> dict[str, bool]:
        data, model = fair(np.random.default_rng([zlib.crc32(f"{task}/{checks}".encode()), run]), task)
        report = iso.audit(data, model, checks=checks, n_boot=200)
        return {alarm: bool(heard(report)) for alarm, (_, heard) in ALARMS.items()}

    return kept_runs(f"null runs, {task}, {checks}", repetitions, raised)


for task in TASKS:
    for checks in ("standard", "full"):
        for alarm, (most, _) in ALARMS.items():

            @setting(
                "null runs",
                f"{task}, {checks}, 3,000 rows: {alarm}",
                "runs with it",
                low=0.0,
                high=most,
                repetitions=200,
            )
            def alarmed(
                _: np.random.Generator, repetitions: int, task: str = task, checks: str = checks, alarm: str = alarm
            ) -> Trials:
                return Trials(np.array(alarms(task, checks, repetitions)[alarm]))
