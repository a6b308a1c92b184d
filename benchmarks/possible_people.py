"""People who could exist: what searches for pairs find among them, and how natural they are."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark
from benchmarks.pairs import coded, dataset, forest
from benchmarks.pairs_contest import LEFT_OUT, net


@benchmark("pairs_possible_people")
def pairs_possible_people(scale: Scale) -> Iterator[Row]:
    """`auto` with the dependencies of the data against `auto` without, at an equal budget of model rows.

    Counted are pairs of people who contradict no dependency of the data, and the kinds of people (cells of one map of
    four columns for both searches) among them; naturalness is the share of the data's own rows that are less likely
    than a person found, under a Gaussian copula.
    """
    from isonomia.discovery import find_pairs
    from isonomia.discovery.pairs.searches.coverage import Cells

    limits: dict[str, Any] = {"max_tests": None, "max_model_rows": 4000 if scale.quick else 40_000, "seed": 0}
    for name, attribute in (("adult", "sex"), ("adult", "race"), ("german", "sex"), ("bank", "marital")):
        frame, target, _ = coded(name, leave_out=LEFT_OUT.get(name, ()))
        data = dataset(frame, target, [attribute])
        models = {"forest": forest(frame, target, 10 if scale.quick else 50), "net": net(frame, target)}
        for kind, model in models.items():
            free = find_pairs(data, model, method="auto", dependencies=False, natural=False, **limits)
            kept = find_pairs(data, model, method="auto", **limits)
            valid = kept.domain.valid(free.pairs.first) & kept.domain.valid(free.pairs.second)
            movable = np.setdiff1d(np.arange(len(kept.domain)), [kept.domain.index(attribute), *kept.domain.followers])
            space: Any = SimpleNamespace(domain=kept.domain, movable=movable)  # what a map reads of a search space
            cells = Cells(space)
            possible, kinds = int(valid.sum()), cells.covered(free.pairs.first[valid])
            found, covered = len(kept.pairs), cells.covered(kept.pairs.first)
            before, kind_of = free.metrics["naturalness"], f"{name}, {attribute}, {kind}"
            yield Row(
                f"{kind_of}: naturalness",
                len(frame),
                None,
                measure="mean rank among the data's own rows",
                value=kept.metrics["naturalness"],
                target=Target("at least", 0.35),
                note=f"{before:.2f} without dependencies",
            )
            yield Row(
                f"{kind_of}: pairs x cells",
                len(frame),
                None,
                measure="times that of the search without dependencies",
                value=found * covered / (possible * kinds) if possible else None,
                target=Target("at least", 0.5),
                note=f"{found:,} pairs in {covered:,} cells; without dependencies {len(free.pairs):,} pairs in "
                f"{cells.covered(free.pairs.first):,} cells, of which {possible:,} in {kinds:,} could exist",
            )
