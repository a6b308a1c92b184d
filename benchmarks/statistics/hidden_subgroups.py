"""What the check of hidden subgroups finds where something is planted, and what it says where nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

import isonomia as iso
from benchmarks.statistics.setting import Trials, setting

TOPIC = "hidden subgroups"
PLANTED = {"job": "b", "city": "w"}


def people(rng: np.random.Generator, n: int, *, extra: float, across: bool = False) -> iso.Dataset:
    """The right model of fair data; where job = b and city = w (3% of the rows) it errs so much more often.

    With `across` these people are those with job = b and x3 between its 44% and 59% quantiles, off the edges of bins.
    """
    x, job, city = rng.normal(size=(n, 6)), rng.choice(list("abcde"), n), rng.choice(list("uvwxyz"), n)
    chance = 1 / (1 + np.exp(-2 * x[:, 0] - 1.4 * x[:, 1] + x[:, 2]))
    y = (rng.random(n) < chance).astype(int)
    right = (chance >= 0.5) == y
    other = (x[:, 3] >= ndtri(0.44)) & (x[:, 3] < ndtri(0.59)) if across else city == PLANTED["city"]
    flipped = (job == PLANTED["job"]) & other & right & (rng.random(n) < extra / right.mean())
    frame: dict[str, Any] = {f"x{i}": x[:, i] for i in range(6)} | {"job": job, "city": city, "chance": chance}
    frame |= {"y": np.where(flipped, 1 - y, y), "sex": rng.choice(["F", "M"], n), "eth": rng.choice(list("ABCDE"), n)}
    return iso.Dataset(frame, target="y", positive=1, protected=["sex", "eth"], score="chance")


def warnings(rng: np.random.Generator, n: int, extra: float, *, across: bool = False) -> list[dict[str, str]]:
    """Whom the check warns about."""
    report = iso.audit(people(rng, n, extra=extra, across=across), checks="hidden_subgroups")
    return [dict(finding.who) for finding in report.findings if finding.severity != "notice"]


for size, share in ((10_000, 0.75), (30_000, 0.95)):

    @setting(
        TOPIC,
        f"two values, 3% of {size:,} rows, 15 points more errors",
        "found",
        low=share,
        high=1.0,
        repetitions=100,
        tested=0,
    )
    def planted(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        return Trials(np.array([PLANTED in warnings(rng, size, 0.15) for _ in range(repetitions)]))

    @setting(
        TOPIC,
        f"a value and a range across bins, 3% of {size:,} rows, 15 points more errors",
        "found",
        low=share,
        high=1.0,
        repetitions=100,
        tested=0,
    )
    def ranged(rng: np.random.Generator, repetitions: int, size: int = size) -> Trials:
        """Warned about by exactly these two columns."""
        found = (warnings(rng, size, 0.15, across=True) for _ in range(repetitions))
        return Trials(np.array([any(set(who) == {"job", "x3"} for who in run) for run in found]))


@setting(
    TOPIC,
    "right model of 3,000 people",
    "runs with a warning about groups",
    low=0,
    high=0.05,
    repetitions=200,
    tested=0,
)
def about_groups(rng: np.random.Generator, repetitions: int) -> Trials:
    """Protected attributes in a subgroup."""
    found = (warnings(rng, 3_000, 0.0) for _ in range(repetitions))
    return Trials(np.array([any({"sex", "eth"} & set(who) for who in run) for run in found]))


@setting(TOPIC, "right model of 3,000 people, any", "runs with a warning", low=0, high=0.2, repetitions=200, tested=0)
def about_anything(rng: np.random.Generator, repetitions: int) -> Trials:
    """Any subgroup."""
    return Trials(np.array([bool(warnings(rng, 3_000, 0.0)) for _ in range(repetitions)]))
