"""People who could exist: what searches for pairs find among them, and how natural they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark
from benchmarks.pairs import coded, dataset, forest
from benchmarks.pairs_contest import LEFT_OUT, net


@benchmark("pairs_possible_people")
def pairs_possible_people(scale: Scale) -> Iterator[Row]:
    """`auto` with the dependencies of the data against `auto` without, at an equal budget of model rows.

    Counted are pairs of people who contradict no dependency of the data; naturalness is the share of the data's own
    rows that are less likely than a person found, under a Gaussian copula.
    """
    from isonomia.discovery import find_pairs

    limits: dict[str, Any] = {"max_tests": None, "max_model_rows": 4000 if scale.quick else 40_000, "seed": 0}
    for name, attribute in (("adult", "sex"), ("adult", "race"), ("german", "sex"), ("bank", "marital")):
        frame, target, _ = coded(name, leave_out=LEFT_OUT.get(name, ()))
        data = dataset(frame, target, [attribute])
        models = {"forest": forest(frame, target, 10 if scale.quick else 50), "net": net(frame, target)}
        for kind, model in models.items():
            free = find_pairs(data, model, method="auto", dependencies=False, natural=False, **limits)
            kept = find_pairs(data, model, method="auto", **limits)
            people = np.stack([free.pairs.first, free.pairs.second])
            possible = int((kept.domain.valid(people[0]) & kept.domain.valid(people[1])).sum())
            before = free.metrics["naturalness"]
            yield Row(
                f"{name}, {attribute}, {kind}: naturalness",
                len(frame),
                None,
                measure="mean rank among the data's own rows",
                value=kept.metrics["naturalness"],
                target=Target("at least", 0.35),
                note=f"{before:.2f} without dependencies, where {possible:,} of {len(free.pairs):,} pairs could exist; "
                f"{len(kept.pairs):,} pairs here, all of them",
            )
