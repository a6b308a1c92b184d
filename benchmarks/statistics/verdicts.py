"""False verdicts: how often fair data exceed a policy, and how often unfair data meet one."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia.audit.verdicts.verdict import judge
from isonomia.models import Surface
from isonomia.policies import load_policy
from isonomia.subject import Subject

#: Shipped policies with limits on decisions, and the one way of comparing that none of them has. Those without limits
#: (br-lgpd-20, eu-ai-act, nyc-ll144) cannot be exceeded.
POLICIES: dict[str, str | dict[str, Any]] = {
    "eeoc": "eeoc",
    "four fifths with intersections": {
        "id": "intersections",
        "title": "four fifths with intersections",
        "rules": [
            {
                "name": "ratio",
                "metric": "selection_rate",
                "measure": "ratio",
                "at_least": 0.8,
                "by": "all",
                "decides": "point",
                "min_share": 0.02,
            }
        ],
    },
    "us-lending": "us-lending",
    "engineering": "engineering",
}


def outcomes(
    rng: np.random.Generator, repetitions: int, policy: str, n: int, rate: float, *, groups: int = 5, ratio: float = 1.0
) -> list[str]:
    """Verdicts of data with two attributes; the first group of the first is selected `ratio` times as often."""
    rules = load_policy(POLICIES[policy])
    found: list[str] = []
    for _ in range(repetitions):
        first, second = rng.integers(0, groups, n), rng.integers(0, groups, n)
        selected = (rng.uniform(size=n) < np.where(first == 0, ratio, 1.0) * rate).astype(np.uint8)
        truth = (rng.uniform(size=n) < 0.2 + 0.6 * selected).astype(np.uint8)
        subject = Subject.of(
            truth,
            Surface("binary", (0, 1), label=selected),
            sensitive_features={"first": first.astype(str), "second": second.astype(str)},
            n_boot=0,
        )
        found.append(judge(rules, subject).outcome)
    return found


for policy in POLICIES:
    for n in (1000, 3000, 10_000):
        for rate in (0.1, 0.5):
            quick = 15 if (n, rate) == (1000, 0.1) else 0

            @setting(
                "false verdicts",
                f"{policy}, fair data, two attributes of five groups, {n:,} rows, rate {rate:g}",
                "exceeds",
                low=0.0,
                high=0.05,
                repetitions=400,
                tested=quick,
            )
            def exceeds(
                rng: np.random.Generator, repetitions: int, policy: str = policy, n: int = n, rate: float = rate
            ) -> Trials:
                return Trials(np.array([one == "exceeds" for one in outcomes(rng, repetitions, policy, n, rate)]))


for n in (100, 200, 500, 2000):
    for rate in (0.1, 0.5):

        @setting(
            "false verdicts",
            f"eeoc, true ratio 0.6, two groups, {n:,} rows, rate {rate:g}",
            "meets",
            low=0.0,
            high=0.05,
            repetitions=400,
        )
        def meets(rng: np.random.Generator, repetitions: int, n: int = n, rate: float = rate) -> Trials:
            found = outcomes(rng, repetitions, "eeoc", n, rate, groups=2, ratio=0.6)
            return Trials(np.array([one == "meets" for one in found]))


for n in (1000, 3000, 10_000):

    @setting(
        "false verdicts",
        f"engineering-regression, fair data, two attributes of five groups, {n:,} rows",
        "exceeds",
        low=0.0,
        high=0.05,
        repetitions=400,
        tested=15 if n == 1000 else 0,
    )
    def exceeds_for_numbers(rng: np.random.Generator, repetitions: int, n: int = n) -> Trials:
        """Predicted numbers whose errors are Student-5, in all groups alike."""
        rules, found = load_policy("engineering-regression"), []
        for _ in range(repetitions):
            said = rng.normal(size=n)
            groups = {name: rng.integers(0, 5, n).astype(str) for name in ("first", "second")}
            subject = Subject.of(
                said + rng.standard_t(5, n), Surface.of_numbers(said), sensitive_features=groups, n_boot=0
            )
            found.append(judge(rules, subject).outcome)
        return Trials(np.array([one == "exceeds" for one in found]))
