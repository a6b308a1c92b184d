"""The published study repeated: how many of its figures come out again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Row, Scale, Target, benchmark
from isonomia.data.catalog.local_files import VARIABLE

#: Dataset, models, seeds, and the share of published figures that must lie within 3 standard deviations.
CASES = (
    ("german", ("forest", "boosting"), 8),
    ("compas", ("forest", "boosting"), 8),
    ("adult", ("logistic", "forest", "boosting", "svm"), 20),
    ("default", ("logistic", "forest", "boosting", "svm"), 20),
)


@benchmark("study")
def study(scale: Scale) -> Iterator[Row]:
    """Published figures within 3 standard deviations over seeds: five measures, and Tree SHAP where there are trees."""
    from isonomia.study import run_study

    folder = Path(os.environ.get(VARIABLE, "../shared/data")) / "study"
    for dataset, models, seeds in CASES:
        for model in models:
            began = time.perf_counter()
            found = run_study(
                paper=folder,
                datasets=[dataset],
                models=[model],
                explainers=["tree" if model in ("forest", "boosting") else "linear_independent"],
                seeds=range(2 if scale.quick else seeds),
                explained=200,
                n_boot=0,
            )
            seconds = time.perf_counter() - began
            assert found.reproduction is not None
            share = found.reproduction.values["reproduced"]
            rows = found.reproduction.values["figures"]
            target = None if scale.quick else Target("at least", 0.9)
            yield Row(f"{dataset} {model}", rows, seconds, measure="share reproduced", value=share, target=target)
