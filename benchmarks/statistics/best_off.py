"""Compared with the best-off group, which was picked by looking: do the intervals allow for the picking?"""

from __future__ import annotations

import numpy as np

from benchmarks.statistics.setting import Trials, setting
from isonomia.audit.checks.fairness.impact_ratios import impact_ratios
from isonomia.evidence.simultaneous import ratios_to_best
from isonomia.fairness import group_metrics
from isonomia.subject import Subject
from isonomia.typing import Floats

TOPIC = "the best-off group"
GROUPS = (2, 5, 20, 50)
#: People of each group, and the rate at which they are selected.
SIZE, RATE = 100, 0.3


def drawn(rng: np.random.Generator, repetitions: int, rates: Floats) -> Floats:
    """How many of 100 are selected in each group."""
    return rng.binomial(SIZE, rates, (repetitions, rates.size)).astype(float)


def ends(hits: Floats) -> tuple[Floats, Floats]:
    """The intervals of all groups of each repetition."""
    found = [ratios_to_best(row, np.full(row.size, float(SIZE))) for row in hits]
    low, high = (np.array(part) for part in zip(*found, strict=True))
    return low, high


for groups in GROUPS:
    for name, rates in (("alike", np.full(groups, RATE)), ("from 0.2 to 0.4", np.linspace(0.2, 0.4, groups))):
        quick = 200 if groups < 50 else 0

        @setting(
            TOPIC,
            f"impact ratios, {groups} groups of {SIZE}, rates {name}",
            "the ratios of all groups to the truly best inside their intervals",
            high=1.0,
            repetitions=2000,
            tested=quick,
        )
        def together(rng: np.random.Generator, repetitions: int, rates: Floats = rates) -> Trials:
            low, high = ends(drawn(rng, repetitions, rates))
            truth = rates / rates.max()
            return Trials(((low <= truth) & (truth <= high)).all(axis=1))

    @setting(
        TOPIC,
        f"impact ratios, {groups} groups of {SIZE} alike, the lowest",
        "coverage of the group that came out lowest",
        high=1.0,
        repetitions=2000,
        tested=quick,
    )
    def lowest(rng: np.random.Generator, repetitions: int, groups: int = groups) -> Trials:
        hits = drawn(rng, repetitions, np.full(groups, RATE))
        low, high = ends(hits)
        worst = hits.argmin(axis=1)[:, None]
        return Trials.of_intervals(np.take_along_axis(low, worst, 1), np.take_along_axis(high, worst, 1), 1.0)


for groups in GROUPS:

    @setting(
        TOPIC,
        f"groups compared with the best-off one, {groups} groups of {SIZE} alike",
        "the differences of all groups inside their intervals",
        high=1.0,
        repetitions=1000,
        tested=60 if groups < 20 else 0,
        note="the reference is the group that came out best",
    )
    def differences(rng: np.random.Generator, repetitions: int, groups: int = groups) -> Trials:
        """Every row of the table of comparisons; all true differences are 0."""
        group = np.repeat(np.arange(groups), SIZE).astype(str)
        hits = []
        for _ in range(repetitions):
            decided = (rng.random(group.size) < RATE).astype(int)
            people = Subject.of_predictions(decided, sensitive_features={"group": group})
            column = group_metrics(people, metrics=["selection_rate"]).tables["comparisons"]["difference"]
            hits.append(bool((np.asarray(column.low) <= 0).all() and (np.asarray(column.high) >= 0).all()))
        return Trials(np.array(hits))


@setting(
    TOPIC,
    "impact ratios as they are published, 5 categories of 100 alike",
    "the ratios of all categories inside their intervals",
    high=1.0,
    repetitions=400,
    tested=60,
)
def published(rng: np.random.Generator, repetitions: int) -> Trials:
    """The check itself, as New York's summary prints it."""
    group = np.repeat(np.arange(5), SIZE).astype(str)
    hits = []
    for _ in range(repetitions):
        decided = (rng.random(group.size) < RATE).astype(int)
        subject = Subject.of_predictions(decided, sensitive_features={"group": group})
        ratio = impact_ratios(subject, rate="auto", min_share=0.02).tables["impact_ratios"]["ratio"]
        hits.append(all(ratio.estimate(row).high == 1.0 for row in range(5)))
    return Trials(np.array(hits))
