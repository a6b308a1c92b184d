"""The published study repeated: how many of its figures come out again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Row, Scale, Target, benchmark
from isonomia.data.catalog.local_files import VARIABLE

#: Dataset, models, explainers, seeds.
CASES = (
    ("german", ("forest", "boosting"), ("tree",), 8),
    ("compas", ("forest", "boosting"), ("tree",), 8),
    ("adult", ("logistic", "forest", "boosting", "svm"), ("tree", "linear_independent"), 20),
    ("default", ("logistic", "forest", "boosting", "svm"), ("tree", "linear_correlated"), 20),
)
#: Share of the published figures of a dataset that must lie within 3 standard deviations over the seeds.
SHARE = 0.9
#: Names a folder that keeps finished cells, so that a run goes on where one stopped; and seconds per dataset and model,
#: after which what is finished counts (all of it takes hours: a support vector machine on 24,000 rows is minutes each).
FOLDER, SECONDS = "ISONOMIA_BENCH_STUDY", "ISONOMIA_BENCH_STUDY_SECONDS"


@benchmark("study")
def study(scale: Scale) -> Iterator[Row]:
    """Published figures within 3 standard deviations over seeds: five measures, and Tree or Linear SHAP."""
    from isonomia.study import run_study

    folder = Path(os.environ.get(VARIABLE, "../shared/data")) / "study"
    limit = float(os.environ[SECONDS]) if SECONDS in os.environ else None
    for dataset, models, explainers, seeds in CASES:
        hits, figures, whole = 0, 0, not scale.quick
        notes: list[str] = []
        for model in models:
            found = run_study(
                os.environ.get(FOLDER),
                paper=folder,
                datasets=[dataset],
                models=[model],
                explainers=list(explainers),
                seeds=range(2 if scale.quick else seeds),
                explained=None,
                n_boot=0,
                max_seconds=limit,
            )
            if found.reproduction is None:
                notes.append(f"{model}: not run within {limit:g} s")
                whole = False
                continue
            table = found.reproduction.tables["figures"]
            own = [hit for hit in table["reproduced"].values if isinstance(hit, bool)]
            hits, figures = hits + sum(own), figures + len(own)
            whole &= min(table["seeds"].values) == seeds
            least, most = min(table["seeds"].values), max(table["seeds"].values)
            notes.append(f"{model}: {sum(own)} of {len(own)}, {least if least == most else f'{least}-{most}'} seeds")
        yield Row(
            dataset,
            figures,
            None,
            measure="share reproduced",
            value=hits / figures if figures else None,
            target=Target("at least", SHARE) if whole else None,
            note="; ".join(notes),
        )
