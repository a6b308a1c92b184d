"""First pages: whom they name where everybody is treated alike, and whether they lead with the group that is not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting
from isonomia.evidence import THRESHOLDS, detectable_means, detectable_rates

TOPIC = "first pages"
TASKS = ("binary", "three classes", "regression")
#: So often people get the favourable decision of two classes and of three.
RATE = {"binary": 0.5, "three classes": 1 / 3}
#: The deviation of predicted numbers, and of what the model cannot know.
SPREAD, NOISE = 1.0, 0.5
#: Rows of the smallest groups that are compared.
SMALLEST = 30
#: Twice the gaps below which there is no finding however sure they are: of rates, and of means.
TOLD = 2 * THRESHOLDS["rate_gap"].reported
TOLD_OF_MEANS = 2 * THRESHOLDS["mean_gap"].reported * float(np.hypot(SPREAD, NOISE))


def names(groups: int) -> list[str]:
    """Names of groups that occur in no sentence of the product."""
    return [f"Lunda{number:02d}" for number in range(groups)]


def gap(task: str, n: int, groups: int) -> float | None:
    """Twice what these sizes could show between one group and the others, when all pairs of groups are compared.

    None where nothing is that far away, or the groups are smaller than any that is compared. With many rows it is twice
    the smallest gap that findings tell at all, however sure a smaller one is.
    """
    own, alpha = n / groups, 0.05 / (groups * (groups - 1) / 2)
    if own < SMALLEST:
        return None
    if task == "regression":
        error = NOISE * np.sqrt(1 / own + 1 / (n - own))
        return max(2 * float(detectable_means(error, alpha=alpha)), TOLD_OF_MEANS)
    below, _ = detectable_rates([RATE[task]], [n - own], [own], alpha=alpha)
    size = max(2 * float(below[0]), TOLD)
    return size if size < RATE[task] else None


def audited(rng: np.random.Generator, task: str, n: int, groups: int, less: float = 0.0) -> iso.Report:
    """A standard audit of predictions that are as right for every group, but for the first one.

    Its favourable decisions are rarer by `less`, and so are its good outcomes: what decides is the selection. Numbers
    are too low by `less`.
    """
    group = rng.integers(0, groups, n)
    worse = less * (group == 0)
    if task == "regression":
        truth: Any = rng.normal(scale=SPREAD, size=n)
        said: Any = truth + rng.normal(scale=NOISE, size=n) - worse
    else:
        others = np.array(["no"] if task == "binary" else ["maybe", "no"])
        said = np.where(rng.random(n) < RATE[task] - worse, "yes", others[rng.integers(0, others.size, n)])
        truth = np.where(rng.random(n) < 0.8, said, said[rng.permutation(n)])
    rows = {"origin": np.array(names(groups), dtype=object)[group], "said": said, "truth": truth}
    roles: dict[str, Any] = {"target": "truth", "prediction": "said", "protected": ["origin"]}
    roles |= {"task": "regression"} if task == "regression" else {"positive": "yes"}
    return iso.audit(iso.Dataset(rows, **roles), n_boot=200)


def named(report: iso.Report, groups: int) -> list[str]:
    """The groups that the first page names below the verdict, in the order in which they are met.

    What stands with the verdict names the group that others are compared with.
    """
    page = report.to_markdown().partition("\n## Findings\n")[0]
    sections = "".join(part for part in page.split("\n## ")[1:] if not part.startswith("Verdict"))
    return [name for name in re.findall(r"Lunda\d\d", sections) if name in names(groups)]


for task in TASKS:
    for groups in (2, 5, 20):
        for n in (300, 3000, 30_000):

            @setting(
                TOPIC,
                f"{task}, {groups} groups alike, {n:,} rows",
                "names anybody",
                low=0.0,
                high=0.05,
                repetitions=200,
                tested=20 if n == 3000 and groups < 20 else 0,
            )
            def alike(
                rng: np.random.Generator, repetitions: int, task: str = task, groups: int = groups, n: int = n
            ) -> Trials:
                pages = [named(audited(rng, task, n, groups), groups) for _ in range(repetitions)]
                return Trials(np.array([bool(page) for page in pages]))

            if gap(task, n, groups) is not None:

                @setting(
                    TOPIC,
                    f"{task}, one of {groups} groups worse off by twice the detectable gap, {n:,} rows",
                    "names it first",
                    low=0.9,
                    high=1.0,
                    repetitions=200,
                    tested=20 if n == 3000 and groups < 20 else 0,
                )
                def planted(
                    rng: np.random.Generator, repetitions: int, task: str = task, groups: int = groups, n: int = n
                ) -> Trials:
                    less = gap(task, n, groups) or 0.0
                    pages = [named(audited(rng, task, n, groups, less), groups) for _ in range(repetitions)]
                    return Trials(np.array([page[:1] == names(1) for page in pages]))
