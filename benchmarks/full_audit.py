"""A whole audit with every check: half of Adult, a pipeline with 100 boosted trees, in seconds of CPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bench import Row, Scale, Target, benchmark

#: The checks that examine a sample of rows unless an option says otherwise.
SAMPLED = ("perturb", "scenarios", "local_robustness")


@benchmark("full_audit")
def full_audit(scale: Scale) -> Iterator[Row]:
    """The set "full" with the default budgets; kinds (not numbers) of findings compared with those of every row."""
    import isonomia as iso

    data, model = half_of_adult(scale.rows(24_421))
    everyone = {name: {"max_rows": len(data)} for name in SAMPLED}
    began = time.process_time()
    report = iso.audit(data, model, checks="full", seed=0)
    seconds = time.process_time() - began
    whole = iso.audit(data, model, checks=list(SAMPLED), seed=0, options=everyone)
    ours, theirs = (kinds_of_findings(one) for one in (report, whole))
    yield Row(
        "audit, every check",
        len(data),
        seconds,
        measure="seconds",
        value=seconds,
        target=Target("at most", 60),
        difference=float(len(ours ^ theirs)),
        compared=len(ours | theirs),
        note="seconds of CPU, all threads; kinds of findings of sampled checks compared with those of every row",
    )


def half_of_adult(rows: int) -> tuple[Any, Any]:
    """Rows to audit, and a model trained on as many others."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from isonomia.data import catalog

    data = catalog.load("adult", backend="pandas").with_roles(protected=["sex", "race"])
    order, rows = np.random.default_rng(0).permutation(len(data)), min(rows, len(data) // 2)
    train, test = data.take(np.sort(order[:rows])), data.take(np.sort(order[rows : 2 * rows]))
    texts = [name for name in data.features if data.kinds[name] in ("category", "boolean")]
    coded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts), remainder="passthrough"
    )
    model = make_pipeline(coded, HistGradientBoostingClassifier(max_iter=100, random_state=0))
    return test, model.fit(train.frame[list(train.features)], train.frame[train.target])


def kinds_of_findings(report: Any) -> set[str]:
    """The codes of the findings of the checks that examine a sample."""
    return {finding.code for finding in report.findings if finding.code.split(".")[0] in SAMPLED}
